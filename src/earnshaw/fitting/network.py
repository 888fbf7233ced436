"""A network with biases, several outputs and a linear part: what is fitted to data.

    g(x) = sum_j weights_j s(x.positions_j + biases_j) + x.linear + intercept

s is a dot-product activation, `weights_j` and g(x) are vectors of m outputs.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from earnshaw.activations.base import DotProduct
from earnshaw.charges.network import Student
from earnshaw.fitting.response import responses


@dataclasses.dataclass(frozen=True)
class Network:
    """The units, the linear part and the intercept of a network with k units, d inputs, m outputs.

    Attributes:
        activation: s.
        positions: (k, d).
        biases: (k,).
        weights: (k, m).
        linear: (d, m), zero where there is no linear part.
        intercept: (m,).
    """

    activation: DotProduct
    positions: np.ndarray
    biases: np.ndarray
    weights: np.ndarray
    linear: np.ndarray
    intercept: np.ndarray

    @property
    def units(self) -> int:
        """k, the number of units."""
        return len(self.positions)

    @property
    def dim(self) -> int:
        """d, the number of inputs."""
        return self.linear.shape[0]

    @property
    def outputs(self) -> int:
        """m, the number of outputs."""
        return self.linear.shape[1]

    @property
    def tilted(self) -> np.ndarray:
        """The units as positions in R^(d+1), the bias last: x.positions_j + biases_j = (x, 1).v."""
        return np.column_stack([self.positions, self.biases])

    def student(self, output: int = 0) -> Student:
        """The units as charges in R^(d+1), for one output; the linear part is left out."""
        return Student(self.tilted, self.weights[:, output])

    def keep(self, units: np.ndarray) -> Network:
        """The network of these units only, given by a mask or by their numbers."""
        return dataclasses.replace(
            self,
            positions=self.positions[units],
            biases=self.biases[units],
            weights=self.weights[units],
        )

    def with_unit(self, position: np.ndarray, bias: float, weight: np.ndarray) -> Network:
        """The network with one more unit."""
        return dataclasses.replace(
            self,
            positions=np.vstack([self.positions, position]),
            biases=np.append(self.biases, bias),
            weights=np.vstack([self.weights, weight]),
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """g(x) for inputs (n, d); shape (n, m). A block of rows at a time."""
        x = np.asarray(x, dtype=float)
        rows = max(1, BLOCK // max(self.units, self.dim, 1))
        parts = [self._block(x[start : start + rows]) for start in range(0, max(len(x), 1), rows)]
        return np.concatenate(parts)

    def _block(self, x: np.ndarray) -> np.ndarray:
        response = responses(self.activation, x @ self.positions.T + self.biases)
        return response @ self.weights + x @ self.linear + self.intercept


BLOCK = 2**21  # entries of responses that are held at once


def empty_network(activation: DotProduct, dim: int, outputs: int) -> Network:
    """The network of no units: 0 everywhere."""
    return Network(
        activation=activation,
        positions=np.zeros((0, dim)),
        biases=np.zeros(0),
        weights=np.zeros((0, outputs)),
        linear=np.zeros((dim, outputs)),
        intercept=np.zeros(outputs),
    )
