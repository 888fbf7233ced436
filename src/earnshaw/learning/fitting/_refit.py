"""The best output weights, linear part and intercept for given units: linear least squares."""

from __future__ import annotations

import dataclasses

import numpy as np

from earnshaw.charges.responses import responses
from earnshaw.learning.fitting._layout import Freedom
from earnshaw.learning.fitting._samples import Samples
from earnshaw.learning.fitting.network import FittedNetwork

ROWS = 2048  # samples that weights are refitted on, before all parameters are fitted
LEAST = 1e-13  # singular values below this, relative to the largest, are rounding
RIDGE = 1e-6  # of a unit's weight, so that units that the data hardly see get none


class Features:
    """The columns that a network's outputs are made of: responses, inputs, ones; weighted rows."""

    def __init__(
        self, network: FittedNetwork, samples: Samples, freedom: Freedom, seed: int
    ) -> None:
        x, y, weight = samples.subset(ROWS, seed).standard(slice(None))
        units = responses(network.activation, x @ network.tilted.T)
        inputs = x[:, :-1] if freedom.linear else x[:, :0]
        ones = x[:, -1:] if freedom.intercept else x[:, :0]
        root = np.sqrt(weight)[:, None]
        ridge = np.zeros(network.units + inputs.shape[1] + ones.shape[1])
        ridge[: network.units] = np.sqrt(RIDGE * np.sum(weight))
        self.network, self.freedom = network, freedom
        table = np.vstack([root * np.column_stack([units, inputs, ones]), np.diag(ridge)])
        answers = np.vstack([root * y, np.zeros((len(ridge), y.shape[1]))])
        # The triangle of a QR factorisation has the same least squares in fewer rows.
        triangle: np.ndarray = np.linalg.qr(np.column_stack([table, answers])).R
        self.table, self.answers = triangle[:, : len(ridge)], triangle[:, len(ridge) :]
        size = np.linalg.norm(self.table, axis=0)
        self.size = np.where(size > 0, size, 1.0)

    def refitted(self) -> FittedNetwork:
        """The network with the weights, linear part and intercept of least squares."""
        found = np.linalg.lstsq(self.table / self.size, self.answers, rcond=LEAST)[0]
        found = found / self.size[:, None]
        network, k = self.network, self.network.units
        d = network.dim if self.freedom.linear else 0
        return dataclasses.replace(
            network,
            weights=found[:k],
            linear=found[k : k + d] if self.freedom.linear else network.linear,
            intercept=found[k + d] if self.freedom.intercept else network.intercept,
        )

    def contributions(self) -> np.ndarray:
        """How much the sum of squares grows without each unit, other weights refitted; (k,).

        Of a column a and its part a' orthogonal to all others it is |c a'|^2, and |a'|^-2 is a
        diagonal entry of the inverse Gram matrix.
        """
        _, sizes, right = np.linalg.svd(self.table / self.size, full_matrices=False)
        sizes = np.maximum(sizes, LEAST * sizes[0])
        inverse = np.sum((right / sizes[:, None]) ** 2, axis=0)[: self.network.units]
        charges = self.network.weights * self.size[: self.network.units, None]
        return np.sum(charges**2, axis=1) / inverse


def refit(network: FittedNetwork, samples: Samples, freedom: Freedom, seed: int) -> FittedNetwork:
    """`network` with its output weights, linear part and intercept refitted on some samples."""
    return Features(network, samples, freedom, seed).refitted()
