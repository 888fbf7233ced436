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

import numpy as np

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.duality.families.bessel import BesselPotential
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.duality.formulas.expression import CartesianExpression
from earnshaw.duality.formulas.symbolic import is_huge
from earnshaw.duality.potential import Potential, Radial
from earnshaw.duality.realizing._closed_forms import realize_bessel, realize_core, realize_gaussian
from earnshaw.duality.realizing._fourier_witness import exceeding, placed, reduced_dim, values_at
from earnshaw.duality.realizing._product import realize_product
from earnshaw.duality.realizing._radial import realize_radial, search_only
from earnshaw.duality.realizing.realization import Obstruction, Realization
from earnshaw.duality.separable import Separable
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian


def realize_space(potential: Potential, inputs: Gaussian | None = None) -> Realization:
    """Whether a potential on R^d is realizable, with an activation or an obstruction.

    `potential` is radial, separable, or a formula in the coordinates; `inputs` is the distribution
    that the activation is made for. A formula that is no product over the coordinates, or a
    potential that is not square-integrable, can mostly only be refuted: without a witness the
    answer is None. `check_error` is a bound for the Gaussian and the Bessel potential, and an
    estimate where the profile h is a table.
    """
    inputs = Gaussian() if inputs is None else inputs
    if isinstance(potential, AlmostHarmonic):
        return realize_core(potential, inputs)
    if isinstance(potential, GaussianPotential):
        return realize_gaussian(potential, inputs)
    if isinstance(potential, BesselPotential):
        return realize_bessel(potential, inputs)
    if not isinstance(potential, Radial | Separable | CartesianExpression):
        allowed = "radial, separable, or a formula in x1, x2, ..."
        raise EarnshawError(f"a {potential.kind} potential is not one on R^d; allowed: {allowed}")
    with np.errstate(all="ignore"):  # what overflows fails the checks
        refused = _refused(potential)
        if refused is not None:
            return refused
        if isinstance(potential, Radial):
            return realize_radial(potential, inputs)
        if isinstance(potential, Separable):
            return realize_product(potential, [potential.factor], inputs)
        factors = potential.factors()
        if factors is None:
            return search_only(potential, "the formula is no product over coordinates")
        return realize_product(potential, [*factors], inputs)


def _refused(potential: Radial | Separable | CartesianExpression) -> Realization | None:
    """What can be said before any transform: infinite, zero or not largest at 0."""
    dim = 1 if isinstance(potential, Radial) else reduced_dim(potential)
    origin = float(values_at(potential, np.zeros((1, dim)))[0])
    if math.isnan(origin):
        return Realization(potential, None, "inconclusive: no value at coincidence")
    expr = getattr(potential, "expr", None)
    if math.isinf(origin) and expr is not None and is_huge(expr, 0.0):
        return Realization(potential, None, "inconclusive: its values leave the range of float64")
    if math.isinf(origin):
        reason = "the potential is infinite at coincidence, where it must equal E[sigma^2]"
        unbounded = Obstruction("unbounded", 0.0, origin, potential.dim)
        return Realization(potential, False, reason, obstruction=unbounded)
    sizes = np.concatenate([np.geomspace(1e-6, 1e3, 600), getattr(potential, "breakpoints", ())])
    displacement = sizes[:, None] * np.eye(1, dim)
    if dim > 1:
        axes = np.concatenate([size * np.eye(dim) for size in np.geomspace(1e-3, 1e2, 20)])
        cloud = np.random.default_rng(0).normal(size=(400, dim))
        cloud *= np.geomspace(0.01, 10, 400)[:, None]
        displacement = np.concatenate([displacement, axes, cloud])
    found = exceeding(potential, displacement)
    if found is not None:
        reason = f"Phi(0) = {origin:.6g} is negative, and must equal E[sigma^2]"
        if found.location > 0:
            where = f"at distance {found.location:.6g}"
            reason = f"|Phi| = {abs(found.value):.6g} {where} exceeds Phi(0) = {origin:.6g}"
        return Realization(potential, False, reason, obstruction=placed(potential, found))
    if origin == 0:
        return Realization(potential, None, "inconclusive: the potential vanishes")
    return None
