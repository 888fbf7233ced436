"""The geometry of two weight vectors, in numbers from which nothing is lost.

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
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike

from earnshaw.numerics.half_turn import half_turn


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


def deficit(x: Array, y: Array) -> Array:
    """|x||y| - x.y for vectors (..., d) with x.y >= 0, from their difference.

    (|x||y| - x.y)(|x||y| + x.y) is the square of their wedge, which is that of x and y - x: |x|
    times the part of y - x across x. Vectors of different lengths are first made equally long,
    which costs a rounding of the angle of 1e-16.
    """
    q1, q2 = jnp.sum(x * x, axis=-1), jnp.sum(y * y, axis=-1)
    size1, size2 = jnp.sqrt(q1), jnp.sqrt(q2)
    alike = jnp.abs(size1 - size2) <= 0.01 * size1
    alike = alike | (q1 == 0) | (q2 == 0)
    ratio = jnp.where(alike, 1.0, size1 / jnp.where(alike, 1.0, size2))
    gap = ratio[..., None] * y - x
    across = gap - (jnp.sum(gap * x, axis=-1) / jnp.where(q1 > 0, q1, 1.0))[..., None] * x
    wedge_squared = q1 * jnp.sum(across * across, axis=-1) / ratio**2
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


area.defjvp(_area_jvp, symbolic_zeros=True)
angle.defjvp(_angle_jvp, symbolic_zeros=True)
inverse_wedge.defjvp(_inverse_wedge_jvp, symbolic_zeros=True)
