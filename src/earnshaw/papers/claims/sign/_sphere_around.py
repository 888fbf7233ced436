"""What is around the strict minimum of sign: its limit, its end, its teachers, its basin.

Statements about the minimum of `_sphere_minimum.py`, where the formulas (small) and (charge) are;
and the exits of minima that are not strict.
"""

from __future__ import annotations

import math

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.landscape.continuation import follow
from earnshaw.landscape.escape import escape
from earnshaw.landscape.hunting.critical_points import interval
from earnshaw.landscape.hunting.hunt import hunt
from earnshaw.landscape.proofs.escape_rise import rise_bounds
from earnshaw.landscape.proofs.proof import Proof
from earnshaw.landscape.proofs.prove import prove
from earnshaw.landscape.proofs.teacher_box import prove_teachers
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.sign._cone_lemmas import library_loss, read
from earnshaw.papers.claims.sign._cones import DISTANCE, SIGN, descend, split
from earnshaw.papers.claims.sign._endings import ending
from earnshaw.papers.claims.sign._sphere_minimum import (
    EXAMPLE,
    SCALE,
    SCALES,
    Planar,
    draw_strict_on_sphere,
    exponential,
    is_no_strict_minimum_on_sphere,
    is_strict_and_bad,
    proved_at,
    teacher_at,
)

# --- the limit of small scales -----------------------------------------------------------------

SMALL = (0.2, 0.1, 0.05)


def draw_any_plane(rng: np.random.Generator, index: int) -> Instance:
    """Three protons and three units anywhere in the plane or in space, of any charges."""
    dim = 2 + index % 2
    names = {"protons": (3, dim), "charges": (3,), "units": (3, dim), "weights": (3,)}
    return {name: rng.standard_normal(shape) for name, shape in names.items()}


def small_scale(instance: Instance) -> Finding:
    """(small): what the library's two losses differ by is O(s^5), so a halved s leaves 1/32."""
    w, b, x, c = read(instance, "protons", "charges", "units", "weights")
    flat = float(library_loss(DISTANCE, w, b).value(Student(x, c)))
    everything, charges = np.concatenate([w, x]), np.concatenate([b, -c])
    bent = -float(charges @ _shortening(everything) @ charges)
    left = []
    for s in SMALL:
        loss = library_loss(SIGN, exponential(s * w), b)
        value = float(loss.value(Student(exponential(s * x), c)))
        left.append(value - np.sum(charges) ** 2 - 2 * s / math.pi * (flat - s * s * bent))
    order = float(np.log2(abs(left[-2] / left[-1])))
    numbers = {"order": order, "remainder": abs(left[-1]), "loss_distance": flat}
    return Finding(4.5 < order < 5.5, numbers)


def _shortening(x: np.ndarray) -> np.ndarray:
    """|x ^ y|^2/(6 |x - y|) of all pairs, 0 on the diagonal."""
    squares = np.sum(x * x, axis=1)
    area = np.outer(squares, squares) - (x @ x.T) ** 2
    far = DISTANCE.distance(x, x)
    return np.where(far > 0, area / (6 * np.where(far > 0, far, 1.0)), 0.0)


def draw_example(rng: np.random.Generator, index: int) -> Instance:
    """The planar example, then teachers near it."""
    noise = 0.0 if index == 0 else 3e-3
    protons = np.array(EXAMPLE["protons"]) + noise * rng.standard_normal((3, 2))
    charges = np.array(EXAMPLE["charges"]) + noise * rng.standard_normal(3)
    units = np.array([*protons[[0, 2]], EXAMPLE["units"][2]])
    return {"protons": protons, "charges": charges, "units": units, "weights": EXAMPLE["weights"]}


def continues(instance: Instance) -> Finding:
    """The minima at small s are strict, and tend to that of the distance at the rate s; (charge).

    Of M(s)/s the limit is (2/pi) mu, mu the common field that the library's distance loss has at
    the units: dL/dc_i = 2 mu, at the place that the minima tend to.
    """
    planar = Planar(*read(instance, "protons", "charges", "units", "weights"))
    places, missing = [], []
    for count in (1, 2):
        s = SCALES[count - 1]
        proof = proved_at(planar, SCALES[:count])
        if not is_strict_and_bad(proof):
            return Finding(False, {"scale": s})
        there = np.asarray(proof.centre.positions)[-1:]
        x = there[0, :2] / np.sinc(math.acos(there[0, 2]) / math.pi) / s
        places.append(np.append(x, proof.centre.weights))
        missing.append(float(np.sum(planar.charges) - np.sum(np.asarray(proof.centre.weights))) / s)
    limit = 2 * places[0] - places[1]  # of s -> 0, since the second s is twice the first
    units = np.concatenate([planar.protons[[0, 2]], limit[None, :2]])
    loss = library_loss(DISTANCE, planar.protons, planar.charges)
    slope = np.asarray(loss.gradient(Student(units, limit[2:])).weights) / 2
    predicted = 2 / math.pi * float(np.mean(slope))
    numbers = {
        "moved_over_s": float(np.linalg.norm(places[0] - limit)) / SCALES[0],
        "missing_charge_over_s": 2 * missing[0] - missing[1],
        "predicted": predicted,
        "uneven_field": float(np.ptp(slope)),
    }
    error = abs(numbers["missing_charge_over_s"] - predicted) / abs(predicted)
    return Finding(error < 1e-3 and numbers["uneven_field"] < 1e-3, numbers | {"error": error})


# --- where it ends, and for which teachers -----------------------------------------------------


def ends_in_a_fold(instance: Instance) -> Finding:
    """Followed from s = 0.001 the minimum ends where its eigenvalue is 0 and s turns back."""
    planar = Planar(*read(instance, "protons", "charges", "units", "weights"))
    proof = proved_at(planar, SCALES[:1])
    if not is_strict_and_bad(proof):
        return Finding(None, note="no strict minimum at the smallest scale")
    branch = follow(
        lambda s: teacher_at(planar.protons, planar.charges, s), proof.centre, SCALES[0], 0.3
    )
    numbers = {
        "end": float(branch.end.parameter),
        "eigenvalue": branch.end.eigenvalue,
        "margin": branch.end.margin,
        "weight": branch.end.weight,
        "loss": branch.end.loss,
        "turns": float(branch.turns),
        "points": float(len(branch.points)),
    }
    fold = branch.ended == "eigenvalue" and branch.turns < 1e-6
    return Finding(bool(fold and branch.end.parameter > SCALE), numbers)


BOX = 5e-8  # of teachers, proved at once
NEARBY = 1e-3  # of teachers, one by one


def draw_teachers(rng: np.random.Generator, index: int) -> Instance:
    """The example at s = 0.05: first a box of teachers, then single ones that are further away."""
    spread = BOX if index == 0 else NEARBY
    size = 0 if index == 0 else 50
    return {
        "spread": spread,
        "positions": spread * rng.uniform(-1, 1, (size, 3, 3)),
        "charges": spread * rng.uniform(-1, 1, (size, 3)),
    }


def example_proof() -> Proof:
    """The proof of the example at s = 0.05."""
    planar = Planar(*read(EXAMPLE, "protons", "charges", "units", "weights"))
    return proved_at(planar, (*SCALES, SCALE))


def survives(instance: Instance) -> Finding:
    """All teachers in the box are proved at once; those drawn, each by a proof of its own."""
    proof = example_proof()
    spread = float(instance["spread"])
    moves, changes = read(instance, "positions", "charges")
    if not len(moves):
        box = prove_teachers(proof, spread)
        if box is None:
            return Finding(False, {"spread": spread})
        numbers = {"spread": spread, "radius": box.radius, "eigenvalue": box.smallest_eigenvalue}
        numbers |= {"margin": float(box.smallest_margin or 0.0), "loss": box.loss[0]}
        return Finding(bool(box.away_from_zero and numbers["margin"] > 0), numbers)
    w, b = np.asarray(proof.teacher.positions), np.asarray(proof.teacher.weights)
    kept = 0
    for move, change in zip(moves, changes, strict=True):
        teacher = Teacher(SIGN.project(w + move), b + change, "sign", on="sphere")
        x = np.array(proof.centre.positions)
        x[:2] = np.asarray(teacher.positions)[[0, 2]]
        kept += is_strict_and_bad(prove(teacher, Student(x, proof.centre.weights)))
    numbers = {"spread": spread, "teachers": float(len(moves)), "kept": float(kept)}
    return Finding(kept == len(moves), numbers)


# --- the basin -----------------------------------------------------------------------------------

NEAR_STARTS, AWAY = 100, (0.003, 0.01, 0.02, 0.05, 0.1)  # starts at each distance, in radians
HUNTED = 1000


def draw_near_starts(rng: np.random.Generator, index: int) -> Instance:
    """Starts at a distance of the minimum: every unit and weight moved by N(0, r^2)."""
    return {
        "distance": AWAY[index % len(AWAY)],
        "positions": rng.standard_normal((NEAR_STARTS, 3, 3)),
        "weights": rng.standard_normal((NEAR_STARTS, 3)),
    }


def stays_near(instance: Instance) -> Finding:
    """Which descents end at the teacher: it holds if all do. Exact 95 % interval of the rest."""
    proof, (moves, changes) = example_proof(), read(instance, "positions", "weights")
    far = float(instance["distance"])
    w, b = np.asarray(proof.teacher.positions), np.asarray(proof.teacher.weights)
    x = SIGN.project(np.asarray(proof.centre.positions) + far * moves)
    c = np.asarray(proof.centre.weights) + far * changes
    c, x = descend(SIGN, c, x, b, w, steps=8000, step=0.01)
    ends = [ending(SIGN, *one, b, w) for one in zip(c, x, strict=True)]
    there = [_is_there(end.loss, proof.loss, b, w) for end in ends]
    return _counted(sum(there), len(there), {"distance": far})


def draw_hunt(rng: np.random.Generator, index: int) -> Instance:
    """A seed of the library's hunt."""
    return {"seed": int(rng.integers(2**31)), "starts": HUNTED}


def hunted(instance: Instance) -> Finding:
    """Random starts of the library's hunt: uniform on S^2, weights N(0, 1/k).

    `ended_there` counts those in any strict bad minimum: the example has others beside it.
    """
    proof = example_proof()
    found = hunt(
        proof.teacher, starts=int(instance["starts"]), seed=int(instance["seed"]), iterations=20_000
    )
    bad = [point for point in found.found if point.strict and point.relative_loss > 1e-9]
    same = [point.count for point in bad if abs(point.loss - proof.loss[0]) < 1e-9]
    learned = sum(point.count for point in found.found if point.relative_loss < 1e-9)
    rest = {
        "in_the_example": float(sum(same)),
        "learned": learned / found.starts,
        "undecided": (found.undecided + len(found.approaching)) / found.starts,
    }
    return _counted(sum(point.count for point in bad), found.starts, rest)


def _is_there(relative: float, loss: tuple[float, float], b: np.ndarray, w: np.ndarray) -> bool:
    energy = float(b @ SIGN.field(w, w, b))
    return abs(relative * energy - loss[0]) < 1e-6


def _counted(there: int, starts: int, more: dict[str, float]) -> Finding:
    low, high = interval(there, starts)
    numbers = {"starts": float(starts), "ended_there": float(there), "low": low, "high": high}
    return Finding(there == 0, numbers | more)


# --- escape from minima that are not strict ----------------------------------------------------


def draw_split_minimum(rng: np.random.Generator, index: int) -> Instance:
    """Units split at a proton that outweighs the others: local minima that are not strict."""
    if index == 0:
        units = {"units": np.eye(3)[[0, 0]], "weights": [1.5, 1.5]}
        return {"protons": np.eye(3)[:2], "charges": [3.0, 1.0], **units}
    w, b = SIGN.random(rng, 3, 3), rng.uniform(0.3, 1.0, 3) * rng.choice([-1, 1], 3)
    b[0] = np.sum(np.abs(b[1:])) + rng.uniform(0.2, 1.0)
    weights = split(float(SIGN.field(w[:1], w, b)[0]), float(np.sum(np.abs(b))), 3)
    return {"protons": w, "charges": b, "units": np.repeat(w[:1], 3, axis=0), "weights": weights}


def has_an_exit(instance: Instance) -> Finding:
    """The path of `landscape/escape.py`: its rise and its drop in balls, and by other formulas."""
    w, b, x, c = read(instance, "protons", "charges", "units", "weights")
    loss = library_loss(SIGN, w, b)
    path = escape(loss, Student(x, c))
    if path is None:
        return Finding(False)
    proved = rise_bounds(loss.teacher, path)
    other = [
        float(SIGN.loss(np.asarray(one.weights), np.asarray(one.positions), b, w))
        for one in path.students
    ]
    error = float(np.max(np.abs(np.array(other) - path.losses[path.vertices])))
    numbers = {
        "rise": proved.rise,
        "drop": proved.drop,
        "left": float(path.losses[-1]),
        "library_error": error,
    }
    size = float(np.sum(np.abs(c)) + np.sum(np.abs(b))) ** 2
    return Finding(
        bool(proved.rise <= 1e-14 * size and proved.drop > 0 and error < 1e-13 * size), numbers
    )


STRICT_ON_SPHERE = (
    Statement(
        "no-strict-minimum",
        "No strict local minimum but the teacher, on S^2: those of the distance that a search over "
        "random planar teachers ends in are mapped to the sphere and decided in balls",
        draw_strict_on_sphere,
        is_no_strict_minimum_on_sphere,
        role="open",
        quick=2,
        thorough=8,
    ),
    Statement(
        "distance-is-the-small-scale",
        "L_sign(c, exp(s x)) = (sum b - sum c)^2 + (2 s/pi) (L_distance(c, x) - s^2 K(c, x)) + "
        "O(s^5)",
        draw_any_plane,
        small_scale,
        quick=1,
        thorough=20,
    ),
    Statement(
        "distance-implied-by-sign",
        "A strict minimum of the distance at equal total charge is the limit of strict minima of "
        "sign, whose missing charge is (2 s/pi) mu: what holds of all minima of sign holds of it",
        draw_example,
        continues,
        quick=1,
        thorough=5,
    ),
    Statement(
        "strict-minimum-ends-in-a-fold",
        "Followed in s the strict minimum ends, between 0.05 and 0.08, where an eigenvalue is 0 "
        "and s turns back: it meets a saddle; all margins and weights are positive there",
        draw_example,
        ends_in_a_fold,
        quick=0,
        thorough=3,
    ),
    Statement(
        "open-set-of-teachers",
        f"Every teacher within {BOX:.0e} of that at s = 0.05 has the strict minimum (one proof "
        f"for all of them, in balls); and so has each of 50 drawn within {NEARBY:.0e}",
        draw_teachers,
        survives,
        quick=1,
        thorough=11,
    ),
    Statement(
        "near-starts-find-the-teacher",
        "Descents from starts at a distance r of the strict minimum end at the teacher",
        draw_near_starts,
        stays_near,
        role="beyond",
        quick=0,
        thorough=len(AWAY),
    ),
    Statement(
        "random-starts-find-the-teacher",
        f"No one of {HUNTED} random starts of the library's hunt ends in a strict bad minimum",
        draw_hunt,
        hunted,
        role="beyond",
        quick=0,
        thorough=1,
    ),
    Statement(
        "split-minima-have-an-exit",
        "From units that share a place a path leads to a smaller loss along which L never rises: "
        "give all weight to one of them, carry the other away, and let its weight grow",
        draw_split_minimum,
        has_an_exit,
        quick=2,
        thorough=30,
    ),
)
