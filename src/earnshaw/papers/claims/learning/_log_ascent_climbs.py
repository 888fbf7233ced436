"""Whole climbs of log|C|: by the theorem's steps, by node-wise's rule of steps, by the library.

The theorem's ascent must arrive within 2 eps of a charge in range/gain steps. Node-wise's own steps
have no theorem; what is tested of them is the range, which bounds every ascent, and that they
arrive. kappa, which no theorem bounds for charges of both signs, is measured.

Source: mathematics.md, "A theorem for the log ascent".
"""

from __future__ import annotations

import math

import numpy as np

from earnshaw.charges.network import Teacher
from earnshaw.learning.learn import learn
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.learning._log_ascent_errors import paper_charges
from earnshaw.papers.claims.learning._log_potential import (
    Charges,
    Climb,
    Constants,
    charges_of,
    climb,
    follow,
)

RADIUS = 0.3
CORE = 0.1  # of the papers' teachers


def _one_sign(rng: np.random.Generator, index: int) -> Instance:
    """Charges of one sign, so kappa = 1; two equal ones and a start exactly between them, first."""
    dim = (3, 3, 5, 7)[index % 4]
    count = 2 if index % 4 == 0 else 4
    y = 3 / math.sqrt(dim) * rng.standard_normal((count, dim))
    q = np.ones(2) if count == 2 else rng.uniform(0.1, 1.0, count)
    x = y.mean(axis=0) if count == 2 else 2 * y.mean(axis=0) - y[0]
    return {"y": y, "q": q, "lam": 1.0, "x": x, "kappa": 1.0}


def _both_signs(rng: np.random.Generator, index: int) -> Instance:
    """Charges of both signs whose climb keeps kappa below 1.5: the hypothesis."""
    while True:
        instance = _one_sign(rng, 1 + index % 3) | {"kappa": 1.5}
        instance["q"] = instance["q"] * np.array([1.0, -1.0, 1.0, -1.0])
        if _climbed(instance).kappa <= 1.5:
            return instance


def _climbed(instance: Instance) -> Climb:
    charges = charges_of(instance)
    constants = Constants(charges.dim, RADIUS, charges.lam, instance["kappa"])
    return climb(charges, constants, np.asarray(instance["x"], dtype=float), 60_000)


def _arrives(instance: Instance) -> Finding:
    charges = charges_of(instance)
    constants = Constants(charges.dim, RADIUS, charges.lam, instance["kappa"])
    ended = _climbed(instance)
    span = constants.range_of(charges, charges.at(np.asarray(instance["x"], dtype=float)))
    allowed = span / constants.gains()[0], span / constants.gains()[1]
    numbers = {
        "steps": float(ended.by_gradient + ended.by_curvature),
        "gradient steps/bound": ended.by_gradient / allowed[0],
        "curvature steps/bound": ended.by_curvature / allowed[1],
        "least gain/promised": ended.least_gain,
        "kappa": ended.kappa,
    }
    holds = ended.arrived and ended.by_gradient <= allowed[0] and ended.by_curvature <= allowed[1]
    return Finding(bool(holds and ended.least_gain >= 1 and ended.gained <= span), numbers)


def _papers_starts(rng: np.random.Generator, index: int) -> Instance:
    dim = (7, 3, 15, 31, 63)[index % 5]
    return paper_charges(rng, dim, 16) | {"dim": dim, "seed": int(rng.integers(2**31))}


def _climbs_of_node_wise(instance: Instance) -> Finding:
    """From the 8 best of 256 points, by node-wise's rule of steps: kappa, range and arrival."""
    charges, dim = charges_of(instance), instance["dim"]
    rng = np.random.default_rng(instance["seed"])
    points = math.sqrt(dim * math.log(dim)) * rng.standard_normal((256, dim))
    heres = [charges.at(x) for x in points]
    best = np.argsort([-here.log for here in heres])[:8]
    ends = [follow(charges, points[i], CORE) for i in best]
    climbs = [end.log - heres[i].log for i, end in zip(best, ends, strict=True)]
    bounds = [_longest_climb(charges, points[i], heres[i].kappa, CORE) for i in best]
    ratios = [climb / bound for climb, bound in zip(climbs, bounds, strict=True)]
    numbers = {
        "kappa": max(end.kappa for end in ends),
        "iterations": float(max(end.iterations for end in ends)),
        "range/bound": max(ratios),
        "log10 of the climb": max(climbs) / math.log(10),
    }
    arrived = all(end.nearest <= 2 * CORE for end in ends)
    return Finding(bool(arrived and max(ratios) <= 1), numbers)


def _longest_climb(charges: Charges, x: np.ndarray, kappa: float, radius: float) -> float:
    """log(Q kappa/|q_j|) + s (r_j - eps) + (d - 1) log(r_j/eps), the least over j."""
    r = np.linalg.norm(x - charges.y, axis=1)
    q = np.abs(charges.q)
    s, dim = math.sqrt(charges.lam), charges.dim
    spans = np.log(q.sum() * kappa / q) + s * (r - radius) + (dim - 1) * np.log(r / radius)
    return float(spans.min())


def _library(rng: np.random.Generator, index: int) -> Instance:
    dim, units = ((3, 4), (7, 8), (15, 16), (31, 16))[index % 4]
    return paper_charges(rng, dim, units) | {"dim": dim, "seed": index}


def _library_climbs(instance: Instance) -> Finding:
    """The way of the first unit that `learn` places, seen by other formulas."""
    charges = charges_of(instance)
    run = learn(
        Teacher(charges.y, charges.q, "almost-harmonic", radius=CORE), seed=instance["seed"]
    )
    way = np.asarray(run.history.paths[0])
    apart = np.linalg.norm(way[:, None] - charges.y, axis=-1).min(axis=1)
    off = [charges.at(x) for x in way[apart >= CORE]]
    logs = np.array([here.log for here in off])
    bound = _longest_climb(charges, way[0], off[0].kappa, CORE)
    numbers = {
        "kappa": max(here.kappa for here in off),
        "range/bound": float(logs[-1] - logs[0]) / bound,
        "nearest": float(apart.min()),
    }
    rises = np.all(np.diff(logs) >= 0) and numbers["range/bound"] <= 1
    return Finding(bool(rises and numbers["nearest"] < 1e-6), numbers)


CLIMB_STATEMENTS = (
    Statement(
        "arrives",
        "for charges of one sign the ascent comes within 2 eps of one in range/gain steps",
        _one_sign,
        _arrives,
        quick=2,
        thorough=12,
    ),
    Statement(
        "arrives-with-both-signs",
        "the same for both signs, while kappa <= K = 1.5",
        _both_signs,
        _arrives,
        quick=1,
        thorough=9,
    ),
    Statement(
        "climbs-of-node-wise",
        "from the best 8 of 256 starts node-wise's own steps arrive, and gain at most "
        "log(Q kappa/|q_j|) + s (r_j - eps) + (d - 1) log(r_j/eps)",
        _papers_starts,
        _climbs_of_node_wise,
        quick=2,
        thorough=25,
        constants={"kappa": "K, which no theorem bounds: measured"},
    ),
    Statement(
        "climbs-of-the-library",
        "log|C| rises along the way of the first unit that learn places, and ends at a charge",
        _library,
        _library_climbs,
        quick=1,
        thorough=8,
    ),
)
