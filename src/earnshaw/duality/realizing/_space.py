"""Which activation has a given potential on R^d: Full, Theorem 2.1, made to compute.

A potential Phi(theta - w) with a non-negative Fourier transform F is realized under inputs of
density p by sigma(x, w) = h(x - w) / sqrt(p(x)), h = F^-1(sqrt(F)). One with F negative somewhere,
or larger anywhere than at 0, or infinite at 0, is realized by no activation at all (Lemma B.4,
Bochner). The answer comes with evidence: the autocorrelation of h, integrated in real space,
against Phi; or points and weights at which the form that an activation would make a mean square is
negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from earnshaw.duality.families.almost_harmonic import (
    MAX_ACTIVATION_DIM,
    AlmostHarmonic,
    almost_harmonic_activation,
)
from earnshaw.duality.families.bessel import BesselPotential, BesselTranslation
from earnshaw.duality.families.gaussian import GaussianPotential, GaussianTranslation
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.duality.formulas.expression import CartesianExpression
from earnshaw.duality.potential import Potential, Radial, RadialMixture, Separable, mixture
from earnshaw.duality.realizing._autocorrelation import realized_values
from earnshaw.duality.realizing._fourier_witness import exceeding, find_space_witness, obstruct
from earnshaw.duality.realizing._spectrum import Spectrum, combine, measure
from earnshaw.duality.realizing.core_spectrum import core_spectrum
from earnshaw.duality.realizing.profile import build_profile
from earnshaw.duality.realizing.realization import Obstruction, Realization
from earnshaw.errors import EarnshawError, NotSquareIntegrable
from earnshaw.inputs import Gaussian
from earnshaw.numerics.log_table import LogTable

_POOR = 1e-2
"""Of Phi(0): an activation that misses the potential by more is no evidence that one exists."""

_DISTANCES = np.array([0.0, 0.05, 0.3, 0.7, 1.0, 1.6, 3.0, 8.0])
"""Where potentials are checked, in units of the radius at which they have fallen to half."""

_CORE_REASONS = {
    "ball": "a positive mixture of overlaps of balls, whose transforms are squares",
    "paper": "(t-r)_+^d - (t/eps)(eps-r)_+^d has a non-negative transform in every odd d "
    "(Full, Lemma B.8; mathematics.md, error 11)",
}


def realize_space(potential: Potential, inputs: Gaussian | None = None) -> Realization:
    """Whether a potential on R^d is realizable, with an activation or an obstruction.

    `potential` is radial, separable, or a formula in the coordinates; `inputs` is the distribution
    that the activation is made for. A formula that is no product over the coordinates, or a
    potential that is not square-integrable, can only be refuted: without a witness the answer is
    None.
    """
    inputs = Gaussian() if inputs is None else inputs
    if isinstance(potential, AlmostHarmonic):
        return _realize_core(potential, inputs)
    if isinstance(potential, GaussianPotential):
        return _realize_gaussian(potential, inputs)
    if isinstance(potential, BesselPotential):
        return _realize_bessel(potential, inputs)
    if not isinstance(potential, Radial | Separable | CartesianExpression):
        allowed = "radial, separable, or a formula in x1, x2, ..."
        raise EarnshawError(f"a {potential.kind} potential is not one on R^d; allowed: {allowed}")
    refused = _refused(potential, potential.dim)
    if refused is not None:
        return refused
    if isinstance(potential, Radial):
        return _realize_radial(potential, inputs)
    if isinstance(potential, Separable):
        return _realize_product(potential, [potential.factor] * potential.dim, inputs)
    factors = potential.factors()
    if factors is None:
        return _search_only(potential, potential.dim, "the formula is no product over coordinates")
    return _realize_product(potential, list(factors), inputs)


@lru_cache(maxsize=64)
def _core_check(dim: int, radius: float, lam: float, core: str) -> float:
    potential = AlmostHarmonic(dim, radius, lam, core)
    table = almost_harmonic_activation(dim, radius, lam, core).table
    return _check(potential, table, [*(0.5 * radius * _DISTANCES), radius], (radius,))


def _realize_core(potential: AlmostHarmonic, inputs: Gaussian) -> Realization:
    reason = f"the Fourier transform is positive: {_CORE_REASONS[potential.core]}"
    if potential.dim > MAX_ACTIVATION_DIM:
        reason += f"; its activation is computed up to d = {MAX_ACTIVATION_DIM} only"
        return Realization(potential, True, reason)
    key = (potential.dim, float(potential.radius), float(potential.lam), potential.core)
    activation = almost_harmonic_activation(*key, inputs)
    return Realization(potential, True, reason, activation, check_error=_core_check(*key))


def _realize_gaussian(potential: GaussianPotential, inputs: Gaussian) -> Realization:
    activation = GaussianTranslation(potential.dim, float(potential.rate), inputs)
    axis = np.eye(1, potential.dim)[0]
    scale = 1 / math.sqrt(float(potential.rate))
    distances = scale * _DISTANCES
    back = realized_values(
        lambda r: activation.profile(r[..., None] * axis),
        potential.dim,
        distances,
        1e-7 * scale,
        (8 + math.sqrt(potential.dim)) * scale,
    )
    error = float(np.max(np.abs(back - np.asarray(potential.value(distances)))))
    reason = "the Fourier transform is (2 pi/c)^(d/2) exp(-k^2/(2c)) > 0"
    return Realization(potential, True, reason, activation, check_error=error)


def _realize_bessel(potential: BesselPotential, inputs: Gaussian) -> Realization:
    single = BesselTranslation(1)
    back = realized_values(lambda r: single.profile(r[..., None]), 1, _DISTANCES, 1e-9, 50.0)
    # Autocorrelations of products are products: along the diagonal, the d-th power.
    error = np.max(np.abs(back**potential.dim - np.exp(-potential.dim * _DISTANCES)))
    reason = "the Fourier transform is prod_i 2/(1 + k_i^2) > 0"
    activation = BesselTranslation(potential.dim, inputs)
    return Realization(potential, True, reason, activation, check_error=float(error))


def _realize_radial(potential: Radial, inputs: Gaussian) -> Realization:
    if potential.dim > MAX_ACTIVATION_DIM:
        return _search_only(
            potential, potential.dim, f"transforms are computed up to d = {MAX_ACTIVATION_DIM}"
        )
    try:
        spectrum = _spectrum(potential)
    except NotSquareIntegrable as failure:
        return _search_only(potential, potential.dim, str(failure))
    verdict = _verdict(potential, spectrum)
    if not verdict.realizable:
        return verdict
    with np.errstate(all="ignore"):  # what overflows in high dimension fails the check below
        table = build_profile(spectrum)
        at = [*(spectrum.scale * _DISTANCES), *spectrum.kinks]
        error = _check(potential, table, at, spectrum.kinks)
    activation = RadialTranslation(potential.name, potential.dim, table, inputs)
    if not error <= _POOR * float(np.asarray(potential.value(0.0))):
        # In high dimension float64 resolves F only where it is large, which proves little.
        reason = f"{verdict.reason}, but its root gives the potential back only to {error:.1e}"
        return Realization(potential, None, f"inconclusive: {reason}")
    return Realization(potential, True, verdict.reason, activation, check_error=error)


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
        spectra.append(measure(rest))  # type: ignore[arg-type]
        weights.append(1.0)
    return combine(spectra, weights)


def _verdict(potential: Radial, spectrum: Spectrum) -> Realization:
    """Whether F is non-negative, and how well that is known."""
    low = spectrum.most_negative()
    if low is not None:
        frequency, value = low
        reason = f"the Fourier transform is {value:.6g} < 0 at |omega| = {frequency:.6g}"
        found = obstruct(
            potential, "negative-frequency", frequency, value, potential.dim, spectrum.scale
        )
        return Realization(potential, False, reason, obstruction=found)
    largest = float(np.max(np.abs(spectrum.value(spectrum.samples))))
    if spectrum.error > 1e-4 * largest:
        reason = f"inconclusive: the Fourier transform is known only to {spectrum.error:.1e}"
        return Realization(potential, None, reason)
    reason = (
        f"the Fourier transform is non-negative, to {spectrum.error / largest:.0e} of its maximum, "
        f"up to |omega| = {spectrum.cutoff:.3g}"
    )
    return Realization(potential, True, reason)


def _realize_product(potential: Potential, factors: list[Radial], inputs: Gaussian) -> Realization:
    """prod_i f_i(|x_i|): realizable if every factor is; not if one is not (set other x_j to 0)."""
    dim = len(factors)
    # Two negative factors make a positive product.
    factors = [f if float(f.value(0.0)) > 0 else (-1.0) * f for f in factors]  # type: ignore[misc]
    known: dict[str, tuple[LogTable, Spectrum]] = {}
    for axis, factor in enumerate(factors):
        if factor.name in known:
            continue
        try:
            spectrum = _spectrum(factor)
        except NotSquareIntegrable as failure:
            return _search_only(potential, dim, f"in x{axis + 1}, {failure}")
        verdict = _verdict(factor, spectrum)
        if not verdict.realizable:
            reason = f"in x{axis + 1}, {verdict.reason}"
            found = _along(verdict.obstruction, axis, dim)
            return Realization(potential, verdict.realizable, reason, obstruction=found)
        known[factor.name] = (build_profile(spectrum), spectrum)

    distances = min(spectrum.scale for _, spectrum in known.values()) * _DISTANCES
    back = {
        name: realized_values(table, 1, distances, table.lowest, table.highest, spectrum.kinks)
        for name, (table, spectrum) in known.items()
    }
    # Autocorrelations of products are products.
    product = np.prod([back[factor.name] for factor in factors], axis=0)
    diagonal = np.tile(distances[:, None], dim)
    exact = np.asarray(potential.between(diagonal, np.zeros_like(diagonal)))
    error = float(np.max(np.abs(product - exact)))
    tables = tuple(known[factor.name][0] for factor in factors)
    activation = ProductTranslation(potential.name, tables, inputs)
    reason = "the Fourier transform is non-negative in every coordinate"
    return Realization(potential, True, reason, activation, check_error=error)


def _refused(potential: Potential, dim: int) -> Realization | None:
    """What can be said before any transform: infinite, zero or not largest at 0."""
    zero = np.zeros(dim)
    origin = float(np.asarray(potential.between(zero, zero)))
    if math.isnan(origin):
        return Realization(potential, None, "inconclusive: no value at coincidence")
    if math.isinf(origin):
        reason = "the potential is infinite at coincidence, where it must equal E[sigma^2]"
        unbounded = Obstruction("unbounded", 0.0, origin, dim)
        return Realization(potential, False, reason, obstruction=unbounded)
    sizes = np.concatenate([np.geomspace(1e-6, 1e3, 600), getattr(potential, "breakpoints", ())])
    displacement = sizes[:, None] * np.eye(1, dim)
    if not isinstance(potential, Radial):
        cloud = np.random.default_rng(0).normal(size=(400, dim))
        displacement = np.concatenate([displacement, cloud * np.geomspace(0.01, 10, 400)[:, None]])
    found = exceeding(potential, dim, displacement)
    if found is not None:
        reason = f"Phi(0) = {origin:.6g} is negative, and must equal E[sigma^2]"
        if found.location > 0:
            where = f"at distance {found.location:.6g}"
            reason = f"|Phi| = {abs(found.value):.6g} {where} exceeds Phi(0) = {origin:.6g}"
        return Realization(potential, False, reason, obstruction=found)
    if origin == 0:
        return Realization(potential, None, "inconclusive: the potential vanishes")
    return None


def _search_only(potential: Potential, dim: int, why: str) -> Realization:
    """No transform to decide by: look for a witness at many spacings."""
    found = find_space_witness(potential, dim, np.geomspace(0.1, 10.0, 24), largest=100)
    if found is None:
        return Realization(potential, None, f"inconclusive: {why}, and no obstruction was found")
    points, weights = found
    # The frequency that the witness looks like: pi over the distance of neighbours.
    frequency = math.pi / float(np.min(np.linalg.norm(points[1:] - points[0], axis=1)))
    witness = Obstruction("negative-frequency", frequency, math.nan, dim, points, weights)
    form = witness.quadratic_form(potential)
    witness = Obstruction("negative-frequency", frequency, form, dim, points, weights)
    reason = f"sum_ij w_i w_j Phi(x_i, x_j) = {form:.6g} < 0 for {len(weights)} points"
    return Realization(potential, False, reason, obstruction=witness)


def _along(found: Obstruction | None, axis: int, dim: int) -> Obstruction | None:
    """An obstruction of a factor as one of the product: its points on a coordinate axis."""
    if found is None or found.points is None:
        return found
    points = np.zeros((len(found.points), dim))
    points[:, axis] = found.points[:, 0]
    return Obstruction(found.kind, found.location, found.value, dim, points, found.weights)


def _check(
    potential: Radial, table: LogTable, distances: Sequence[float], kinks: Sequence[float]
) -> float:
    """max |h * h - Phi| over several distances, by quadrature in real space."""
    at = np.array(distances)
    back = realized_values(table, potential.dim, at, table.lowest, table.highest, kinks)
    return float(np.max(np.abs(back - np.asarray(potential.value(at)))))
