"""Theorems on what the papers' algorithms leave: Full, Section 4, for almost lambda-harmonic Phi.

They speak of G = L + |a|^2 at points of M_(G, delta), delta being the smallest eps with the point
in M_eps here. The texts ask for d = 3 mod 4; the potential exists in every d (mathematics.md), and
nothing else in the proofs needs it.
"""

from __future__ import annotations

import math

import numpy as np

from earnshaw.charges.matching import match
from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.landscape.theorems.application import Application, Hypothesis
from earnshaw.landscape.theorems.setting import Setting, nearest_words


def near_or_weak(setting: Setting) -> Application | None:
    """Every unit is near a proton or has a small charge."""
    potential = _almost_harmonic(setting)
    if potential is None:
        return None
    k, reach = setting.student.units, setting.student.units * float(potential.radius)
    delta = setting.epsilon
    nearest = np.min(setting.to_protons, axis=1, initial=np.inf)
    near, weak = nearest < reach, setting.weights**2 < 2 * k * setting.dim * delta
    return Application(
        theorem="every unit is near a proton or weak",
        sources="Full Lem 4.3; ITCS Lem 14",
        hypotheses=(*_common(setting, potential), _below_one("delta", delta)),
        guarantees=f"each unit is within k eps = {reach:.3g} of a proton, or has "
        f"a^2 < 2 k d delta = {2 * k * setting.dim * delta:.3g}",
        here=f"{int(np.sum(near))} of {k} are near, {int(np.sum(weak & ~near))} others are weak",
        consistent=bool(np.all(near | weak)),
    )


def one_node(setting: Setting) -> Application | None:
    """Where G has fallen enough, some unit is near a proton."""
    potential = _almost_harmonic(setting)
    if potential is None:
        return None
    k, reach = setting.student.units, setting.student.units * float(potential.radius)
    regularized = setting.loss.name == "regularized"
    empty = math.sqrt(max(float(setting.loss.empty_value()), 0.0)) if regularized else math.nan
    fallen = empty - math.sqrt(max(setting.certificate.loss, 0.0)) if regularized else math.nan
    needed = fallen * fallen / (2 * max(k, 1) ** 3 * setting.dim) if fallen > 0 else 0.0
    nearest = float(np.min(setting.to_protons, initial=np.inf))
    return Application(
        theorem="one node is learned",
        sources="Full Lem 4.4, Thm 4.1; ITCS Lem 15, Thm 12",
        hypotheses=(
            *_common(setting, potential),
            Hypothesis(
                "sqrt(G) is delta below sqrt(G(0, 0))",
                fallen > 0,
                f"delta = {fallen:.3g}" if regularized else "asked of G only",
            ),
            Hypothesis(
                "the point is in M_(G, delta^2/(2 k^3 d))",
                setting.epsilon <= needed,
                f"eps = {setting.epsilon:.3g}, allowed {needed:.3g}",
            ),
        ),
        guarantees=f"some unit is within k eps = {reach:.3g} of a proton",
        here=f"the nearest is at {nearest:.3g}" if k else "there is none",
        consistent=nearest < reach,
    )


def network(setting: Setting) -> Application | None:
    """Node-wise descent ends at the global minimum."""
    potential = _almost_harmonic(setting)
    if potential is None:
        return None
    protons = setting.protons
    apart = np.linalg.norm(protons[:, None] - protons, axis=2)
    nearest = float(np.min(apart + np.diag(np.full(len(apart), np.inf)), initial=np.inf))
    usual = setting.dim * math.sqrt(2 * math.log(max(setting.dim, 2)))
    found = match(setting.teacher, setting.student)
    distance = float(np.max(found.distance, initial=0.0)) if found.is_permutation else math.inf
    return Application(
        theorem="node-wise descent learns the network",
        sources="Full Thm 4.6; ITCS Thm 17",
        hypotheses=(
            _harmonic_outside(setting, potential),
            Hypothesis("the objective is L", setting.loss.name == "full", setting.loss.name),
            Hypothesis(
                "teacher charges are in [-1, 1], none 0",
                bool(np.all((np.abs(setting.charges) <= 1) & (setting.charges != 0))),
            ),
            Hypothesis(
                "protons are about d sqrt(log d) apart",
                nearest >= usual / 4,
                f"{nearest_words(nearest)}, d sqrt(2 log d) = {usual:.3g}",
            ),
            Hypothesis("node-wise descent ended here", None, "a student does not tell"),
        ),
        guarantees="each teacher unit has a student unit within (d/eps)^-O(d)",
        here=f"matched up to {distance:.3g}" if math.isfinite(distance) else "no permutation",
        consistent=None if not math.isfinite(distance) else distance < float(potential.radius),
    )


def _common(setting: Setting, potential: AlmostHarmonic) -> tuple[Hypothesis, ...]:
    apart = float(np.min(setting.to_electrons, initial=np.inf))
    return (
        _harmonic_outside(setting, potential),
        Hypothesis(
            "the objective is G = L + |a|^2",
            setting.loss.name == "regularized",
            setting.loss.name,
        ),
        Hypothesis("positions and weights move", setting.loss.wrt == "both"),
        # Electrons on one another make a cusp, which the texts overlook (mathematics.md, error 20).
        Hypothesis("no two electrons coincide", apart > 0, nearest_words(apart)),
    )


def _harmonic_outside(setting: Setting, potential: AlmostHarmonic) -> Hypothesis:
    radius, lam = float(potential.radius), float(potential.lam)
    return Hypothesis(
        "Phi is 1-harmonic for r >= eps in (0, 1)",
        lam == 1 and 0 < radius < 1,
        f"lambda = {lam:g}, eps = {radius:g}, d = {setting.dim} (printed: d = 3 mod 4)",
    )


def _below_one(name: str, value: float) -> Hypothesis:
    return Hypothesis(f"{name} is in (0, 1)", value < 1, f"{name} = {value:.3g}")


def _almost_harmonic(setting: Setting) -> AlmostHarmonic | None:
    potential = setting.teacher.potential
    return potential if isinstance(potential, AlmostHarmonic) and not setting.on_sphere else None
