"""Couplings of unit vectors through their inner product: potentials on the sphere S^(d-1)."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.duality.dual import Dual
from earnshaw.duality.pair import Pair
from earnshaw.duality.potential import Zonal
from earnshaw.energy.couplings import _gap as gap
from earnshaw.energy.couplings.coupling import CLOSE, Coupling, Tile, squared_norm, visible
from earnshaw.energy.objective import Invariant

# Pairs with 1 - |rho| below this are recomputed from x - y (or x + y), unless it is known better.
NEAR = 1e-6


class SphereCoupling(Coupling):
    """Phi(x, y) = f(x.y) for unit vectors.

    Off the sphere, which only matters for how Euclidean derivatives are put together, a tile
    extends Phi as f(x.y), and `exact` as f(1 - |x - y|^2/2), or f(|x + y|^2/2 - 1) if x.y < 0: the
    gradient of the latter is small, not merely nearly radial, where two units meet.
    """

    potential: Zonal
    dim: int = eqx.field(static=True)
    invariant: ClassVar[Invariant] = "rotations"

    @property
    def close(self) -> float:
        """Below which 1 - |rho| a pair is computed from x - y or x + y."""
        return self.potential.form.kink if isinstance(self.potential, Dual) else NEAR

    @property
    def has_close_pairs(self) -> bool:
        return self.close > 0

    @property
    def scratch(self) -> int:
        return self.potential.form.scratch if isinstance(self.potential, Dual) else 1

    def complete(
        self, x: Array, value: Array, cross: Array, pull: Array, own: Array | None
    ) -> tuple[Array, Array]:
        """f(x.y) pulls along y only."""
        return value, pull

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        """f and its gradient, from x - y or x + y."""
        side = _side(x, y)
        return gap.value_and_gradient(Cap(self.potential, side), x - side[..., None] * y)

    def exact_laplacian(self, x: Array, y: Array) -> Array:
        """(1 - rho^2) f'' - (d - 1) rho f', through u: u (4 - u) g'' + (d - 1)(2 - u) g'."""
        side = _side(x, y)
        u = squared_norm(x - side[..., None] * y)
        _, slope, curvature = Cap(self.potential, side).jet(u)
        bending = (self.dim - 1) * (2 - u) * slope if self.dim > 1 else 0.0
        return u * (4 - u) * curvature + bending

    def alone(self, x: Array) -> tuple[Array, Array]:
        """f(1), which no motion on the sphere changes."""
        return jnp.broadcast_to(self.potential.value(1.0), x.shape[:-1]), jnp.zeros_like(x)

    def alone_laplacian(self, x: Array) -> Array:
        """0, shape (k,): f(1) does not change as x moves on the sphere."""
        return jnp.zeros(x.shape[:-1])

    def cusp(self, x: Array) -> Array:
        """The limit of -2 sqrt(u) dPhi/du at u = |x - y|^2 -> 0."""
        return jnp.broadcast_to(self._slope(1.0), x.shape[:-1])

    def antipodal_cusp(self, x: Array) -> Array:
        """The same limit at u = |x + y|^2 -> 0."""
        return jnp.broadcast_to(self._slope(-1.0), x.shape[:-1])

    def _slope(self, side: float) -> Array:
        rate = Cap(self.potential, jnp.asarray(side)).jet(jnp.asarray(CLOSE**2))[1]
        return visible(-2 * CLOSE * rate)

    def near(self, q1: Array, q2: Array, c: Array) -> Array:
        return jnp.abs(c) >= 1 - self.close

    def tile(self, q1: Array, q2: Array, c: Array) -> Tile:
        """f(rho) as the value and f'(rho) as the factor of y in the gradient, each (k, m)."""
        rho = self._apart(c)
        return Tile(self.potential.value(rho), self.potential.first(rho), None, None)

    def laplacian_tile(self, q1: Array, q2: Array, c: Array) -> Array:
        rho = self._apart(c)
        bending = (self.dim - 1) * rho * self.potential.first(rho)
        return (1 - rho * rho) * self.potential.second(rho) - bending

    def _apart(self, c: Array) -> Array:
        """rho, and 0 for near pairs, which are computed elsewhere."""
        if not self.has_close_pairs:
            return jnp.clip(c, -1.0, 1.0)
        return jnp.where(jnp.abs(c) < 1 - self.close, c, 0.0)


class Cap(eqx.Module):
    """f as a function of u = |x - side y|^2: rho = side (1 - u/2), `side` +1 or -1."""

    potential: Zonal
    side: Array

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """f and its derivatives in u; the second is 0 at u = 0, where it may be infinite."""
        value, first = jax.jvp(self.value, (u,), (jnp.ones_like(u),))
        apart = u > 0
        first = jnp.where(apart, first, -0.5 * self.side * self.potential.first(self.side))
        safe = jnp.where(apart, u, 1.0)
        second = jax.jvp(self._slope, (safe,), (jnp.ones_like(u),))[1]
        return value, first, jnp.where(apart, second, 0.0)

    def value(self, u: Array) -> Array:
        """f(side (1 - u/2)); for a dual, with 1 - |rho| = u/2 given to full relative accuracy."""
        rho = self.side * (1 - u / 2)
        if not isinstance(self.potential, Dual):
            return self.potential.value(rho)
        small, large = u / 2, 2 - u / 2
        low, high = (jnp.where(self.side > 0, *pair) for pair in ((small, large), (large, small)))
        size = jnp.ones_like(u)
        pair = Pair(size, size, rho, low, high).scaled(self.potential.variance)
        return self.potential.scale * self.potential.form.on_cap(pair, self.potential.variance)

    def _slope(self, u: Array) -> Array:
        return jax.jvp(self.value, (u,), (jnp.ones_like(u),))[1]


def _side(x: Array, y: Array) -> Array:
    return jnp.where(jnp.sum(x * y, axis=-1) < 0, -1.0, 1.0)
