"""Potentials on R^d whose activation is known: Gaussian, Bessel, almost lambda-harmonic.

The first two activations are formulas with one float constant A in front, so what they give back is
the potential times A^2 / (the exact A)^2: `check_error` is a bound. The third is a table, checked
at some distances.
"""

from __future__ import annotations

import math
from functools import lru_cache

import flint

from earnshaw.duality.activation import Translation
from earnshaw.duality.families.almost_harmonic import (
    MAX_ACTIVATION_DIM,
    AlmostHarmonic,
    almost_harmonic_activation,
)
from earnshaw.duality.families.bessel import BesselPotential, BesselTranslation
from earnshaw.duality.families.gaussian import GaussianPotential, GaussianTranslation
from earnshaw.duality.potential import Potential
from earnshaw.duality.realizing._autocorrelation import DISTANCES, POOR, estimated_error
from earnshaw.duality.realizing.realization import Realization
from earnshaw.inputs import Gaussian

_ROUNDING = 8 * 2.0**-52
_CORE_REASONS = {
    "ball": "a positive mixture of overlaps of balls, whose transforms are squares",
    "paper": "(t-r)_+^d - (t/eps)(eps-r)_+^d has a non-negative transform in every odd d "
    "(Full, Lemma B.8; mathematics.md, error 11)",
}


def realize_core(potential: AlmostHarmonic, inputs: Gaussian) -> Realization:
    """An almost lambda-harmonic potential, realizable with either core."""
    reason = f"the Fourier transform is positive: {_CORE_REASONS[potential.core]}"
    if potential.dim > MAX_ACTIVATION_DIM:
        reason += f"; its activation is computed up to d = {MAX_ACTIVATION_DIM} only"
        return Realization(potential, True, reason)
    key = (potential.dim, float(potential.radius), float(potential.lam), potential.core)
    activation = almost_harmonic_activation(*key, inputs)
    return Realization(potential, True, reason, activation, check_error=_core_error(*key))


@lru_cache(maxsize=64)
def _core_error(dim: int, radius: float, lam: float, core: str) -> float:
    potential = AlmostHarmonic(dim, radius, lam, core)
    table = almost_harmonic_activation(dim, radius, lam, core).table
    return estimated_error(potential, table, 0.5 * radius * DISTANCES, (radius,))


def realize_gaussian(potential: GaussianPotential, inputs: Gaussian) -> Realization:
    """exp(-c r^2/2): h = A exp(-c |x|^2) gives back A^2 (pi/(2c))^(d/2) of it."""
    rate, dim = float(potential.rate), potential.dim
    reason = "the Fourier transform is (2 pi/c)^(d/2) exp(-k^2/(2c)) > 0"
    factor = _power(2 * rate / math.pi, dim / 4)
    with flint.ctx.workprec(200):
        square = (flint.arb.pi() / (2 * flint.arb(rate))) ** (flint.arb(dim) / 2)
    activation = GaussianTranslation(dim, rate, inputs)
    return _with_factor(potential, reason, activation, factor, square)


def realize_bessel(potential: BesselPotential, inputs: Gaussian) -> Realization:
    """exp(-|x_1| - ... - |x_d|): h = A prod_i K_0(|x_i|) gives back A^2 (pi^2/2)^d of it."""
    dim = potential.dim
    reason = "the Fourier transform is prod_i 2/(1 + k_i^2) > 0"
    factor = _power(math.sqrt(2) / math.pi, dim)
    with flint.ctx.workprec(200):
        square = (flint.arb.pi() ** 2 / 2) ** dim
    return _with_factor(potential, reason, BesselTranslation(dim, inputs), factor, square)


def _with_factor(
    potential: Potential, reason: str, activation: Translation, factor: float, square: flint.arb
) -> Realization:
    """The activation factor * g, where g's own potential is `square` times the given one."""
    with flint.ctx.workprec(200):
        off = abs(flint.arb(factor) ** 2 * square - 1)
        # Powers by JAX, NumPy and PyTorch differ in the last digits of the factor.
        error = math.nextafter(float(off.upper()), math.inf) + _ROUNDING
    if not error <= POOR:
        reason += f"; the factor of its activation lies beyond float64 in d = {activation.dim}"
        return Realization(potential, True, reason)
    return Realization(potential, True, reason, activation, check_error=error, check_is_bound=True)


def _power(base: float, exponent: float) -> float:
    try:
        return base**exponent
    except OverflowError:
        return math.inf
