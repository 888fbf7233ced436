"""A strict bad minimum for sign on S^2: found by search, proved in balls, and what is around it.

EPD says of its two conjectures that "convergence of the distance potential is implied by
convergence of the sign potential". Read backwards, a strict bad minimum of the distance on R^d
gives one of sign on S^d. Let exp be the exponential map of S^d at a point, and put all units at
exp(s x), s small. Angles are t = s |x - y| - s^3 |x ^ y|^2/(6 |x - y|) + O(s^5), |x ^ y| the area
that x and y span, so that with M = sum b - sum c

    L_sign(c, exp(s x)) = M^2 + (2 s/pi) (L_distance(c, x) - s^2 K(c, x) + O(s^4)),        (small)

K the loss of the potential -|x ^ y|^2/(6 |x - y|). Over 2 s/pi the first term is a penalty with the
factor pi/(2s) that pulls total charges together, and in the limit they are equal: L_distance at
equal total charge, as Conjecture 3.14 is read here. At a minimum of it with multiplier mu (dL/dc_i
= 2 mu for all i), positive Hessian over weights of constant sum and positive cusp margins, the
equations of L_sign in (c, x, M) with M = (2 s/pi) mu' have a regular limit as s -> 0; by the
implicit function theorem a curve of minima (c(s), x(s)) begins there, with

    M(s) = (2 s/pi) mu + O(s^2),                                                         (charge)

margins and the Hessian are those of the limit up to O(s), so they are strict minima for all small
s. So what holds of *all* minima of sign on S^d for all teachers holds of all non-degenerate minima
of the distance on R^d: EPD's implication, in this sense, is right. It says nothing in the other
direction: minima of sign with units far apart have no counterpart on R^d.

The search: random planar teachers of three units, descents under the distance potential at equal
total charge from random starts, and of their ends those with all units in different places and a
positive loss. Each is mapped to the sphere at small s and proved there: two units on protons, one
free; Newton's method in what is smooth; Krawczyk's test, pivots and margins (`landscape/proofs`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.proofs.check import check_proof
from earnshaw.landscape.proofs.proof import Proof
from earnshaw.landscape.proofs.prove import prove
from earnshaw.papers.claims.claim import Finding, Instance
from earnshaw.papers.claims.sign._cone_lemmas import read
from earnshaw.papers.claims.sign._cones import DISTANCE, SIGN, descend
from earnshaw.papers.claims.sign._endings import MARGIN, NEAR, ending

UNITS = 3
TEACHERS, STARTS, STEPS = 50, 6, 2000  # of one search
SCALE = 0.05  # where the first example is shown
SCALES = (0.001, 0.002, *np.arange(0.005, 0.05, 0.005).tolist())  # on the way there
EXAMPLE: Instance = {
    "protons": [[0.0, 0.0], [0.0, 3.0], [-3.0, 2.0]],
    "charges": [-0.75, -1.0, 1.25],
    "units": [[0.0, 0.0], [-3.0, 2.0], [-3.44005, -1.81031]],
    "weights": [-1.336841, 0.706296, 0.130545],
}


class Planar(NamedTuple):
    """A teacher of the distance in the plane, w (k, 2) and b (k,), and a minimum x (k, 2), c."""

    protons: np.ndarray
    charges: np.ndarray
    units: np.ndarray
    weights: np.ndarray


def exponential(points: np.ndarray) -> np.ndarray:
    """exp at the north pole: (n, d) tangent vectors to points of S^d, (n, d + 1)."""
    size = np.linalg.norm(points, axis=1, keepdims=True)
    return np.concatenate([np.sinc(size / math.pi) * points, np.cos(size)], axis=1)


def logarithm(points: np.ndarray) -> np.ndarray:
    """Its inverse: (n, d + 1) to (n, d)."""
    across = points[:, :-1]
    sine = np.linalg.norm(across, axis=1, keepdims=True)
    angle = np.arctan2(sine, points[:, -1:])
    return across * np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 1.0)


def teacher_at(protons: np.ndarray, charges: np.ndarray, scale: float) -> Teacher:
    """The sign teacher on S^2 whose units are at exp(s w)."""
    return Teacher(exponential(scale * np.asarray(protons)), charges, "sign", on="sphere")


def planar_minima(w: np.ndarray, b: np.ndarray, x: np.ndarray, c: np.ndarray) -> list[Planar]:
    """The strict bad minima in which descents end, each of its own teacher.

    w (s, k, 2), b (s, k): teachers; x (s, k, 2), c (s, k): starts, of the teachers' total charges.
    """
    c, x = descend(DISTANCE, c, x, b, w, steps=STEPS, neutral=True)
    far = DISTANCE.distance(x, w)
    home = np.where(np.min(far, axis=2) < NEAR, np.argmin(far, axis=2), -1)
    apart = DISTANCE.distance(x, x) + np.eye(x.shape[1])
    bound = np.sum(home >= 0, axis=1) == x.shape[1] - 1
    different = (np.min(apart, axis=(1, 2)) > 10 * NEAR) & np.all(np.abs(c) > MARGIN, axis=1)
    found = []
    for i in np.flatnonzero(bound & different):
        end = ending(DISTANCE, c[i], x[i], b[i], w[i], neutral=True)
        if end.kind == "distinct":
            places = np.where((home[i] >= 0)[:, None], w[i][np.maximum(home[i], 0)], x[i])
            found.append(Planar(w[i], b[i], places, c[i]))
    return found


def proved_at(planar: Planar, scales: tuple[float, ...]) -> Proof:
    """The proof at the last of these scales, each minimum found from that at the scale before."""
    x, c = planar.units, planar.weights
    for scale in scales:
        teacher = teacher_at(planar.protons, planar.charges, scale)
        proof = prove(teacher, Student(exponential(scale * x), c))
        if not proof.proven:
            break
        x = logarithm(np.asarray(proof.centre.positions)) / scale
        c = np.asarray(proof.centre.weights)
    return proof


def draw_strict_on_sphere(rng: np.random.Generator, index: int) -> Instance:
    """First the strict minimum of the distance in `_strict_minimum.py`; then a search each."""
    if index == 0:
        return {**EXAMPLE, "scale": SCALE}
    b = rng.uniform(0.5, 1.5, (TEACHERS, UNITS)) * rng.choice([-1, 1], (TEACHERS, UNITS))
    c = rng.standard_normal((TEACHERS, STARTS, UNITS))
    c += (np.sum(b, axis=1)[:, None, None] - np.sum(c, axis=2, keepdims=True)) / UNITS
    return {
        "protons": rng.standard_normal((TEACHERS, UNITS, 2)),
        "charges": b,
        "units": rng.standard_normal((TEACHERS, STARTS, UNITS, 2)),
        "weights": c,
        "scale": 0.01,
    }


def is_no_strict_minimum_on_sphere(instance: Instance) -> Finding:
    """Holds unless one of the minima that the search finds is proved on the sphere."""
    w, b, x, c = read(instance, "protons", "charges", "units", "weights")
    scale = float(instance["scale"])
    if x.ndim == 2:
        found = [Planar(w, b, x, c)]
    else:
        starts = x.shape[1]
        w, b = np.repeat(w, starts, axis=0), np.repeat(b, starts, axis=0)
        found = planar_minima(w, b, x.reshape(-1, *x.shape[2:]), c.reshape(-1, c.shape[2]))
    if not found:
        return Finding(None, {"planar_minima": 0}, "the search ended in no strict planar minimum")
    return _judged(found, scale)


def _judged(found: list[Planar], scale: float) -> Finding:
    """The proofs of all of them, and the numbers of the first that is a strict bad minimum."""
    scales = (*(one for one in SCALES if one < scale), scale)
    proofs = [proved_at(planar, scales) for planar in found]
    strict = [proof for proof in proofs if is_strict_and_bad(proof)]
    numbers = {"planar_minima": float(len(found)), "proved": float(len(strict))}
    if not strict:
        return Finding(True, numbers)
    proof = check_proof(strict[0])
    numbers |= measured(proof)
    if numbers["library_error"] > 1e-12:
        return Finding(None, numbers, "the library has another loss")
    return Finding(numbers["least_rise"] <= 0, numbers)


def is_strict_and_bad(proof: Proof) -> bool:
    """Whether a strict local minimum of positive loss with no weight 0 is proven."""
    held = [margin for margin in proof.margins if margin is not None]
    return (
        proof.kind == "cusp-minimum"
        and proof.away_from_zero
        and min(held, default=0.0) > 0
        and (proof.smallest_eigenvalue or 0.0) > 0
        and bool(np.all(np.abs(np.asarray(proof.centre.weights)) > 2 * proof.radius))
    )


def measured(proof: Proof) -> dict[str, float]:
    """The numbers of a proven minimum, and by formulas of this folder how L rises around it."""
    w, b = np.asarray(proof.teacher.positions), np.asarray(proof.teacher.weights)
    x, c = np.asarray(proof.centre.positions), np.asarray(proof.centre.weights)
    here = float(SIGN.loss(c, x, b, w))
    library = float(population_loss(proof.teacher).value(proof.centre))
    rng, rise = np.random.default_rng(0), math.inf
    size = float(np.min(SIGN.distance(x, x) + 9 * np.eye(len(x))))
    for far in np.repeat(size * 10.0 ** -np.arange(2.0, 5.0), 100):
        moved = SIGN.project(x + far * rng.standard_normal(x.shape))
        change = far * rng.standard_normal(len(c))
        rise = min(rise, float(SIGN.loss(c + change, moved, b, w)) - here)
    held = [margin for margin in proof.margins if margin is not None]
    return {
        "loss": here,
        "least_margin": min(held),
        "smallest_eigenvalue": float(proof.smallest_eigenvalue or 0.0),
        "radius": proof.radius,
        "least_rise": rise,
        "library_error": abs(library - here),
    }
