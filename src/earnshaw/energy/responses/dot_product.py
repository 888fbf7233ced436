"""Units s(x.theta) on samples: two matrix products around elementwise functions.

With z = x.theta_i, weights c and r = y - sum_j c_j s(z_j), the loss per sample is, as a function of
unit i alone, (r_i - c_i s(z_i))^2 with r_i = r + c_i s(z_i) the residual of the other units. So

    d/dtheta_i    = -2 c_i (r_i S' - c_i Q') x
    d2/dtheta_i^2 = -2 c_i (r_i S'' - c_i Q'') x x^T,      S = s, Q = s^2/2,

and between different units 2 c_i c_j S'(z_i) S'(z_j) x x^T.

Where s or its slope jumps, S and Q have derivatives with point masses that samples miss: relu's
Hessian from samples would lack -2 c_i E[r delta(x.theta_i) x x^T], and sign's gradient would be 0.
They enter as kernel estimates: a mass at a kink becomes a Gaussian bump K_h(z - kink) of standard
deviation h, a relative width times the standard deviation of x.theta_i. Jumps of S and Q are taken
separately, so that no square of a point mass appears. With n samples an estimate has a bias of
order h^2 and a standard error of order (n h)^(-1/2), or (n h^3)^(-1/2) for the derivative of a
bump, in the Hessian of an s that jumps itself; h ~ n^(-1/3) and n^(-1/5) keep the bias well below.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.jumps import Jump
from earnshaw.energy.objective import Gradient
from earnshaw.energy.responses.response import Response
from earnshaw.energy.streaming import Chunk
from earnshaw.numerics.fixed_order import over_rows, sum_all


class Curvature(NamedTuple):
    """Second derivatives of a sample's r^2, each of shape (m, k).

    `own` is that in z_i twice, `mixed` that in z_i and c_i; with c_i `slope`_i the change of g with
    z_i, those in z_i and z_j, j != i, are 2 c_i slope_i c_j slope_j.
    """

    own: Array
    mixed: Array
    slope: Array


class DotProductResponse(Response):
    """Units s(x.theta).

    `jumps` are those of s and s' that get a bump, `widths` the relative widths of bumps and of
    derivatives of bumps, `deviations` (d,) the standard deviations of the inputs' coordinates.
    """

    activation: DotProduct
    deviations: Array
    jumps: tuple[Jump, ...] = eqx.field(static=True)
    widths: tuple[float, float] = eqx.field(static=True)

    def entries(self, units: int, dim: int) -> int:
        return max(units, dim)

    def outputs(self, x: Array, positions: Array) -> Array:
        return self.activation(x @ positions.T)

    def squares(self, student: Student, chunk: Chunk) -> tuple[Array, Gradient]:
        x, y, counted = chunk
        weights = student.weights
        z = x @ student.positions.T
        s, slope = jax.jvp(self.activation, (z,), (jnp.ones_like(z),))
        r = y - s @ weights
        force = r[:, None] * slope
        for jump in self.jumps:
            if jump.value != 0:
                bump = self._bump(jump, z, student.positions)
                force += jump.value * bump * (r[:, None] + weights * (s - jump.mean_value))
        positions = -2 * weights[:, None] * over_rows(force, counted[:, None] * x)
        return sum_all(counted * r**2), Gradient(positions, -2 * (counted * r) @ s)

    def hvp(self, student: Student, direction: Gradient, chunk: Chunk) -> Gradient:
        x, _, counted = chunk
        weights, turn = student.weights, direction.weights
        _, s, curvature = self._curvature(student, chunk)
        own, mixed, slope = curvature
        shift = x @ direction.positions.T
        through = weights * slope  # the change of g with z
        moved = through * shift  # of the outputs, because positions move
        change = jnp.sum(moved, axis=1, keepdims=True) + (s @ turn)[:, None]
        force = own * shift + mixed * turn + 2 * through * (change - moved - s * turn)
        pull = 2 * s * (change - moved) + mixed * shift
        return Gradient(over_rows(force, counted[:, None] * x), counted @ pull)

    def laplacian(
        self, student: Student, group: Array | None, on_sphere: bool, chunk: Chunk
    ) -> Array:
        x, _, counted = chunk
        z, _, (own, _, slope) = self._curvature(student, chunk)
        # |dz|^2 over the directions a unit can take.
        size = jnp.sum(x**2, axis=1)
        freedom = size[:, None] - z**2 if on_sphere else jnp.broadcast_to(size[:, None], z.shape)
        alone = counted @ (own * freedom)
        if on_sphere:
            _, gradient = self.squares(student, chunk)
            radial = jnp.sum(gradient.positions * student.positions, axis=1)
            alone -= (student.dim - 1) * radial
        if group is None:
            return alone
        through = group * student.weights * slope
        if on_sphere:
            turned = through @ student.positions
            pairs = size * jnp.sum(turned**2, axis=1) - jnp.sum(x * turned, axis=1) ** 2
        else:
            pairs = size * jnp.sum(through, axis=1) ** 2
        pairs -= jnp.sum(through**2 * freedom, axis=1)
        return group @ alone + 2 * counted @ pairs

    def _curvature(self, student: Student, chunk: Chunk) -> tuple[Array, Array, Curvature]:
        """z, s(z) and the second derivatives, bumps included."""
        weights = student.weights
        z = chunk.x @ student.positions.T
        ones = jnp.ones_like(z)

        def first(z: Array) -> tuple[Array, Array]:
            return jax.jvp(self.activation, (z,), (ones,))

        (s, slope), (_, second) = jax.jvp(first, (z,), (ones,))
        r = (chunk.y - s @ weights)[:, None]
        own = 2 * weights * (weights * slope**2 - r * second)
        mixed = -2 * (r - weights * s) * slope
        seen = slope
        for jump in self.jumps:
            bump = self._bump(jump, z, student.positions)
            middle = r + weights * (s - jump.mean_value)
            mass = jump.slope * middle - jump.value * jump.mean_slope * weights
            own -= 2 * weights * bump * mass
            if jump.value != 0:
                tilt = self._tilt(jump, z, student.positions)
                own -= 2 * weights * tilt * jump.value * middle
                mixed -= 2 * jump.value * bump * (middle - weights * jump.mean_value)
                seen = seen + jump.value * bump
        return z, s, Curvature(own, mixed, seen)

    def _bump(self, jump: Jump, z: Array, positions: Array) -> Array:
        """K_h(z - kink); 0 for units that do not respond to the inputs."""
        inverse = self._inverse_width(positions, self.widths[0])
        return inverse * _normal((z - jump.at) * inverse)

    def _tilt(self, jump: Jump, z: Array, positions: Array) -> Array:
        """The derivative of a (wider) bump."""
        inverse = self._inverse_width(positions, self.widths[1])
        scaled = (z - jump.at) * inverse
        return -(inverse**2) * scaled * _normal(scaled)

    def _inverse_width(self, positions: Array, relative: float) -> Array:
        width = relative * jnp.linalg.norm(positions * self.deviations, axis=1)
        return jnp.where(width > 0, 1 / jnp.where(width > 0, width, 1.0), 0.0)


def _normal(z: Array) -> Array:
    return jnp.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
