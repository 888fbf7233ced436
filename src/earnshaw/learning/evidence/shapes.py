"""The shape of a field's potential, and the evidence that chooses it.

    K(x, z) = sum_p amplitude_p Phi_p(r_p(x, z)) + slope x.z / d,
    "laplace"  Phi = exp(-r),            r = sum_i scale_i |x_i - z_i|,
    "matern"   Phi = (1 + r) exp(-r),    r = |(scale_i (x_i - z_i))_i|,

the first the screened potential of steps along the inputs, as rough as a forest, the second smooth;
the slope is the linear part. The kind "both" is their sum, each with scales of its own: a smooth
trend and rough detail, of other inputs. Scales (one a source of inputs), amplitudes, slope and
noise maximise the exact evidence, times a wide lognormal prior, on some of the samples.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform

KINDS = {"laplace": ("laplace",), "matern": ("matern",), "both": ("matern", "laplace")}
POTENTIALS = tuple(KINDS)
WIDE = 2.0  # the deviation of the prior of logarithms of scales, amplitudes, slope and noise
MIDDLE = 0.3  # where that prior has its middle, for roots of slope and noise
QUIET = 0.1  # the root of the noise that a search begins with: from more, detail is lost in it
DETAIL, LITTLE = 1.0, 0.3  # of a second part: how much larger log scales are, and the amplitude
JITTER = 1e-8
HELD = 2**24  # differences of pairs of samples that are held at once


@dataclasses.dataclass(frozen=True)
class Shape:
    """Of the potential: its kind, scales (parts, d), amplitudes (parts,), slope and noise."""

    kind: str
    scales: np.ndarray
    amplitude: np.ndarray
    slope: float
    noise: float

    def between(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """K(x, z), (n, n')."""
        found = (self.slope / x.shape[1]) * (x @ z.T)
        for part, scales, amplitude in zip(
            KINDS[self.kind], self.scales, self.amplitude, strict=True
        ):
            found += amplitude * _potential(part, _distance(part, x, z, scales))
        return found

    def at(self, x: np.ndarray) -> np.ndarray:
        """K(x, x) for every row, (n,)."""
        return np.sum(self.amplitude) + self.slope * np.mean(x**2, axis=1)


def shaped(
    kind: str,
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    sources: tuple[int, ...],
    few: int,
    steps: int,
    seed: int,
    known: Shape | None = None,
) -> tuple[Shape, float]:
    """The shape of the largest evidence on `few` of the samples, and its logarithm.

    The search begins at the middle of the prior with little noise, or at a `known` shape.
    """
    rows = np.arange(len(x))
    if len(x) > few:
        rows = np.sort(np.random.default_rng([seed, 23]).permutation(len(x))[:few])
    source = np.asarray(sources)
    middle, bounds = prior(kind, source)
    problem = ShapeEvidence(kind, x[rows], y[rows], weight[rows], source, middle)
    first = np.append(middle[:-1], np.log(QUIET))
    if known is not None:
        first = np.clip(logarithms(known, source), *np.transpose(bounds))
    found = minimize(
        problem, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}
    )
    return problem.shape(found.x), -float(found.fun)


def prior(kind: str, sources: np.ndarray) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """The middle of the prior of the logarithms, and their bounds."""
    parts, count = len(KINDS[kind]), int(sources.max()) + 1
    width = np.log(len(sources))
    scales = np.repeat(-width + DETAIL * np.arange(parts), count)
    amplitudes = np.log(LITTLE) * np.arange(parts)
    middle = np.concatenate([scales, amplitudes, np.log([MIDDLE, MIDDLE])])
    bounds = [(-9.0 - width, 3.0)] * len(scales) + [(-5.0, 4.0)] * parts
    return middle, [*bounds, (-6.0, 3.0), (-6.0, 2.0)]


def logarithms(shape: Shape, sources: np.ndarray) -> np.ndarray:
    """The vector of which `ShapeEvidence.shape` makes this shape."""
    _, place = np.unique(sources, return_index=True)
    roots = np.sqrt([*shape.amplitude, shape.slope, shape.noise])
    return np.log(np.append(shape.scales[:, place].ravel(), roots))


class ShapeEvidence:
    """Minus the log evidence of one kind of potential, and its gradient in log parameters.

    These are log scales (parts, sources), log amplitudes (parts,), log slope and log noise, the
    last three of their square roots.
    """

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
        self.gaps = _Gaps(x if "laplace" in KINDS[kind] else x[:0])

    def shape(self, p: np.ndarray) -> Shape:
        """The shape of a vector of logarithms."""
        parts = len(KINDS[self.kind])
        scales = np.exp(p[: -parts - 2]).reshape(parts, -1)[:, self.sources]
        *amplitude, slope, noise = np.exp(2 * p[-parts - 2 :])
        return Shape(self.kind, scales, np.array(amplitude), float(slope), float(noise))

    def __call__(self, p: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient."""
        shape, y = self.shape(p), self.y
        n, m = y.shape
        # exp(-r) and Phi of every part
        parts = [
            self._potentials(part, scales)
            for part, scales in zip(KINDS[self.kind], shape.scales, strict=True)
        ]
        matrix = shape.slope * self.linear
        for amplitude, (_, potential) in zip(shape.amplitude, parts, strict=True):
            matrix += amplitude * potential
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
        along: list[np.ndarray | float] = []
        for number, (decay, _) in enumerate(parts):
            each = self._along_scales(shape, number, pull, decay)
            along.append(np.bincount(self.sources, weights=each))
        for amplitude, (_, potential) in zip(shape.amplitude, parts, strict=True):
            along.append(2 * amplitude * np.sum(pull * potential))
        along.append(2 * shape.slope * np.sum(pull * self.linear))
        own = 2 * shape.noise * np.sum(np.diagonal(pull) / self.weight)
        along.append(own + more * shape.noise / (shape.noise + JITTER))
        return float(value), away / WIDE + np.hstack(along)

    def _potentials(self, part: str, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """exp(-r) and Phi(r) between all samples, (n, n)."""
        if part == "laplace":  # of every pair once
            decay = squareform(np.exp(-self.gaps.distance(scales)), checks=False)
            np.fill_diagonal(decay, 1.0)
            return decay, decay
        distance = _distance(part, self.x, self.x, scales)
        decay = np.exp(-distance)
        return decay, (1 + distance) * decay

    def _along_scales(
        self, shape: Shape, number: int, pull: np.ndarray, decay: np.ndarray
    ) -> np.ndarray:
        """d value / d log scale_i of one part, (d,)."""
        x, scales = self.x, shape.scales[number]
        pulled = -shape.amplitude[number] * pull * decay  # dPhi = -exp(-r) dr, or -exp(-r) r dr
        if KINDS[self.kind][number] == "laplace":
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
