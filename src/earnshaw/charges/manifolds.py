"""Where units live: R^d, or each on its own unit sphere S^(d-1).

Positions have shape (k, d), one unit a row; every function acts on each row alone. Gradients and
Hessians given to `gradient` and `hvp` are the Euclidean ones of a function on R^d that extends the
one on the manifold.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.errors import EarnshawError, UnknownName

LARGEST = 1e75  # of a coordinate: |theta|^2 |w|^2 is finite in float64
TOLERANCE = 1e-8  # how far from 1 the norm of a unit on the sphere may be


class Manifold(eqx.Module):
    """Not constructed directly: see `Space` and `Sphere`."""

    name: ClassVar[str]

    @abc.abstractmethod
    def project(self, points: Array) -> Array:
        """The nearest point of the manifold to each row of `points`."""

    @abc.abstractmethod
    def tangent(self, positions: Array, vectors: Array) -> Array:
        """The part of `vectors` that is tangent to the manifold at `positions`."""

    @abc.abstractmethod
    def retract(self, positions: Array, step: Array) -> Array:
        """Where a tangent `step` leads: agrees with the geodesic to second order."""

    @abc.abstractmethod
    def gradient(self, positions: Array, gradient: Array) -> Array:
        """The Riemannian gradient, from the Euclidean one."""

    @abc.abstractmethod
    def hvp(self, positions: Array, direction: Array, gradient: Array, hvp: Array) -> Array:
        """The Riemannian Hessian applied to a tangent `direction`.

        From the Euclidean gradient, and the Euclidean Hessian applied to the same direction.
        """

    @abc.abstractmethod
    def basis(self, positions: Array) -> Array:
        """An orthonormal basis of each tangent space, shape (k, d, its dimension)."""

    @abc.abstractmethod
    def check(self, positions: Array, what: str) -> None:
        """Refuse `positions` that are not on the manifold."""


class Space(Manifold):
    """R^d."""

    name: ClassVar[str] = "space"

    def project(self, points: Array) -> Array:
        return points

    def tangent(self, positions: Array, vectors: Array) -> Array:
        return vectors

    def retract(self, positions: Array, step: Array) -> Array:
        return positions + step

    def gradient(self, positions: Array, gradient: Array) -> Array:
        return gradient

    def hvp(self, positions: Array, direction: Array, gradient: Array, hvp: Array) -> Array:
        return hvp

    def basis(self, positions: Array) -> Array:
        units, dim = positions.shape
        if isinstance(positions, jax.core.Tracer):
            return jnp.broadcast_to(jnp.eye(dim), (units, dim, dim))
        return jnp.asarray(np.broadcast_to(np.eye(dim), (units, dim, dim)))  # compiles nothing

    def check(self, positions: Array, what: str) -> None:
        return None


class Sphere(Manifold):
    """S^(d-1), the unit vectors of R^d; each unit moves on its own sphere."""

    name: ClassVar[str] = "sphere"

    def project(self, points: Array) -> Array:
        """x / |x|; the origin, from which every point is equally far, goes to the first axis."""
        # The answer does not depend on the scale, which keeps squares from over- and underflowing.
        scale = jax.lax.stop_gradient(jnp.max(jnp.abs(points), axis=-1, keepdims=True))
        first = jnp.zeros_like(points).at[..., 0].set(1.0)
        scaled = jnp.where(scale == 0, first, points / jnp.where(scale == 0, 1.0, scale))
        return scaled / jnp.linalg.norm(scaled, axis=-1, keepdims=True)

    def tangent(self, positions: Array, vectors: Array) -> Array:
        """v - (x.v) x."""
        return vectors - _dot(positions, vectors) * positions

    def retract(self, positions: Array, step: Array) -> Array:
        """(x + v) / |x + v|."""
        return self.project(positions + step)

    def gradient(self, positions: Array, gradient: Array) -> Array:
        """The tangent part of the Euclidean gradient."""
        return self.tangent(positions, gradient)

    def hvp(self, positions: Array, direction: Array, gradient: Array, hvp: Array) -> Array:
        """The tangent part of H v, minus (x.g) v: the sphere bends away from its tangent plane."""
        return self.tangent(positions, hvp) - _dot(positions, gradient) * direction

    def basis(self, positions: Array) -> Array:
        """The columns 2..d of the reflection that takes the first axis to -+x."""
        return jax.vmap(_complement)(positions)

    def check(self, positions: Array, what: str) -> None:
        lengths = np.linalg.norm(np.asarray(positions), axis=-1)
        off = np.abs(lengths - 1)
        if np.any(off > TOLERANCE):
            worst = np.unravel_index(np.argmax(off), off.shape)
            raise EarnshawError(
                f"{what} {worst[-1]} has length {lengths[worst]:.9g}, off the sphere; "
                "allowed: length 1"
            )


def manifold(name: str | Manifold) -> Manifold:
    """``"space"`` or ``"sphere"``, as after ``--on``."""
    if isinstance(name, Manifold):
        return name
    known: dict[str, type[Manifold]] = {"space": Space, "sphere": Sphere}
    if not isinstance(name, str) or name not in known:
        raise UnknownName("manifold", str(name), known)
    return known[name]()


def check_squares(positions: Array, what: str) -> None:
    """Refuse positions that no loss can be computed of: |theta|^2 |w|^2 must be finite."""
    size = float(np.max(np.abs(np.asarray(positions)), initial=0.0))
    if size > LARGEST:
        raise EarnshawError(
            f"a {what} has a coordinate of size {size:.3g}; allowed: at most {LARGEST:g}, so that "
            "products of squares are finite"
        )


def _dot(x: Array, y: Array) -> Array:
    return jnp.sum(x * y, axis=-1, keepdims=True)


def _complement(x: Array) -> Array:
    """An orthonormal basis (d, d-1) of the complement of a unit vector, by one reflection."""
    sign = jnp.where(x[0] >= 0, 1.0, -1.0)
    normal = x.at[0].add(sign)
    reflection = jnp.eye(len(x)) - jnp.outer(normal, normal) / (1 + jnp.abs(x[0]))
    return reflection[:, 1:]
