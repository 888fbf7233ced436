"""Two units: the geometry of their weight vectors, and the moment E[s(u) s(v)] as a function of it.

Two units theta, w see the input through u = X.theta and v = X.w, centred Gaussians with variances
q1 = |theta|^2, q2 = |w|^2 and covariance c = theta.w. With P = sqrt(q1 q2), the differences
low = P - c and high = P + c cannot be recovered from the other three in floating point when the
vectors are nearly parallel (or antiparallel), so they are carried along; the area of the
parallelogram is `wedge` = |theta ^ w| = sqrt(low high).

Derivatives are taken in (q1, q2, c), or, where they must be right for nearly parallel vectors too,
in (q1, q2, low) or (q1, q2, high): give the tangents of `low` and `high` then. Functions of the
angle depend on a change of the pair through two numbers only,

    stretch = (dq1/q1 + dq2/q2)/2 = dP/P,        turn = dc - c stretch = -wedge dt,

t the angle between the vectors; `changes` computes both without cancellation.

`Pair` holds the five numbers, from which nothing is lost; a `Moment` is what an activation makes of
them.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.numerics.exact_products import product_minus_square

_TERMS = 13
_OCTANT = math.sqrt(2) - 1  # tan(pi/8)

# For `Moment.kink`: where 1 - |rho| is larger, second derivatives are right to 1e-10 without `low`
# and `high`.
JUMP = 1e-6  # if s jumps (sign, step)
CORNER = 1e-8  # if s has a corner, or less: its first derivative is finite

EPS = 2.0**-52  # the spacing of float64 at 1: twice its relative rounding error
ROUNDING = 1e-14  # 45 EPS
UNDERFLOW = 1e-300  # absolute: below it numbers lose digits
SHORTEST, LONGEST = 1e-50, 1e50  # norms whose sixth powers are within float64's range


class Pair(NamedTuple):
    """q1 = |theta|^2, q2 = |w|^2, c = theta.w, low = |theta||w| - c, high = |theta||w| + c."""

    q1: Array
    q2: Array
    c: Array
    low: Array
    high: Array

    @property
    def wedge(self) -> Array:
        """sqrt(q1 q2 - c^2); for values only, derivatives go through `area`."""
        return jnp.sqrt(self.low * self.high)

    @staticmethod
    def on_sphere(rho: ArrayLike, variance: float = 1.0) -> Pair:
        """Two vectors of squared norm `variance` with correlation `rho`."""
        rho = jnp.asarray(rho, dtype=float)
        size = jnp.full_like(rho, variance)
        fixed = jax.lax.stop_gradient(rho)
        return Pair(size, size, variance * rho, variance * (1 - fixed), variance * (1 + fixed))

    @staticmethod
    def of_moments(q1: ArrayLike, q2: ArrayLike, c: ArrayLike) -> Pair:
        """From variances and covariance; near |rho| = 1 the angle is good to 1e-8 only."""
        q1, q2, c = (jnp.asarray(value, dtype=float) for value in (q1, q2, c))
        size, fixed = jax.lax.stop_gradient((jnp.sqrt(q1) * jnp.sqrt(q2), c))
        # Rounding can push |c| above sqrt(q1 q2); the vectors are parallel then.
        return Pair(q1, q2, c, jnp.maximum(size - fixed, 0.0), jnp.maximum(size + fixed, 0.0))

    @staticmethod
    def of_exact_moments(q1: ArrayLike, q2: ArrayLike, c: ArrayLike) -> Pair:
        """The same with the angle right however small it is, for numbers that are exactly these.

        low high = q1 q2 - c^2, in which all digits of the two products can cancel: it is summed
        in twice the precision.
        """
        q1, q2, c = (jnp.asarray(value, dtype=float) for value in (q1, q2, c))
        size, fixed = jax.lax.stop_gradient((jnp.sqrt(q1) * jnp.sqrt(q2), jnp.abs(c)))
        large = size + fixed
        near = jnp.maximum(jax.lax.stop_gradient(product_minus_square(q1, q2, c)), 0.0)
        small = jnp.where(large > 0, near / jnp.where(large > 0, large, 1.0), 0.0)
        return Pair(q1, q2, c, jnp.where(c < 0, large, small), jnp.where(c < 0, small, large))

    @staticmethod
    def of_vectors(theta: ArrayLike, w: ArrayLike) -> Pair:
        """From vectors of shape (..., d), with the angle right however small it is."""
        theta, w = jnp.asarray(theta, dtype=float), jnp.asarray(w, dtype=float)
        q1, q2 = jnp.sum(theta * theta, axis=-1), jnp.sum(w * w, axis=-1)
        c = jnp.sum(theta * w, axis=-1)
        side = jnp.where(c < 0, -1.0, 1.0)[..., None]
        small = jax.lax.stop_gradient(deficit(theta, side * w))
        large = jax.lax.stop_gradient(jnp.sqrt(q1) * jnp.sqrt(q2) + jnp.abs(c))
        return Pair(q1, q2, c, jnp.where(c < 0, large, small), jnp.where(c < 0, small, large))

    def scaled(self, variance: ArrayLike) -> Pair:
        """Both vectors times sqrt(variance): inputs of another width."""
        return Pair(*(jnp.asarray(variance) * entry for entry in self))

    def opposite(self) -> Pair:
        """The pair (theta, -w)."""
        return Pair(self.q1, self.q2, -self.c, self.high, self.low)


def value_and_slope(function: Callable[[Array], Array], at: Array) -> tuple[Array, Array]:
    """An elementwise function and its derivative in one argument."""
    return jax.jvp(function, (at,), (jnp.ones_like(at),))


def root(q: Array) -> Array:
    """sqrt(q), constant at 0: a vector of length zero has no direction to grow in."""
    return jnp.where(q > 0, jnp.sqrt(jnp.where(q > 0, q, 1.0)), 0.0)


def deficit(x: Array, y: Array) -> Array:
    """|x||y| - x.y for vectors (..., d) with x.y >= 0, from their difference.

    (|x||y| - x.y)(|x||y| + x.y) is the square of their wedge, which is that of x and y - x: |x|
    times the part of y - x across x. Vectors of different lengths are first made equally long,
    which costs a rounding of the angle of 1e-16. A part that is no more than the rounding of the
    difference is 0: parallel vectors must be exactly that, since second derivatives of a kink are
    as large as the angle is small.
    """
    q1, q2 = jnp.sum(x * x, axis=-1), jnp.sum(y * y, axis=-1)
    size1, size2 = jnp.sqrt(q1), jnp.sqrt(q2)
    alike = jnp.abs(size1 - size2) <= 0.01 * size1
    alike = alike | (q1 == 0) | (q2 == 0)
    ratio = jnp.where(alike, 1.0, size1 / jnp.where(alike, 1.0, size2))
    gap = ratio[..., None] * y - x
    across = gap - (jnp.sum(gap * x, axis=-1) / jnp.where(q1 > 0, q1, 1.0))[..., None] * x
    square = jnp.sum(across * across, axis=-1)
    rounding = (2 * EPS) ** 2 * (jnp.sum(gap * gap, axis=-1) + jnp.where(alike, 0.0, q1))
    wedge_squared = q1 * jnp.where(square > rounding, square, 0.0) / ratio**2
    total = size1 * size2 + jnp.sum(x * y, axis=-1)
    return jnp.where((q1 > 0) & (q2 > 0), wedge_squared / jnp.where(total > 0, total, 1.0), 0.0)


class Change(NamedTuple):
    """How a pair changes: `stretch` and `turn` of the module's docstring, both linear in tangents.

    `given` says whether the tangents of low and high were: then `turn` is right for nearly parallel
    vectors, and for parallel ones exactly 0.
    """

    stretch: Array | None  # None, not an array of zeros, if nothing does: 0 times infinity is NaN
    turn: Array
    given: bool

    def turned(self, rate: Array) -> Array:
        """rate * turn. An infinite rate (parallel vectors) makes that infinite, or 0 if `given`."""
        return (jnp.where(jnp.isfinite(rate), rate, 0.0) if self.given else rate) * self.turn

    def stretched(self, rate: Array) -> Array:
        """rate * stretch, with the same convention."""
        if self.stretch is None:
            return jnp.zeros_like(self.turn)
        return (jnp.where(jnp.isfinite(rate), rate, 0.0) if self.given else rate) * self.stretch


def changes(primals: tuple, tangents: tuple) -> Change:
    """The change of a pair with these tangents, for rules with ``symbolic_zeros=True``.

    Vectors of length zero have no stretch.
    """
    q1, q2, c, low, high = primals
    terms = [
        jnp.where(q > 0, moved / (2 * jnp.where(q > 0, q, 1.0)), 0.0)
        for q, moved in ((q1, tangents[0]), (q2, tangents[1]))
        if not isinstance(moved, SymbolicZero)
    ]
    stretch = sum(terms[1:], start=terms[0]) if terms else None
    along = [0.0 if stretch is None else size * stretch for size in (c, low, high)]
    if not isinstance(tangents[3], SymbolicZero):
        turn = jnp.where(low <= high, along[1] - tangents[3], tangents[4] - along[2])
        return Change(stretch, turn, True)
    if isinstance(tangents[2], SymbolicZero):
        return Change(stretch, jnp.zeros_like(c) - along[0], False)
    return Change(stretch, tangents[2] if stretch is None else tangents[2] - along[0], False)


@jax.custom_jvp
def angle(q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """t, the angle between the vectors, in [0, pi]; pi/2 if one of them is zero."""
    return half_turn(jnp.sqrt(low * high), c)


def _angle_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return angle(*primals), -changes(primals, tangents).turned(inverse_wedge(*primals))


@jax.custom_jvp
def area(q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """sqrt(q1 q2 - c^2), the wedge itself, with its derivatives."""
    return jnp.sqrt(low * high)


def _area_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    change, wedge = changes(primals, tangents), area(*primals)
    return wedge, change.stretched(wedge) - change.turned(primals[2] * inverse_wedge(*primals))


@jax.custom_jvp
def inverse_wedge(q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """1 / sqrt(q1 q2 - c^2); infinite for parallel vectors."""
    return 1 / jnp.sqrt(low * high)


def _inverse_wedge_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    change, inverse = changes(primals, tangents), inverse_wedge(*primals)
    return inverse, change.turned(inverse**3 * primals[2]) - change.stretched(inverse)


@jax.custom_jvp
def gram(q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """q1 q2 - c^2, as low high: right relative to itself however near the vectors are."""
    return low * high


@gram.defjvp
def _gram_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    q1, q2, c = primals[:3]
    return gram(*primals), q2 * tangents[0] + q1 * tangents[1] - 2 * c * tangents[2]


@jax.custom_jvp
def half_distance(q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """|theta - w|^2 / 2 = (q1 + q2)/2 - c, as (|theta| - |w|)^2/2 + low: nothing cancels."""
    total = jnp.sqrt(q1) + jnp.sqrt(q2)
    gap = (q1 - q2) / jnp.where(total > 0, total, 1.0)
    return gap * gap / 2 + low


@half_distance.defjvp
def _half_distance_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return half_distance(*primals), (tangents[0] + tangents[1]) / 2 - tangents[2]


area.defjvp(_area_jvp, symbolic_zeros=True)
angle.defjvp(_angle_jvp, symbolic_zeros=True)
inverse_wedge.defjvp(_inverse_wedge_jvp, symbolic_zeros=True)


def half_turn(y: Array, x: Array) -> Array:
    """atan2(y, x) for y >= 0, in [0, pi], to 5e-16; pi/2 at the origin, where it is undefined.

    Ten times faster than a library's atan2: XLA calls the scalar one of the C library once an
    element, while what follows has no call and no branch, so the compiler vectorises it. With
    a = min(y, |x|) and b = max(y, |x|) the octant angle is atan(a/b) if a/b <= tan(pi/8), else
    pi/4 + atan((a - b)/(a + b)): either way the argument z is at most tan(pi/8) in size, where
    atan(z)/z is a polynomial of degree 12 in z^2 to rounding (a Chebyshev fit in 40-digit
    arithmetic, done once).
    """
    across = jnp.abs(x)
    small, large = jnp.minimum(y, across), jnp.maximum(y, across)
    steep, origin = small > _OCTANT * large, large == 0
    above = jnp.where(steep, small - large, small)
    below = jnp.where(origin, 1.0, jnp.where(steep, small + large, large))
    z = above / below
    square = z * z
    highest, *rest = _coefficients()
    series = jnp.full_like(square, highest)
    for coefficient in rest:
        series = series * square + coefficient
    upright = (y > across) | origin
    start = jnp.where(steep, math.pi / 4, jnp.where(upright, math.pi / 2, 0.0))
    start = jnp.where(x < 0, math.pi - start, start)
    return start + jnp.where(upright != (x < 0), -z, z) * series


@lru_cache(maxsize=1)
def _coefficients() -> tuple[float, ...]:
    """Those of atan(z)/z in powers of z^2 on [0, tan(pi/8)^2], the highest first."""
    import mpmath

    with mpmath.workdps(40):

        def ratio(square: mpmath.mpf) -> mpmath.mpf:
            z = mpmath.sqrt(square)
            return mpmath.atan(z) / z if z else mpmath.mpf(1)

        return tuple(
            map(float, mpmath.chebyfit(ratio, [0, mpmath.tan(mpmath.pi / 8) ** 2], _TERMS))
        )


class Moment(eqx.Module):
    """E[s(u) s(v)] for one activation s.

    Errors are bounded relative to the largest value there can be at these norms,
    sqrt(E[s(u)^2] E[s(v)^2]) (Cauchy-Schwarz): near a zero of the moment no number is right
    relative to itself. `tests/duality/bounds_fuzz.py` compares every bound with 60 digits.
    """

    @property
    def method(self) -> str:
        """How it is computed."""
        return "closed form"

    def bound(self, variance: float) -> float | None:
        """A bound on the absolute error for two vectors of squared norm `variance`, or None."""
        return float(_error_at(self, jnp.asarray(variance)))

    def estimate(self, variance: float) -> float | None:
        """The estimated absolute error on the sphere: the bound where there is one."""
        return self.bound(variance)

    @abc.abstractmethod
    def __call__(self, pair: Pair) -> Array:
        """E[s(u) s(v)], elementwise over the pair's entries."""

    def error_at(self, q1: Array, q2: Array) -> Array:
        """A bound (for a black box, an estimate) on the error at any norms, whatever c is.

        Infinite for norms outside 1e-50 .. 1e50, where powers of them leave the range of float64.
        """
        sizes = [jnp.sqrt(self(Pair(q, q, q, 0 * q, 2 * q))) for q in (q1, q2)]
        inside = [(q == 0) | ((q >= SHORTEST**2) & (q <= LONGEST**2)) for q in (q1, q2)]
        error = self.relative_error(q1, q2) * sizes[0] * sizes[1] + UNDERFLOW
        return jnp.where(inside[0] & inside[1] & ~jnp.isnan(error), error, jnp.inf)

    def relative_error(self, q1: Array, q2: Array) -> ArrayLike:
        """The error over sqrt(E[s(u)^2] E[s(v)^2]): 45 EPS, unless a formula needs more."""
        return ROUNDING

    def for_many_pairs(self) -> Moment:
        """The same, prepared to be evaluated at many pairs; overridden where that is faster."""
        return self

    def on_sphere(self, rho: Array, variance: float) -> Array:
        """The same for two vectors of squared norm `variance`; overridden where that is faster."""
        return self(Pair.on_sphere(rho, variance))

    def on_cap(self, pair: Pair, variance: float) -> Array:
        """`on_sphere` for a pair whose small angle is given; overridden where there is no kink."""
        return self(pair)

    @property
    def degree(self) -> int | None:
        """n if s is homogeneous, s(r x) = r^n s(x) for r > 0; else None."""
        return None

    @property
    def kink(self) -> float:
        """Below which 1 - |rho| the pair's own `low` and `high` are needed; 0 for smooth s.

        A jump of s or s' makes the moment a function of the angle, which (q1, q2, c) do not give to
        full accuracy for nearly parallel vectors.
        """
        return 0.0

    @property
    def linear_factor(self) -> float | None:
        """Of the `linear_parts`; None where there are none."""
        return None

    def linear_parts(self, pair: Pair) -> tuple[Array, Array]:
        """(slope, rest): the moment is linear_factor (slope c + rest), slope its derivative in c.

        Given where it saves work, since sums of slope c over pairs are inner products of sums of
        slope times a vector.
        """
        raise NotImplementedError

    @property
    def scratch(self) -> int:
        """How many numbers a pair needs while it is computed, for those who choose tile sizes."""
        return 1

    def taylor(self, count: int, variance: float) -> Any:
        """The coefficients of E[s(u) s(v)] in powers of rho at fixed norms, or None."""
        return None


class Multiple(Moment):
    """factor * E[s(u) s(v)]."""

    form: Moment
    factor: float

    def __call__(self, pair: Pair) -> Array:
        """factor times the moment."""
        return self.factor * self.form(pair)

    def error_at(self, q1: Array, q2: Array) -> Array:
        """That of the moment, and one more rounding."""
        return 1.05 * self.factor * self.form.error_at(q1, q2)


@eqx.filter_jit
def _error_at(form: Moment, q: Array) -> Array:
    """One program, where each operation by itself would be one."""
    return form.error_at(q, q)
