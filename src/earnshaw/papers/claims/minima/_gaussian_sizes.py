"""How many steps and samples EPD's Theorem 4.2 and Corollary 4.3 take, at the sizes of the text.

**Steps.** Units start at 0 and flow uphill on 2 C, C = sum_j exp(-|x - w_j|^2/2), one by one. The
time is the integral of ds/|2 grad C| along their paths, of order exp(|w|^2/2) for the farthest
proton; a step may be at most 1/(2 L), L = 2 k >= |Hessian|. For w_j ~ N(0, c I) that is exp(c d/2)
and more:

- k c^2 exp(-c d) <= exp(-2 d), as the proof has it, allows a constant c: T = exp(O(d)), as stated;
- k c^2 exp(-c) <= exp(-2 d), as the theorem prints it, forces c > 2 d: T = exp(O(d^2)).

**Several units on the sphere** (Corollary 4.3), Phi = exp(c (rho - 1)), c = d^2, weights 1, one
after the other from random points (0 is not on the sphere). A unit that has found w_j leaves a pair
of charges that all but cancel; a climb that ends at such a rest, C < 1/2, begins again elsewhere.

**Samples.** That potential belongs to sigma = exp(sqrt(c) x.theta - c), and E[sigma^4] = exp(4 c):
the mean of n values of sigma(x, w)^2 has a standard error of sqrt((exp(4 c) - 1)/n).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.named import activation
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.objective import Objective
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.minima._gaussian_learning import least_c
from earnshaw.papers.claims.minima._random_points import directions

CONSTANT = 22.0  # c of the proof's reading: its triangle step needs 21.8
DIMS = (1, 2, 3, 5, 10, 30)
RATE, SAMPLES = 2.0, 200_000  # c and n of a run from samples


def log_time(protons: np.ndarray) -> float:
    """log of the time in which units from 0 come within 1 of all protons, one by one.

    By steps of 1/400 of the way; a proton that was found is neutral from then on.
    """
    logs = []
    while len(protons):
        x = np.zeros(protons.shape[1])
        size = float(np.min(np.linalg.norm(protons, axis=1))) / 400
        found = np.linalg.norm(x - protons, axis=1) < 1 + size
        while not np.any(found):
            exponents = -np.sum((x - protons) ** 2, axis=1) / 2
            top = float(np.max(exponents))
            force = 2 * np.exp(exponents - top) @ (protons - x)
            length = float(np.linalg.norm(force))
            logs.append(math.log(size / length) - top)
            x = x + size * force / length
            found = np.linalg.norm(x - protons, axis=1) < 1 + size
        protons = np.delete(protons, np.argmax(found), axis=0)
    return float(special.logsumexp([0.0, *logs]))


def _steps_instance(rng: np.random.Generator, index: int) -> Instance:
    """w_j ~ N(0, I) for each dimension, max(d, 2) of them: to be scaled by sqrt(c)."""
    return {"weights": [rng.standard_normal((max(dim, 2), dim)) for dim in DIMS]}


def log_steps(weights: np.ndarray, c: float) -> float:
    """log of the number of steps 1/(2 L), L = 2 k."""
    return log_time(math.sqrt(c) * weights) + math.log(4 * len(weights))


def _steps_needed(instance: Instance) -> Finding:
    """log T over d at constant c: from d = 10 on at most 1.5 c, since |w|^2 < 3 c d is likely."""
    logs = [log_steps(np.asarray(w), CONSTANT) for w in instance["weights"]]
    numbers = {
        f"log10_steps_at_d_{dim}": one / math.log(10) for dim, one in zip(DIMS, logs, strict=True)
    }
    numbers["exponent"] = max(one / dim for one, dim in zip(logs[4:], DIMS[4:], strict=True))
    return Finding(numbers["exponent"] < 1.5 * CONSTANT, numbers)


def _steps_as_printed(instance: Instance) -> Finding:
    """The same at the least c that the printed hypothesis allows: is log T/d bounded?"""
    exponents = [
        log_steps(np.asarray(w), least_c(dim, len(np.asarray(w)))) / dim
        for w, dim in zip(instance["weights"], DIMS, strict=True)
    ]
    numbers = {
        "exponent_at_d_5": exponents[3],
        "exponent_at_d_30": exponents[-1],
        "log10_steps_at_d_5": 5 * exponents[3] / math.log(10),
    }
    return Finding(exponents[-1] < 2 * exponents[3], numbers)


# --- several units on the sphere ------------------------------------------------------------------


def _sphere_instance(rng: np.random.Generator, index: int) -> Instance:
    dim, units = ((3, 3), (5, 6), (8, 10))[index % 3]
    for _ in range(10_000):
        protons = directions(rng, units, dim)
        if np.max(protons @ protons.T - 2 * np.eye(units)) < 0.7:
            break
    return {"protons": protons, "rate": float(dim**2), "starts": directions(rng, 20 * units, dim)}


def _field(
    x: np.ndarray, sources: np.ndarray, signs: np.ndarray, rate: float
) -> tuple[float, np.ndarray]:
    """C = sum +-exp(c (rho - 1)) and the gradient of log C on the sphere; -inf for C <= 0."""
    terms = signs * np.exp(rate * (sources @ x - 1))
    total = float(np.sum(terms))
    if total <= 0:
        return -math.inf, np.zeros_like(x)
    slope = rate * (terms @ sources) / total
    return math.log(total), slope - (slope @ x) * x


def climbed(x: np.ndarray, sources: np.ndarray, signs: np.ndarray, rate: float) -> np.ndarray:
    """Uphill on log C, whose critical points are those of Algorithm 2."""
    size = 0.1
    height, slope = _field(x, sources, signs, rate)
    for _ in range(600):
        norm = float(np.linalg.norm(slope))
        if norm < 1e-13 or size < 1e-16:
            break
        trial = x + min(size, norm) * slope / norm
        trial /= np.linalg.norm(trial)
        reached, next_slope = _field(trial, sources, signs, rate)
        better = reached > height
        size *= 1.5 if better else 0.5
        if better:
            x, height, slope = trial, reached, next_slope
    return x


def _units_on_the_sphere(instance: Instance) -> Finding:
    protons, rate = np.asarray(instance["protons"]), float(instance["rate"])
    starts = list(np.asarray(instance["starts"]))
    placed: list[np.ndarray] = []
    tries = 0
    while len(placed) < len(protons) and tries < len(starts):
        sources = np.array([*protons, *placed])
        signs = np.array([1.0] * len(protons) + [-1.0] * len(placed))
        end = climbed(starts[tries], sources, signs, rate)
        tries += 1
        if _field(end, sources, signs, rate)[0] > math.log(0.5):
            placed.append(end)
    gaps = np.array([np.min(np.linalg.norm(protons - x, axis=1)) for x in placed])
    owners = {int(np.argmax(protons @ x)) for x in placed}
    others = float(np.max(protons @ protons.T - 2 * np.eye(len(protons))))
    # |grad C| at w_j is at most k c exp(c (cos - 1)), against a curvature of about c.
    pull = len(protons) * math.exp(rate * (others - 1))
    numbers = {
        "placed": len(placed),
        "distinct": len(owners),
        "farthest": float(np.max(gaps, initial=0.0)),
        "pull_of_the_others": pull,
        "tries_per_unit": tries / len(protons),
    }
    good = len(placed) == len(owners) == len(protons)
    # A climb by values of log C places a unit to the root of their rounding.
    return Finding(bool(good and numbers["farthest"] < 2 * pull + 1e-7), numbers)


# --- samples --------------------------------------------------------------------------------------


def _count_instance(rng: np.random.Generator, index: int) -> Instance:
    return {"eps": 0.1, "inputs": rng.standard_normal(400_000), "rate": 0.25}


def _samples_needed(instance: Instance) -> Finding:
    """E[sigma^4] = exp(4 c), measured where it can be (c = 1/4); n for c = d and d^2."""
    rate, x = float(instance["rate"]), np.asarray(instance["inputs"])
    sigma = activation("exponential", rate=math.sqrt(rate), shift=-rate)
    fourth = np.asarray(sigma.unit(x[:, None], np.ones(1))) ** 4
    off = abs(float(np.mean(fourth)) - math.exp(4 * rate)) / (np.std(fourth) / math.sqrt(len(x)))
    needed = lambda c: 4 * c / math.log(10) - 2 * math.log10(float(instance["eps"]))  # noqa: E731
    numbers = {
        "sigmas": float(off),
        "log10_samples_d_2_c_2": needed(2.0),
        "log10_samples_d_3_c_9": needed(9.0),
        "log10_samples_d_5_c_25": needed(25.0),
        "log10_samples_d_10_c_100": needed(100.0),
    }
    return Finding(bool(off < 5), numbers)


def _sampled_instance(rng: np.random.Generator, index: int) -> Instance:
    """Three protons around the circle, and a start between two of them."""
    turns = 2 * math.pi * (np.arange(3) / 3 + rng.uniform(-0.02, 0.02, 3))
    start = turns[0] + 0.6
    return {
        "protons": np.stack([np.cos(turns), np.sin(turns)], axis=1),
        "start": np.array([math.cos(start), math.sin(start)]),
        "samples": SAMPLES,
        "seed": index,
    }


def ascended(loss: Objective, x: np.ndarray) -> np.ndarray:
    """One unit of weight 1 downhill on the sphere by 150 gradient steps of 0.2."""
    for _ in range(150):
        slope = np.asarray(loss.gradient(Student(x[None], np.ones(1))).positions)[0]
        x = x - 0.2 * slope
        x = x / np.linalg.norm(x)
    return x


def _from_samples(instance: Instance) -> Finding:
    """d = 2, c = 2: the first unit of Algorithm 2, its loss the mean over n samples."""
    protons = np.asarray(instance["protons"])
    rate = math.sqrt(RATE)
    sigma = activation("exponential", rate=rate, shift=-RATE)
    teacher = Teacher(protons, np.ones(3), sigma, on="sphere")
    loss = empirical_loss(
        teacher, int(instance["samples"]), seed=int(instance["seed"]), wrt="positions"
    )
    end = ascended(loss, np.asarray(instance["start"]))
    angle = float(np.arccos(np.clip(np.max(protons @ end), -1, 1)))
    numbers = {
        "angle": angle,
        "standard_error": math.sqrt((math.exp(4 * RATE) - 1) / int(instance["samples"])),
        "samples": int(instance["samples"]),
    }
    return Finding(angle < 0.35, numbers)


SIZES = (
    Statement(
        name="steps-needed",
        says="at a constant c = 22, which the proof's k c^2 exp(-c d) <= exp(-2 d) allows, units "
        "from 0 take T = exp(O(d)) steps of 1/(2 L) in all: for w_j ~ N(0, c I), k = max(d, 2)",
        draw=_steps_instance,
        test=_steps_needed,
        quick=1,
        thorough=6,
        constants={"exponent": "EPD, Theorem 4.2: the C of T = exp(C d)"},
    ),
    Statement(
        name="steps-as-printed",
        says="T = exp(O(d)) also under the printed k c^2 exp(-c) <= exp(-2 d) (Theorem 4.2; its "
        "proof has exp(-c d)): log T/d at d = 30 is less than twice that at d = 5",
        draw=_steps_instance,
        test=_steps_as_printed,
        role="printed",
        kind="misprint",
        quick=1,
        thorough=6,
    ),
    Statement(
        name="units-on-the-sphere",
        says="on S^(d-1), Phi = exp(c (rho - 1)), c = d^2, up to ten units one by one end at "
        "distinct protons, each within twice the pull of the others (Corollary 4.3)",
        draw=_sphere_instance,
        test=_units_on_the_sphere,
        thorough=12,
        constants={"tries_per_unit": "EPD, Corollary 4.3: starts needed for each unit"},
    ),
    Statement(
        name="samples-needed",
        says="E[sigma^4] = exp(4 c), so a standard error of eps takes (exp(4 c) - 1)/eps^2 samples "
        "(Corollary 4.3: exp(poly(d)))",
        draw=_count_instance,
        test=_samples_needed,
        quick=1,
        thorough=3,
        constants={
            "log10_samples_d_3_c_9": "EPD, Corollary 4.3: log10 of the samples for c = d^2, eps = "
            "0.1"
        },
    ),
    Statement(
        name="from-samples",
        says="the first unit from 200,000 samples where they are enough, d = 2, c = 2: it ends "
        "within 0.35 of a proton",
        draw=_sampled_instance,
        test=_from_samples,
        quick=1,
        thorough=4,
    ),
)
