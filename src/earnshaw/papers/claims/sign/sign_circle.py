"""Sign units on the circle end at the protons: one unit, and many under Assumption 1.

Phi(theta, w) = 1 - 2 t/pi, t the angle, so that on S^1 the loss is piecewise linear in the angles
and everything can be decided in whole numbers (`_circle.py`).

One unit, L = a^2 + 2 a sum b_j Phi(theta, w_j), ends at some +-w_j. With all charges 1 the loss of
k units has no strict local minimum but the global ones. For the latter it is enough to look at the
(2k)^k points at which every unit is at some +-w_j: at any other some units, tied to each other but
to no proton, can turn together, and L is linear in that, both ways.

Sources: EPD, Theorem 3.11, Corollary 3.12; Full, Lemmas G.1, G.2; ITCS, Lemmas 28, 29, 31, 32.
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.certificate import certificate
from earnshaw.papers.claims.claim import (
    EXACT_LOSS,
    NO_SMALLER_NEARBY,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.sign import _circle as circle
from earnshaw.papers.claims.sign._cones import SIGN
from earnshaw.papers.claims.sign._constant_steps import descended
from earnshaw.papers.claims.sign._lipschitz import LIPSCHITZ

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
    oracle=EXACT_LOSS,
    definition=NO_SMALLER_NEARBY,
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
        *LIPSCHITZ,
    ),
    remarks=(
        "EPD says that the unit ends at some w_i, and drops the sign in the proof: at -w_i with "
        "the opposite weight it is the same function. So here: +-w_i.",
        "The lemma on Assumption 1 is about strict minima only. The weak ones are real: opposite "
        "units have an open basin, so gradient descent does not always find the teacher.",
    ),
)
