"""Which activation has a given potential f(rho) on the sphere: Theorem B.2, and its converse.

If s = sum_n sqrt(c_n) he_n, he_n the Hermite polynomials orthonormal under N(0, 1) and the sum from
n = 0 (mathematics.md, error 8), then E[s(X.theta) s(X.w)] = sum_n c_n rho^n for unit vectors. So f
is realizable by a dot-product activation if f(1) is finite and every Taylor coefficient is >= 0;
and only then, since the dual of any activation is such a sum, c_n its squared Hermite coefficients.

`realize_zonal` answers with the activation and how far its dual is from f, or with what forbids
one: the coefficient that is negative and, where one of moderate size exists, points and weights at
which an expectation of a square would have to be negative. Being positive semidefinite on one
S^(d-1) is a weaker property, and is answered apart.

The dual of s is sum_n a_n^2 rho^n with the floats a_n, so on [-1, 1] it differs from f by at most
sum_(n <= N) |c_n - a_n^2| + sum_(n > N) |c_n|. The first sum comes from enclosures of the c_n; the
second is 0 for a polynomial, and f(1) - sum_(n <= N) c_n where a proof says that all c_n >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import flint
import jax.numpy as jnp
import numpy as np
import sympy

from earnshaw.duality.families.hermite import HermiteSum
from earnshaw.duality.formulas.expression import RHO
from earnshaw.duality.formulas.power_series import NoTaylorSeries
from earnshaw.duality.formulas.symbolic import ball, is_huge
from earnshaw.duality.potential import Zonal
from earnshaw.duality.realizing._absolutely_monotone import proof_of_monotonicity
from earnshaw.duality.realizing._gegenbauer import GegenbauerSeries, from_taylor, from_values
from earnshaw.duality.realizing._witness import Function, Witness, find_witness, find_witness_above
from earnshaw.duality.realizing._zonal_series import (
    PowerSeries,
    as_function,
    formula_of,
    power_series,
)
from earnshaw.duality.realizing.realization import Obstruction, ObstructionKind, Realization
from earnshaw.limits import check_dim
from earnshaw.numerics.budget import TooMuchWork

_GRID = np.cos(np.linspace(math.pi, 0.0, 401))
_TINY = 1e-9  # of f(1): what may be left beyond the last coefficient looked at
_INVISIBLE = 1e-13  # of f(1): a coefficient this small is lost in the rounding of any form
_NEARBY = 6  # dimensions above d that are searched for a witness of any shape


class _Fault(NamedTuple):
    kind: ObstructionKind
    location: float
    value: float


class _Answer(NamedTuple):
    """Yes, no, or None for inconclusive; why; for "no", what is negative; whether it is proved."""

    holds: bool | None
    reason: str
    fault: _Fault | None = None
    proved: bool = False


def realize_zonal(potential: Zonal, dim: int | None = None) -> Realization:
    """An activation whose dual is `potential`, or why there is none.

    `dim` (by default the potential's) is the d of the S^(d-1) on which `positive_semidefinite` is
    answered. The witness of the obstruction lives there if f is not even a kernel on S^(d-1), and
    otherwise in a higher dimension, which a dot-product activation would have to serve as well.

    Where the series had to be cut, `check_error` includes what was cut off: it is a bound for
    polynomials and where all coefficients are proved to be >= 0. An inconclusive answer comes with
    the activation of the coefficients that were seen.
    """
    dim = potential.dim if dim is None else check_dim(dim, 2)
    expr = formula_of(potential)
    f = as_function(potential, expr)
    answer, series = _dot_product(potential, expr, f)
    kernel = _kernel(f, series, answer, dim)
    if kernel.holds is False and answer.holds is None:
        answer = _Answer(
            False, f"a dual is a kernel on every sphere, but {kernel.reason}", kernel.fault
        )

    witness = None
    if dim is not None and _is_visible(kernel.fault, f):
        witness = _searched(lambda: find_witness(f, dim))
    psd_obstruction = _obstruction(kernel.fault, witness, dim)
    if answer.holds is False and witness is None and _is_visible(answer.fault, f):
        witness = _searched(lambda: _witness_above(f, series, dim))
    obstruction = _obstruction(answer.fault, witness, dim)

    activation, error, is_bound = None, None, False
    if answer.holds is not False and series is not None and np.all(np.isfinite(series.values)):
        activation = _activation(series)
        error, is_bound = _check_error(activation, series, f, expr, answer.proved)
    return Realization(
        potential=potential,
        realizable=answer.holds,
        reason=answer.reason + _in_words(obstruction),
        activation=activation,
        obstruction=obstruction,
        check_error=error,
        check_is_bound=is_bound,
        positive_semidefinite=kernel.holds,
        positive_semidefinite_reason=kernel.reason + _in_words(psd_obstruction),
        psd_obstruction=psd_obstruction,
    )


# -- is it a dual? -------------------------------------------------------------------------------


def _dot_product(
    potential: Zonal, expr: sympy.Expr | None, f: Function
) -> tuple[_Answer, PowerSeries | None]:
    """Whether every Taylor coefficient is >= 0 and f is the sum of its series on [-1, 1]."""
    values = f(_GRID)
    try:
        series = power_series(potential, expr, float(values[-1]))
    except NoTaylorSeries as error:
        reason = f"{error}, but a dual is analytic in (-1, 1)"
        return _Answer(False, reason, _Fault("not-analytic", 0.0, 0.0)), None
    except TooMuchWork as failure:
        return _Answer(None, f"inconclusive: {failure}"), None
    if not np.all(np.isfinite(values)):
        place = float(_GRID[~np.isfinite(values)][-1])
        if expr is not None and is_huge(expr, place):
            return _Answer(None, "inconclusive: its values leave the range of float64"), None
        kind: ObstructionKind = "unbounded" if np.isinf(values).any() else "not-analytic"
        reason = f"f is not finite at rho = {place:.3g}, but a dual is finite on [-1, 1]"
        return _Answer(False, reason, _Fault(kind, place, math.inf)), None
    if series is None:
        return _Answer(None, "the Taylor coefficients of this potential are not known"), None
    negative = series.first_negative
    if negative is not None:
        value = float(series.values[negative])
        reason = f"the Taylor coefficient of rho^{negative} is {value:.6g} < 0"
        return _Answer(False, reason, _Fault("negative-coefficient", negative, value)), series
    if series.finite:
        return _Answer(True, "f is a polynomial with coefficients >= 0", proved=True), series
    return _non_negative_so_far(expr, series, values), series


def _non_negative_so_far(
    expr: sympy.Expr | None, series: PowerSeries, values: np.ndarray
) -> _Answer:
    """The verdict when c_0 .. c_N >= 0: is f their sum, and what about the rest?"""
    scale = max(abs(float(values[-1])), 1e-300)
    rest = float(values[-1] - series(np.array(1.0)))
    # With all c_n >= 0 the tail at rho is at most rest |rho|^(N+1): if not, f is another function.
    gap = np.abs(values - series(_GRID)) - max(rest, 0.0) * np.abs(_GRID) ** (series.degree + 1)
    worst = int(np.argmax(gap))
    if gap[worst] > _TINY * scale:
        place, size = float(_GRID[worst]), float(gap[worst])
        reason = (
            f"f is not the sum of its Taylor series at 0: they differ by {size:.2g} at rho = "
            f"{place:.3g}, but a dual is analytic in (-1, 1)"
        )
        return _Answer(False, reason, _Fault("not-analytic", place, size))
    try:
        proof = None if expr is None else proof_of_monotonicity(expr)
    except TooMuchWork:
        proof = None
    share = f"{rest:.1e}" if rest > 1e-15 * scale else "nothing visible"
    left = f"{share} of f(1) = {values[-1]:.6g} lies beyond degree {series.degree}"
    if proof is not None:
        reason = f"every Taylor coefficient is >= 0: {proof}; {left}"
        return _Answer(True, reason, proved=True)
    seen = f"the Taylor coefficients are >= 0 up to degree {series.degree}"
    if abs(rest) <= _TINY * scale:
        return _Answer(True, f"{seen}, and {left}")
    return _Answer(None, f"{seen}, but {left} and no proof covers that part")


# -- is it a kernel on S^(d-1)? ------------------------------------------------------------------


def _kernel(f: Function, series: PowerSeries | None, dual: _Answer, dim: int | None) -> _Answer:
    if dual.holds:
        return _Answer(True, "a dual is positive semidefinite on every sphere")
    if dim is None:
        return _Answer(None, "that depends on the dimension, which was not given")
    sphere = f"S^{dim - 1}"
    if not _is_finite(f):
        return _Answer(None, "f is not finite on [-1, 1]")
    try:
        found = _gegenbauer(f, series, dim)
    except TooMuchWork as failure:
        return _Answer(None, f"inconclusive: {failure}")
    if len(found.values) == 0:
        return _Answer(None, f"the Gegenbauer coefficients on {sphere} are out of reach")
    worst = found.first_negative
    if worst is not None:
        value = float(found.values[worst])
        reason = f"the Gegenbauer coefficient of degree {worst} on {sphere} is {value:.6g} < 0"
        return _Answer(False, reason, _Fault("negative-gegenbauer", worst, value))
    last = len(found.values) - 1
    if series is not None and series.finite:
        return _Answer(True, f"every Gegenbauer coefficient on {sphere} is >= 0")
    seen = f"the Gegenbauer coefficients on {sphere} are >= 0 up to degree {last}"
    if found.is_whole:
        return _Answer(True, f"{seen}, and nothing visible of f(1) lies beyond")
    return _Answer(None, f"{seen}, but {abs(found.rest):.1e} of f(1) lies beyond")


def _gegenbauer(f: Function, series: PowerSeries | None, dim: int) -> GegenbauerSeries:
    """From the power series where it is complete and f is its sum, which has no rounding."""
    if series is None or series.sharp is None or not series.is_complete:
        return from_values(f, dim)
    same = series.finite or np.allclose(series(_GRID), f(_GRID), rtol=1e-9, atol=1e-12)
    return from_taylor(series.sharp, dim) if same else from_values(f, dim)


# -- witnesses -----------------------------------------------------------------------------------


def _searched(search: Callable[[], Witness | None]) -> Witness | None:
    """What a search finds; nothing if the time is over. The verdict stands without it."""
    try:
        return search()
    except TooMuchWork:
        return None


def _witness_above(f: Function, series: PowerSeries | None, dim: int | None) -> Witness | None:
    """A witness in a dimension above d, or in any if none was asked about: the smallest found."""
    low = 2 if dim is None else dim + 1
    blocks = find_witness_above(f, low - 1)
    high = low + _NEARBY if blocks is None else min(low + _NEARBY, blocks.dim)
    for larger in range(low, high):
        found = _gegenbauer(f, series, larger)
        worst = found.first_negative
        if worst is not None and found.values[worst] < -_INVISIBLE * abs(f(np.ones(1))[0]):
            nearby = find_witness(f, larger)
            if nearby is not None:
                return nearby
    return blocks


def _obstruction(
    fault: _Fault | None, witness: Witness | None, dim: int | None
) -> Obstruction | None:
    if fault is None:
        return None
    kind, location, value = fault
    if witness is None:
        return Obstruction(kind, float(location), value, dim or 2)
    return Obstruction(kind, float(location), value, witness.dim, witness.points, witness.weights)


def _in_words(obstruction: Obstruction | None) -> str:
    if obstruction is None or obstruction.points is None:
        return ""
    count = len(obstruction.points)
    plural = "point" if count == 1 else "points"
    return f"; witness: {count} {plural} on S^{obstruction.dim - 1} with a negative quadratic form"


# -- the activation ------------------------------------------------------------------------------


def _activation(series: PowerSeries) -> HermiteSum:
    """sum_n sqrt(c_n) he_n, without the coefficients too small to be seen in f."""
    visible = np.flatnonzero(series.values > 1e-17 * np.sum(series.values))
    last = int(visible[-1]) if len(visible) else 0
    return HermiteSum(jnp.sqrt(jnp.asarray(series.values[: last + 1])))


def _check_error(
    activation: HermiteSum,
    series: PowerSeries,
    f: Function,
    expr: sympy.Expr | None,
    proved: bool,
) -> tuple[float | None, bool]:
    """How far the dual of `activation` is from f on [-1, 1], and whether that is a bound."""
    own = np.zeros(series.degree + 1)
    roots = np.asarray(activation.coefficients)
    own[: len(roots)] = roots
    if series.sharp is not None and proved:
        with flint.ctx.workprec(512):
            sharp = [flint.arb(c) for c in series.sharp]
            rest = flint.arb(0) if series.finite else _at_one(expr) - sum(sharp, flint.arb(0))
            off = sum((abs(c - flint.arb(a) ** 2) for c, a in zip(sharp, own, strict=True)), rest)
            # A coefficient that could not be told from 0, to 1e-40 of the largest, is in no ball.
            exact = isinstance(series.sharp[0], flint.fmpq)
            unseen = 0.0 if exact else 1e-39 * len(own) * float(np.max(np.abs(series.values)))
            above = 0.0 if off.is_zero() else math.nextafter(float(off.upper()), math.inf)
            bound = above + unseen
        if math.isfinite(bound):
            return bound, True
    # Without enclosures: what is seen on a grid, twice, and the rounding of both sides.
    with np.errstate(all="ignore"):
        dual, given = np.polynomial.polynomial.polyval(_GRID, own**2), f(_GRID)
    error = 2 * float(np.max(np.abs(dual - given))) + 1e-14 * float(np.max(np.abs(given)))
    return (error if math.isfinite(error) else None), False


def _at_one(expr: sympy.Expr | None) -> flint.arb:
    return flint.arb("nan") if expr is None else ball(expr, 512, **{RHO.name: 1})


def _is_visible(fault: _Fault | None, f: Function) -> bool:
    """Whether a search for a witness has a chance."""
    if fault is None or not _is_finite(f):
        return False
    named = fault.kind in ("negative-coefficient", "negative-gegenbauer")
    return not named or fault.value < -_INVISIBLE * abs(float(f(np.ones(1))[0]))


def _is_finite(f: Function) -> bool:
    return bool(np.all(np.isfinite(f(_GRID))))
