"""Couplings of units with biases, or under general inputs: functions of mu, q and c of a pair.

With m and S those of the inputs (`duality/affine_dual.py`), and M the moment as a function of
mu1 = x.m, q1 = x.S x and c = x.S y,

    grad M = M_mu m + 2 M_q S x + M_c S y = M_mu m + (2 M_q + kappa M_c) S x + M_c S (y - kappa x).

With kappa = c/q1 the last vector is small for nearly parallel units, and computed from their
difference, so that M_c may change fast there (`Jet`). A mixture of inputs is a sum of these. Where
two units of a relu coincide, what is infinite in the second derivatives cancels, and is left out
(`half_lines.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.affine import Affine, Jet
from earnshaw.duality.affine_dual import AffineDual, Cloud, seen, seen_in_tile
from earnshaw.duality.half_lines import HalfLinePair
from earnshaw.duality.pair import value_and_slope
from earnshaw.energy.couplings.coupling import COINCIDENT, Coupling, Field
from earnshaw.energy.objective import Across, Invariant
from earnshaw.errors import EarnshawError
from earnshaw.numerics.fixed_order import over_rows

PARALLEL = 1e-6  # 1 - |rho| of positions, below which a tile's products lose digits at a kink


class AffineCoupling(Coupling):
    """Phi(x, y) = E[s(x.X) s(y.X)] for positions in R^dim."""

    potential: AffineDual
    dim: int = eqx.field(static=True)
    invariant: ClassVar[Invariant] = "neither"
    cusps_across: ClassVar[Across] = "rays"

    @property
    def degree(self) -> int | None:
        degree = self.potential.origin.symmetries.degree
        return None if degree is None else int(degree)

    @property
    def sums_tiles(self) -> bool:
        return True

    @property
    def has_close_pairs(self) -> bool:
        return self.potential.kinked

    def near(self, q1: Array, q2: Array, c: Array) -> Array:
        return jnp.abs(c) >= (1 - PARALLEL) * jnp.sqrt(q1) * jnp.sqrt(q2)

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        """M and its gradient, pair by pair."""
        return self.potential.over_clouds(lambda cloud: self._pairs(cloud, x, y))

    @property
    def sums_both_ways(self) -> bool:
        return isinstance(self.potential.form, HalfLinePair)

    def tile_sums(
        self, x: Array, y: Array, charges: Array, back: Array | None, same: Array | None
    ) -> tuple[Field, Field | None]:
        """By products with the parts of the jet: sums along rows are not vectorised by XLA."""

        def term(cloud: Cloud) -> tuple[Field, Field | None]:
            units, own, other = seen_in_tile(cloud, x, y)
            form, sources = self.potential.form, _charged(charges, other)
            if back is None:
                jet = form.jet(units)
                return self._summed(jet, units, cloud, same, own, jnp.matmul, sources), None
            assert isinstance(form, HalfLinePair)
            here, there = form.jets(units)
            rows = self._summed(here, units, cloud, same, own, jnp.matmul, sources)
            swapped, sources = units.swapped(), _charged(back, own)
            return rows, self._summed(there, swapped, cloud, same, other, over_rows, sources)

        return self.potential.over_clouds(term)

    def _summed(
        self,
        jet: Jet,
        units: Affine,
        cloud: Cloud,
        same: Array | None,
        own: Array,
        over: Callable[[Array, Array], Array],
        sources: Array,
    ) -> Field:
        """The field at units A^T x `own`; over(part, sources) is a sum over the pairs of each.

        `sources` are charges q_j and q_j A^T y_j, side by side.
        """
        along = jet.along - self._kappa(units) * jet.in_c
        parts: tuple[Array, ...] = (jet.value, jet.in_mu, along, jet.in_c)
        if same is not None:
            parts = tuple(jnp.where(same, 0.0, part) for part in parts)
        total, by_mean, by_own = (over(part, sources[:, :1]) for part in parts[:3])
        pull = by_own * own + over(parts[3], sources[:, 1:])
        return Field(total[:, 0], pull @ cloud.root.T + by_mean * cloud.mean)

    def exact_laplacian(self, x: Array, y: Array) -> Array:
        """The sum of the gradient's derivatives along all coordinates."""
        x, y = jnp.broadcast_arrays(x, y)

        def along(axis: Array) -> Array:
            slope = lambda x: self.exact(x, y)[1] @ axis  # noqa: E731
            return jax.jvp(slope, (x,), (jnp.broadcast_to(axis, x.shape),))[1]

        return jnp.sum(jax.lax.map(along, jnp.eye(self.dim)), axis=0)

    def tile_laplacians(self, x: Array, y: Array) -> Array:
        """The same for all pairs of x (k, d) and y (m, d)."""
        return self.exact_laplacian(x[:, None, :], y[None, :, :])

    def alone(self, x: Array) -> tuple[Array, Array]:
        """P(mu, q) = E[s(u)^2] and P_mu m + 2 P_q S x."""

        def term(cloud: Cloud) -> tuple[Array, Array]:
            along = x @ cloud.root
            mu, q = x @ cloud.mean, jnp.sum(along * along, axis=-1)
            value, in_mu = value_and_slope(lambda mu: self._power(mu, q), mu)
            _, in_q = value_and_slope(lambda q: self._power(mu, q), q)
            return value, in_mu[:, None] * cloud.mean + 2 * in_q[:, None] * (along @ cloud.root.T)

        return self.potential.over_clouds(term)

    def unbounded(self, x: Array) -> bool:
        return False

    def alone_laplacian(self, x: Array) -> Array:
        """P_mumu |m|^2 + 4 P_muq m.S x + 4 P_qq |S x|^2 + 2 P_q tr S."""

        def term(cloud: Cloud) -> Array:
            along = x @ cloud.root
            mu, q = x @ cloud.mean, jnp.sum(along * along, axis=-1)
            turned = along @ cloud.root.T
            in_mu = lambda mu, q: value_and_slope(lambda mu: self._power(mu, q), mu)[1]  # noqa: E731
            in_q = lambda q: value_and_slope(lambda q: self._power(mu, q), q)[1]  # noqa: E731
            slope, in_qq = value_and_slope(in_q, q)
            total = value_and_slope(lambda mu: in_mu(mu, q), mu)[1] * jnp.sum(cloud.mean**2)
            total = total + 4 * value_and_slope(lambda q: in_mu(mu, q), q)[1] * (
                turned @ cloud.mean
            )
            total = total + 4 * in_qq * jnp.sum(turned * turned, axis=-1)
            return total + 2 * slope * jnp.sum(cloud.root**2)

        return self.potential.over_clouds(term)

    def cusp(self, x: Array) -> Array:
        """The least slope of all directions; 0 where s does not jump, as for a relu.

        Of a jump J at 0, s(u) and s(u + v.X) differ where u lies between 0 and -v.X: with p(0) the
        density of u there, Phi falls by (J^2/2) p(0) E[|v.X| given u = 0], whose mean is at least
        sqrt(2/pi) |v|_G, G = E[X X^T given u = 0]. G x = 0: along the ray nothing changes, and the
        least slope across it belongs to the second of G's eigenvalues. Of several clouds
        sum_m a_m |v|_m >= |v|_A, A = sum_m a_m^2 G_m.
        """
        jump = self._jump()
        if not jump:
            return jnp.zeros(x.shape[:-1])

        def term(cloud: Cloud) -> Array:
            along = x @ cloud.root
            mu, q = x @ cloud.mean, jnp.sum(along * along, axis=-1)
            safe = jnp.where(q > 0, q, 1.0)
            density = jnp.where(q > 0, jnp.exp(-mu * mu / (2 * safe)), 0.0)
            share = along / safe[:, None]
            rest = cloud.mean - (mu[:, None] * share) @ cloud.root.T
            turned = along @ cloud.root.T
            spread = cloud.root @ cloud.root.T - jnp.einsum(
                "ki,kj->kij", turned, turned / safe[:, None]
            )
            second = spread + jnp.einsum("ki,kj->kij", rest, rest)
            weight = cloud.probability * density**2 / (2 * math.pi * safe)
            return weight[:, None, None] * second

        eigenvalues = jnp.linalg.eigvalsh(self.potential.over_clouds(term))
        least = jnp.sqrt(jnp.maximum(eigenvalues[:, min(1, self.dim - 1)], 0.0))
        return jump**2 / 2 * math.sqrt(2 / math.pi) * least

    def antipodal_cusp(self, x: Array) -> Array:
        """At -x both jumps are crossed the other way round: a cusp that points down."""
        return -self.cusp(x)

    def kink_at(self, x: np.ndarray, w: np.ndarray) -> str:
        """The origin, if s has a kink."""
        lengths = np.linalg.norm(x, axis=1)
        at_origin = np.any(lengths <= COINCIDENT * max(1.0, lengths.max()))
        kinked = self.potential.kinked and at_origin
        return "a unit is at the origin, a kink of its activation" if kinked else ""

    @property
    def jumps(self) -> bool:
        """Whether s does."""
        return self._jump() != 0

    def _jump(self) -> float:
        """The height of the jump at 0, the only place where one may be."""
        means = self.potential.origin.gaussian_means() if self.potential.origin.kinks else None
        if means is None:
            return 0.0
        places, heights = np.asarray(means.kinks), np.asarray(means.jumps(0))
        if np.any(heights[places != 0]):
            raise EarnshawError(
                f"{self.potential.name} jumps elsewhere than at 0; allowed: jumps at 0"
            )
        return float(np.sum(heights))

    def _pairs(self, cloud: Cloud, x: Array, y: Array) -> tuple[Array, Array]:
        """What one cloud of the inputs makes of M and of its gradient."""
        units, first, second = seen(cloud, x, y)
        value, in_mu, along, in_c = self.potential.form.jet(units)
        rest = second
        if self.potential.form.turning:
            # y - kappa x from the difference, where y is nearly x or nearly -x.
            side = jnp.where(units.c < 0, -1.0, 1.0)[..., None]
            gap = second - side * first
            share = jnp.sum(first * gap, axis=-1) / jnp.where(units.q1 > 0, units.q1, 1.0)
            rest = jnp.where(units.q1[..., None] > 0, gap - share[..., None] * first, second)
        pull = along[..., None] * first + in_c[..., None] * rest
        return value, pull @ cloud.root.T + in_mu[..., None] * cloud.mean

    def _kappa(self, units: Affine) -> Array:
        """c/q1, or 0: as the jet has it."""
        turning = self.potential.form.turning & (units.q1 > 0)
        return jnp.where(turning, units.c / jnp.where(units.q1 > 0, units.q1, 1.0), 0.0)

    def _power(self, mu: Array, q: Array) -> Array:
        return self.potential.form(Affine.of_one(mu, q))


def _charged(charges: Array, vectors: Array) -> Array:
    """Charges (m,) and vectors (m, d) times these, side by side."""
    return jnp.concatenate([charges[:, None], charges[:, None] * vectors], axis=1)
