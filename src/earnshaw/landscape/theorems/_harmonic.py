"""Theorems on harmonic and lambda-harmonic potentials: a unit alone cannot rest off the charges.

If Phi is harmonic at every pair, the Laplacian of L in each unit is 0. If it is lambda-harmonic
there and c_i is at its best, dL/dc_i = 0, then with ridge rho (1 for the papers' G, else 0)

    Laplacian_i L = -2 lambda (Phi(theta_i, theta_i) + rho) c_i^2 < 0,

so the Hessian has an eigenvalue of at most that over d.
"""

from __future__ import annotations

import numpy as np

from earnshaw.landscape.theorems.application import Application, Hypothesis
from earnshaw.landscape.theorems.setting import Setting


def earnshaw(setting: Setting) -> Application | None:
    """No strict local minimum where Phi is harmonic."""
    if not any(region.character == "harmonic" for region in setting.regions):
        return None
    found = setting.certificate
    largest = float(np.max(np.abs(setting.laplacians), initial=0.0))
    return Application(
        theorem="Earnshaw's theorem",
        sources="EPD Thm 3.3, Cor 3.4; Full Thm 3.4; ITCS Thm 9",
        hypotheses=(
            Hypothesis("Phi is harmonic off coincidence", True),
            setting.moving_positions,
            setting.distinct,
        ),
        guarantees="no strict local minimum: the Laplacian in every unit is 0",
        here=f"the largest Laplacian is {largest:.3g}, {setting.eigenvalue()}",
        consistent=not setting.is_minimum and found.smallest_eigenvalue <= found.tolerance,
    )


def lambda_harmonic(setting: Setting) -> Application | None:
    """No local minimum with a unit off the cores, where Phi is lambda-harmonic."""
    regions = [region for region in setting.regions if region.character == "lambda-harmonic"]
    if not regions:
        return None
    found, low, rate = setting.certificate, regions[0].low, regions[0].eigenvalue or 0.0
    near = np.minimum(
        np.min(setting.to_protons, axis=1, initial=np.inf),
        np.min(setting.to_electrons, axis=1, initial=np.inf),
    )
    off = (near >= low) & (near > 0)
    slopes = np.asarray(setting.loss.gradient(setting.student).weights)
    best = bool(np.all(np.abs(slopes) <= found.tolerance)) and setting.loss.wrt != "positions"
    own = setting.loss.ridge + (setting.own if setting.loss.terms.self_energies else 0.0)
    traces = np.where(off, -2 * rate * own * setting.weights**2, 0.0)
    bound = float(np.min(traces, initial=0.0)) / setting.dim
    return Application(
        theorem="no local minimum off the cores",
        sources="EPD Lem 3.8, Thm 3.9; Full Thm 3.6; ITCS Thm 11",
        hypotheses=(
            Hypothesis(
                "Phi is lambda-harmonic between some unit and all other charges",
                bool(np.any(off)),
                f"{int(np.sum(off))} of {len(off)} units are off every core, of radius {low:.3g}",
            ),
            setting.moving_positions,
            Hypothesis("each weight is the best", best),
            Hypothesis(
                "the charge of such a unit is not 0",
                bool(np.any(off & (setting.weights != 0))),
            ),
        ),
        guarantees=f"not a local minimum: the smallest eigenvalue is at most {bound:.3g}",
        here=setting.eigenvalue(),
        consistent=not setting.is_minimum
        and found.smallest_eigenvalue <= bound + max(found.tolerance, found.residual),
    )
