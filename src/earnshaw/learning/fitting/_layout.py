"""The parameters of a network as one vector, with room for more units than there are.

The vector holds, one after the other, the units with their biases (K, d + 1), their weights (K, m),
and the linear part with the intercept (d + 1, m). K, the room for units, is one of few numbers, so
that a growing network is compiled for few shapes; units that are not there have weight 0 and are
not free to move.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from earnshaw.learning.fitting.network import FittedNetwork

ROOMS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)


class Parts(NamedTuple):
    """Parts of the vector, of NumPy or JAX: units (K, d + 1), weights (K, m), affine (d + 1, m)."""

    units: Any
    weights: Any
    affine: Any


@dataclasses.dataclass(frozen=True)
class Layout:
    """Room for `room` units with `dim` inputs and `outputs` outputs."""

    room: int
    dim: int
    outputs: int

    @property
    def size(self) -> int:
        """How many numbers the vector has."""
        return self.room * (self.dim + 1 + self.outputs) + (self.dim + 1) * self.outputs

    def split(self, vector: Any) -> Parts:
        """The parts of the vector."""
        first = self.room * (self.dim + 1)
        second = first + self.room * self.outputs
        return Parts(
            vector[:first].reshape(self.room, self.dim + 1),
            vector[first:second].reshape(self.room, self.outputs),
            vector[second:].reshape(self.dim + 1, self.outputs),
        )

    def join(self, units: np.ndarray, weights: np.ndarray, affine: np.ndarray) -> np.ndarray:
        """The vector of these parts; fewer units than there is room for are filled up with 0."""
        more = ((0, self.room - len(units)), (0, 0))
        parts = (np.pad(units, more), np.pad(weights, more), affine)
        return np.concatenate([np.ravel(part) for part in parts])

    def pack(self, network: FittedNetwork) -> np.ndarray:
        """The vector of a network."""
        affine = np.vstack([network.linear, network.intercept])
        return self.join(network.tilted, network.weights, affine)

    def unpack(self, vector: np.ndarray, network: FittedNetwork) -> FittedNetwork:
        """`network` with the parameters in `vector`."""
        units, weights, affine = (np.array(part) for part in self.split(vector))
        here = slice(network.units)
        return dataclasses.replace(
            network,
            positions=units[here, :-1],
            biases=units[here, -1],
            weights=weights[here],
            linear=affine[:-1],
            intercept=affine[-1],
        )


def layout_of(network: FittedNetwork) -> Layout:
    """The smallest layout with room for a network's units."""
    room = next((size for size in ROOMS if size >= network.units), network.units)
    return Layout(room, network.dim, network.outputs)


@dataclasses.dataclass(frozen=True)
class Freedom:
    """What of a network may be fitted."""

    biases: bool = True
    linear: bool = True
    intercept: bool = True

    def mask(self, layout: Layout, units: int) -> np.ndarray:
        """1 where the vector is free, 0 where it stays, for a network of so many units."""
        free = np.ones((units, layout.dim + 1))
        free[:, -1] = self.biases
        affine = np.full((layout.dim + 1, layout.outputs), float(self.linear))
        affine[-1] = self.intercept
        return layout.join(free, np.ones((units, layout.outputs)), affine)

    def count(self, network: FittedNetwork) -> int:
        """The number of free parameters of a network.

        A homogeneous activation does not tell the length of a unit from its weight.
        """
        each = network.dim + self.biases + network.outputs
        if network.activation.symmetries.degree is not None:
            each -= 1
        affine = network.outputs * (self.linear * network.dim + self.intercept)
        return network.units * each + affine
