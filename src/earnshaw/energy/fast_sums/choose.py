"""The splitting of a potential, where the library knows one."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import polynomial

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.duality.families.bessel import BesselPotential, Exponential1D
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.duality.potential import Potential
from earnshaw.energy.fast_sums.gaussian import GaussianSplitting
from earnshaw.energy.fast_sums.screened import ScreenedSplitting
from earnshaw.energy.fast_sums.splitting import Splitting
from earnshaw.errors import OutOfRange
from earnshaw.limits import check_real

MAX_DIM = 3
TOLERANCE, LEAST, LARGEST = 1e-11, 1e-13, 1e-2  # of sums, see `evaluate.py`
KNOWN = "gaussian and almost-harmonic in d <= 3, bessel in d = 1"


def splitting_of(potential: Potential) -> Splitting | None:
    """Far and near part of a translation potential on R^d, d <= 3; None if there are none."""
    if isinstance(potential, GaussianPotential) and potential.dim <= MAX_DIM:
        return GaussianSplitting(potential.dim, float(potential.rate))
    if isinstance(potential, AlmostHarmonic) and potential.dim <= MAX_DIM:
        return ScreenedSplitting(
            dim=potential.dim,
            lam=float(potential.lam),
            radius=float(potential.radius),
            core=_in_powers_of_r(np.asarray(potential._value_terms), float(potential.radius)),
            log_strength=-float(potential._log_origin),
            slope=float(potential._slope_terms[0]),
            potential=potential,
        )
    line = isinstance(potential, BesselPotential) and potential.dim == 1
    if line or isinstance(potential, Exponential1D):
        # exp(-r) = sqrt(2/pi) k_(-1/2)(r), and no core.
        logs = 0.5 * math.log(2 / math.pi)
        return ScreenedSplitting(1, 1.0, 0.0, (1.0,), logs, 1.0, Exponential1D())
    return None


def check_tolerance(tolerance: float | None) -> float:
    """The tolerance of fast sums, by default TOLERANCE, or an error that says what is allowed."""
    if tolerance is None:
        return TOLERANCE
    found = check_real("tolerance", tolerance)
    if not LEAST <= found <= LARGEST:
        raise OutOfRange("tolerance", tolerance, f"a number from {LEAST:g} to {LARGEST:g}")
    return found


def _in_powers_of_r(terms: np.ndarray, radius: float) -> tuple[float, ...]:
    """sum_l t_l x^l (1-x)^(n-l), x = r/radius, in powers of r."""
    total = np.zeros(1)
    for low, term in enumerate(terms):
        power = polynomial.polypow([1.0, -1.0], len(terms) - 1 - low)
        total = polynomial.polyadd(total, term * np.concatenate([np.zeros(low), power]))
    return tuple(float(c) for c in total / radius ** np.arange(len(total)))
