"""`earnshaw reproduce table1`: every pair of both Tables 1 checked three ways, and what converges.

EPD has seven lines, Full and ITCS three; the sign stands in all. For each line: the largest
difference between the library's potential and E[sigma sigma] by quadrature, the farthest that a
Monte Carlo mean is from it in standard errors, and how often runs in the setting of the theorem
find the teacher.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from earnshaw.experiments.sweeps.sweep import Sweep
from earnshaw.papers.reproductions._table1_convergence import (
    CLAIMED,
    CLOSE,
    FAR,
    Convergence,
    claim_of,
    convergence_plan,
    outcomes,
    verdict,
)
from earnshaw.papers.reproductions._table1_convergence import DEGREE as CUT
from earnshaw.papers.reproductions._table1_pairs import (
    DEGREE,
    NOISE,
    RADIUS,
    SYNTHETIC_DEGREE,
    Pair,
    pair_named,
)
from earnshaw.papers.reproductions.reproduction import Reproduction

__all__ = ["PairCurve", "convergence_plan", "table_one"]

SAMPLES = {"quick": 50_000, "paper": 1_000_000}
RIGHT = 1e-5  # the difference up to which a pair is right: the almost harmonic h is known to 1e-6
BOTH = "EPD, Full, ITCS"


@dataclass(frozen=True)
class Line:
    """A line of Table 1 in words.

    Attributes:
        name: of the activation.
        texts: that print it.
        activation: sigma(x, theta) as printed.
        potential: Phi(theta, w) as printed; rho = theta.w.
        where: the manifold.
        instead: the activation that has this potential, where that is not printed.
        explicit: whether the activation is printed as a formula.
    """

    name: str
    texts: str
    activation: str
    potential: str
    where: str
    instead: str = ""
    explicit: bool = True

    def printed(self, right: bool) -> str:
        """What to say of the printed pair."""
        if not self.explicit:
            return f"no formula; ours: {self.instead}"
        return "right" if right else f"corrected: {self.instead}"


@dataclass(frozen=True)
class PairCurve:
    """A line of Table 1 to be drawn.

    Attributes:
        name, where: in words.
        x, sigma: the activation; on R^d its profile h = sigma sqrt(p) along a line.
        variable: what the potential is a function of.
        t, phi: the library's potential.
        at, quadrature, sampled, error: E[sigma sigma] there, two ways, and the standard error.
        printed, claimed: what is said of the printed pair, and what the texts say of convergence.
        outcomes: "one node alone: gd, d = 2, k = 4: 3 of 3", one for each run.
        verdict: on the convergence column.
    """

    name: str
    where: str
    x: np.ndarray
    sigma: np.ndarray
    variable: str
    t: np.ndarray
    phi: np.ndarray
    at: np.ndarray
    quadrature: np.ndarray
    sampled: np.ndarray
    error: np.ndarray
    printed: str
    claimed: str
    outcomes: tuple[str, ...]
    verdict: str


LINES = (
    Line("sign", BOTH, "sqrt(2) sgn(x.theta)", "1 - (2/pi) arccos rho", "S^(d-1)", "sgn(x.theta)"),
    Line(
        "relu",
        "EPD",
        "sqrt(2) max(x.theta, 0)",
        "sqrt(1 - rho^2)/pi + rho (1 - arccos(rho)/pi)",
        "S^(d-1)",
    ),
    Line("hermite", "EPD", "H_m(x.theta)", "rho^m", "S^(d-1)"),
    Line("exponential", "EPD", "exp(x.theta - 2)", "exp(rho - 1)", "S^(d-1)", "exp(x.theta - 1)"),
    Line(
        "synthetic",
        "EPD",
        "complicated",
        "complicated: sum c_n rho^n of Thm 4.4",
        "S^(d-1)",
        "sum sqrt(c_n/f(1)) H_n(x.theta)",
        explicit=False,
    ),
    Line("gaussian", "EPD", "2^(d/2) exp(|x|^2/4 - |x - theta|^2)", "exp(-|theta - w|^2/2)", "R^d"),
    Line(
        "bessel",
        "EPD",
        "(2/pi)^(3d/4) exp(|x|^2/4) prod_i K_0(|x_i - theta_i|)",
        "exp(-|theta - w|_1)",
        "R^d",
    ),
    Line(
        "almost-harmonic",
        "Full, ITCS",
        "almost lambda-harmonic",
        "complicated: Full Lem 4.2",
        "R^d",
        "h(|x - theta|)/sqrt(p(x)), h = F^-1 sqrt(F(Phi))",
        explicit=False,
    ),
    Line(
        "polynomial",
        "Full, ITCS",
        "polynomial",
        "rho^m",
        "S^(d-1)",
        "H_m(x.theta), orthonormal",
        explicit=False,
    ),
)


def table_one(preset: str, converged: Sweep) -> Reproduction:
    """Table 1 of all texts: the three checks, and the convergence column from its sweep."""
    rows, shown, curves = [], [], []
    found = outcomes(preset, converged.cells)
    for number, line in enumerate(LINES):
        rng = np.random.default_rng(number)
        checked = _Checked(line, pair_named(line.name), SAMPLES[preset], rng)
        mine = [one for one in found if one.run.pair == line.name]
        judged = verdict(line.name, mine)
        rows += [checked.row | _convergence(line.name, one) for one in mine]
        shown.append(_short(line, checked.row, mine, judged))
        curves.append(checked.curve(mine, judged))
    return Reproduction(
        name="table1",
        preset=preset,
        title="Activations, their potentials, and what converges",
        rows=rows,
        shown=shown,
        remarks=_remarks(preset, converged),
        complete=converged.complete,
        code=converged.code,
        pairs=tuple(curves),
    )


class _Checked:
    """A line with its three ways to the potential."""

    def __init__(self, line: Line, pair: Pair, samples: int, rng: np.random.Generator) -> None:
        self.line, self.pair = line, pair
        self.means = pair.means(samples, rng)
        closed = np.asarray(pair.closed(pair.at))
        printed = pair.as_printed()
        off = self.means.quadrature - closed
        as_printed = off if printed is None else printed - closed
        # A sum without spread, such as sgn^2 at rho = 1, has no error and must be exact.
        apart = self.means.sampled - closed
        z = np.where(np.abs(apart) < NOISE, 0.0, apart / np.maximum(self.means.error, 1e-300))
        right = bool(np.max(np.abs(as_printed)) < RIGHT)
        self.row: dict[str, Any] = {
            "name": line.name,
            "texts": line.texts,
            "activation": line.activation,
            "potential": line.potential,
            "where": line.where,
            "printed": line.printed(right),
            "printed_difference": float(np.max(np.abs(as_printed))),
            "quadrature_difference": float(np.max(np.abs(off))),
            "monte_carlo_z": float(np.max(np.abs(z))),
            "monte_carlo_error": float(np.max(self.means.error)),
            "points": len(pair.at),
            "samples": samples,
        }

    def curve(self, mine: list[Convergence], judged: str) -> PairCurve:
        line, pair, means = self.line, self.pair, self.means
        return PairCurve(
            line.name,
            line.where,
            *pair.profile,
            pair.variable,
            pair.curve,
            np.asarray(pair.closed(pair.curve)),
            pair.at,
            means.quadrature,
            means.sampled,
            means.error,
            self.row["printed"],
            claim_of(line.name),
            tuple(one.words for one in mine),
            judged,
        )


def _convergence(name: str, outcome: Convergence) -> dict[str, Any]:
    run, asked = outcome.run, outcome.run.asked
    losses = outcome.relative_losses
    return {
        "claimed": claim_of(name),
        "theorem": run.theorem or None,
        "setting": run.says,
        "method": asked["method"],
        "dim": asked["dim"],
        "units": asked["units"],
        "student_units": asked["student_units"],
        "criterion": run.criterion,
        "seeds": outcome.seeds,
        "success_rate": outcome.rate,
        "units_found": outcome.found if outcome.seeds else None,
        "strict_rate": outcome.strictly / outcome.seeds if outcome.seeds else None,
        "relative_loss": float(np.median(losses)) if losses else None,
        "verdict": outcome.verdict,
    }


def _short(line: Line, row: dict[str, Any], mine: list[Convergence], judged: str) -> dict[str, Any]:
    """The row to be read: the words that matter; the others are in the CSV file."""
    ran = [f"{one.run.asked['method']} {one.successes}/{one.seeds}" for one in mine]
    return {
        "pair": line.name,
        "printed": re.split("[:;]", row["printed"])[0],
        "quadrature": row["quadrature_difference"],
        "z": row["monte_carlo_z"],
        "claimed": CLAIMED[line.name][0],
        "ran": ", ".join(ran),
        "verdict": judged.split(" with ")[0],
    }


def _remarks(preset: str, converged: Sweep) -> tuple[str, ...]:
    remarks = [
        "quadrature: the largest difference between ew.potential and the integral E[sigma sigma]; "
        f"z: that of Monte Carlo in standard errors, {SAMPLES[preset]} inputs a point, "
        "on R^d drawn around the units and weighted: under N(0, I) Bessel's and the almost "
        "lambda-harmonic pair have no finite variance",
        f"pairs are checked with m = {DEGREE}, the synthetic series cut at {SYNTHETIC_DEGREE}, "
        f"radius {RADIUS:g} of the almost lambda-harmonic core, d = 3 (Gaussian and Bessel d = 2)",
        "EPD's sqrt(2) sgn has twice the printed potential, its exp(x.theta - 2) has exp(rho - 3); "
        "Hermite polynomials are orthonormal, which the texts do not say",
        f"convergence: {len(converged.plan.seeds)} random teachers a run; the settings, with the "
        "constants that the theorems leave open, are in the CSV file; steps are adaptive. EPD Thm "
        "4.2 and Cor 4.3 are on Algorithm 2, which takes exp(O(d)) steps: its Algorithm 3 "
        "(node-wise-gd) ran instead",
        f"exponential, synthetic, Gaussian: positions within {CLOSE:g} count; c = {FAR:g}, degree "
        f"{CUT} and {CLOSE:g} were chosen after a look at other seeds; strict_rate in the CSV "
        "file has how many are within 0.001",
        "EPD Thm 3.9 assumes that no weight becomes 0; plain gradient descent does not keep that",
    ]
    if converged.failed:
        remarks.append(f"{converged.failed} cells failed; `earnshaw runs show` has why")
    return tuple(remarks)
