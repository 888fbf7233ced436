"""Theorems on subharmonic potentials under Assumption 1: all units cannot rest together.

All units moved by one v keep their distances, so that only pairs with protons count:

    Laplacian_v L = -2 sum_ij Laplacian Phi(theta_i, w_j) < 0

where Phi is strictly subharmonic at every such pair (Full, Theorem F.2). On S^(d-1) all units are
turned by one rotation instead. The texts take a translation in spherical coordinates, which is none
for d >= 3; but over the rotations of all coordinate planes the second derivatives add up to the
Laplacian (mathematics.md, error 21), and squared lengths of the motions to k (d - 1), so the same
holds with d - 1 for d.
"""

from __future__ import annotations

import math

import numpy as np

from earnshaw.duality.potential import Radial
from earnshaw.landscape.theorems.application import Application, Hypothesis
from earnshaw.landscape.theorems.setting import Setting, nearest_words


def subharmonic(setting: Setting) -> Application | None:
    """Some unit is at a proton, or the point is no local minimum."""
    # A lambda-harmonic Phi > 0 is subharmonic; potentials on the sphere may change their sign.
    kinds = ("subharmonic",) if setting.on_sphere else ("subharmonic", "lambda-harmonic")
    regions = [region for region in setting.regions if region.character in kinds]
    if not regions:
        return None
    here = setting.electrons @ setting.protons.T if setting.on_sphere else setting.to_protons
    inside = np.zeros(here.shape, dtype=bool)
    for region in regions:
        inside |= (here > region.low) & (here < region.high)
    apart = float(np.min(setting.to_electrons, initial=np.inf))
    # A common motion changes the loss by its Laplacian over k in unit length of all coordinates.
    free = setting.dim - 1 if setting.on_sphere else setting.dim
    bound = setting.group_laplacian / (max(setting.student.units, 1) * free)
    found = setting.certificate
    return Application(
        theorem="no local minimum without a unit at a proton",
        sources="EPD Thm 3.6; Full Thm F.2, Cor F.3",
        hypotheses=(
            setting.assumption_1,
            Hypothesis(
                "Phi is strictly subharmonic between every unit and every proton",
                bool(np.all(inside)),
                f"at {int(np.sum(inside))} of {inside.size} pairs",
            ),
            Hypothesis("no two units coincide", apart > 0, nearest_words(apart)),
        ),
        guarantees="not a local minimum"
        + (f": the smallest eigenvalue is at most {bound:.3g}" if math.isfinite(bound) else ""),
        here=setting.eigenvalue(),
        consistent=not setting.is_minimum
        and found.smallest_eigenvalue <= bound + max(found.tolerance, found.residual),
    )


def gaussian(setting: Setting) -> Application | None:
    """In M_eps with a small eps, some unit of a Gaussian is within sqrt(d/c) of a proton."""
    potential = setting.teacher.potential
    rate = potential.gaussian_rate if isinstance(potential, Radial) else None
    if rate is None or setting.on_sphere:
        return None
    edge = math.sqrt(setting.dim / rate)
    nearest = float(np.min(setting.to_protons, initial=np.inf))
    # Off the balls the eigenvalue would be below this: the e^-poly(d, 1/eps) of the theorem.
    threshold = 0.0
    if nearest > edge:
        threshold = -setting.group_laplacian / (max(setting.student.units, 1) * setting.dim)
    return Application(
        theorem="a Gaussian unit finds a ball of radius sqrt(d/c)",
        sources="EPD Thm 4.2; Full Thm F.4",
        hypotheses=(
            setting.assumption_1,
            Hypothesis(
                "the point is in M_eps with eps below e^-poly(d, 1/eps)",
                threshold == 0.0 or setting.epsilon < threshold,
                f"eps = {setting.epsilon:.3g}" + (f", needed {threshold:.3g}" if threshold else ""),
            ),
        ),
        guarantees=f"some unit is within {edge:.3g} of a proton",
        here=f"the nearest is at {nearest:.3g}" if math.isfinite(nearest) else "there is none",
        consistent=nearest <= edge,
    )
