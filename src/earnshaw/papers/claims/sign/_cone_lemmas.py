"""The lemmas of `_cones.py` as statements: tested on the losses of the library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.distance import Distance
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.papers.claims.claim import Finding, Instance
from earnshaw.papers.claims.sign._cones import Cone, split

UNITS, DIM = 3, 3
ROUNDING = 1e-11


def library_loss(cone: Cone, w: np.ndarray, b: np.ndarray) -> PopulationLoss:
    """The library's loss of a teacher with units w (k, d) and weights b (k,) under this cone."""
    if cone.on == "sphere":
        return population_loss(Teacher(w, b, "sign", on="sphere"))
    return population_loss(Teacher(w, b, Distance(w.shape[1])))


def read(instance: Instance, *names: str) -> list[np.ndarray]:
    return [np.asarray(instance[name], dtype=float) for name in names]


def draw_split(cone: Cone) -> Any:
    def draw(rng: np.random.Generator, index: int) -> Instance:
        """Three protons, a unit and a pair of it: far apart, or close."""
        pair = cone.random(rng, 2, DIM)
        if index % 2:
            pair[1] = cone.project(pair[:1] + 10.0 ** -(1 + index % 5) * rng.standard_normal(DIM))[
                0
            ]
        return {
            "protons": cone.random(rng, UNITS, DIM),
            "charges": rng.standard_normal(UNITS),
            "units": np.concatenate([pair, cone.random(rng, 1, DIM)]),
            "weights": [rng.uniform(0, 9), -rng.uniform(0, 5), rng.standard_normal()],
        }

    return draw


def splitting(cone: Cone) -> Any:
    """L(M, -N) - L(M - N) - 2 kappa N (M - B) t >= 0."""

    def test(instance: Instance) -> Finding:
        w, b, x, c = read(instance, "protons", "charges", "units", "weights")
        loss, others = library_loss(cone, w, b), np.sum(np.abs(b)) + np.sum(np.abs(c[2:]))
        apart = float(loss.value(Student(x, c)))
        # Together, as two units in one place: the same function as one, and the same shape.
        together = float(loss.value(Student(x[[0, 0, *range(2, UNITS)]], c)))
        far = float(cone.distance(x[:1], x[1:2])[0, 0])
        promised = 2 * cone.slope * -c[1] * (c[0] - others) * far
        merged = np.array([c[0] + c[1], *c[2:]])
        error = abs(together - float(cone.loss(merged, x[[0, *range(2, UNITS)]], b, w)))
        slack = apart - together - promised
        size = float(np.sum(np.abs(c)) + np.sum(np.abs(b))) ** 2
        numbers = {"slack": slack, "promised": promised, "error": error}
        return Finding(bool(slack >= -ROUNDING * size and error <= ROUNDING * size), numbers)

    return test


def draw_any_teacher(cone: Cone) -> Any:
    def draw(rng: np.random.Generator, index: int) -> Instance:
        b = rng.uniform(0.4, 1.5, UNITS) * rng.choice([-1, 1], UNITS)
        if cone.on == "space" and index % 3 == 2:
            b[-1] = -np.sum(b[:-1])
        return {
            "protons": cone.random(rng, UNITS, DIM),
            "charges": b,
            "seed": int(rng.integers(2**31)),
        }

    return draw


def _best_unit(cone: Cone, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """One unit of least loss: at a proton, or where a search from each of them ends; its weight."""

    def left(x: np.ndarray) -> float:
        field = float(cone.field(cone.project(x[None]), w, b)[0])
        return -(field**2) if cone.on == "sphere" else -2 * float(np.sum(b)) * field

    found = [
        minimize(left, x + 0.1, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x
        for x in w
    ]
    best = cone.project(min([*w, *found], key=left)[None])[0]
    field = float(cone.field(best[None], w, b)[0])
    return best, field if cone.on == "sphere" else float(np.sum(b))


def every_teacher(cone: Cone) -> Any:
    """Units split at the best place of one: the least loss of the library among many nearby."""

    def test(instance: Instance) -> Finding:
        w, b = read(instance, "protons", "charges")
        rng, loss = np.random.default_rng(int(instance["seed"])), library_loss(cone, w, b)
        at, weight = _best_unit(cone, w, b)
        c = np.asarray(split(weight, float(np.sum(np.abs(b))), UNITS))
        here = float(loss.value(Student(np.repeat(at[None], UNITS, axis=0), c)))
        rise = math.inf
        for scale in np.repeat(10.0 ** -np.arange(1, 6), 6):
            x = cone.project(at + scale * rng.standard_normal((UNITS, DIM)))
            if rng.random() < 0.5:  # also together, and only then do they feel the place itself
                x[1:] = x[0]
            change = scale * rng.standard_normal(UNITS)
            if cone.on == "space":
                change -= np.mean(change)
            rise = min(rise, float(loss.value(Student(x, c + change))) - here)
        tolerance = ROUNDING * float(np.sum(np.abs(c)) + np.sum(np.abs(b))) ** 2
        numbers = {"loss": here, "least_rise": rise}
        return Finding(bool(here > 1e-3 and rise >= -tolerance), numbers)

    return test
