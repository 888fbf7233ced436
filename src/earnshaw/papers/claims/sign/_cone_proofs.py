"""Proofs in ball arithmetic that units which share a place with a proton are held there.

By (held) of `_cones.py`, with every number enclosed: the floats of an instance count as exact, and
on the sphere stand for their directions.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import flint
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.papers.claims.claim import Finding, Instance
from earnshaw.papers.claims.sign._cone_lemmas import ROUNDING, library_loss, read
from earnshaw.papers.claims.sign._cones import DISTANCE, SIGN, Cone, split


def draw_at_proton(cone: Cone) -> Any:
    def draw(rng: np.random.Generator, index: int) -> Instance:
        """All units at a proton that outweighs the others."""
        if index == 0 and cone is SIGN:
            same = {"units": [[1.0, 0.0, 0.0]] * 2, "weights": [1.5, 1.5]}
            return {"protons": np.eye(3)[:2], "charges": [3.0, 1.0], **same}
        if index == 0:
            return {
                "protons": [[0.0, 0.0], [1.0, 0.0]],
                "charges": [2.0, 1.0],
                "units": [[0.0, 0.0]] * 2,
                "weights": [5.0, -2.0],
            }
        dim, count = (3, 3) if index < 3 else (2 + index % 7, 2 + index % 4)
        w, b = (
            cone.random(rng, count, dim),
            rng.uniform(0.3, 1.0, count) * rng.choice([-1, 1], count),
        )
        b[0] = np.sum(np.abs(b[1:])) + rng.uniform(0.2, 1.0)
        total = float(cone.field(w[:1], w, b)[0]) if cone is SIGN else float(np.sum(b))
        weights = split(total, float(np.sum(np.abs(b))), count)
        return {"protons": w, "charges": b, "units": [w[0]] * count, "weights": weights}

    return draw


def _ball_distance(cone: Cone, x: np.ndarray, y: np.ndarray) -> flint.arb:
    """t in balls; floats are exact, and on the sphere stand for their directions."""
    if np.array_equal(x, y):
        return flint.arb(0)
    u, v = ([flint.arb(float(a)) for a in z] for z in (x, y))
    if cone.on == "space":
        gap = [a - b for a, b in zip(u, v, strict=True)]
        return _dot(gap, gap).sqrt()
    return (_dot(u, v) / (_dot(u, u) * _dot(v, v)).sqrt()).acos()


def _dot(u: list[flint.arb], v: list[flint.arb]) -> flint.arb:
    return sum((a * b for a, b in zip(u, v, strict=True)), flint.arb(0))


def bad_at_proton(cone: Cone) -> Any:
    """A proof in balls that units at the first proton are held there, and their loss is not 0."""

    def test(instance: Instance) -> Finding:
        w, b, x, c = read(instance, "protons", "charges", "units", "weights")
        if not np.all(x == w[0]):
            return Finding(None, note="the units are not at the first proton")
        slope = 2 / flint.arb.pi() if cone.on == "sphere" else flint.arb(1)
        charges = [flint.arb(float(q)) for q in b]
        phi = [[cone.level - slope * _ball_distance(cone, p, q) for q in w] for p in w]
        outside = sum((q * phi[0][j] for j, q in enumerate(charges) if j), flint.arb(0))
        force = sum((abs(q) for q in charges[1:]), flint.arb(0))
        # The last weight is what makes dL/dc = 0 there, to the last digit; or the charge neutral.
        total = charges[0] + outside if cone.on == "sphere" else sum(charges, flint.arb(0))
        weights = [flint.arb(float(q)) for q in c[:-1]]
        weights.append(total - sum(weights, flint.arb(0)))
        margin = _held_in_balls(weights, charges[0], force)
        energy = sum(
            (charges[i] * charges[j] * phi[i][j] for i in range(len(b)) for j in range(len(b))),
            flint.arb(0),
        )
        left = energy + total * total * cone.level - 2 * total * (charges[0] * cone.level + outside)
        value = float(library_loss(cone, w, b).value(Student(x, c)))
        numbers = {
            "loss": float(left.mid()),
            "margin": float(margin.mid()),
            "library_error": abs(value - float(left.mid())),
        }
        if numbers["library_error"] > 1e-9 * float(np.sum(np.abs(c)) + np.sum(np.abs(b))) ** 2:
            return Finding(None, numbers, "the library has another loss")
        return Finding(not (margin > 0 and left > 0), numbers)

    return test


def _held_in_balls(weights: list[flint.arb], proton: flint.arb, force: flint.arb) -> flint.arb:
    """The least sgn(s) (p - e + s) - |g| over all groups of units."""
    count, total, least = len(weights), sum(weights, flint.arb(0)), flint.arb(10) ** 9
    for group in chain.from_iterable(combinations(range(count), n) for n in range(1, count + 1)):
        s = sum((weights[unit] for unit in group), flint.arb(0))
        if not (s > 0 or s < 0):
            return flint.arb(-1)
        pull = (proton - total + s) * (1 if s > 0 else -1) - force
        least = least.min(pull)
    return least


def draw_level(rng: np.random.Generator, index: int) -> Instance:
    """Units at 0, held by a proton of charge 2; two others of opposite charge, equally far."""
    far = 0.5 + float(rng.integers(1, 8)) / 4
    weights = np.full(3, 0.1) if index == 0 else rng.uniform(0.02, 0.15, 3)
    return {
        "protons": [[0.0, 0.0], [far, 0.0], [0.0, far]],
        "charges": [2.0, 1.0, -1.0],
        "units": [[0.0, 0.0]] * 3,
        "weights": weights,
    }


def bad_at_level(instance: Instance) -> Finding:
    """Weights free: dL/dc = 0 at the first proton, and units there are held."""
    w, b, x, c = read(instance, "protons", "charges", "units", "weights")
    zero = flint.arb(0)
    far = [_ball_distance(DISTANCE, w[0], p) for p in w]
    field = sum((flint.arb(float(q)) * t for q, t in zip(b, far, strict=True)), zero)
    pulls = [
        sum((flint.arb(float(b[j] * (w[j] - w[0])[axis])) / far[j] for j in (1, 2)), zero)
        for axis in range(w.shape[1])
    ]
    force = sum((pull * pull for pull in pulls), zero).sqrt()
    margin = _held_in_balls([flint.arb(float(q)) for q in c], flint.arb(float(b[0])), force)
    # Equal distances cancel exactly, which balls cannot show; floats that are equal can.
    level = bool(b[1] == -b[2] and np.linalg.norm(w[1]) == np.linalg.norm(w[2]))
    loss = library_loss(DISTANCE, w, b)
    slope = float(np.max(np.abs(loss.gradient(Student(x, c)).weights)))
    numbers = {
        "margin": float(margin.mid()),
        "field": float(field.mid()),
        "gradient_weights": slope,
    }
    same_sign = bool(np.all(c > 0))
    return Finding(not (level and same_sign and margin > 0 and slope < ROUNDING), numbers)
