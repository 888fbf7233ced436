"""Units of any activation on samples, by automatic differentiation of sigma(x, theta)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.duality.activation import Activation
from earnshaw.energy.objective import Gradient
from earnshaw.energy.responses.response import Response
from earnshaw.energy.streaming import Chunk
from earnshaw.numerics.fixed_order import column_sums, sum_all


class GeneralResponse(Response):
    """Units sigma(x, theta), smooth in theta: those that depend on x - theta, say."""

    activation: Activation

    def entries(self, units: int, dim: int) -> int:
        return units * dim

    def outputs(self, x: Array, positions: Array) -> Array:
        return self.activation.unit(x[:, None, :], positions[None, :, :])

    def squares(self, student: Student, chunk: Chunk) -> tuple[Array, Gradient]:
        value, slope = jax.value_and_grad(self._squares)(_copies(_point(student), chunk), chunk)
        return value, slope._replace(positions=column_sums(slope.positions))

    def hvp(self, student: Student, direction: Gradient, chunk: Chunk) -> Gradient:
        slope = jax.grad(self._squares)
        at, along = (_copies(point, chunk) for point in (_point(student), direction))
        product = jax.jvp(lambda point: slope(point, chunk), (at,), (along,))[1]
        return product._replace(positions=column_sums(product.positions))

    def laplacian(
        self, student: Student, group: Array | None, on_sphere: bool, chunk: Chunk
    ) -> Array:
        """2 |grad g|^2 - 2 r Laplacian g for each sample, over the directions of the move."""
        x, y, counted = chunk
        positions, weights = _point(student)
        copies = _copies(_point(student), chunk).positions
        outputs, pull = jax.vjp(lambda at: self.activation.unit(x[:, None, :], at), copies)
        r = y - outputs @ weights
        spread = self._spread(x, positions, on_sphere)
        curved = -2 * ((counted * r) @ spread) * weights
        # The gradient of each unit's output at each sample, (m, k, d): one unit's answer does not
        # depend on another's position, so d forward derivatives give them all.
        slopes = jnp.stack(
            [self._slope(x, positions, axis) for axis in range(student.dim)], axis=-1
        )
        slopes = slopes * weights[:, None]
        if on_sphere:
            pulled = column_sums(pull(-2 * (counted * r)[:, None] * weights)[0])
            curved -= (student.dim - 1) * jnp.sum(pulled * positions, axis=1)
        if group is None:
            along = jnp.sum(slopes**2, axis=-1)
            if on_sphere:
                along -= jnp.sum(slopes * positions, axis=-1) ** 2
            return curved + 2 * counted @ along
        slopes = slopes * group[:, None]
        if on_sphere:
            torque = jnp.einsum("mkd,ke->mde", slopes, positions)
            torque = torque - jnp.swapaxes(torque, 1, 2)
            together = jnp.sum(torque**2, axis=(1, 2)) / 2
        else:
            together = jnp.sum(jnp.sum(slopes, axis=1) ** 2, axis=1)
        return group @ curved + 2 * counted @ together

    def _squares(self, point: Gradient, chunk: Chunk) -> Array:
        x, y, counted = chunk
        outputs = self.activation.unit(x[:, None, :], point.positions)
        return sum_all(counted * (y - outputs @ point.weights) ** 2)

    def _slope(self, x: Array, positions: Array, axis: int) -> Array:
        along = jnp.zeros_like(positions).at[:, axis].set(1.0)
        return jax.jvp(lambda at: self.outputs(x, at), (positions,), (along,))[1]

    def _spread(self, x: Array, positions: Array, on_sphere: bool) -> Array:
        """The trace of the Hessian of each output, on the sphere that of its tangent part."""

        def second(along: Array) -> Array:
            def first(at: Array) -> Array:
                return jax.jvp(lambda here: self.outputs(x, here), (at,), (along,))[1]

            return jax.jvp(first, (positions,), (along,))[1]

        def add(axis: Array, so_far: Array) -> Array:
            return so_far + second(jnp.zeros_like(positions).at[:, axis].set(1.0))

        start = jnp.zeros((x.shape[0], positions.shape[0]))
        trace = jax.lax.fori_loop(0, positions.shape[1], add, start)
        return trace - second(positions) if on_sphere else trace


def _copies(point: Gradient, chunk: Chunk) -> Gradient:
    """The same with a copy of the positions for every sample, (m, k, d).

    A derivative in them is not yet summed over samples: that is left to `column_sums`.
    """
    shape = (len(chunk.x), *point.positions.shape)
    return point._replace(positions=jnp.broadcast_to(point.positions, shape))


def _point(student: Student) -> Gradient:
    """The student's positions and weights, to differentiate in."""
    return Gradient(student.positions, student.weights)
