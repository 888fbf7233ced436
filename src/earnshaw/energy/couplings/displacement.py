"""Couplings that are any function of x - y: products over the coordinates, and formulas.

There is no matrix product to save work with: every pair is computed from its displacement.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.energy.couplings.coupling import Coupling
from earnshaw.potentials.base import Potential, Separable


class DisplacementCoupling(Coupling):
    """Phi(x, y) = F(x - y); `curved` if the units live on the sphere.

    On the ridges of a product, where a coordinate of x - y is 0, the ridge has no force: the mean
    of both sides, as at a cusp.
    """

    potential: Potential
    dim: int = eqx.field(static=True)
    curved: bool = eqx.field(static=True, default=False)
    invariant: ClassVar[str] = "translations"

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
        """0."""
        return jnp.zeros(x.shape[:-1])

    def cusp(self, x: Array) -> Array:
        """-f'(0) f(0)^(d-1) for a product, whose slope is least along an axis; for formulas 0."""
        if not isinstance(self.potential, Separable):
            return jnp.zeros(x.shape[:-1])
        return jnp.broadcast_to(-self.potential.first(jnp.zeros(())), x.shape[:-1])
