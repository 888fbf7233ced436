"""Couplings that depend on the distance of two units: radial potentials, on R^d or the sphere."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from earnshaw.duality.potential import Radial
from earnshaw.energy.couplings import _gap as gap
from earnshaw.energy.couplings.coupling import Coupling, Tile, squared_norm
from earnshaw.energy.objective import Invariant

# Pairs with |x - y|^2 below this part of |x|^2 + |y|^2 are recomputed from differences. Above, the
# squared distance from |x|^2 + |y|^2 - 2 x.y has a relative error of at most 1e-11.
NEAR = 1e-4


class RadialCoupling(Coupling):
    """Phi(x, y) = f(|x - y|); `curved` if the units live on the sphere."""

    potential: Radial
    dim: int = eqx.field(static=True)
    curved: bool = eqx.field(static=True, default=False)
    invariant: ClassVar[Invariant] = "both"

    def complete(
        self, x: Array, value: Array, cross: Array, pull: Array, own: Array | None
    ) -> tuple[Array, Array]:
        """A function of |x - y|^2 pulls on x as it pushes on y."""
        if (rate := self.potential.gaussian_rate) is not None:
            cross, pull = rate * cross, rate * pull
        return value, pull - cross[:, None] * x

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        """f(r) and f'(r) (x - y)/r."""
        return gap.value_and_gradient(self.potential, x - y)

    def exact_laplacian(self, x: Array, y: Array) -> Array:
        """On R^d that of the potential; on the sphere see `_laplacian`."""
        return self._laplacian(squared_norm(x - y))

    @property
    def has_logarithm(self) -> bool:
        return self.potential.positive

    def log_pull(self, x: Array, y: Array) -> tuple[Array, Array]:
        """log f(r) and (log f)'(r)/r; 0 at r = 0, where a cusp has no direction."""
        squares = squared_norm(x - y)
        apart = squares > 0
        r = jnp.where(apart, jnp.sqrt(jnp.where(apart, squares, 1.0)), 0.0)
        log_value, log_first = self.potential.log_jet(r)
        return log_value, jnp.where(apart, log_first / jnp.where(apart, r, 1.0), 0.0)

    def alone(self, x: Array) -> tuple[Array, Array]:
        """f(0), which no motion changes."""
        origin = self.potential.value(jnp.zeros(()))
        return jnp.broadcast_to(origin, x.shape[:-1]), jnp.zeros_like(x)

    def alone_laplacian(self, x: Array) -> Array:
        """0, shape (k,): f(0) does not change as x moves."""
        return jnp.zeros(x.shape[:-1])

    def cusp(self, x: Array) -> Array:
        """-f'(0), the same at every x: shape (k,)."""
        return jnp.broadcast_to(-self.potential.first(jnp.zeros(())), x.shape[:-1])

    def near(self, q1: Array, q2: Array, c: Array) -> Array:
        return q1 + q2 - 2 * c <= NEAR * (q1 + q2)

    def tile(self, q1: Array, q2: Array, c: Array) -> Tile:
        """g(u) as the value and -2 g'(u) as the factor of y in the gradient, each (k, m)."""
        u = self._apart(q1, q2, c)
        if self.potential.gaussian_rate is not None:
            return Tile(gap.height(self.potential, u), None, None, None)
        return Tile(gap.height(self.potential, u), -gap.stiffness(self.potential, u), None, None)

    def laplacian_tile(self, q1: Array, q2: Array, c: Array) -> Array:
        return self._laplacian(self._apart(q1, q2, c))

    def _apart(self, q1: Array, q2: Array, c: Array) -> Array:
        """|x - y|^2, and 1 for pairs that are near, which are computed elsewhere."""
        u = q1 + q2 - 2 * c
        return jnp.where(u > NEAR * (q1 + q2), u, 1.0)

    def _laplacian(self, u: Array) -> Array:
        """On the sphere, with rho = 1 - u/2, (1 - rho^2) 4 g'' + (d - 1) rho 2 g'."""
        if not self.curved:
            return self.potential.laplacian(jnp.sqrt(u))
        _, slope, curvature = self.potential.jet(u)
        bending = (self.dim - 1) * (2 - u) * slope if self.dim > 1 else 0.0
        return u * (4 - u) * curvature + bending
