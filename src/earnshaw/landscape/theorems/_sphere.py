"""Theorems on the sphere: sign on the circle, powers of rho at orthonormal units, synthetic."""

from __future__ import annotations

import math

import numpy as np

from earnshaw.duality.families.sphere_synthetic import SphereSynthetic
from earnshaw.duality.potential import Zonal
from earnshaw.landscape.theorems.application import Application, Hypothesis
from earnshaw.landscape.theorems.setting import Setting

AT = 1e-6  # the sine of an angle that counts as none


def sign_circle(setting: Setting) -> Application | None:
    """Sign on S^1 under Assumption 1: strict local minima are global."""
    if not (_sign(setting) and setting.dim == 2):
        return None
    found = setting.certificate
    equal = setting.student.units == len(setting.charges)
    return Application(
        theorem="sign on the circle: strict local minima are global",
        sources="Full Lem G.1; ITCS Lem 28, 31",
        hypotheses=(
            Hypothesis("the manifold is S^1", True),
            setting.assumption_1,
            Hypothesis("as many units as the teacher has", equal),
        ),
        guarantees="no strict local minimum but the global ones",
        here=f"{found.kind}, loss {found.loss:.3g}",
        consistent=not setting.is_minimum or abs(found.loss) <= found.tolerance,
    )


def sign_one_unit(setting: Setting) -> Application | None:
    """One sign unit: local minima are at +-w_j."""
    if not _sign(setting):
        return None
    few = setting.dim == 2 or len(setting.charges) <= 2
    sine = _to_lines(setting)
    return Application(
        theorem="one sign unit rests at a proton only",
        sources="EPD Thm 3.11, Cor 3.12; Full Lem G.2; ITCS Lem 29, 32",
        hypotheses=(
            Hypothesis("one student unit", setting.student.units == 1),
            Hypothesis("the circle, or at most two teacher units", few),
            setting.moving_positions,
            Hypothesis("generic teacher weights", None, "almost surely over random ones"),
        ),
        guarantees="a local minimum is at +-w_j",
        here=f"{setting.certificate.kind}, the sine of the angle to the nearest line is {sine:.3g}",
        consistent=not setting.is_minimum or sine <= AT,
    )


def polynomial(setting: Setting) -> Application | None:
    """One unit, Phi = rho^l, l >= 3, orthonormal protons: local minima are at +-w_j."""
    degree = _power(setting)
    if degree is None or not setting.on_sphere:
        return None
    gram = setting.protons @ setting.protons.T
    error = float(np.max(np.abs(gram - np.eye(len(gram)))))
    sine = _to_lines(setting)
    return Application(
        theorem="orthonormal protons and rho^l: one unit rests at a proton only",
        sources="EPD Thm 3.10; Full Thm G.3; ITCS Thm 30",
        hypotheses=(
            Hypothesis("Phi = rho^l with l >= 3", degree >= 3, f"l = {degree}"),
            Hypothesis("protons are orthonormal", error <= 1e-12, f"up to {error:.3g}"),
            Hypothesis("one student unit", setting.student.units == 1),
            setting.moving_positions,
            setting.moving_weights,
            Hypothesis("its weight is not 0", bool(np.all(setting.weights != 0))),
        ),
        guarantees="a local minimum is at +-w_j",
        here=f"{setting.certificate.kind}, the sine of the angle to the nearest line is {sine:.3g}",
        consistent=not setting.is_minimum or sine <= AT,
    )


def synthetic(setting: Setting) -> Application | None:
    """Sphere-synthetic: every unit is near a proton, near another unit, or weak."""
    potential = setting.teacher.potential
    if not isinstance(potential, SphereSynthetic):
        return None
    eps = math.sqrt(4 * setting.dim * setting.epsilon) if setting.epsilon < math.inf else math.inf
    to_protons = np.abs(setting.electrons @ setting.protons.T)
    to_units = np.abs(setting.electrons @ setting.electrons.T)
    np.fill_diagonal(to_units, 0.0)
    near = np.max(to_protons, axis=1, initial=0.0) > 1 - eps
    paired = np.max(to_units, axis=1, initial=0.0) > 1 - eps
    weak = np.abs(setting.weights) < eps
    return Application(
        theorem="synthetic potential: every unit is near a proton, near a unit, or weak",
        sources="EPD Thm 4.4",
        hypotheses=(
            Hypothesis("the point is in M_(eps^2/(4 d))", eps < 1, f"eps = {eps:.3g}"),
            Hypothesis("positions and weights move", setting.loss.wrt == "both"),
            _nearly_harmonic(setting, eps),
        ),
        guarantees=f"each unit has |w_j.theta| > 1 - eps, |theta_j.theta| > 1 - eps or |a| < eps, "
        f"eps = {eps:.3g}",
        here=f"{int(np.sum(near))} near a proton, {int(np.sum(paired & ~near))} near a unit, "
        f"{int(np.sum(weak & ~near & ~paired))} weak, of {len(near)}",
        consistent=bool(np.all(near | paired | weak)),
    )


def sign_uniqueness(setting: Setting) -> Application | None:
    """A sign unit alone: a small loss needs a unit that points its way."""
    if not _sign(setting):
        return None
    one = int(np.sum(setting.charges != 0)) == 1
    unit = setting.protons[np.argmax(np.abs(setting.charges))]
    overlap = float(np.max(np.abs(setting.electrons @ unit), initial=0.0))
    k = max(setting.student.units, 1)
    power = float(np.sum(setting.charges**2))
    relative = setting.certificate.loss / power if power else math.inf
    return Application(
        theorem="a small loss needs a unit that points the teacher's way",
        sources="EPD Thm 5.1; Full Thm H.1",
        hypotheses=(
            Hypothesis("one teacher unit has a charge", one),
            Hypothesis(
                "the loss is below O(1)", relative < 0.1, f"{relative:.3g} of the teacher's"
            ),
        ),
        guarantees="some unit has |w.theta| > Omega(1/sqrt(k))",
        here=f"the largest |w.theta| is {overlap:.3g} = {overlap * math.sqrt(k):.3g}/sqrt(k)",
        consistent=overlap * math.sqrt(k) > 0.1,
    )


def _sign(setting: Setting) -> bool:
    return setting.species == "sign" and setting.on_sphere


def _power(setting: Setting) -> int | None:
    """l where Phi = rho^l."""
    name, parameters = setting.species, dict(setting.teacher.species.parameters)
    if name.startswith("hermite-"):
        return int(name.removeprefix("hermite-"))
    return int(parameters["degree"]) if name == "hermite" and "degree" in parameters else None


def _to_lines(setting: Setting) -> float:
    """The largest sine of the angle between a unit and the nearest line through a proton."""
    aligned = np.max(np.abs(setting.electrons @ setting.protons.T), axis=1, initial=0.0)
    return float(np.sqrt(np.max(np.maximum(0.0, 1 - aligned**2), initial=0.0)))


def _nearly_harmonic(setting: Setting, eps: float) -> Hypothesis:
    """Whether the Laplacian of f is f for |rho| <= 1 - eps, up to what the theorem allows."""
    potential = setting.teacher.potential
    words = "Phi is 1-harmonic for |rho| <= 1 - eps up to eps^2"
    if not isinstance(potential, Zonal) or not eps < 1:
        return Hypothesis(words, False)
    rho = np.linspace(-(1 - eps), 1 - eps, 101)
    error = float(np.max(np.abs(np.asarray(potential.laplacian(rho) - potential.value(rho)))))
    return Hypothesis(words, error <= eps * eps, f"up to {error:.3g}, eps^2 = {eps * eps:.3g}")
