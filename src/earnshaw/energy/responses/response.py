"""What units of one activation answer to a chunk of samples, with derivatives: the protocol.

Everything is a sum over the chunk's samples of weight * r^2 and its derivatives, r = y - g(x) and
g(x) = sum_i weights_i sigma(x, positions_i). `EmpiricalLoss` adds the chunks up and divides by
the number of samples.
"""

from __future__ import annotations

import abc

import equinox as eqx
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.duality.activation import Activation
from earnshaw.energy.objective import Gradient
from earnshaw.energy.streaming import Chunk


class Response(eqx.Module):
    """Not constructed directly: see `DotProductResponse` and `GeneralResponse`."""

    activation: eqx.AbstractVar[Activation]

    @abc.abstractmethod
    def entries(self, units: int, dim: int) -> int:
        """How many floats one sample takes in the largest array."""

    @abc.abstractmethod
    def outputs(self, x: Array, positions: Array) -> Array:
        """sigma(x, theta) for inputs (m, d) and positions (k, d); shape (m, k)."""

    @abc.abstractmethod
    def squares(self, student: Student, chunk: Chunk) -> tuple[Array, Gradient]:
        """sum r^2 and its gradient."""

    @abc.abstractmethod
    def hvp(self, student: Student, direction: Gradient, chunk: Chunk) -> Gradient:
        """The Hessian of sum r^2 applied to `direction`."""

    @abc.abstractmethod
    def laplacian(
        self, student: Student, group: Array | None, on_sphere: bool, chunk: Chunk
    ) -> Array:
        """The Laplacian of sum r^2 in each unit (k,), or in a `group` (k,) of 0s and 1s together.

        On R^d a group moves by a common translation. On the sphere it moves by a common rotation:
        the sum of second derivatives along the d(d-1)/2 rotations in coordinate planes, which for
        one unit is the Laplace-Beltrami operator.
        """
