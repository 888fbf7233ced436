"""The Gaussian potential exp(-c r^2/2), which is all far or all near.

Its transform is a Gaussian, too: with L = log(1/tolerance), a distance sqrt(2 L/c) and a wave
number sqrt(2 L c) contain all of it. Where charges fill a box of many such distances, the grid of
wave numbers is large and neighbours are few: then all of it is a sum over neighbours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.energy.fast_sums.splitting import Cut, NearPart, Splitting, Whole

SPARE = 6.0  # added to L: factors before the exponentials, and images on all sides


@dataclass(frozen=True)
class GaussianSplitting(Splitting):
    """exp(-`rate` r^2/2) on R^`dim`."""

    dim: int
    rate: float

    @property
    def origin(self) -> float:
        """1."""
        return 1.0

    @property
    def steepest(self) -> float:
        """At r = 1/sqrt(c)."""
        return math.sqrt(self.rate / math.e)

    @property
    def smooth(self) -> bool:
        """It is."""
        return True

    @property
    def potential(self) -> GaussianPotential:
        """The potential itself."""
        return GaussianPotential(dim=self.dim, rate=self.rate)

    def reach(self, tolerance: float) -> float:
        """sqrt(2 L/c)."""
        return math.sqrt(2 * (math.log(1 / tolerance) + SPARE) / self.rate)

    def cuts(self, tolerance: float, extent: float) -> tuple[Cut, ...]:
        """All far, or all near."""
        reach = self.reach(tolerance)
        return Cut(reach, 0.0), Cut(0.0, reach * self.rate)

    def period(self, cut: Cut, tolerance: float, extent: float) -> float:
        """The box and the reach."""
        return extent + self.reach(tolerance)

    def spectrum(self, k: np.ndarray, cut: Cut, tolerance: float, extent: float) -> np.ndarray:
        """(2 pi/c)^(d/2) exp(-k^2/(2c))."""
        return np.asarray(self.potential.fourier(k))

    def near(self, cut: Cut, tolerance: float) -> NearPart:
        """The potential."""
        return Whole(self.potential)
