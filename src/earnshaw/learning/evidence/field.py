"""The network of infinitely many units: a charge on every sample, its potential set by evidence.

With independent Gaussian weights, a network of ever more units becomes a Gaussian field whose
covariance is the potential K between inputs (Neal, Bayesian Learning for Neural Networks, 1996);
`shapes.py` has its forms. Given answers y with noise, the mean of the field is that of charges on
the samples,

    g(x) = sum_i c_i K(x, x_i),    (K + noise I) c = y.

What the field says of a sample that it has not seen is known exactly:
y_i - c_i / [(K + noise I)^(-1)]_ii. Weights w divide the noise. scikit-learn's
GaussianProcessRegressor gives the same charges; it has no potential of steps along the inputs, no
gradient for sources, and takes no weights.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from earnshaw.learning.evidence.shapes import JITTER, Shape, shaped
from earnshaw.limits import check_memory

BLOCK = 2**22  # entries of K that are held at once
REMEMBERED = 2000  # samples up to which error bars are those of the field


@dataclasses.dataclass(frozen=True)
class Field:
    """Charges (n, m) at centres (n, d).

    Attributes:
        evidence: its logarithm on the samples that the shape was found on.
        extra: (n,), the noise of every sample.
        unseen: (n, m), what is said of each sample without having seen it. unsure: (n,), the
            variance of that. factor: of K + noise, lower; None for many samples.
    """

    shape: Shape
    centres: np.ndarray
    charges: np.ndarray
    extra: np.ndarray
    evidence: float
    unseen: np.ndarray
    unsure: np.ndarray
    factor: np.ndarray | None

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """g(x), (n, m)."""
        return np.concatenate([self.shape.between(x[r], self.centres) @ self.charges
                               for r in self._blocks(len(x))])  # fmt: skip

    def variance(self, x: np.ndarray) -> np.ndarray:
        """Of the field at x, without noise, (n,)."""
        if self.factor is None:
            return np.full(len(x), float(np.mean(self.unsure)))
        found = []
        for rows in self._blocks(len(x)):
            across = self.shape.between(x[rows], self.centres)
            half = solve_triangular(self.factor, across.T, lower=True, check_finite=False)
            found.append(np.maximum(self.shape.at(x[rows]) - np.sum(half**2, axis=0), 0.0))
        return np.concatenate(found)

    def _blocks(self, count: int) -> list[slice]:
        height = max(BLOCK // max(len(self.centres), 1), 16)
        return [slice(start, start + height) for start in range(0, max(count, 1), height)]


def fit_field(
    kind: str,
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    sources: tuple[int, ...],
    few: int,
    steps: int,
    seed: int,
) -> Field:
    """The field of inputs (n, d), answers (n, m) of mean 0 and weights (n,), of `few` samples."""
    shape, evidence = shaped(kind, x, y, weight, sources, few, steps, seed)
    return charged(shape, x, y, weight, evidence)


def charged(
    shape: Shape, x: np.ndarray, y: np.ndarray, weight: np.ndarray, evidence: float
) -> Field:
    """The charges that a shape and answers give."""
    check_memory({"samples": len(x), "samples again": len(x)}, 4.0)
    matrix = shape.between(x, x)
    extra = (shape.noise + JITTER) / weight
    matrix[np.diag_indices_from(matrix)] += extra
    factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
    if failed:
        raise FloatingPointError
    charges = cho_solve((factor, True), y, check_finite=False)
    inverse, _ = dpotri(factor, lower=1)
    # Of every sample one is taken away, or all of a weight below 1: the others stay.
    variance = np.maximum(extra - extra**2 * np.diagonal(inverse), 0.0)
    less = variance * np.minimum(weight, 1.0) / (shape.noise + JITTER)
    unsure = variance / np.maximum(1 - less, 1e-6)
    unseen = y - extra[:, None] * charges * (1 + less / np.maximum(1 - less, 1e-6))[:, None]
    kept = np.tril(factor) if len(x) <= REMEMBERED else None
    return Field(shape, x, charges, extra, evidence, unseen, unsure, kept)
