"""Potentials that are those of a named activation, up to a factor: 2 asin(rho)/pi is that of sign.

On the sphere a formula is compared with those of `closed_forms.py` at many rho, and what agrees is
then proved, if SymPy finds the difference to be 0. exp(a + g rho) is that of exp(b x + c) for every
g > 0. On R^d, exp(-c r^2/2) is that of a Gaussian, exp(-|x1| - ... - |xd|) that of Bessel
functions; there the formula itself must say so. A named activation is exact where a series in
Hermite polynomials would have to be cut, and a table be interpolated.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np
import sympy

from earnshaw.duality.activation import DotProduct, Scaled
from earnshaw.duality.closed_forms import ON_SPHERE
from earnshaw.duality.families.bessel import BesselPotential
from earnshaw.duality.families.exponentials import Exponential
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.duality.formulas.expression import (
    RADIUS,
    RHO,
    CartesianExpression,
    RadialExpression,
    ZonalExpression,
)
from earnshaw.duality.formulas.symbolic import at_points, ball, derivative
from earnshaw.duality.named import activation
from earnshaw.duality.potential import Potential, Zonal
from earnshaw.duality.realizing._zonal_series import as_function, formula_of
from earnshaw.duality.realizing.realization import Realization
from earnshaw.numerics.budget import TooMuchWork, interruptible

_GRID = np.cos(np.linspace(math.pi, 0.0, 101))
_MIDDLE = 50  # rho = 0
_GRID[_MIDDLE] = 0.0
_SAME = 1e-12  # of f(1): two formulas that differ by less are the same
_ROUNDING = 1e-15  # of the factor and its square, relative
_MAX_OPERATIONS = 60  # of a difference that SymPy may simplify


def recognized(result: Realization) -> Realization:
    """The same answer with the activation's name, if the potential on the sphere has one."""
    potential = result.potential
    assert isinstance(potential, Zonal)
    if result.realizable is False:
        return result
    expr = formula_of(potential)
    values = as_function(potential, expr)(_GRID)
    if expr is not None:  # the ends that factors come from, however badly the formula cancels
        values[-1], values[_MIDDLE] = (float(ball(expr, rho=place)) for place in (1, 0))
    top = float(values[-1])
    if not (np.all(np.isfinite(values)) and top > 0):
        return result
    for found, own, form in _candidates(values):
        gap = float(np.max(np.abs(own - values)))
        if gap > _SAME * top:
            continue
        proved = expr is not None and _same(expr, form)
        exponents = sum(abs(float(value)) for value in found.unscaled()[0].parameters().values())
        error = (1 + 2 * exponents) * _ROUNDING * top if proved else 2 * gap + 1e-14 * top
        how = "it is" if proved else "at 101 values of rho, to rounding, it is"
        return dataclasses.replace(
            result,
            realizable=True if proved else result.realizable,
            reason=f"{how} the potential of {found.name}; {_without_rest(result.reason)}",
            activation=found,
            check_error=error,
            check_is_bound=proved,
        )
    return result


def _without_rest(reason: str) -> str:
    """The reason without what lies beyond the last coefficient, which a name needs none of."""
    head, _, last = reason.rpartition("; ")
    return head if head and "lies beyond degree" in last else reason


def _candidates(
    values: np.ndarray,
) -> Iterator[tuple[DotProduct, np.ndarray, sympy.Expr | None]]:
    """Activations, their potentials on the grid, and the formula of these up to a factor.

    The formula of an exponential, of any rate, is None.
    """
    middle, top = float(values[_MIDDLE]), float(values[-1])
    if 0 < middle < top:
        rate = math.log(top / middle)
        shift = (math.log(middle) - rate) / 2
        yield Exponential(math.sqrt(rate), shift), middle * np.exp(rate * _GRID), None
    for name, text in ON_SPHERE.items():
        form = ZonalExpression(text).expr
        own = at_points(form, RHO, _GRID)
        factor = top / float(ball(form, rho=1))
        base = activation(name)
        assert isinstance(base, DotProduct)
        root = math.sqrt(factor)
        scaled = base if abs(root - 1) <= 4 * _ROUNDING else Scaled(base, root)
        yield scaled, factor * own, form


def _same(expr: sympy.Expr, form: sympy.Expr | None) -> bool:
    """Whether SymPy proves that `expr` is a multiple of `form`, or for None of an exponential."""
    try:
        return _proved(expr, form)
    except TooMuchWork:
        return False


@interruptible("comparing with known potentials")
def _proved(expr: sympy.Expr, form: sympy.Expr | None) -> bool:
    if form is None:
        return bool(sympy.simplify(derivative(expr, RHO) / expr).is_number)
    ratio = (expr / form).subs(RHO, 1)
    gap = (expr - ratio * form).replace(sympy.acos, lambda x: sympy.pi / 2 - sympy.asin(x))
    gap = sympy.expand(gap)
    if gap != 0 and sympy.count_ops(gap) <= _MAX_OPERATIONS:
        gap = sympy.simplify(gap)
    return bool(gap == 0)


def named_in_space(potential: Potential) -> Potential:
    """The library's own potential that a formula on R^d writes out; the same object if none."""
    if isinstance(potential, RadialExpression):
        exponent = _exponent(potential.expr)
        rate = None if exponent is None else sympy.expand(-2 * exponent / RADIUS**2)
        if rate is not None and rate.is_number and rate > 0:
            return GaussianPotential(potential.dim, float(rate))
    if isinstance(potential, CartesianExpression) and len(potential.axes) == potential.dim:
        exponent = _exponent(potential.expr)
        if exponent is not None and exponent == -sympy.Add(*map(sympy.Abs, potential.symbols)):
            return BesselPotential(potential.dim)
    return potential


def _exponent(expr: sympy.Expr) -> sympy.Expr | None:
    """g if the formula is exp(g), else None."""
    joined: Callable[[sympy.Expr], sympy.Expr] = sympy.powsimp
    expr = joined(expr)
    return expr.args[0] if expr.func is sympy.exp else None
