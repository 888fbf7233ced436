"""The units of a network side by side: inputs in standard deviations, the largest unit first."""

from __future__ import annotations

import dataclasses

import numpy as np

from earnshaw.charges.responses import responses
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.learning.fitting.problem import Problem


@dataclasses.dataclass(frozen=True)
class UnitTable:
    """The units of a network on data, the one that moves the outputs most first.

    Attributes:
        slopes: (k, d), by how much a standard deviation of an input moves a unit's argument.
        biases: (k,), of a unit at the mean of the inputs.
        weights: (k, m), in the coordinates of the data.
        shares: (k,), the standard deviation of what a unit adds to the outputs, which are
            measured in their own standard deviations (as they are, for classes).
        linear: (d, m), by how much a standard deviation of an input moves the outputs, likewise.
        errors: (k, m), standard errors of the weights; None where they are not known.
    """

    slopes: np.ndarray
    biases: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    linear: np.ndarray
    errors: np.ndarray | None = None

    @property
    def units(self) -> int:
        """k, the number of units."""
        return len(self.biases)

    @classmethod
    def of(
        cls, network: FittedNetwork, problem: Problem, errors: np.ndarray | None = None
    ) -> UnitTable:
        """The units of `network` on the rows of `problem`, its weights with these errors (k, m)."""
        x, weight = problem.x, problem.weight / np.sum(problem.weight)
        mean = weight @ x
        deviation = np.sqrt(weight @ (x - mean) ** 2)
        scale = np.ones(network.outputs)
        if not problem.classes:
            spread = np.sqrt(weight @ (problem.y - weight @ problem.y) ** 2)
            scale = np.where(spread > 0, spread, 1.0)
        response = responses(network.activation, x @ network.positions.T + network.biases)
        moves = np.sqrt(weight @ (response - weight @ response) ** 2)
        shares = moves * np.linalg.norm(network.weights / scale, axis=1)
        order = np.argsort(-shares, kind="stable")
        return cls(
            slopes=(network.positions * deviation)[order],
            biases=(network.biases + network.positions @ mean)[order],
            weights=network.weights[order],
            shares=shares[order],
            linear=network.linear * deviation[:, None] / scale,
            errors=None if errors is None else errors[order],
        )
