"""Evaluation of SymPy formulas: in JAX with every derivative, in NumPy, and in ball arithmetic.

SymPy's own `lambdify` generates source code and executes it; walking the tree with three small
tables does the same work without that, copes with integers that int64 cannot hold, and gives proofs
for free: in Arb's ball arithmetic a constant that prints as positive *is* positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import flint
import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np
import scipy.special as sp
import sympy
from jax import Array

from earnshaw.numerics.autodiff import tangent
from earnshaw.numerics.budget import checkpoint, interruptible

Table = Mapping[Any, Callable[..., Any]]
_NUMBERS = 20_000_000  # that the nodes of a formula may hold while an array goes through it
_NEAR = ("1e-15", "1e-20", "1e-25")  # how far from a singularity its limit is read off


def _by_scipy(function: Callable[..., Any]) -> Callable[..., Array]:
    """A SciPy function of (order, x) as a JAX one; its derivative comes from the formula's."""

    def called(order: Any, x: Any) -> Array:
        order, x = jnp.broadcast_arrays(jnp.asarray(order, float), jnp.asarray(x, float))
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(function, shape, order, x, vmap_method="broadcast_all")

    return called


def _polygamma(order: Any, x: Any) -> Array:
    return jsp.digamma(x) if order == 0 else jsp.polygamma(int(order), x)


def _extremum(pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def called(*values: Any) -> Any:
        total = values[0]
        for value in values[1:]:
            total = pick(total, value)
        return total

    return called


def _ball_step(x: flint.arb, below: Any, at: Any, above: Any) -> flint.arb:
    """A step function of a ball: NaN where the ball does not say on which side it lies."""
    if x > 0 or x < 0:
        return flint.arb(above if x > 0 else below)
    return flint.arb(at) if x.is_zero() else flint.arb("nan")


# DiracDelta appears when a step is differentiated: zero off the jump, where derivatives are asked.
JAX: Table = {
    sympy.exp: jnp.exp, sympy.log: jnp.log, sympy.sin: jnp.sin, sympy.cos: jnp.cos,
    sympy.tan: jnp.tan, sympy.asin: jnp.arcsin, sympy.acos: jnp.arccos, sympy.atan: jnp.arctan,
    sympy.sinh: jnp.sinh, sympy.cosh: jnp.cosh, sympy.tanh: jnp.tanh, sympy.asinh: jnp.arcsinh,
    sympy.acosh: jnp.arccosh, sympy.atanh: jnp.arctanh, sympy.erf: jsp.erf, sympy.erfc: jsp.erfc,
    sympy.Abs: jnp.abs, sympy.sign: jnp.sign, sympy.Max: _extremum(jnp.maximum),
    sympy.Min: _extremum(jnp.minimum), sympy.gamma: jsp.gamma, sympy.polygamma: _polygamma,
    sympy.Heaviside: lambda x, at=0.5: jnp.heaviside(x, at),
    sympy.DiracDelta: lambda x, order=0: jnp.zeros_like(x),
    sympy.besselj: _by_scipy(sp.jv), sympy.besseli: _by_scipy(sp.iv),
    sympy.besselk: _by_scipy(sp.kv), sympy.Pow: lambda x, y: jnp.power(x, y), "sqrt": jnp.sqrt,
}  # fmt: skip

NUMPY: Table = {
    sympy.exp: np.exp, sympy.log: np.log, sympy.sin: np.sin, sympy.cos: np.cos, sympy.tan: np.tan,
    sympy.asin: np.arcsin, sympy.acos: np.arccos, sympy.atan: np.arctan, sympy.sinh: np.sinh,
    sympy.cosh: np.cosh, sympy.tanh: np.tanh, sympy.asinh: np.arcsinh, sympy.acosh: np.arccosh,
    sympy.atanh: np.arctanh, sympy.erf: sp.erf, sympy.erfc: sp.erfc, sympy.Abs: np.abs,
    sympy.sign: np.sign, sympy.Max: _extremum(np.maximum), sympy.Min: _extremum(np.minimum),
    sympy.gamma: sp.gamma, sympy.polygamma: sp.polygamma,
    sympy.Heaviside: lambda x, at=0.5: np.heaviside(x, at),
    sympy.DiracDelta: lambda x, order=0: np.zeros_like(x),
    sympy.besselj: sp.jv, sympy.besseli: sp.iv, sympy.besselk: sp.kv,
    sympy.Pow: np.power, "sqrt": np.sqrt,
}  # fmt: skip

ARB: Table = {
    sympy.exp: lambda x: x.exp(), sympy.log: lambda x: x.log(), sympy.sin: lambda x: x.sin(),
    sympy.cos: lambda x: x.cos(), sympy.tan: lambda x: x.tan(), sympy.asin: lambda x: x.asin(),
    sympy.acos: lambda x: x.acos(), sympy.atan: lambda x: x.atan(), sympy.sinh: lambda x: x.sinh(),
    sympy.cosh: lambda x: x.cosh(), sympy.tanh: lambda x: x.tanh(),
    sympy.asinh: lambda x: x.asinh(), sympy.acosh: lambda x: x.acosh(),
    sympy.atanh: lambda x: x.atanh(), sympy.erf: lambda x: x.erf(), sympy.erfc: lambda x: x.erfc(),
    sympy.Abs: abs, sympy.Max: _extremum(lambda x, y: x.max(y)),
    sympy.Min: _extremum(lambda x, y: x.min(y)), sympy.gamma: lambda x: x.gamma(),
    sympy.sign: lambda x: _ball_step(x, -1, 0, 1),
    sympy.Heaviside: lambda x, at=0.5: _ball_step(x, 0, at, 1),
    sympy.DiracDelta: lambda x, order=0: flint.arb(0),
    sympy.besselj: lambda n, x: x.bessel_j(n), sympy.besseli: lambda n, x: x.bessel_i(n),
    sympy.besselk: lambda n, x: x.bessel_k(n), sympy.Pow: lambda x, y: x**y,
    "sqrt": lambda x: x.sqrt(),
}  # fmt: skip


def evaluate(expr: sympy.Expr, values: Mapping[sympy.Symbol, Any], table: Table) -> Any:
    """The value of `expr` with its symbols replaced by `values`, in the arithmetic of `table`.

    Raises KeyError for a function that the table lacks. Shared subtrees are computed once.
    """
    known: dict[sympy.Expr, Any] = dict(values)
    waiting = [expr]
    while waiting:
        node = waiting[-1]
        missing = [argument for argument in node.args if argument not in known]
        if node in known or not missing:
            waiting.pop()
            if node not in known:
                known[node] = _node(node, known, table)
        waiting += missing
    return known[expr]


def _node(node: Any, known: Mapping[Any, Any], table: Table) -> Any:
    if node.is_Atom:
        return _constant(node, table)
    values = [known[argument] for argument in node.args]
    if node.is_Add:
        return sum(values[1:], start=values[0])
    if node.is_Mul:
        return math.prod(values[1:], start=values[0])
    if node.is_Pow:
        exponent = node.exp
        if exponent.is_Integer:
            # 1 / x^n, because NumPy and JAX refuse or overflow negative integer powers.
            power = values[0] ** abs(int(exponent))
            return power if exponent > 0 else 1 / power
        if exponent.is_Rational and exponent.q == 2:
            root = table["sqrt"](values[0]) ** abs(int(exponent.p))
            return root if exponent > 0 else 1 / root
        return table[sympy.Pow](*values)
    return table[node.func](*values)


def _constant(node: Any, table: Table) -> Any:
    if table is not ARB:
        return np.float64(float(node))
    if node.is_Rational:
        return flint.arb(flint.fmpq(int(node.p), int(node.q)))
    return {sympy.pi: flint.arb.pi, sympy.E: flint.arb.const_e}[node]()


def ball(expr: sympy.Expr, bits: int = 256, **at: Any) -> flint.arb:
    """An enclosure of a real constant, or of `expr` at exact points given by symbol name.

    NaN where the formula has no finite real value there (or the ball arithmetic cannot tell).
    """
    with flint.ctx.workprec(bits):
        values = {
            symbol: _constant(sympy.Rational(at[symbol.name]), ARB) for symbol in expr.free_symbols
        }
        try:
            return evaluate(expr, values, ARB)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            return flint.arb("nan")


def is_huge(expr: sympy.Expr, at: float) -> bool:
    """Whether `expr`, with every symbol set to `at`, is finite after all where float64 is not."""
    value = ball(expr, 512, **dict.fromkeys((s.name for s in expr.free_symbols), at))
    return bool(value.is_finite())


def at_points(expr: sympy.Expr, symbol: sympy.Symbol, points: Any) -> np.ndarray:
    """`expr` at an array of points in float64, by NumPy and SciPy; NaN or inf where singular."""
    points = np.asarray(points, dtype=float)
    return in_columns(expr, (symbol,), points.reshape(-1, 1)).reshape(points.shape)


def numpy_function(
    expr: sympy.Expr, symbol: sympy.Symbol, edges: tuple[int, ...]
) -> Callable[[np.ndarray], np.ndarray]:
    """`expr` as a NumPy function of arrays of any shape, with its limits at holes among `edges`."""
    holes = removable(expr, symbol, edges)

    def function(x: np.ndarray) -> np.ndarray:
        values = at_points(expr, symbol, x)
        for point, limit in holes:
            values = np.where(np.equal(x, point), limit, values)
        return values

    return function


def in_columns(
    expr: sympy.Expr, symbols: tuple[sympy.Symbol, ...], points: np.ndarray
) -> np.ndarray:
    """`expr` at points (n, len(symbols)) in float64, shape (n,); a block at a time."""
    values = np.empty(len(points))
    rows = max(256, _NUMBERS // (1 + _size(expr)))
    for start in range(0, len(points), rows):
        checkpoint("evaluating the formula")
        columns = dict(zip(symbols, points[start : start + rows].T, strict=True))
        with np.errstate(all="ignore"):
            values[start : start + rows] = evaluate(expr, columns, NUMPY)
    return values


@lru_cache(maxsize=1024)
def _size(expr: sympy.Expr) -> int:
    return sum(1 for _ in sympy.preorder_traversal(expr))


@lru_cache(maxsize=1024)
@interruptible("differentiating the formula")
def derivative(expr: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """d expr / d symbol."""
    return sympy.diff(expr, symbol)


@lru_cache(maxsize=1024)
def elementwise(
    expr: sympy.Expr, symbols: tuple[sympy.Symbol, ...], edges: tuple[int, ...] = ()
) -> Callable[..., Array]:
    """`expr` as a JAX function of one array per symbol, differentiable to any order.

    Derivatives are those of the formula, taken symbolically. `edges` are the points (of a formula
    in one variable) where removable singularities, such as that of sin(r)/r, are filled in.
    """
    holes = removable(expr, symbols[0], edges) if len(symbols) == 1 else ()

    @jax.custom_jvp
    def function(*arguments: Array) -> Array:
        shape = jnp.broadcast_shapes(*(argument.shape for argument in arguments))
        value = evaluate(expr, dict(zip(symbols, arguments, strict=True)), JAX)
        value = jnp.broadcast_to(jnp.asarray(value, dtype=float), shape)
        for point, limit in holes:
            value = jnp.where(arguments[0] == point, limit, value)
        return value

    def rule(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
        value = function(*primals)
        slopes = (
            partial(elementwise(derivative(expr, symbol), symbols, edges), *primals)
            for symbol in symbols
        )
        return value, tangent(value, *zip(slopes, tangents, strict=True))

    function.defjvp(rule, symbolic_zeros=True)
    return lambda *arguments: function(*(jnp.asarray(a, dtype=float) for a in arguments))


@lru_cache(maxsize=1024)
@interruptible("looking for the limits of the formula")
def removable(
    expr: sympy.Expr, symbol: sympy.Symbol, edges: tuple[int, ...]
) -> tuple[tuple[float, float], ...]:
    """The (point, limit) pairs among `edges` at which `expr` reads 0/0 but has a limit.

    The limit is read off in 1000-bit arithmetic at three small steps into the domain: below 1,
    above -1, above 0. Values that keep growing, even as slowly as a logarithm, mean infinity.
    """
    found = []
    for point, plain in zip(edges, at_points(expr, symbol, edges), strict=True):
        if not math.isnan(plain):
            continue
        inward = -1 if point == 1 else 1
        far, near, nearest = (
            float(ball(expr, 1000, **{symbol.name: point + inward * sympy.Rational(step)}))
            for step in _NEAR
        )
        if abs(nearest - near) <= 1e-9 * max(1.0, abs(nearest)):
            # An exact zero matters: a slope of 0 at r = 0 means that there is no cusp.
            found.append((float(point), 0.0 if abs(nearest) < 1e-15 else nearest))
        elif abs(nearest - near) >= 0.5 * abs(near - far) and abs(nearest) > abs(near):
            found.append((float(point), math.copysign(math.inf, nearest)))
    return tuple(found)


def degree_bound(expr: sympy.Expr, symbol: sympy.Symbol) -> int | None:
    """An upper bound of the degree of a polynomial, without expanding it; None if not one."""
    if not expr.has(symbol):
        return 0
    if expr == symbol:
        return 1
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        inner = degree_bound(expr.base, symbol)
        return None if inner is None else inner * int(expr.exp)
    if expr.is_Add or expr.is_Mul:
        parts = [degree_bound(part, symbol) for part in expr.args]
        if None in parts:
            return None
        return max(parts) if expr.is_Add else sum(parts)  # type: ignore[type-var, arg-type]
    return None
