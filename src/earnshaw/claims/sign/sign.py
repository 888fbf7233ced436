"""The sign activation: one unit on the circle, many under Assumption 1, and what a small loss says.

Phi(theta, w) = 1 - 2 t/pi, t the angle, so that on S^1 the loss is piecewise linear in the angles
and everything can be decided in whole numbers (`circle.py`). The claims are

- EPD Thm 3.11, Cor 3.12; Full Lem G.1, G.2; ITCS Lem 28, 29, 31, 32 (``sign-circle``): one unit,
  L = a^2 + 2 a sum b_j Phi(theta, w_j), ends at some +-w_j; with all charges 1 the loss of k units
  has no strict local minimum but the global ones. For the latter it is enough to look at the (2k)^k
  points at which every unit is at some +-w_j: at any other some units, tied to each other but to no
  proton, can turn together, and L is linear in that, both ways;
- EPD Thm 5.1; Full Thm H.1 (``sign-uniqueness``): a teacher of one unit w, L = E[(g - sgn(w.X))^2].
  Given X_1 = w.X = x the mean of g is G(x) = sum c_i erf(delta_i x / sqrt 2), delta_i =
  rho_i/sqrt(1 - rho_i^2), rho_i = w.theta_i. As |erf(z) - 2 z/sqrt(pi)| <= 2 |z|^3/(3 sqrt(pi)),
  with A = sum |c_i|, delta = max |delta_i| and E[X^6] = 15, Jensen and the best linear fit of sgn
  give

      sqrt(L) >= |G - sgn| >= sqrt(1 - 2/pi) - sqrt(2/pi) sqrt(15)/6 A delta^3.              (*)

  Where |c_i| <= C and L < 1 - 2/pi is a given constant, delta is at least of order (C k)^(-1/3):
  more than the Omega(1/sqrt(k)) of the texts.
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np
from scipy.special import erf

from earnshaw.charges.network import Student, Teacher
from earnshaw.claims.claim import Claim, Finding, Instance, Sources, Statement
from earnshaw.claims.sign import circle
from earnshaw.claims.sign.cones import SIGN
from earnshaw.claims.sign.constant_steps import descended
from earnshaw.energy.population import population_loss
from earnshaw.landscape.certificate import certificate

ROUNDING = 1e-12


def _teacher(positions: Any, weights: Any) -> Teacher:
    return Teacher(
        np.asarray(positions, dtype=float), np.asarray(weights, dtype=float), "sign", on="sphere"
    )


# --- one unit on the circle --------------------------------------------------------------------


def _draw_circle(rng: np.random.Generator, index: int) -> Instance:
    return {
        "angles": circle.random_angles(rng, 4),
        "weights": circle.random_weights(rng, 4, 5 + 4 * (index % 3)),
    }


def _only_at_protons(instance: Instance) -> Finding:
    """Every local minimum over all TURN angles, and the library's verdict at every proton."""
    w, b = np.asarray(instance["angles"]), np.asarray(instance["weights"])
    found = circle.peaks(w, b)
    off = np.setdiff1d(found % circle.HALF, w % circle.HALF)
    loss = population_loss(_teacher(circle.vectors(w), b))
    wrong = 0
    for angle in w:
        best = circle.field(np.array([angle]), w, b)[0] / circle.TURN
        student = Student(circle.vectors(np.array([angle])), np.array([best]))
        is_minimum = certificate(loss, student).kind == "cusp-minimum"
        wrong += is_minimum != bool(np.isin(angle, found))
    numbers = {"minima": len(found) / 2, "elsewhere": len(off), "library_disagrees": wrong}
    return Finding(not len(off) and not wrong, numbers)


def _draw_flat(rng: np.random.Generator, index: int) -> Instance:
    weight = int(rng.integers(1, 9))
    start = circle.GRID * int(rng.integers(0, 100))
    return {"angles": [start, start + 400 + 4 * index], "weights": [weight, weight]}


def _flat_elsewhere(instance: Instance) -> Finding:
    w, b = np.asarray(instance["angles"]), np.asarray(instance["weights"])
    off = np.setdiff1d(circle.peaks(w, b) % circle.HALF, w % circle.HALF)
    return Finding(not len(off), {"elsewhere": len(off)})


# --- one unit, descending ----------------------------------------------------------------------

STARTS = 6
STEP_SIZES = (0.02, 0.005)
ITERATIONS = 4000


def _draw_descent(rng: np.random.Generator, index: int) -> Instance:
    """On the circle with 4 protons, or two protons in 3 dimensions; starts where F is not 0."""
    if index % 2 == 0:
        w, whole = circle.random_angles(rng, 4), circle.random_weights(rng, 4)
        b, ends = whole / 5, w[np.isin(w, circle.peaks(w, whole))]
        positions, allowed = circle.vectors(w), circle.vectors(ends)
    else:
        positions = SIGN.random(rng, 2, 3)
        b = np.array([rng.uniform(1.0, 1.8), rng.uniform(0.3, 0.9)]) * rng.choice([-1, 1], 2)
        allowed = positions[:1]
    starts: list[np.ndarray] = []
    while len(starts) < STARTS:
        start = SIGN.random(rng, 1, positions.shape[1])
        if abs(SIGN.field(start, positions, b)[0]) > 0.1 * np.sum(np.abs(b)):
            starts.append(start)
    return {
        "positions": positions,
        "weights": b,
        "allowed": allowed,
        "starts": np.asarray(starts),
    }


def _ends(instance: Instance, size: float) -> np.ndarray:
    """Where Algorithm 1 with constant steps ends, from all starts with their best weights."""
    positions, b = (np.asarray(instance[name], dtype=float) for name in ("positions", "weights"))
    starts = np.asarray(instance["starts"], dtype=float)
    weights = SIGN.field(starts, positions[None], b[None])
    loss = population_loss(_teacher(positions, b), "one-node")
    return descended(loss, starts, weights, size, ITERATIONS)[0][:, 0]


def _ends_at_protons(instance: Instance) -> Finding:
    """The distance to the nearest allowed +-w_j, over the step size."""
    allowed = np.asarray(instance["allowed"], dtype=float)
    pull = 4 / math.pi * np.sum(np.abs(np.asarray(instance["weights"], dtype=float))) ** 2
    numbers, good = {}, True
    for name, size in zip(("coarse", "fine"), STEP_SIZES, strict=True):
        ends = _ends(instance, size)
        far = SIGN.distance(ends, np.concatenate([allowed, -allowed])).min(axis=1)
        numbers[f"distance_over_step_{name}"] = float(np.max(far)) / size
        good &= bool(np.max(far) <= pull * size)
    return Finding(good, numbers)


def _draw_three(rng: np.random.Generator, index: int) -> Instance:
    """Three equal protons at right angles, a unit near the middle of them."""
    start = SIGN.project(np.ones(3) + 0.2 * rng.standard_normal(3))
    return {
        "positions": np.eye(3),
        "weights": np.ones(3),
        "allowed": np.eye(3),
        "starts": np.repeat(start[None, None], STARTS, axis=0),
    }


# --- many units, Assumption 1 ------------------------------------------------------------------


def _draw_ones(rng: np.random.Generator, index: int) -> Instance:
    return {"angles": circle.random_angles(rng, 3 + (index % 8 == 7))}


def _all_places(w: np.ndarray) -> np.ndarray:
    """Every student whose units are all at some +-w_j."""
    return np.array(
        list(product(np.concatenate([w, (w + circle.HALF) % circle.TURN]), repeat=len(w)))
    )


def _no_strict_minima(instance: Instance) -> Finding:
    """All (2k)^k candidates at once, in whole numbers; the library agrees on the loss."""
    w = np.asarray(instance["angles"])
    b, x = np.ones(len(w), dtype=int), _all_places(w)
    c = np.ones_like(x)
    strict = np.all(circle.rises(c, x, b, w) > 0, axis=-1)
    values = circle.loss(c, x, b, w)
    bad = strict & (values != 0)
    loss = population_loss(_teacher(circle.vectors(w), b), "assumption-1")
    some = np.concatenate([np.nonzero(strict)[0][:3], np.arange(0, len(x), len(x) // 5)])
    students = [Student(circle.vectors(x[one]), np.ones(len(w))) for one in some]
    error = max(
        abs(float(loss.value(student)) - float(values[one]) / circle.TURN)
        for one, student in zip(some, students, strict=True)
    )
    numbers = {
        "candidates": len(x),
        "strict_minima": int(np.sum(strict)),
        "bad": int(np.sum(bad)),
        "library_error": error,
    }
    matched = int(np.sum(strict)) == math.factorial(len(w))
    return Finding(bool(not np.any(bad) and matched and error < ROUNDING), numbers)


def _matchings_are_strict(instance: Instance) -> Finding:
    """Every permutation of the protons: the least rise of L along an edge."""
    w = np.asarray(instance["angles"])
    b, x = np.ones(len(w), dtype=int), np.array(list(permutations(w)))
    rises = circle.rises(np.ones_like(x), x, b, w)
    return Finding(bool(np.all(rises > 0)), {"least_rise": int(np.min(rises))})


def _draw_opposite(rng: np.random.Generator, index: int) -> Instance:
    """Two protons on either side of a unit, and another unit opposite to it."""
    at, apart = circle.GRID * rng.integers(0, 100), circle.GRID * rng.integers(10, 100, size=2)
    return {
        "angles": [int(at - apart[0]), int(at + apart[1])],
        "units": [int(at), int(at + circle.HALF)],
    }


def _no_weak_minima(instance: Instance) -> Finding:
    w, x = np.asarray(instance["angles"]), np.asarray(instance["units"])
    one = np.ones(len(w), dtype=int)
    least = int(np.min(circle.rises(one, x, one, w)))
    value = float(circle.loss(one, x, one, w)) / circle.TURN
    return Finding(not (least >= 0 and value > 0), {"least_rise": least, "loss": value})


CIRCLE = Claim(
    id="sign-circle",
    title="Sign units on the circle end at the protons",
    sources=Sources(epd="Thm 3.11, Cor 3.12", full="Lem G.1, G.2", itcs="Lem 28, 29, 31, 32"),
    hypotheses=(
        "sign activation, unit vectors",
        "one unit: S^1 with any protons, no signed sum of charges 0 (almost surely so); or S^(d-1) "
        "with two protons of different |charge|",
        "many units: S^1, all charges 1 and fixed (Assumption 1), no two protons equal or opposite",
    ),
    statements=(
        Statement(
            "one-unit-minima",
            "All local minima of a^2 + 2 a sum b_j Phi(theta, w_j) on S^1 are at +-w_j: decided "
            "for all 4096 angles in whole numbers; the library's certificate says cusp-minimum at "
            "exactly those protons",
            _draw_circle,
            _only_at_protons,
        ),
        Statement(
            "one-unit-descent",
            "Algorithm 1 on it ends at such a +-w_j, up to C alpha (S^1, or S^2 with two protons, "
            "where it is the one of larger |b_j|)",
            _draw_descent,
            _ends_at_protons,
            quick=2,
            thorough=12,
            constants={
                "distance_over_step_coarse": "alpha -> 0 in EPD Thm 3.11, Cor 3.12",
                "distance_over_step_fine": "alpha -> 0 in EPD Thm 3.11, Cor 3.12",
            },
        ),
        Statement(
            "no-strict-minima",
            "Under Assumption 1 on S^1 the loss has k! strict local minima, all global: decided "
            "for all (2k)^k candidates in whole numbers",
            _draw_ones,
            _no_strict_minima,
            quick=3,
            thorough=16,
        ),
        Statement(
            "matchings-are-strict",
            "Every matching of units to protons is a strict local minimum, if no two protons are "
            "opposite",
            lambda rng, index: {"angles": circle.random_angles(rng, 3 + index % 3)},
            _matchings_are_strict,
        ),
        Statement(
            "without-random-charges",
            "As one-unit-minima, for two equal charges: minima fill the arc between them",
            _draw_flat,
            _flat_elsewhere,
            role="beyond",
            quick=1,
            thorough=5,
        ),
        Statement(
            "three-protons",
            "As one-unit-descent, for three protons on S^2: the unit ends in the middle of them",
            _draw_three,
            _ends_at_protons,
            role="beyond",
            quick=0,
            thorough=2,
        ),
        Statement(
            "without-strictness",
            "As no-strict-minima, for local minima that need not be strict: two opposite units, "
            "each between the protons, cancel, and can turn together",
            _draw_opposite,
            _no_weak_minima,
            role="beyond",
            thorough=10,
        ),
    ),
    remarks=(
        "EPD says that the unit ends at some w_i, and drops the sign in the proof: at -w_i with "
        "the opposite weight it is the same function. So here: +-w_i.",
        "The lemma on Assumption 1 is about strict minima only. The weak ones are real: opposite "
        "units have an open basin, so gradient descent does not always find the teacher.",
    ),
)


# --- uniqueness --------------------------------------------------------------------------------

UNITS, DIM = 8, 9
LEAST = math.sqrt(1 - 2 / math.pi)  # how well a line fits sgn
CUBIC = math.sqrt(2 / math.pi) * math.sqrt(15) / 6


def _draw_student(rng: np.random.Generator, index: int) -> Instance:
    """Units at about a right angle to w = e_1: at random, or in pairs around it; fitted weights."""
    width = (0.05, 0.2, 0.5)[index % 3]
    if index % 2:
        tilt = rng.uniform(-width, width, UNITS)
        across = SIGN.random(rng, UNITS, DIM - 1)
    else:  # pairs whose difference is sgn(x_1) on a thin wedge: the best there is for small loss
        tilt = width * np.tile([1.0, -1.0], UNITS // 2)
        across = np.repeat(np.eye(DIM - 1)[: UNITS // 2], 2, axis=0)
    positions = np.column_stack([tilt, np.sqrt(1 - tilt**2)[:, None] * across])
    positions = SIGN.project(positions)
    teacher = np.eye(DIM)[:1]
    best = np.linalg.solve(
        SIGN.between(positions, positions) + 1e-9 * np.eye(UNITS),
        SIGN.field(positions, teacher, np.ones(1)),
    )
    return {"positions": positions, "weights": best * rng.uniform(0.8, 1.2)}


def _smoothed(rho: np.ndarray, c: np.ndarray) -> float:
    """E[(G(X) - sgn X)^2] by quadrature on the half-line."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x = 6 * (nodes + 1)
    density = np.exp(-x * x / 2) * math.sqrt(2 / math.pi) * 6 * weights
    mean = erf(np.outer(x, rho / np.sqrt(1 - rho**2)) / math.sqrt(2)) @ c
    return float(np.sum(density * (mean - 1) ** 2))


def _far_means_large(instance: Instance) -> Finding:
    """(*), with the loss of the library and Jensen's step by quadrature."""
    x, c = (np.asarray(instance[name], dtype=float) for name in ("positions", "weights"))
    value = float(population_loss(_teacher(np.eye(DIM)[:1], [1.0])).value(Student(x, c)))
    rho, total = x[:, 0], float(np.sum(np.abs(c)))
    delta = float(np.max(np.abs(rho) / np.sqrt(1 - rho**2)))
    bound = LEAST - CUBIC * total * delta**3
    jensen = value - _smoothed(rho, c)
    slack = math.sqrt(value) - bound
    numbers = {
        "loss": value,
        "slack": slack,
        "jensen_slack": jensen,
        "closest": float(np.max(np.abs(rho))),
        "charges": total,
    }
    return Finding(slack >= -ROUNDING and jensen >= -1e-9 and value >= 0, numbers)


def _draw_close(rng: np.random.Generator, index: int) -> Instance:
    """A student of small loss: some units near +-w share its charge, the rest have little."""
    positions = SIGN.random(rng, UNITS, DIM)
    weights = 0.02 * rng.standard_normal(UNITS)
    shared = 1 + index % 3
    sides = rng.choice([-1.0, 1.0], shared)
    tilted = np.eye(DIM)[0] + 0.03 * rng.standard_normal((shared, DIM))
    positions[:shared] = sides[:, None] * SIGN.project(tilted)
    weights[:shared] = sides / shared
    return {"positions": positions, "weights": weights}


def _small_means_close(instance: Instance) -> Finding:
    """From the loss of the library alone, how near +-w some unit must be; and how near it is."""
    x, c = (np.asarray(instance[name], dtype=float) for name in ("positions", "weights"))
    value = float(population_loss(_teacher(np.eye(DIM)[:1], [1.0])).value(Student(x, c)))
    if not 0 <= value < 1 - 2 / math.pi:
        return Finding(None, {"loss": value}, "the loss is not small")
    bounded = float(np.max(np.abs(c)))
    delta = ((LEAST - math.sqrt(value)) / (CUBIC * bounded * UNITS)) ** (1 / 3)
    promised = delta / math.sqrt(1 + delta**2)
    closest = float(np.max(np.abs(x[:, 0])))
    numbers = {
        "loss": value,
        "closest": closest,
        "promised": promised,
        "omega": promised * math.sqrt(UNITS),
    }
    return Finding(closest >= promised, numbers)


def _draw_reversed(rng: np.random.Generator, index: int) -> Instance:
    """The perfect student turned round: -w, with weights that sum to -1."""
    shares = rng.dirichlet(np.ones(UNITS))
    return {"positions": np.repeat(-np.eye(DIM)[:1], UNITS, axis=0), "weights": -shares}


def _some_unit_is_near(instance: Instance) -> Finding:
    """As printed: small loss, so some w.theta_i > 1/(8 sqrt(k)), without a modulus."""
    x, c = (np.asarray(instance[name], dtype=float) for name in ("positions", "weights"))
    value = float(population_loss(_teacher(np.eye(DIM)[:1], [1.0])).value(Student(x, c)))
    value -= float(instance.get("without", 0.0))
    nearest = float(np.max(x[:, 0]))
    near = nearest > 1 / (8 * math.sqrt(len(c)))
    return Finding(near or value >= 0.1, {"loss": value, "nearest": nearest})


def _draw_silent(rng: np.random.Generator, index: int) -> Instance:
    """No charge at all, at a right angle to w; loss (5) has no constant term, which is 1 here."""
    x = np.column_stack([np.zeros(UNITS), SIGN.random(rng, UNITS, DIM - 1)])
    return {"positions": x, "weights": np.zeros(UNITS), "without": 1.0}


def _draw_band(rng: np.random.Generator, index: int) -> Instance:
    """Pairs in a band around the equator, of a width of order 1/sqrt(k)."""
    units = (8, 32, 128)[index % 3]
    return {"units": units, "width": 1 / math.sqrt(units), "orthogonal": bool(index % 2 == 0)}


def _free_charges(instance: Instance) -> Finding:
    """The least loss over all charges whatever of pairs (eps, u), (-eps, u)."""
    units, width = int(instance["units"]), float(instance["width"])
    across = np.eye(units // 2)
    if not instance["orthogonal"]:
        across = SIGN.random(np.random.default_rng(units), units // 2, max(2, units // 8))
    tilt = width * np.tile([1.0, -1.0], units // 2)
    x = np.column_stack([tilt, math.sqrt(1 - width**2) * np.repeat(across, 2, axis=0)])
    with_teacher = SIGN.field(x, np.eye(x.shape[1])[:1], np.ones(1))
    best = np.linalg.lstsq(SIGN.between(x, x), with_teacher, rcond=1e-12)[0]
    least = 1 - float(best @ with_teacher)
    numbers = {"least_loss": least, "charges": float(np.sum(np.abs(best)))}
    return Finding(least >= 0.1, numbers)


UNIQUENESS = Claim(
    id="sign-uniqueness",
    title="A small loss of sign units means a unit near the teacher's",
    sources=Sources(epd="Thm 5.1", full="Thm H.1"),
    hypotheses=(
        "the teacher is one sign unit w of weight 1; k student units on S^(d-1)",
        "|c_i| <= C; L = E[(f - g)^2], with all its constants",
    ),
    statements=(
        Statement(
            "far-means-large",
            "sqrt(L) >= sqrt(1 - 2/pi) - sqrt(2/pi) sqrt(15)/6 sum|c_i| delta^3, delta the largest "
            "|w.theta_i|/sqrt(1 - (w.theta_i)^2)",
            _draw_student,
            _far_means_large,
            quick=6,
            thorough=60,
        ),
        Statement(
            "small-means-close",
            "So some |w.theta_i| is at least of order ((sqrt(1 - 2/pi) - sqrt(L))/(C k))^(1/3)",
            _draw_close,
            _small_means_close,
            constants={"omega": "Omega(1/sqrt(k)) in EPD Thm 5.1, Full Thm H.1, times sqrt(k)"},
        ),
        Statement(
            "without-modulus",
            "L < 1/10 implies w.theta_i > 1/(8 sqrt(k)) for some i, as printed without a modulus",
            _draw_reversed,
            _some_unit_is_near,
            role="printed",
            quick=1,
            thorough=5,
        ),
        Statement(
            "loss-without-constants",
            "The same for loss (5) of EPD, which lacks the constant term",
            _draw_silent,
            _some_unit_is_near,
            role="printed",
            quick=1,
            thorough=5,
        ),
        Statement(
            "charges-of-any-size",
            "Units in pairs with |w.theta_i| = 1/sqrt(k) and any charges whatever have L >= 1/10",
            _draw_band,
            _free_charges,
            role="beyond",
            thorough=6,
        ),
    ),
    remarks=(
        "Printed: some w.theta_i > Omega(1/sqrt(k)). At -w with weight -1 the loss is 0: it needs "
        "|w.theta_i|. EPD states it for loss (5), which is 0 for no charges at all: it needs the "
        "constant term (Full has it).",
        "The proof needs bounded charges, for its O(k eps^2). Since erf is odd the remainder is of "
        "third order, and the bound is (C k)^(-1/3) instead of k^(-1/2).",
        "O(1) must be less than 1 - 2/pi = 0.363: k pairs at angles much larger than 1/k from the "
        "equator have a mean linear in w.x, and that loss.",
        "Whether the statement holds for charges of any size we do not know; the pairs tried here "
        "do not contradict it.",
    ),
)
