"""Radial potentials on R^d: the sign of their Fourier transform, and the profile that is its root.

A formula that is a mixture of Gaussians is realizable in every dimension (Schoenberg,
`_completely_monotone.py`), whether or not its transform can be computed. Otherwise the transform
decides, and where it is out of reach a search for points and weights that forbid an activation.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from earnshaw.duality.families.almost_harmonic import MAX_ACTIVATION_DIM, AlmostHarmonic
from earnshaw.duality.families.tabulated import RadialTranslation
from earnshaw.duality.formulas.expression import RadialExpression
from earnshaw.duality.mixtures import mixture
from earnshaw.duality.potential import Potential, Radial, RadialMixture
from earnshaw.duality.realizing._autocorrelation import DISTANCES, POOR, estimated_error
from earnshaw.duality.realizing._completely_monotone import completely_monotone
from earnshaw.duality.realizing._fourier_witness import find_space_witness, obstruct, placed
from earnshaw.duality.realizing._spectrum import Spectrum, combine, measure
from earnshaw.duality.realizing.core_spectrum import core_spectrum
from earnshaw.duality.realizing.profile import build_profile
from earnshaw.duality.realizing.realization import Obstruction, Realization
from earnshaw.errors import NotSquareIntegrable
from earnshaw.inputs import Gaussian
from earnshaw.numerics.budget import TooMuchWork

_THEOREM = "a mixture of Gaussians of r is positive semidefinite in every dimension (Schoenberg)"

NOTHING = ", and no obstruction was found"


def realize_radial(potential: Radial, inputs: Gaussian, wanted: bool = True) -> Realization:
    """Whether f(|x|), finite at 0 and nowhere larger, is realizable.

    Where no activation is `wanted`, a proof is enough.
    """
    proved = isinstance(potential, RadialExpression) and completely_monotone(potential.expr)
    if proved and not wanted:
        return Realization(potential, True, _THEOREM)
    why = f"transforms are computed up to d = {MAX_ACTIVATION_DIM}"
    result = None
    if potential.dim <= MAX_ACTIVATION_DIM:
        try:
            result = _by_transform(potential, inputs)
        except (NotSquareIntegrable, TooMuchWork) as failure:
            why = str(failure)
    if not proved:
        return search_only(potential, why) if result is None else result
    if result is not None and result.realizable:
        return dataclasses.replace(result, reason=f"{_THEOREM}; {result.reason}")
    why = why if result is None else result.reason.removeprefix("inconclusive: ")
    return Realization(potential, True, f"{_THEOREM}; its activation was not computed: {why}")


def _by_transform(potential: Radial, inputs: Gaussian) -> Realization:
    spectrum = _spectrum(potential)
    low = spectrum.most_negative()
    if low is not None:
        frequency, value = low
        reason = f"the Fourier transform is {value:.6g} < 0 at |omega| = {frequency:.6g}"
        found = obstruct(
            potential, "negative-frequency", frequency, value, potential.dim, spectrum.scale
        )
        return Realization(potential, False, reason, obstruction=found)
    largest = float(np.max(np.abs(spectrum.value(spectrum.samples))))
    if not spectrum.error <= 1e-4 * largest:
        reason = f"inconclusive: the Fourier transform is known only to {spectrum.error:.1e}"
        return Realization(potential, None, reason)
    reason = (
        f"the Fourier transform is non-negative, to {spectrum.error / largest:.0e} of its maximum, "
        f"up to |omega| = {spectrum.cutoff:.3g}"
    )
    try:
        table = build_profile(spectrum)
        error = estimated_error(potential, table, spectrum.scale * DISTANCES, spectrum.kinks)
    except TooMuchWork as failure:
        return Realization(potential, None, f"inconclusive: {reason}, but {failure}")
    if not error <= POOR * float(np.asarray(potential.value(0.0))):
        # In high dimension float64 resolves F only where it is large, which proves little.
        reason = f"{reason}, but its root gives the potential back only to {error:.1e}"
        return Realization(potential, None, f"inconclusive: {reason}")
    activation = RadialTranslation(potential.name, potential.dim, table, inputs)
    return Realization(potential, True, reason, activation, check_error=error)


def _spectrum(potential: Radial) -> Spectrum:
    """F, with the exact transforms of almost lambda-harmonic parts of a mixture."""
    if not isinstance(potential, RadialMixture):
        return measure(potential)
    parts = list(zip(potential.parts, potential.weights, strict=True))
    cores = [(part, w) for part, w in parts if isinstance(part, AlmostHarmonic)]
    others = [(part, w) for part, w in parts if not isinstance(part, AlmostHarmonic)]
    if not cores:
        return measure(potential)
    spectra = [
        core_spectrum(part.dim, float(part.radius), float(part.lam), part.core) for part, _ in cores
    ]
    weights = [w for _, w in cores]
    if others:
        rest = mixture(tuple(part for part, _ in others), tuple(w for _, w in others))
        spectra.append(measure(rest))
        weights.append(1.0)
    return combine(spectra, weights)


def search_only(potential: Potential, why: str) -> Realization:
    """No transform to decide by: look for a witness at many spacings."""
    try:
        found = find_space_witness(potential, np.geomspace(0.1, 10.0, 24), largest=100)
    except TooMuchWork as failure:
        return Realization(potential, None, f"inconclusive: {why}, and {failure}")
    if found is None:
        return Realization(potential, None, f"inconclusive: {why}{NOTHING}")
    points, weights, form = found
    # The frequency that the witness looks like: pi over the distance of neighbours.
    frequency = math.pi / float(np.min(np.linalg.norm(points[1:] - points[0], axis=1)))
    dim = points.shape[1]
    witness = Obstruction("negative-frequency", frequency, form, dim, points, weights)
    reason = f"sum_ij w_i w_j Phi(x_i, x_j) = {form:.6g} < 0 for {len(weights)} points"
    return Realization(potential, False, reason, obstruction=placed(potential, witness))
