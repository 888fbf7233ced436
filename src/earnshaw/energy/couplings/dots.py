"""Couplings of dot-product units on R^d: functions of |x|^2, |y|^2 and x.y.

For nearly parallel vectors x and y (or x and -y: `side` is +1 or -1) the moment M is written
through q1 = |x|^2, q2 = |y|^2 and the deficit e = |x||y| - side x.y >= 0, whose gradient in x,

    n = (|y|/|x|) x - side y,

is small with e and can be computed from the difference of the vectors, so that

    grad M = 2 M_q1 x + M_e n,
    Laplacian M = 4 q1 M_q1q1 + 2 d M_q1 + 4 e M_q1e + 2 (|y|/|x|) e M_ee + (d-1)(|y|/|x|) M_e,

M_q1 at fixed e, have no cancellation. For sign and step M_e is infinite at e = 0 (a cusp); for relu
M_ee is, and what multiplies it vanishes.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.dual import Dual
from earnshaw.duality.pair import Pair, deficit, root, value_and_slope
from earnshaw.energy.couplings.coupling import (
    CLOSE,
    COINCIDENT,
    Coupling,
    Tile,
    squared_norm,
    visible,
)
from earnshaw.energy.objective import Across, Invariant


class DotCoupling(Coupling):
    """Phi(x, y) = E[s(X.x) s(X.y)] for vectors of any length."""

    potential: Dual
    dim: int = eqx.field(static=True)
    invariant: ClassVar[Invariant] = "rotations"
    cusps_across: ClassVar[Across] = "rays"

    @property
    def degree(self) -> int | None:
        return self.potential.form.degree

    @property
    def has_close_pairs(self) -> bool:
        """Only where the activation has a kink: a smooth moment is smooth in |x|^2, |y|^2, x.y."""
        return self.potential.form.kink > 0

    @property
    def scratch(self) -> int:
        return self.potential.form.scratch

    def complete(
        self, x: Array, value: Array, cross: Array, pull: Array, own: Array | None
    ) -> tuple[Array, Array]:
        """For a homogeneous activation of degree n, Euler's x.grad M = n M gives the part along x.

        Where the tile holds the linear parts of M (relu), M = (slope x.y + rest) times a factor.
        """
        form, degree = self.potential.form, self.degree
        if degree is None:
            return super().complete(x, value, cross, pull, own)
        inward = jnp.sum(x * pull, axis=-1)
        if form.linear_factor is not None:
            factor = self.potential.scale * form.linear_factor * self.potential.variance
            value, pull, inward = factor * (value + inward), factor * pull, factor * inward
        q = squared_norm(x)
        along = (degree * value - inward) / jnp.where(q > 0, q, 1.0)
        return value, pull + along[:, None] * x

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        """M and 2 M_q1 x + M_e n.

        Norms stay those of units, not of pairs: a series finds its coefficients once for each.
        """
        side = jnp.where(jnp.sum(x * y, axis=-1) < 0, -1.0, 1.0)
        q1, q2, e = squared_norm(x), squared_norm(y), _deficit(x, side[..., None] * y)
        value, in_e = value_and_slope(lambda e: self._moment(q1, q2, e, side), e)
        _, in_q1 = value_and_slope(lambda q1: self._moment(q1, q2, e, side), q1)
        normal = _normal(x, side[..., None] * y)
        return value, 2 * in_q1[..., None] * x + in_e[..., None] * normal

    def exact_laplacian(self, x: Array, y: Array) -> Array:
        """The formula of the module's docstring."""
        side = jnp.where(jnp.sum(x * y, axis=-1) < 0, -1.0, 1.0)
        q1, q2, e = squared_norm(x), squared_norm(y), _deficit(x, side[..., None] * y)
        apart = e > 0
        safe = jnp.where(apart, e, 1.0)
        moment = lambda q1, e: self._moment(q1, q2, e, side)  # noqa: E731
        in_q1 = lambda q1, e: value_and_slope(lambda q: moment(q, e), q1)[1]  # noqa: E731
        in_e = lambda e: value_and_slope(lambda e: moment(q1, e), e)[1]  # noqa: E731
        stretch = jnp.sqrt(q2 / jnp.where(q1 > 0, q1, 1.0))
        mixed = value_and_slope(lambda e: in_q1(q1, e), safe)[1]
        bend = value_and_slope(in_e, safe)[1]
        radial = 4 * q1 * value_and_slope(lambda q: in_q1(q, e), q1)[1] + 2 * self.dim * in_q1(
            q1, e
        )
        turning = jnp.where(apart, e * (4 * mixed + 2 * stretch * bend), 0.0)
        # For parallel vectors M_e = -+M_c, which shows that a cusp's Laplacian is infinite.
        touching = (
            -side * value_and_slope(lambda c: self._raw(q1, q2, c), side * jnp.sqrt(q1 * q2))[1]
        )
        slope = jnp.where(apart, in_e(e), touching)
        across = (self.dim - 1) * stretch * slope if self.dim > 1 else 0.0
        return radial + turning + across

    def alone(self, x: Array) -> tuple[Array, Array]:
        """h(q) = E[s(X.x)^2], a function of q = |x|^2, and 2 h' x."""
        value, slope = value_and_slope(self._power, squared_norm(x))
        return value, 2 * slope[..., None] * x

    def alone_laplacian(self, x: Array) -> Array:
        """4 q h'' + 2 d h' with h and q of `alone`, shape (k,)."""
        q = squared_norm(x)
        slope, curvature = value_and_slope(lambda q: value_and_slope(self._power, q)[1], q)
        return 4 * q * curvature + 2 * self.dim * slope

    def cusp(self, x: Array) -> Array:
        """The limit of -M_e de/ds for a turn s = |x| t of x by a small angle, e = |x|^2 t^2/2."""
        return self._slope(x, 1.0)

    def antipodal_cusp(self, x: Array) -> Array:
        """The same for a turn about -x, (k,)."""
        return self._slope(x, -1.0)

    def kink_at(self, x: np.ndarray, w: np.ndarray) -> str:
        """The origin, if s has a kink: s(X.theta) then has one at theta = 0, whatever X is."""
        lengths = np.linalg.norm(x, axis=1)
        at_origin = np.any(lengths <= COINCIDENT * max(1.0, lengths.max()))
        kinked = self.has_close_pairs and at_origin
        return "a unit is at the origin, a kink of its activation" if kinked else ""

    def _slope(self, x: Array, side: float) -> Array:
        size = root(squared_norm(x))
        turned = CLOSE * size
        moment = lambda e: self._moment(size**2, size**2, e, jnp.asarray(side))  # noqa: E731
        slope = value_and_slope(moment, turned**2 / 2)[1]
        return jnp.where(size > 0, visible(-turned * slope), 0.0)

    def near(self, q1: Array, q2: Array, c: Array) -> Array:
        return jnp.abs(c) >= (1 - self.potential.form.kink) * jnp.sqrt(q1) * jnp.sqrt(q2)

    def tile(self, q1: Array, q2: Array, c: Array) -> Tile:
        """M and its partial derivatives."""
        q1, q2, c = self._apart(q1, q2, c)
        if self.potential.form.linear_factor is not None:
            slope, rest = self.potential.form.linear_parts(Pair.of_moments(q1, q2, c))
            return Tile(rest, slope, None, None)
        value, cross = value_and_slope(lambda c: self._raw(q1, q2, c), c)
        if self.degree is not None:
            return Tile(value, cross, None, None)
        _, own_x = value_and_slope(lambda q1: self._raw(q1, q2, c), q1)
        _, own_y = value_and_slope(lambda q2: self._raw(q1, q2, c), q2)
        return Tile(value, cross, own_x, own_y)

    def laplacian_tile(self, q1: Array, q2: Array, c: Array) -> Array:
        """4 q1 M_q1q1 + 4 c M_q1c + q2 M_cc + 2 d M_q1."""
        q1, q2, c = self._apart(q1, q2, c)
        in_c = lambda c: value_and_slope(lambda c: self._raw(q1, q2, c), c)[1]  # noqa: E731
        in_q1 = lambda q1, c: value_and_slope(lambda q: self._raw(q, q2, c), q1)[1]  # noqa: E731
        pure = (
            4 * q1 * value_and_slope(lambda q: in_q1(q, c), q1)[1]
            + q2 * value_and_slope(in_c, c)[1]
        )
        mixed = 4 * c * value_and_slope(lambda c: in_q1(q1, c), c)[1]
        return pure + mixed + 2 * self.dim * in_q1(q1, c)

    def _apart(self, q1: Array, q2: Array, c: Array) -> tuple[Array, Array, Array]:
        """The same with near pairs made orthogonal and zero vectors made unit ones."""
        if not self.has_close_pairs:
            return q1, q2, c
        c = jnp.where(self.near(q1, q2, c), 0.0, c)
        return jnp.where(q1 > 0, q1, 1.0), jnp.where(q2 > 0, q2, 1.0), c

    def _raw(self, q1: Array, q2: Array, c: Array) -> Array:
        """M from |x|^2, |y|^2 and x.y, which may broadcast."""
        pair = Pair.of_moments(q1, q2, c).scaled(self.potential.variance)
        return self.potential.scale * self.potential.form(pair)

    def _moment(self, q1: Array, q2: Array, e: Array, side: Array) -> Array:
        """M from |x|^2, |y|^2 and |x||y| - side x.y."""
        size = root(q1) * root(q2)
        small, large = e, 2 * size - e
        low, high = (jnp.where(side > 0, *pair) for pair in ((small, large), (large, small)))
        pair = Pair(q1, q2, side * (size - e), low, high).scaled(self.potential.variance)
        return self.potential.scale * self.potential.form(pair)

    def _power(self, q: Array) -> Array:
        """E[s(X.x)^2] at |x|^2 = q."""
        pair = Pair(q, q, q, 0.0 * q, 2 * q).scaled(self.potential.variance)
        return self.potential.scale * self.potential.form(pair)


@jax.custom_jvp
def _deficit(x: Array, y: Array) -> Array:
    """e = |x||y| - x.y, whose derivatives are its normals, exactly 0 for parallel vectors."""
    return deficit(x, y)


@_deficit.defjvp
def _deficit_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    (x, y), (v, z) = primals, tangents
    e = _deficit(x, y)
    change = jnp.sum(_normal(x, y) * v, axis=-1) + jnp.sum(_normal(y, x) * z, axis=-1)
    return e, jnp.where(e > 0, change, 0.0)


def _normal(x: Array, y: Array) -> Array:
    """(|y|/|x|) x - y, from the difference of the vectors; -y if x = 0."""
    size1, size2 = root(squared_norm(x)), root(squared_norm(y))
    gap, total = y - x, size1 + size2
    longer = jnp.sum(gap * (x + y), axis=-1) / jnp.where(total > 0, total, 1.0)  # |y| - |x|
    return (longer / jnp.where(size1 > 0, size1, 1.0))[..., None] * x - gap
