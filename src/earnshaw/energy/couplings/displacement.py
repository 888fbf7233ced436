"""Couplings that are any function of x - y: products over the coordinates, and formulas.

There is no matrix product to save work with: every pair is computed from its displacement.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.spatial import cKDTree

from earnshaw.duality.potential import Potential
from earnshaw.duality.separable import Separable
from earnshaw.energy.couplings.coupling import CLOSE, COINCIDENT, Coupling
from earnshaw.energy.objective import Across, Invariant


class DisplacementCoupling(Coupling):
    """Phi(x, y) = F(x - y); `curved` if the units live on the sphere.

    On the ridges of a product, where a coordinate of x - y is 0, the ridge has no force: the mean
    of both sides, as at a cusp.
    """

    potential: Potential
    dim: int = eqx.field(static=True)
    curved: bool = eqx.field(static=True, default=False)
    invariant: ClassVar[Invariant] = "translations"
    cusps_across: ClassVar[Across] = "hyperplanes"

    @property
    def has_tiles(self) -> bool:
        return False

    @property
    def scratch(self) -> int:
        return self.dim

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        x, y = jnp.broadcast_arrays(x, y)
        return self.potential.between(x, y), self.potential.gradient_between(x, y)

    def exact_laplacian(self, x: Array, y: Array) -> Array:
        """On R^d that of the potential; on the sphere without its part along x, |x| = 1."""
        x, y = jnp.broadcast_arrays(x, y)
        flat = self.potential.laplacian_between(x, y)
        if not self.curved:
            return flat
        # Laplacian - (d - 1) x.grad - x.(Hessian x)
        along = lambda x: self.potential.gradient_between(x, y)  # noqa: E731
        gradient, stretched = jax.jvp(along, (x,), (x,))
        return flat - jnp.sum(x * ((self.dim - 1) * gradient + stretched), axis=-1)

    def alone(self, x: Array) -> tuple[Array, Array]:
        """F(0), which no motion changes."""
        return jax.lax.stop_gradient(self.potential.between(x, x)), jnp.zeros_like(x)

    def alone_laplacian(self, x: Array) -> Array:
        """0, shape (k,): F(0) does not change as x moves."""
        return jnp.zeros(x.shape[:-1])

    def cusp(self, x: Array) -> Array:
        """-f'(0) f(0)^(d-1) for a product, whose slope is least along an axis; for formulas 0."""
        if not isinstance(self.potential, Separable):
            return jnp.zeros(x.shape[:-1])
        return jnp.broadcast_to(-self.potential.first(jnp.zeros(())), x.shape[:-1])

    def kink_at(self, x: np.ndarray, w: np.ndarray) -> str:
        """A ridge of a product that passes a unit, or a cusp of a formula that it sits on."""
        if isinstance(self.potential, Separable):
            return _ridges(x, w)
        tree = cKDTree(np.concatenate([w, x]))
        radius = COINCIDENT * max(1.0, float(np.max(np.abs(x))))
        if all(len(found) < 2 for found in tree.query_ball_point(x, radius)):
            return ""
        # Next to another charge: a smooth formula has no slope there.
        steps = jnp.asarray(CLOSE * np.concatenate([np.eye(self.dim), np.ones((1, self.dim))]))
        slopes = self.exact(steps, jnp.zeros_like(steps))[1]
        return "a unit sits on a cusp of a formula" if jnp.max(jnp.abs(slopes)) > CLOSE**0.5 else ""


def _ridges(x: np.ndarray, w: np.ndarray) -> str:
    """Whether a product's ridge, where one coordinate of two charges agrees, passes a unit."""
    for unit, here in enumerate(x):
        others = np.concatenate([w, np.delete(x, unit, axis=0)])
        equal = np.abs(others - here) <= COINCIDENT * np.maximum(np.abs(here), 1.0)
        if np.any(np.any(equal, axis=1) & ~np.all(equal, axis=1)):
            return f"unit {unit} lies on a ridge of a product, where one coordinate agrees"
    return ""
