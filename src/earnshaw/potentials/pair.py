"""The geometry of two weight vectors, in numbers from which nothing is lost.

Two units theta, w see the input through u = X.theta and v = X.w, centred Gaussians with variances
q1 = |theta|^2, q2 = |w|^2 and covariance c = theta.w. The area |theta ^ w| = sqrt(q1 q2 - c^2) of
their parallelogram cannot be recovered from the other three in floating point when the vectors are
nearly parallel, so it is carried along as `wedge`.

Derivatives are taken in (q1, q2, c) only. `wedge` is a function of these, so it must be used
through `angle`, `area` and `inverse_wedge` below (or inside a custom derivative rule), never bare.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.numerics.autodiff import tangent


class Pair(NamedTuple):
    """q1 = |theta|^2, q2 = |w|^2, c = theta.w and wedge = sqrt(q1 q2 - c^2) >= 0."""

    q1: Array
    q2: Array
    c: Array
    wedge: Array

    @staticmethod
    def on_sphere(rho: ArrayLike, variance: float = 1.0) -> Pair:
        """Two vectors of squared norm `variance` with correlation `rho`."""
        rho = jnp.asarray(rho, dtype=float)
        size = jnp.full_like(rho, variance)
        wedge = variance * jnp.sqrt((1 - rho) * (1 + rho))
        return Pair(size, size, variance * rho, jax.lax.stop_gradient(wedge))

    @staticmethod
    def of_moments(q1: ArrayLike, q2: ArrayLike, c: ArrayLike) -> Pair:
        """From variances and covariance; near |rho| = 1 the angle is good to 1e-8 only."""
        q1, q2, c = (jnp.asarray(value, dtype=float) for value in (q1, q2, c))
        root = jnp.sqrt(q1 * q2)
        # Rounding can push |c| above sqrt(q1 q2); the vectors are parallel then.
        wedge = jnp.sqrt(jnp.maximum((root - c) * (root + c), 0.0))
        return Pair(q1, q2, c, jax.lax.stop_gradient(wedge))

    @staticmethod
    def of_vectors(theta: ArrayLike, w: ArrayLike) -> Pair:
        """From vectors of shape (..., d), with the angle right however small it is."""
        theta, w = jnp.asarray(theta, dtype=float), jnp.asarray(w, dtype=float)
        q1, q2 = jnp.sum(theta * theta, axis=-1), jnp.sum(w * w, axis=-1)
        c = jnp.sum(theta * w, axis=-1)
        size1, size2 = jnp.sqrt(q1), jnp.sqrt(q2)
        safe1, safe2 = jnp.where(q1 > 0, size1, 1.0), jnp.where(q2 > 0, size2, 1.0)
        first, second = theta / safe1[..., None], w / safe2[..., None]
        apart = jnp.linalg.norm(first - second, axis=-1)
        together = jnp.linalg.norm(first + second, axis=-1)
        # |e1 - e2| |e1 + e2| / 2 = sin t for unit vectors, without cancellation.
        wedge = 0.5 * apart * together * size1 * size2
        return Pair(q1, q2, c, jax.lax.stop_gradient(wedge))

    def scaled(self, variance: ArrayLike) -> Pair:
        """Both vectors times sqrt(variance): inputs of another width."""
        return Pair(*(jnp.asarray(variance) * entry for entry in self))


@jax.custom_jvp
def angle(q1: Array, q2: Array, c: Array, wedge: Array) -> Array:
    """t = atan2(wedge, c), the angle between the vectors, in [0, pi]."""
    return jnp.arctan2(wedge, c)


def _angle_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    q1, q2, c, _ = primals
    t, slope = angle(*primals), -inverse_wedge(*primals)
    return t, tangent(
        t,
        (lambda: slope, tangents[2]),
        (lambda: -slope * c / (2 * q1), tangents[0]),
        (lambda: -slope * c / (2 * q2), tangents[1]),
    )


@jax.custom_jvp
def area(q1: Array, q2: Array, c: Array, wedge: Array) -> Array:
    """sqrt(q1 q2 - c^2), the wedge itself, with its derivatives."""
    return wedge


def _area_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    q1, q2, c, wedge = primals
    inverse = inverse_wedge(*primals)
    return wedge, tangent(
        wedge,
        (lambda: -c * inverse, tangents[2]),
        (lambda: q2 * inverse / 2, tangents[0]),
        (lambda: q1 * inverse / 2, tangents[1]),
    )


@jax.custom_jvp
def inverse_wedge(q1: Array, q2: Array, c: Array, wedge: Array) -> Array:
    """1 / sqrt(q1 q2 - c^2); infinite for parallel vectors."""
    return 1 / wedge


def _inverse_wedge_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    q1, q2, c, _ = primals
    inverse = inverse_wedge(*primals)
    return inverse, tangent(
        inverse,
        (lambda: inverse**3 * c, tangents[2]),
        (lambda: -(inverse**3) * q2 / 2, tangents[0]),
        (lambda: -(inverse**3) * q1 / 2, tangents[1]),
    )


area.defjvp(_area_jvp, symbolic_zeros=True)
angle.defjvp(_angle_jvp, symbolic_zeros=True)
inverse_wedge.defjvp(_inverse_wedge_jvp, symbolic_zeros=True)
