"""Two views of inputs: standardised, and with columns of many values as normal quantiles.

A column whose values are spread unevenly (incomes, concentrations, ages) is then seen as
z = Phi^(-1)(rank), linear between knots and constant outside: a monotone transform that no outlier
can stretch. Fields of both views are members of a committee; unseen samples say which counts.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import ndtri

KNOTS = 64  # of a column's quantiles
MANY = 12  # different values that a column must have to be offered again
MOST = 64  # columns that are, at most
ROUNDING = 1e-12  # a standard deviation below this part of the mean is rounding


@dataclasses.dataclass(frozen=True)
class Coordinates:
    """Two views of inputs (n, d), both of the same shape.

    Attributes:
        shift, scale: (d,), of the standardised inputs; infinite scale for constant ones.
        again: (q,), the inputs that have quantiles.
        knots, heights: (q, knots), where these are linear between, standardised as well.
    """

    shift: np.ndarray
    scale: np.ndarray
    again: np.ndarray
    knots: np.ndarray
    heights: np.ndarray

    def straight(self, x: np.ndarray) -> np.ndarray:
        """The standardised inputs, (n, d)."""
        return (x - self.shift) / self.scale

    def quantiles(self, x: np.ndarray) -> np.ndarray:
        """Standardised inputs, as quantiles where there are quantiles, (n, d)."""
        found = self.straight(x)
        found[:, self.again] = self._bent(x)
        return found

    def _bent(self, x: np.ndarray) -> np.ndarray:
        found = np.empty((len(x), len(self.again)))
        for j, i in enumerate(self.again):
            found[:, j] = np.interp(x[:, i], self.knots[j], self.heights[j])
        return found


def coordinates_of(x: np.ndarray, weight: np.ndarray, bend: np.ndarray) -> Coordinates:
    """Those of inputs (n, d) with weights (n,); `bend` (d,) says which may be bent."""
    share = weight / np.sum(weight)
    shift = share @ x
    deviation = np.sqrt(share @ (x - shift) ** 2)
    scale = np.where(deviation > ROUNDING * np.abs(shift), deviation, np.inf)
    again: list[int] = []
    knots: list[np.ndarray] = []
    heights: list[np.ndarray] = []
    for i in np.flatnonzero(bend & np.isfinite(scale)):
        values = np.unique(x[:, i])
        if len(values) < MANY or len(again) >= MOST:
            continue
        at, height = _quantiles(x[:, i], share)
        bent = np.interp(x[:, i], at, height)
        mean = share @ bent
        again.append(int(i))
        knots.append(at)
        heights.append((height - mean) / np.sqrt(share @ (bent - mean) ** 2))
    shape = (len(again), KNOTS)
    return Coordinates(
        shift,
        scale,
        np.array(again, dtype=int),
        np.reshape(np.array(knots, dtype=float), shape),
        np.reshape(np.array(heights, dtype=float), shape),
    )


def _quantiles(column: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knots (KNOTS,) that rise, and normal quantiles of the middle of their ranks."""
    values, place = np.unique(column, return_inverse=True)
    mass = np.bincount(place, weights=share)
    rank = np.cumsum(mass) - mass / 2
    at = np.interp(np.linspace(0, 1, KNOTS), np.linspace(0, 1, len(values)), values)
    if len(values) > KNOTS:
        at = np.interp(np.linspace(rank[0], rank[-1], KNOTS), rank, values)
    height = ndtri(np.clip(np.interp(at, values, rank), 0.005, 0.995))
    return at, height
