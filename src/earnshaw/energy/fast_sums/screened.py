"""Screened Coulomb potentials with a core: almost-harmonic ones, and exp(-r) on the line.

For r > eps, the radius of the core, Phi is lambda-harmonic,

    Phi(r) = a k_n(s r),    k_n(z) = z^(-n) K_n(z),    n = d/2 - 1,    s = sqrt(lambda),

whose transform, continued to r = 0, is C/(k^2 + lambda), C = a (2 pi)^(d/2) s^(2-d). The far part
is this function smeared with the window of radius rho >= eps (`window.py`), which changes nothing
for r > rho:

    far^(k) = C/(k^2 + lambda) chi^(k)/chi^(i s).

The near part, Phi minus the far part, is exactly 0 for r > rho: all of a core and of a cusp is in
it, the transform of the core is not needed. Nothing cancels but Phi and a smooth function that is
nowhere larger than about Phi(rho).

Where the charges fill a box that is small compared with 1/s, Phi is cut off at a distance R that no
pair reaches, before it is smeared: the transform C T(k)/(k^2 + lambda) is known in closed form
(Vico, Greengard and Ferrando, Fast convolution with free-space Green's functions, 2016), and the
period need be no longer than the box and R.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
from scipy import special

from earnshaw.energy.fast_sums.screened_near import ScreenedNear, prepared
from earnshaw.energy.fast_sums.splitting import Cut, NearPart, Splitting, Whole
from earnshaw.energy.fast_sums.window import BEYOND, shape_for, smearing

SPARE = 6.0  # added to log(1/tolerance): factors before the exponentials, and images on all sides
LONGEST = 6.0  # s rho: the series of K_0 near by lose exp(2 s rho) of 1e-16
FINEST, STEP = 1 / 400, 2**0.25  # radii of the window to choose from, relative to the box


@dataclass(frozen=True)
class ScreenedSplitting(Splitting):
    """A potential that is lambda-harmonic off a core, of which it is the polynomial `core` in r.

    `log_strength` is log a. Potentials are equal if these numbers are, whatever object they are.
    """

    dim: int
    lam: float
    radius: float
    core: tuple[float, ...]
    log_strength: float
    slope: float
    potential: Any = field(compare=False, hash=False)

    @property
    def origin(self) -> float:
        """Phi(0)."""
        return self.core[0]

    @property
    def steepest(self) -> float:
        """-Phi'(0): Phi is convex."""
        return self.slope

    @property
    def rate(self) -> float:
        """s."""
        return math.sqrt(self.lam)

    @property
    def strength(self) -> float:
        """C."""
        half = self.dim / 2
        logs = half * math.log(2 * math.pi) + (2 - self.dim) / 2 * math.log(self.lam)
        return math.exp(logs + self.log_strength)

    def reach(self, tolerance: float) -> float:
        """From the core on Phi falls at least as exp(-s r)."""
        return self.radius + (math.log(1 / tolerance) + SPARE) / self.rate

    def cuts(self, tolerance: float, extent: float) -> tuple[Cut, ...]:
        """Windows of all sizes between the core and the box; and all near."""
        reach = self.reach(tolerance)
        largest = min(reach, LONGEST / self.rate, extent * math.sqrt(self.dim))
        rho = max(self.radius, FINEST * extent)
        found = [Cut(reach, 0.0)]
        while rho <= largest:
            shape = self._shape(rho, tolerance)
            found.append(Cut(rho, (shape + BEYOND) / rho, shape))
            rho *= STEP
        return tuple(found)

    def period(self, cut: Cut, tolerance: float, extent: float) -> float:
        """The box and the reach, or the box and what is cut off at R, smeared."""
        return extent + min(self.reach(tolerance), self._longest(extent) + 2 * cut.radius)

    def spectrum(self, k: np.ndarray, cut: Cut, tolerance: float, extent: float) -> np.ndarray:
        """C T(k)/(k^2 + lambda) chi^(k)/chi^(i s), with T = 1 where nothing is cut off."""
        k = np.asarray(k, dtype=float)
        far = smearing(k, cut.radius, cut.shape, self.lam, self.dim) / (k * k + self.lam)
        end = self._longest(extent) + cut.radius
        if end + cut.radius < self.reach(tolerance):
            far = far * truncation(k, end, self.rate, self.dim)
        return self.strength * far

    def near(self, cut: Cut, tolerance: float) -> NearPart:
        """Phi minus the far part; or Phi."""
        if not cut.cutoff:
            return Whole(self.potential)
        return _near(self, cut, tolerance)

    def _shape(self, rho: float, tolerance: float) -> float:
        """So that what the far part loses is a quarter of what is allowed."""
        allowed = tolerance / 4 / self.strength
        value = allowed * self.origin * rho ** (self.dim - 2)
        return shape_for(self.dim, value, allowed * self.steepest * rho ** (self.dim - 1))

    def _longest(self, extent: float) -> float:
        """The diagonal of the box."""
        return extent * math.sqrt(self.dim)


@lru_cache(maxsize=32)
def _near(splitting: ScreenedSplitting, cut: Cut, tolerance: float) -> ScreenedNear:
    def far(k: np.ndarray) -> np.ndarray:
        smeared = smearing(k, cut.radius, cut.shape, splitting.lam, splitting.dim)
        return splitting.strength * smeared / (k * k + splitting.lam)

    like = splitting.dim, splitting.lam, splitting.radius, splitting.core, splitting.log_strength
    return prepared(*like, far, cut.radius, cut.cutoff, tolerance)


def truncation(k: np.ndarray, end: float, rate: float, dim: int) -> np.ndarray:
    """T(k): the transform of k_n(s r) cut off at r = R = `end`, over that of all of it.

    d = 1: 1 + exp(-sR) ((k/s) sin kR - cos kR);
    d = 2: 1 + kR J_1(kR) K_0(sR) - sR J_0(kR) K_1(sR);
    d = 3: 1 - exp(-sR) ((s/k) sin kR + cos kR).
    """
    x, z = np.asarray(k, dtype=float) * end, rate * end
    rest = math.exp(-z)
    if dim == 1:
        found = 1 + rest * (x / z * np.sin(x) - np.cos(x))
    elif dim == 2:
        found = 1 + x * special.j1(x) * special.k0(z) - z * special.j0(x) * special.k1(z)
    else:
        found = 1 - rest * (z * np.sinc(x / math.pi) + np.cos(x))
    return np.where(x == 0, _total(z, dim), found)


def _total(z: float, dim: int) -> float:
    """T(0), which is of order z^2 for small z: 1 - e^-z, 1 - z K_1(z), 1 - (1 + z) e^-z."""
    with mpmath.workdps(30 + 2 * max(0, -math.floor(math.log10(z)))):
        z = mpmath.mpf(z)
        if dim == 2:
            return float(1 - z * mpmath.besselk(1, z))
        return float(1 - (1 + z if dim == 3 else 1) * mpmath.exp(-z))
