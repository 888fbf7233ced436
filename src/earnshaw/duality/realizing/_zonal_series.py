"""What is known of the power series f(rho) = sum_n c_n rho^n of a potential on the sphere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import flint
import numpy as np
import sympy

from earnshaw.duality.formulas.expression import RHO
from earnshaw.duality.formulas.power_series import ball_taylor, degree_bound, exact_taylor
from earnshaw.duality.formulas.symbolic import numpy_function
from earnshaw.duality.potential import Zonal, ZonalMixture
from earnshaw.numerics.budget import TooMuchWork
from earnshaw.numerics.jax_as_numpy import as_numpy

DEGREE = 200
LARGE_DEGREE = 800
MAX_POLYNOMIAL = 1000
_EXACT_POLYNOMIAL = 120
_FLOAT_ERROR = 1e-12  # relative to the largest: what a library potential's coefficients may be off


class PowerSeries(NamedTuple):
    """c_0 .. c_N as floats, and as exact fractions or balls where known.

    `finite` says that f is the polynomial of these coefficients. A float c_n is 0 exactly where the
    coefficient is 0 or not known to differ from it.
    """

    values: np.ndarray
    sharp: Sequence[Any] | None
    finite: bool

    @property
    def degree(self) -> int:
        """N."""
        return len(self.values) - 1

    @property
    def first_negative(self) -> int | None:
        """The smallest n with c_n < 0."""
        negative = np.flatnonzero(self.values < 0)
        return int(negative[0]) if len(negative) else None

    def __call__(self, rho: np.ndarray) -> np.ndarray:
        """sum_(n <= N) c_n rho^n."""
        with np.errstate(all="ignore"):
            return np.polynomial.polynomial.polyval(rho, self.values)

    @property
    def is_complete(self) -> bool:
        """Whether what is cut off cannot be seen: a polynomial, or a tail that has died out."""
        tail = np.abs(self.values[-40:])
        return self.finite or bool(np.max(tail) <= 1e-25 * np.max(np.abs(self.values)))


def formula_of(potential: Zonal) -> sympy.Expr | None:
    """The SymPy form of f in `RHO`, where the potential, or each part of a mixture, has one."""
    if isinstance(potential, ZonalMixture):
        parts = [formula_of(part) for part in potential.parts]
        if any(part is None for part in parts):
            return None
        # repr, so that a weight typed as 0.1 is 1/10.
        factors = [sympy.Rational(repr(float(weight))) for weight in potential.weights]
        return sympy.Add(*(w * part for w, part in zip(factors, parts, strict=True)))
    return getattr(potential, "expr", None)


def power_series(potential: Zonal, expr: sympy.Expr | None, at_one: float) -> PowerSeries | None:
    """The series of `potential`, or None if unknown; `NoTaylorSeries` if there is none.

    From the formula: exact for polynomials, otherwise enclosures up to degree 200, or 800 where
    that many are needed to exhaust f(1). From a library potential: its own floats.
    """
    if expr is None:
        floats = potential.taylor(DEGREE + 1)
        if floats is None:
            return None
        values = np.array(floats, dtype=float)
        values[np.abs(values) <= _FLOAT_ERROR * np.max(np.abs(values))] = 0.0
        return PowerSeries(values, None, False)
    bound = degree_bound(expr, RHO)
    if bound is not None and bound <= _EXACT_POLYNOMIAL and _is_rational(expr):
        exact = exact_taylor(expr, RHO, bound + 1)
        fractions = [flint.fmpq(int(c.p), int(c.q)) for c in exact]
        return PowerSeries(np.array([float(c) for c in exact]), fractions, True)
    if bound is not None and bound <= MAX_POLYNOMIAL:
        return _from_balls(expr, bound, True)
    series = _from_balls(expr, DEGREE, False)
    if series.first_negative is None and _may_end(series):
        try:
            longer = _from_balls(expr, LARGE_DEGREE, False)
        except TooMuchWork:
            return series
        if longer.first_negative is not None or longer.is_complete:
            return longer
    return series


def _may_end(series: PowerSeries) -> bool:
    """Whether coefficients not yet small are still rising, or fall faster than any power of n."""
    c = series.values
    if series.is_complete:
        return False
    early, late = np.max(c[-40:-20], initial=0.0), np.max(c[-20:], initial=0.0)
    return bool(np.isfinite(late) and (np.argmax(c) > 0.7 * len(c) or late < 0.6 * early))


def _is_rational(polynomial: sympy.Expr) -> bool:
    """Whether only fractions appear; others, such as pi, would swell when expanded exactly."""
    return all(
        node == RHO or node.is_Rational or node.is_Add or node.is_Mul
        or (node.is_Pow and node.exp.is_Integer)
        for node in sympy.preorder_traversal(polynomial)
    )  # fmt: skip


def _from_balls(expr: sympy.Expr, degree: int, finite: bool) -> PowerSeries:
    balls = ball_taylor(expr, RHO, degree + 1)
    return PowerSeries(np.array([float(c) for c in balls]), balls, finite)


def as_function(potential: Zonal, expr: sympy.Expr | None) -> Callable[[np.ndarray], np.ndarray]:
    """f as a NumPy function of any shape: by its formula, with limits at holes, if it has one."""
    if expr is None:
        return as_numpy(potential.value)
    return numpy_function(expr, RHO, (-1, 0, 1))
