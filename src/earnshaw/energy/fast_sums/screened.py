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

Where the charges fill a box that is small compared with 1/s, it is the difference to a constant,
Phi(r) - Phi(R), that is smeared, cut off at a distance R that no pair reaches: its transform
C T(k)/(k^2 + lambda) is known in closed form (after Vico, Greengard and Ferrando, Fast convolution
with free-space Green's functions, 2016), and the period need be no longer than the box and R.
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
        if (end := self._end(cut, tolerance, extent)) is not None:
            far = far * truncation(k, end, self.rate, self.dim)
        return self.strength * far

    def constant(self, cut: Cut, tolerance: float, extent: float) -> float:
        """a k_n(s R) chi^(0)/chi^(i s), 0 where nothing is cut off."""
        if (end := self._end(cut, tolerance, extent)) is None:
            return 0.0
        z, order = self.rate * end, self.dim / 2 - 1
        logs = math.log(special.kve(order, z)) - z - order * math.log(z) + self.log_strength
        smeared = smearing(np.zeros(1), cut.radius, cut.shape, self.lam, self.dim)
        return math.exp(logs) * float(smeared[0])

    def _end(self, cut: Cut, tolerance: float, extent: float) -> float | None:
        """R, or None where Phi has died away before."""
        end = self._longest(extent) + cut.radius
        return end if end + cut.radius < self.reach(tolerance) else None

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

    # An error of this size at the rate of 1/radius is one of the gradient.
    allowed = tolerance * min(splitting.origin, splitting.steepest * cut.radius)
    like = splitting.dim, splitting.lam, splitting.radius, splitting.core, splitting.log_strength
    return prepared(*like, far, cut.radius, cut.cutoff, allowed)


def truncation(k: np.ndarray, end: float, rate: float, dim: int) -> np.ndarray:
    """T(k): the transform of k_n(s r) - k_n(s R) for r < R = `end`, over that of all k_n(s r).

    With x = k R and z = s R

    d = 1: 1 - exp(-z) (cos x + z sin(x)/x);
    d = 2: 1 - z K_1(z) J_0(x) - z^2 K_0(z) J_1(x)/x;
    d = 3: 1 - exp(-z) ((1 + z) sin(x)/x + z^2 (sin(x)/x - cos x)/x^2).

    It is of order 1 for x of order 1, however small z is: without the constant k_n(s R), a jump of
    that size would be smeared, and its rounding errors be large compared with a small slope.
    """
    x, z = np.asarray(k, dtype=float) * end, rate * end
    safe = np.where(x == 0, 1.0, x)
    sinc = np.sin(safe) / safe
    if dim == 1:
        found = 1 - math.exp(-z) * (np.cos(safe) + z * sinc)
    elif dim == 2:
        found = 1 - z * special.k1(z) * special.j0(safe)
        found -= z * z * special.k0(z) * special.j1(safe) / safe
    else:
        bend = (sinc - np.cos(safe)) / (safe * safe)
        found = 1 - math.exp(-z) * ((1 + z) * sinc + z * z * bend)
    return np.where(x == 0, _total(z, dim), found)


def _total(z: float, dim: int) -> float:
    """T(0), which is of order z^2 for small z."""
    with mpmath.workdps(30 + 2 * max(0, -math.floor(math.log10(z)))):
        z = mpmath.mpf(z)
        if dim == 2:
            return float(1 - z * mpmath.besselk(1, z) - z * z * mpmath.besselk(0, z) / 2)
        rest = 1 + z + (z * z / 3 if dim == 3 else 0)
        return float(1 - rest * mpmath.exp(-z))
