"""Potentials given as formulas: f(rho) on the sphere, f(r) or f(x1, ..., xd) on R^d.

`parse_potential` reads the text (see `_formula.py` for what is allowed) and picks the class. Values
are computed in JAX and derivatives of every order come from the formula, symbolically, so they hold
where automatic differentiation meets 0/0. Removable singularities (sin(r)/r at 0) are filled in.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.formulas._formula import coordinate, parse_formula
from earnshaw.duality.formulas.kinks import switching_points
from earnshaw.duality.formulas.power_series import (
    NoTaylorSeries,
    ball_taylor,
    degree_bound,
    exact_taylor,
)
from earnshaw.duality.formulas.symbolic import (
    derivative,
    elementwise,
    in_columns,
)
from earnshaw.duality.potential import Potential, Radial, Zonal
from earnshaw.errors import BadExpression, UnknownName
from earnshaw.limits import check_dim, check_integer
from earnshaw.numerics.budget import TooMuchWork, interruptible

RHO = sympy.Symbol("rho", real=True)
RADIUS = sympy.Symbol("r", nonnegative=True)


class _Formula(eqx.Module):
    """What the three kinds share."""

    formula: eqx.AbstractVar[str]

    @property
    def name(self) -> str:
        """The formula."""
        return self.formula

    @property
    def error_bound(self) -> float | None:
        """None: a formula can cancel as badly as its author likes."""
        return None

    @property
    def error_estimate(self) -> float | None:
        """Rounding of a formula that does not cancel."""
        return 1e-13


class ZonalExpression(_Formula, Zonal):
    """Phi = f(rho) for a formula in `rho`, e.g. ``ZonalExpression("exp(rho - 1)", dim=3)``."""

    formula: str = eqx.field(static=True)
    dim: int | None = eqx.field(static=True)

    def __init__(self, formula: str, dim: int | None = None) -> None:
        parse_formula(formula, (RHO,))
        self.formula = formula
        self.dim = None if dim is None else check_dim(dim, 2)

    @property
    def expr(self) -> sympy.Expr:
        """The formula as a SymPy expression in `expression.RHO`."""
        return parse_formula(self.formula, (RHO,))

    def value(self, rho: ArrayLike) -> Array:
        """f(rho)."""
        return self._derivative(0, rho)

    def first(self, rho: ArrayLike) -> Array:
        """f'(rho), from the differentiated formula."""
        return self._derivative(1, rho)

    def second(self, rho: ArrayLike) -> Array:
        """f''(rho), from the differentiated formula."""
        return self._derivative(2, rho)

    def taylor(self, count: int) -> Any:
        """The coefficients c_0 .. c_(count-1) at 0 as floats; None if f is not analytic there.

        Each is the float nearest to an enclosure of 40 digits. Where f has steps or kinks away from
        0 this is the series of the piece around 0.
        """
        try:
            return np.array([float(c) for c in ball_taylor(self.expr, RHO, count)])
        except NoTaylorSeries:
            return None

    def taylor_exact(self, count: int) -> list[sympy.Expr]:
        """The same coefficients as exact SymPy numbers, or `NoTaylorSeries` with the reason."""
        return exact_taylor(self.expr, RHO, check_integer("count of coefficients", count, 1))

    @property
    def degree(self) -> int | None:
        """An upper bound of the degree if the formula is a polynomial, else None."""
        return degree_bound(self.expr, RHO)

    def _derivative(self, order: int, rho: ArrayLike) -> Array:
        return elementwise(_differentiated(self.expr, RHO, order), (RHO,), (-1, 0, 1))(rho)


class RadialExpression(_Formula, Radial):
    """Phi = f(r) on R^d for a formula in `r`, e.g. ``RadialExpression("exp(-r)", dim=3)``."""

    formula: str = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, formula: str, dim: int) -> None:
        parse_formula(formula, (RADIUS,))
        self.formula = formula
        self.dim = check_dim(dim)

    @property
    def expr(self) -> sympy.Expr:
        """The formula as a SymPy expression in `expression.RADIUS`."""
        return parse_formula(self.formula, (RADIUS,))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """The radii > 0 where a heaviside, sign, abs, max or min switches."""
        return switching_points(self.expr, RADIUS)

    def value(self, r: ArrayLike) -> Array:
        """f(r)."""
        return self._derivative(0, r)

    def first(self, r: ArrayLike) -> Array:
        """f'(r); at a jump of f it leaves the jump out."""
        return self._derivative(1, r)

    def second(self, r: ArrayLike) -> Array:
        """f''(r); at a kink of f it leaves the kink out."""
        return self._derivative(2, r)

    def log_value(self, r: ArrayLike) -> Array:
        """log f(r): exponential factors contribute their exponents, so they cannot underflow."""
        factors = sympy.Mul.make_args(self.expr)
        exponents = [factor.exp for factor in factors if isinstance(factor, sympy.exp)]
        rest = [factor for factor in factors if not isinstance(factor, sympy.exp)]
        total = elementwise(sympy.Add(*exponents), (RADIUS,))(r)
        return total + jnp.log(elementwise(sympy.Mul(*rest), (RADIUS,), (0,))(r)) if rest else total

    def _derivative(self, order: int, r: ArrayLike) -> Array:
        return elementwise(_differentiated(self.expr, RADIUS, order), (RADIUS,), (0,))(r)


class CartesianExpression(_Formula, Potential):
    """Phi(theta, w) = f(theta - w) on R^d for a formula in `x1, ..., xd` with f(-x) = f(x).

    Only the coordinates that it names cost anything: d may be large.
    """

    kind: ClassVar[str] = "cartesian"
    variable: ClassVar[str] = "x"
    formula: str = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, formula: str, dim: int) -> None:
        self.formula = formula
        self.dim = check_dim(dim)
        if not _is_even(self.expr, self.symbols):
            raise BadExpression(
                f"the formula {formula[:60]!r} changes under x -> -x; "
                "a potential must be symmetric in its two charges: f(-x) = f(x)"
            )

    @property
    def axes(self) -> tuple[int, ...]:
        """The coordinates that occur in the formula, from 0 on, in order."""
        return tuple(sorted(int(symbol.name[1:]) - 1 for symbol in self.expr.free_symbols))

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbols x_i of `axes`."""
        return tuple(coordinate(axis) for axis in self.axes)

    @property
    def expr(self) -> sympy.Expr:
        """The formula as a SymPy expression in `symbols`."""
        return parse_formula(self.formula, (), self.dim)

    def value(self, displacement: ArrayLike) -> Array:
        """f at displacements of shape (..., d); shape (...)."""
        return self._at(self.expr, displacement)

    def gradient(self, displacement: ArrayLike) -> Array:
        """The gradient of f, shape (..., d)."""
        slopes = [self._at(derivative(self.expr, x), displacement) for x in self.symbols]
        whole = jnp.zeros(jnp.shape(displacement))
        return whole.at[..., np.array(self.axes)].set(jnp.stack(slopes, axis=-1))

    def laplacian(self, displacement: ArrayLike) -> Array:
        """sum_i d^2 f / dx_i^2, shape (...)."""
        curvature = sympy.Add(*(_differentiated(self.expr, x, 2) for x in self.symbols))
        return self._at(curvature, displacement)

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for positions of shape (..., d)."""
        return self.value(jnp.asarray(theta) - jnp.asarray(w))

    def gradient_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The gradient in theta, shape (..., d)."""
        return self.gradient(jnp.asarray(theta) - jnp.asarray(w))

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The Laplacian in theta."""
        return self.laplacian(jnp.asarray(theta) - jnp.asarray(w))

    @interruptible("splitting the formula into factors")
    def factors(self) -> list[RadialExpression] | None:
        """Those f_i on R^1, one for each of `axes`, with f(x) = prod_i f_i(|x_i|); None if none.

        A product of k factors has f(x)/f(0) = prod_i f(x_i e_i)/f(0), which is tried at random
        points. (f(0) is neither 0 nor infinite for any realizable potential other than 0.)
        """
        try:
            return self._factors()
        except TooMuchWork:
            raise
        except (TypeError, ValueError):  # SymPy at a singular point, or words that cannot be read
            return None

    def _factors(self) -> list[RadialExpression] | None:
        symbols = self.symbols
        zero = sympy.Integer(0)
        origin = self.expr.xreplace(dict.fromkeys(symbols, zero))
        if not origin.is_number or origin.has(sympy.nan, sympy.zoo, sympy.oo) or origin.is_zero:
            return None
        points = np.abs(_probes(len(symbols)))
        on_axes = [points * (np.arange(len(symbols)) == axis) for axis in range(len(symbols))]
        size = float(origin)
        with np.errstate(all="ignore"):
            whole = in_columns(self.expr, symbols, points) / size
            parts = [in_columns(self.expr, symbols, along) / size for along in on_axes]
            tiny = 1e-12 * np.nanmax(np.abs(whole), initial=0.0)
            if not np.allclose(np.prod(parts, axis=0), whole, rtol=1e-9, atol=tiny):
                return None
        pieces = _own_factors(self.expr, symbols)
        if pieces is None:
            pieces = []
            for axis, x in enumerate(symbols):
                along = {y: RADIUS if y == x else zero for y in symbols}
                piece = self.expr.xreplace(along) / (origin if axis else 1)
                pieces.append(sympy.powsimp(sympy.expand_mul(piece)))
        return [RadialExpression(str(piece), 1) for piece in pieces]

    def _at(self, expr: sympy.Expr, displacement: ArrayLike) -> Array:
        x = jnp.asarray(displacement, dtype=float)
        return elementwise(expr, self.symbols)(*(x[..., i] for i in self.axes))


def parse_potential(
    text: str, on: Literal["sphere", "space"] | str = "sphere", dim: int | None = None
) -> Potential:
    """The potential of a formula: in `rho` on the sphere; in `r` or `x1, ..., xd` on R^d.

    `dim` is d; it may be None on the sphere only.
    """
    if on == "sphere":
        return ZonalExpression(text, dim)
    if on != "space":
        raise UnknownName("manifold", str(on), ("sphere", "space"))
    dim = check_dim(dim)
    expr = parse_formula(text, (RADIUS,), dim)
    used = expr.free_symbols
    if used <= {RADIUS}:  # x1 - x1 is a constant
        return RadialExpression(text if used else str(expr), dim)
    if RADIUS in used:
        raise BadExpression(f"the formula {text[:60]!r} has both r and x1, ...; allowed: one kind")
    return CartesianExpression(text, dim)


def as_formula(expression: Any, on: str) -> str:
    """The text of a SymPy expression; its only symbol may have any name."""
    (symbol, *more) = sorted(expression.free_symbols, key=str) or [None]
    wanted = RHO if on == "sphere" else RADIUS
    if symbol is not None and not more and str(symbol) not in (wanted.name, "x1"):
        expression = expression.subs(symbol, wanted)
    return str(expression)


def _own_factors(expr: sympy.Expr, symbols: tuple[sympy.Symbol, ...]) -> list[sympy.Expr] | None:
    """The factor of each symbol, in `RADIUS`, where the formula is written as their product."""
    factors = []
    for factor in sympy.Mul.make_args(expr):
        terms = sympy.Add.make_args(factor.args[0]) if factor.func is sympy.exp else ()
        factors += [sympy.exp(term) for term in terms] if terms else [factor]
    own: dict[sympy.Symbol, list[sympy.Expr]] = {symbol: [] for symbol in symbols}
    for factor in factors:
        used = factor.free_symbols or {symbols[0]}
        if len(used) > 1:
            return None
        own[used.pop()].append(factor)
    pieces = [sympy.Mul(*own[x]).xreplace({x: RADIUS}) for x in symbols]
    zero = {RADIUS: sympy.Integer(0)}
    sizes = [piece.xreplace(zero) for piece in pieces[1:]]  # all but the first become 1 at 0
    rest = [piece / size for piece, size in zip(pieces[1:], sizes, strict=True)]
    return [pieces[0] * sympy.Mul(*sizes), *rest]


def _differentiated(expr: sympy.Expr, symbol: sympy.Symbol, order: int) -> sympy.Expr:
    for _ in range(order):
        expr = derivative(expr, symbol)
    return expr


def _probes(dim: int) -> np.ndarray:
    """Points at which identities are tried: fixed, generic, of several sizes; shape (60, dim)."""
    generator = np.random.default_rng(20180101)
    return generator.normal(size=(60, dim)) * np.geomspace(0.03, 3.0, 60)[:, None]


def _is_even(expr: sympy.Expr, symbols: tuple[sympy.Symbol, ...]) -> bool:
    points = _probes(len(symbols))
    there, back = (in_columns(expr, symbols, sign * points) for sign in (1, -1))
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(there), 1e-12 * np.nanmax(np.abs(there), initial=0.0))
        same = (there == back) | (np.abs(there - back) <= 1e-9 * scale)
    return bool(np.all(same | (np.isnan(there) & np.isnan(back))))
