"""Which activation has a given potential on R^d: Full, Theorem 2.1, made to compute.

A potential Phi(theta - w) with a non-negative Fourier transform F is realized under inputs of density
p by sigma(x, w) = h(x - w) / sqrt(p(x)), h = F^-1(sqrt(F)). One with F negative somewhere, or larger
anywhere than at 0, or infinite at 0, is realized by no activation at all (Lemma B.4, Bochner). The
answer comes with evidence: the autocorrelation of h, integrated in real space, against Phi; or points
and weights at which the form that an activation would make a mean square is negative.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import jax
import numpy as np

from earnshaw.activations.base import Translation
from earnshaw.activations.translation import (
    BesselTranslation,
    GaussianTranslation,
    ProductTranslation,
    RadialTranslation,
)
from earnshaw.duality.autocorrelation import autocorrelation
from earnshaw.duality.core_spectrum import core_spectrum
from earnshaw.duality.fourier_witness import exceeding, find_space_witness, obstruct
from earnshaw.duality.profile import build_profile
from earnshaw.duality.realization import Obstruction, Realization
from earnshaw.duality.spectrum import Spectrum, as_numpy, combine, measure
from earnshaw.errors import EarnshawError, NotSquareIntegrable
from earnshaw.inputs import Gaussian
from earnshaw.numerics.log_table import LogTable
from earnshaw.potentials.almost_harmonic import AlmostHarmonic
from earnshaw.potentials.base import Potential, Radial, Separable
from earnshaw.potentials.bessel import BesselPotential
from earnshaw.potentials.expression import CartesianExpression
from earnshaw.potentials.gaussian import GaussianPotential
from earnshaw.potentials.mixture import RadialMixture, mixture

_DISTANCES = (0.0, 0.05, 0.3, 0.7, 1.0, 1.6, 3.0, 8.0)
"""Where potentials are checked, in units of the radius at which they have fallen to half."""

_REASONS = {
    "ball": "a positive mixture of overlaps of balls, whose transforms are squares",
    "paper": "(t-r)_+^d - (t/eps)(eps-r)_+^d has a non-negative transform in every odd d (MATH 11)",
}


def realize_space(potential: Potential, inputs: Gaussian | None = None) -> Realization:
    """Whether a potential on R^d is realizable, with an activation or an obstruction.

    `potential` is radial, separable, or a formula in the coordinates that is a product over them.
    """
    inputs = Gaussian() if inputs is None else inputs
    if isinstance(potential, Radial):
        return _realize_radial(potential, inputs)
    if isinstance(potential, Separable):
        return _realize_product(potential, [potential.factor] * potential.dim, inputs)
    if isinstance(potential, CartesianExpression):
        factors = potential.factors()
        if factors is None:
            return _search_only(potential, potential.dim, "the formula is no product over coordinates")
        return _realize_product(potential, list(factors), inputs)
    raise EarnshawError(f"a {potential.kind} potential is not one on R^d; allowed: radial, separable")


def almost_harmonic_activation(
    dim: int,
    radius: float = 0.1,
    lam: float = 1.0,
    core: str = "ball",
    inputs: Gaussian | None = None,
) -> Translation:
    """The activation whose potential is `AlmostHarmonic(dim, radius, lam, core)` (Full, Lemma 4.2)."""
    AlmostHarmonic(dim, radius, lam, core)  # type: ignore[arg-type]  # checks the parameters
    table = _core_table(dim, float(radius), float(lam), core)
    return RadialTranslation("almost-harmonic", dim, table, Gaussian() if inputs is None else inputs)


@lru_cache(maxsize=64)
def _core_table(dim: int, radius: float, lam: float, core: str) -> LogTable:
    # In units of the radius no power of it can overflow in high dimension. The autocorrelation of
    # h(r/eps) has a factor eps^d.
    unit = build_profile(core_spectrum(dim, 1.0, lam * radius**2, core))
    return unit.stretched(radius, radius ** (-dim / 2))


@lru_cache(maxsize=64)
def _core_check(dim: int, radius: float, lam: float, core: str) -> float:
    potential = AlmostHarmonic(dim, radius, lam, core)  # type: ignore[arg-type]
    return _check(potential, _core_table(dim, radius, lam, core), (radius,), 0.4 * radius)


def _realize_radial(potential: Radial, inputs: Gaussian) -> Realization:
    if isinstance(potential, AlmostHarmonic):
        key = (potential.dim, float(potential.radius), float(potential.lam), potential.core)
        activation = almost_harmonic_activation(*key, inputs)
        reason = f"the transform is positive: {_REASONS[potential.core]}"
        return Realization(potential, True, reason, activation, check_error=_core_check(*key))
    if isinstance(potential, GaussianPotential):
        shape = GaussianTranslation(potential.dim, float(potential.rate), inputs)
        scale = 1 / math.sqrt(float(potential.rate))
        error = _check_profile(potential, _along_axis(shape), (1e-7 * scale, 8 * scale), (), scale)
        return Realization(potential, True, "the transform is a Gaussian", shape, check_error=error)
    refused = _refused(potential, potential.dim)
    if refused is not None:
        return refused
    try:
        spectrum = _spectrum(potential)
    except NotSquareIntegrable as failure:
        return _search_only(potential, potential.dim, str(failure))
    table, verdict = _verdict(potential, spectrum)
    if table is None:
        return verdict
    error = _check(potential, table, spectrum.kinks, spectrum.scale)
    activation = RadialTranslation(potential.name, potential.dim, table, inputs)
    return Realization(potential, True, verdict.reason, activation, check_error=error)


def _spectrum(potential: Radial) -> Spectrum:
    """F, with the exact transforms of almost lambda-harmonic parts of a mixture."""
    if isinstance(potential, AlmostHarmonic):
        key = (potential.dim, float(potential.radius), float(potential.lam), potential.core)
        return core_spectrum(*key)
    if not isinstance(potential, RadialMixture):
        return measure(potential)
    weighted = list(zip(potential.parts, potential.weights, strict=True))
    exact = [(part, w) for part, w in weighted if isinstance(part, AlmostHarmonic)]
    others = [(part, w) for part, w in weighted if not isinstance(part, AlmostHarmonic)]
    spectra = [_spectrum(part) for part, _ in exact]
    weights = [w for _, w in exact]
    if not exact:
        return measure(potential)
    if others:
        rest = mixture(tuple(part for part, _ in others), tuple(w for _, w in others))
        spectra.append(measure(rest))  # type: ignore[arg-type]
        weights.append(1.0)
    return combine(spectra, weights)


def _verdict(potential: Radial, spectrum: Spectrum) -> tuple[LogTable | None, Realization]:
    """The table of h if F is non-negative, and what to say either way."""
    low = spectrum.most_negative()
    if low is not None:
        frequency, value = low
        reason = f"the Fourier transform is {value:.6g} < 0 at |omega| = {frequency:.6g}"
        obstruction = obstruct(potential, "negative-frequency", frequency, value, potential.dim, spectrum.scale)
        return None, Realization(potential, False, reason, obstruction=obstruction)
    largest = float(np.max(np.abs(spectrum.value(spectrum.samples))))
    if spectrum.error > 1e-4 * largest:
        reason = f"the transform is known only to {spectrum.error:.1e}: its sign is undecided"
        return None, Realization(potential, None, reason)
    reason = (
        f"the Fourier transform is non-negative (to {spectrum.error / largest:.0e} of its maximum, "
        f"computed up to |omega| = {spectrum.cutoff:.3g})"
    )
    return build_profile(spectrum), Realization(potential, True, reason)


def _realize_product(potential: Potential, factors: list[Radial], inputs: Gaussian) -> Realization:
    """prod_i f_i(|x_i|): realizable if every factor is; not, if one is not (set the others to 0)."""
    dim = len(factors)
    refused = _refused(potential, dim)
    if refused is not None:
        return refused
    # Two negative factors make a positive product.
    factors = [f if float(f.value(0.0)) > 0 else (-1.0) * f for f in factors]  # type: ignore[misc]
    tables: dict[str, tuple[LogTable, Spectrum]] = {}
    for axis, factor in enumerate(factors):
        if factor.name in tables:
            continue
        try:
            spectrum = _spectrum(factor)
        except NotSquareIntegrable as failure:
            return _search_only(potential, dim, f"in x{axis + 1}, {failure}")
        table, verdict = _verdict(factor, spectrum)
        if table is None:
            reason = f"in x{axis + 1}, {verdict.reason}"
            obstruction = _along(verdict.obstruction, axis, dim)
            return Realization(potential, verdict.realizable, reason, obstruction=obstruction)
        tables[factor.name] = (table, spectrum)
    chosen = [tables[factor.name] for factor in factors]
    error = _check_product(potential, factors, chosen)
    reason = "the Fourier transform is non-negative in every coordinate"
    if isinstance(potential, BesselPotential):
        shape: Translation = BesselTranslation(dim, inputs)
        error = _check_profile(
            potential.factor, _along_axis(BesselTranslation(1, inputs)), (1e-9, 50.0), (), 1.0
        )
        return Realization(potential, True, reason, shape, check_error=dim * error)
    shape = ProductTranslation(potential.name, tuple(table for table, _ in chosen), inputs)
    return Realization(potential, True, reason, shape, check_error=error)


def _refused(potential: Potential, dim: int) -> Realization | None:
    """What can be said before any transform: infinite, zero or not largest at 0."""
    zero = np.zeros(dim)
    origin = float(np.asarray(potential.between(zero, zero)))
    if math.isnan(origin):
        return Realization(potential, None, "the potential has no value at coincidence")
    if math.isinf(origin):
        reason = "the potential is infinite at coincidence, where it must equal E[sigma^2]"
        return Realization(
            potential, False, reason, obstruction=Obstruction("unbounded", 0.0, origin, dim)
        )
    sizes = np.concatenate([np.geomspace(1e-6, 1e3, 400), getattr(potential, "breakpoints", ())])
    direction = np.eye(1, dim)
    displacement = sizes[:, None] * direction
    if not isinstance(potential, Radial):
        cloud = np.random.default_rng(0).normal(size=(400, dim))
        displacement = np.concatenate([displacement, cloud * np.geomspace(0.01, 10, 400)[:, None]])
    obstruction = exceeding(potential, dim, displacement)
    if obstruction is not None:
        where = f"at distance {obstruction.location:.6g}"
        reason = f"|Phi| = {abs(obstruction.value):.6g} {where} exceeds Phi(0) = {origin:.6g}"
        if obstruction.location == 0:
            reason = f"Phi(0) = {origin:.6g} is negative, and must equal E[sigma^2]"
        return Realization(potential, False, reason, obstruction=obstruction)
    if origin == 0:
        return Realization(potential, None, "the potential vanishes: every activation of norm 0 has it")
    return None


def _search_only(potential: Potential, dim: int, why: str) -> Realization:
    """No transform to decide by: look for a witness at many spacings."""
    found = find_space_witness(potential, dim, np.geomspace(0.1, 10.0, 24), largest=100)
    if found is not None:
        points, weights = found
        witness = Obstruction("negative-frequency", math.nan, math.nan, dim, points, weights)
        form = witness.quadratic_form(potential)
        reason = f"sum w_i w_j Phi(x_i, x_j) = {form:.6g} < 0 for {len(weights)} points"
        # The frequency that the witness looks like: pi over the distance of neighbours.
        nearest = np.min(np.linalg.norm(points[1:] - points[0], axis=1))
        witness = Obstruction("negative-frequency", math.pi / nearest, form, dim, points, weights)
        return Realization(potential, False, reason, obstruction=witness)
    return Realization(potential, None, f"inconclusive: {why}, and no obstruction was found")


def _along(found: Obstruction | None, axis: int, dim: int) -> Obstruction | None:
    """An obstruction of a factor as one of the product: its points on a coordinate axis."""
    if found is None or found.points is None:
        return found
    points = np.zeros((len(found.points), dim))
    points[:, axis] = found.points[:, 0]
    return Obstruction(found.kind, found.location, found.value, dim, points, found.weights)


def _along_axis(activation: Translation) -> partial:
    return partial(_profile_along, activation)


def _profile_along(activation: Translation, r: np.ndarray) -> jax.Array:
    """h at distance r along the first axis."""
    return activation.profile(r[..., None] * np.eye(1, activation.dim)[0])


def _check(potential: Radial, table: LogTable, kinks: tuple[float, ...], scale: float) -> float:
    profile = jax.jit(lambda r: table(r))
    return _check_profile(potential, profile, (table.lowest, table.highest), kinks, scale)


def _check_profile(
    potential: Radial,
    profile: partial,
    ends: tuple[float, float],
    kinks: tuple[float, ...],
    scale: float,
) -> float:
    """max |h * h - Phi| over several distances, by quadrature in real space."""
    distances = np.array([*(scale * d for d in _DISTANCES), *kinks])
    # An overlap of balls has its kink at their diameter, its profile at their radius.
    own = tuple(sorted({*kinks, *(b / 2 for b in kinks)}))
    back = [
        autocorrelation(as_numpy(profile), potential.dim, float(d), *ends, own) for d in distances
    ]
    return float(np.max(np.abs(np.array(back) - np.asarray(potential.value(distances)))))


def _check_product(
    potential: Potential, factors: list[Radial], chosen: list[tuple[LogTable, Spectrum]]
) -> float:
    """The same along the diagonal: autocorrelations of products are products."""
    scale = min(spectrum.scale for _, spectrum in chosen)
    worst = 0.0
    known: dict[tuple[int, float], float] = {}
    for distance in _DISTANCES:
        back = 1.0
        for table, spectrum in chosen:
            key = (id(table), distance)
            if key not in known:
                known[key] = autocorrelation(
                    as_numpy(jax.jit(lambda r, t=table: t(r))),
                    1,
                    distance * scale,
                    table.lowest,
                    table.highest,
                    spectrum.kinks,
                )
            back *= known[key]
        x = np.full(len(factors), distance * scale)
        worst = max(worst, abs(back - float(np.asarray(potential.between(x, np.zeros_like(x))))))
    return worst
