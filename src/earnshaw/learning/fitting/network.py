"""The network that a fit works on: one of dot-product units that has all its parts."""

from __future__ import annotations

import dataclasses

import numpy as np

from earnshaw.charges.network import Student
from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import DotProduct


@dataclasses.dataclass(frozen=True, eq=False)
class FittedNetwork(Network):
    """A `Network` with biases, linear part (zero where there is none) and intercept.

    Its outputs always have an axis: weights (k, m), linear (d, m), intercept (m,), g(x) (n, m).
    """

    activation: DotProduct
    biases: np.ndarray
    intercept: np.ndarray
    linear: np.ndarray

    def __post_init__(self) -> None:
        """Nothing is checked or copied: these arrays are our own, and change at every step."""

    @property
    def tilted(self) -> np.ndarray:
        """The units as positions in R^(d+1), the bias last: x.positions_j + biases_j = (x, 1).v."""
        return np.column_stack([self.positions, self.biases])

    def student(self, output: int = 0) -> Student:
        """The units as charges in R^(d+1), for one output; the linear part is left out."""
        return Student(self.tilted, self.weights[:, output])

    def keep(self, units: np.ndarray) -> FittedNetwork:
        """The network of these units only, given by a mask or by their numbers."""
        return dataclasses.replace(
            self,
            positions=self.positions[units],
            biases=self.biases[units],
            weights=self.weights[units],
        )

    def with_unit(self, position: np.ndarray, bias: float, weight: np.ndarray) -> FittedNetwork:
        """The network with one more unit."""
        return dataclasses.replace(
            self,
            positions=np.vstack([self.positions, position]),
            biases=np.append(self.biases, bias),
            weights=np.vstack([self.weights, weight]),
        )

    def to_network(self) -> Network:
        """Without an axis for a single output, and without a linear part that is 0."""
        weights, intercept, linear = self.weights, self.intercept, self.linear
        if self.outputs == 1:
            weights, intercept, linear = weights[:, 0], intercept[0], linear[:, 0]
        return Network(
            positions=self.positions,
            weights=weights,
            activation=self.activation,
            biases=self.biases,
            intercept=intercept,
            linear=linear if np.any(linear) else None,
        )


def empty_network(activation: DotProduct, dim: int, outputs: int) -> FittedNetwork:
    """The network of no units: 0 everywhere."""
    return FittedNetwork(
        activation=activation,
        positions=np.zeros((0, dim)),
        biases=np.zeros(0),
        weights=np.zeros((0, outputs)),
        linear=np.zeros((dim, outputs)),
        intercept=np.zeros(outputs),
    )
