"""The network of infinitely many units: a charge on every sample, its potential set by evidence.

With independent Gaussian weights, a network of ever more units becomes a Gaussian field whose
covariance is the potential between inputs (Neal, Bayesian Learning for Neural Networks, 1996). Here

    K(x, z) = amplitude Phi(r(x, z)) + slope x.z / d,
    "laplace"  Phi = exp(-r),            r = sum_i scale_i |x_i - z_i|,
    "matern"   Phi = (1 + r) exp(-r),    r = |(scale_i (x_i - z_i))_i|,

the first the screened potential of steps along the inputs, as rough as a forest, the second smooth;
the slope is the linear part. Given answers y with noise, the mean of the field is that of charges
on the samples,

    g(x) = sum_i c_i K(x, x_i),    (K + noise I) c = y.

Scales (one a source of inputs), amplitude, slope and noise maximise the exact evidence, times a
wide lognormal prior, on some of the samples. What the field says of a sample that it has not seen
is known exactly: y_i - c_i / [(K + noise I)^(-1)]_ii. Weights w divide the noise. scikit-learn's
GaussianProcessRegressor gives the same charges; it has no potential of steps along the inputs, no
gradient for sources, and takes no weights.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform

from earnshaw.limits import check_memory

POTENTIALS = ("laplace", "matern")
WIDE = 2.0  # the deviation of the prior of logarithms of scales, amplitude, slope and noise
JITTER = 1e-8
BLOCK = 2**22  # entries of K that are held at once
HELD = 2**24  # differences of pairs of samples that are held at once
REMEMBERED = 2000  # samples up to which error bars are those of the field


@dataclasses.dataclass(frozen=True)
class Shape:
    """Of the potential: its kind, scales (d,), amplitude, slope and noise."""

    kind: str
    scales: np.ndarray
    amplitude: float
    slope: float
    noise: float

    def between(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """K(x, z), (n, n')."""
        return self.amplitude * _potential(self.kind, _distance(self.kind, x, z, self.scales)) + (
            self.slope / x.shape[1]
        ) * (x @ z.T)

    def at(self, x: np.ndarray) -> np.ndarray:
        """K(x, x) for every row, (n,)."""
        return self.amplitude + self.slope * np.mean(x**2, axis=1)


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


def shaped(
    kind: str,
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    sources: tuple[int, ...],
    few: int,
    steps: int,
    seed: int,
) -> tuple[Shape, float]:
    """The shape of the largest evidence on `few` of the samples, and its logarithm."""
    rows = np.arange(len(x))
    if len(x) > few:
        rows = np.sort(np.random.default_rng([seed, 23]).permutation(len(x))[:few])
    return _shaped(kind, x[rows], y[rows], weight[rows], np.asarray(sources), steps)


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


def _shaped(
    kind: str, x: np.ndarray, y: np.ndarray, weight: np.ndarray, sources: np.ndarray, steps: int
) -> tuple[Shape, float]:
    """The shape of the largest evidence, and its logarithm."""
    count = int(sources.max()) + 1
    width = float(len(sources))
    first = np.append(np.full(count, -np.log(width)), [0.0, np.log(0.3), np.log(0.3)])
    problem = _Evidence(kind, x, y, weight, sources, first)
    bounds = [(-9.0 - np.log(width), 3.0)] * count + [(-5.0, 4.0), (-6.0, 3.0), (-6.0, 2.0)]
    found = minimize(
        problem, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}
    )
    return problem.shape(found.x), -float(found.fun)


class _Evidence:
    """Minus the log evidence of one kind of potential, and its gradient in log parameters."""

    def __init__(
        self,
        kind: str,
        x: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        sources: np.ndarray,
        first: np.ndarray,
    ) -> None:
        self.kind, self.x, self.y, self.weight, self.sources = kind, x, y, weight, sources
        self.first, self.linear = first, x @ x.T / x.shape[1]
        self.gaps = _Gaps(x if kind == "laplace" else x[:0])

    def shape(self, p: np.ndarray) -> Shape:
        """The shape of a vector of logarithms."""
        scales = np.exp(p[:-3])[self.sources]
        amplitude, slope, noise = np.exp(2 * p[-3:])
        return Shape(self.kind, scales, float(amplitude), float(slope), float(noise))

    def __call__(self, p: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient."""
        shape, x, y = self.shape(p), self.x, self.y
        n, m = y.shape
        decay, potential = self._potentials(shape)
        matrix = shape.amplitude * potential + shape.slope * self.linear
        matrix[np.diag_indices(n)] += (shape.noise + JITTER) / self.weight
        factor, failed = dpotrf(matrix, lower=1)
        if failed:
            return 1e10, np.zeros_like(p)
        charges = cho_solve((factor, True), y, check_finite=False)
        away = (p - self.first) / WIDE
        value = 0.5 * np.sum(y * charges) + m * np.sum(np.log(np.diagonal(factor)))
        value += 0.5 * n * m * np.log(2 * np.pi) + 0.5 * float(away @ away)
        # A weight of w is w equal samples: the others add the noise's own density at its mean.
        more = float(np.sum(self.weight - 1)) * m
        value += 0.5 * more * np.log(2 * np.pi * (shape.noise + JITTER))
        value += 0.5 * m * float(np.sum(np.log(self.weight)))
        inverse, _ = dpotri(factor, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        pull = 0.5 * (m * inverse - charges @ charges.T)  # d value / d matrix
        gradient = away / WIDE
        along = self._along_scales(shape, pull, decay)
        gradient[:-3] += np.bincount(self.sources, weights=along)
        gradient[-3] += 2 * shape.amplitude * np.sum(pull * potential)
        gradient[-2] += 2 * shape.slope * np.sum(pull * self.linear)
        gradient[-1] += 2 * shape.noise * np.sum(np.diagonal(pull) / self.weight)
        gradient[-1] += more * shape.noise / (shape.noise + JITTER)
        return float(value), gradient

    def _potentials(self, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
        """exp(-r) and Phi(r) between all samples, (n, n)."""
        if self.kind == "laplace":  # of every pair once
            decay = squareform(np.exp(-self.gaps.distance(shape.scales)), checks=False)
            np.fill_diagonal(decay, 1.0)
            return decay, decay
        distance = _distance(self.kind, self.x, self.x, shape.scales)
        decay = np.exp(-distance)
        return decay, (1 + distance) * decay

    def _along_scales(self, shape: Shape, pull: np.ndarray, decay: np.ndarray) -> np.ndarray:
        """d value / d log scale_i, (d,)."""
        x, scales = self.x, shape.scales
        pulled = -shape.amplitude * pull * decay  # dPhi = -exp(-r) dr, or -exp(-r) r dr
        if self.kind == "laplace":
            return 2 * scales * self.gaps.along(squareform(pulled, checks=False))
        sums = pulled.sum(axis=1)
        return scales**2 * 2 * (sums @ x**2 - np.sum(x * (pulled @ x), axis=0))


class _Gaps:
    """|x_i - z_i| of all pairs of rows, input by input, held where that is little."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x
        held = len(x) * (len(x) - 1) // 2 * x.shape[1] <= HELD
        self.table = np.array([self.one(i) for i in range(x.shape[1])]) if held else None

    def one(self, i: int) -> np.ndarray:
        """Those of one input, (pairs,)."""
        return pdist(self.x[:, i : i + 1], "cityblock")

    def along(self, pulled: np.ndarray) -> np.ndarray:
        """Their sums with weights (pairs,), (d,)."""
        if self.table is not None:
            return self.table @ pulled
        return np.array([self.one(i) @ pulled for i in range(self.x.shape[1])])

    def distance(self, scales: np.ndarray) -> np.ndarray:
        """sum_i scale_i |x_i - z_i|, (pairs,)."""
        if self.table is not None:
            return scales @ self.table
        return pdist(self.x * scales, "cityblock")


def _distance(kind: str, x: np.ndarray, z: np.ndarray, scales: np.ndarray) -> np.ndarray:
    if kind == "laplace":
        return cdist(x * scales, z * scales, "cityblock")
    a, b = x * scales, z * scales
    square = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2 * (a @ b.T)
    return np.sqrt(np.maximum(square, 0.0))


def _potential(kind: str, r: np.ndarray) -> np.ndarray:
    return np.exp(-r) if kind == "laplace" else (1 + r) * np.exp(-r)
