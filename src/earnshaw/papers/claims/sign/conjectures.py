"""The two conjectures of EPD, refuted: sign on the sphere (3.13) and the distance on R^d (3.14).

Both say of L as in EPD (5), all units moving and their weights too: no critical point (a, theta)
with a != 0 is a local minimum, except the global minima; gradient descent finds these almost
surely. Both potentials are cones, Phi = h - kappa t, for which `_cones.py` proves two lemmas:

- splitting: a local minimum of n units, one of them put as two of weights M and -N in the same
  place, M >= B the sum of all other |charges|, is a local minimum of n + 1 units;
- (held): units of weights c_i that share a place with protons of charge p, sum e, are held against
  a force g if s (p - e + s) > |g| |s| for the sum s of any of them.

**3.13 is false for every teacher of k >= 2 units** (up to sign distinct, of non-zero weights), in
every dimension d >= 2. One unit, best weight: L = E - F(theta)^2, F = sum b_j Phi(., w_j), E =
sum b_i b_j Phi(w_i, w_j). The sphere is compact, so |F| has a maximum F* != 0, at theta*; L* = E -
F*^2 > 0, since sign units in different directions are linearly independent. Split that unit k - 1
times: k units of non-zero weights at theta*, a local minimum with L = L* > 0, and the teacher has
L = 0. Large weights are not needed. With b_1 > 0, B = sum_(j>1) |b_j|, F_1 = sum_(j>1) b_j
Phi(w_1, w_j), n units at theta_i with weights c_i >= 0, sum C, and t_i the angle to w_1,

    L >= E - (b_1 + F_1)^2 + (C - b_1 - F_1)^2 + (4/pi) sum_i c_i t_i (b_1 - B - (C - c_i)):   (#)

t(theta_i, theta_l) <= t_i + t_l, and Phi(., w_j) changes by at most 2 t_i/pi. So all units at w_1,
C = b_1 + F_1, all c_i > B + F_1: a local minimum, for the open set of teachers with b_1 > n B +
(n - 1) F_1. E.g. w_1 at a right angle to w_2, b = (3, 1), two units of weight 3/2 at w_1: L = 1.

Nor does descent avoid them. Two units that meet in such a place stay (their weights change
together from then on, and all is as for one unit), and the starts that get there are an open set.

**3.14** is meant with Phi = -|theta - w| (mathematics.md, error 19). Read to the letter, no student
is a global minimum: two units at a distance r of each other with weights s, s have -2 s^2 r in
their loss, which has no lower bound; the second half is empty. All units in one place are the only
candidates for a minimum (the weights of units at a distance r have the Hessian (0, -2r; -2r, 0)),
and there the conjecture is false for the teachers of codimension one whose field F has a maximum of
height 0. What makes sense is a student as charged as the teacher, sum c = sum b: then L >= 0, the
energy distance of two charge distributions, is 0 only at the teacher. There the conjecture is
**false for every teacher of k >= 2 units with sum b != 0, in every dimension**: one unit of weight
sum b is at its best in a geometric median, with L > 0; split it. If sum b = 0, a pair of weights M,
-M with M >= B, anywhere, is a local minimum with the loss of no student at all.

These minima are not strict: units that share a place can exchange weight, and once one of them has
given all of its weight away it can be carried to where it lowers the loss. From each such point a
path leads down along which the loss never rises (`landscape/escape.py`), so they refute "no local
minima" but not "no spurious valleys". **Both potentials have strict bad minima as well**, with all
units in different places, for open sets of teachers: the distance (`_strict_minimum.py`), and, at
small scales on the sphere, sign (`_sphere_minimum.py`, `_sphere_around.py`). A strict bad minimum
is a spurious valley by itself: the component of {L <= L*} that holds it is that one point.

Local minima are those of Full, Definition 3.2: no smaller value nearby, strict if all others are
larger. EPD's Definition 3.2 asks for the smallest eigenvalue of a Hessian, which does not exist at
the cusps of these potentials, where units that are learned sit.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.distance import Distance
from earnshaw.energy.population import population_loss
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
from earnshaw.papers.claims.sign._cone_lemmas import (
    DIM,
    ROUNDING,
    UNITS,
    draw_any_teacher,
    draw_split,
    every_teacher,
    library_loss,
    read,
    splitting,
)
from earnshaw.papers.claims.sign._cone_proofs import (
    bad_at_level,
    bad_at_proton,
    draw_at_proton,
    draw_level,
)
from earnshaw.papers.claims.sign._cone_search import searches
from earnshaw.papers.claims.sign._cones import DISTANCE, SIGN, split
from earnshaw.papers.claims.sign._constant_steps import descended
from earnshaw.papers.claims.sign._sphere_around import STRICT_ON_SPHERE
from earnshaw.papers.claims.sign._strict_minimum import draw_strict, is_no_strict_minimum

# --- bad minima on the circle, exactly ---------------------------------------------------------


def _draw_on_circle(rng: np.random.Generator, index: int) -> Instance:
    """First two units of the same sign at the larger of two protons at a right angle."""
    if index == 0:
        angles = {"protons": [0, circle.TURN // 4], "units": [0, 0]}
        return {**angles, "charges": ["3", "1"], "weights": ["3/2", "3/2"]}
    count = 2 + index % 3
    w, b = circle.random_angles(rng, count), circle.random_weights(rng, count)
    field = circle.field(w, w, b)
    best = int(np.argmax(np.abs(field)))
    weight = Fraction(int(field[best]), circle.TURN)
    return {
        "protons": w,
        "charges": [str(charge) for charge in b],
        "units": [int(w[best])] * count,
        "weights": [str(c) for c in split(weight, int(np.sum(np.abs(b))), count)],
    }


def _bad_on_circle(instance: Instance) -> Finding:
    """Whether the student is a local minimum and not the teacher: decided without rounding."""
    w, x = np.asarray(instance["protons"]), np.asarray(instance["units"])
    b, c = circle.fractions(instance["charges"]), circle.fractions(instance["weights"])
    value = circle.loss(c, x, b, w) / circle.TURN
    least = min(circle.rises(c, x, b, w).tolist())
    minimum = circle.stationary(c, x, b, w) and least > 0 and bool(np.all(c != 0))
    loss = library_loss(SIGN, circle.vectors(w), b.astype(float))
    student = Student(circle.vectors(x), c.astype(float))
    error = abs(float(loss.value(student)) - float(value))
    numbers = {"loss": float(value), "least_rise": float(least), "library_error": error}
    if error > ROUNDING * float(np.sum(np.abs(c)) + np.sum(np.abs(b))) ** 2:
        return Finding(None, numbers, "the library has another loss")
    if minimum and value > 0:
        weights, angles = circle.radius(c, x, b, w)
        numbers |= {"radius_weights": weights, "radius_turns": angles}
    return Finding(not (minimum and bool(value > 0)), numbers)


# --- same signs, and descent -------------------------------------------------------------------


def _draw_same_sign(rng: np.random.Generator, index: int) -> Instance:
    """Units anywhere on the sphere, or near w_1."""
    w = SIGN.random(rng, UNITS, DIM)
    x = SIGN.random(rng, UNITS, DIM)
    if index % 2:
        x = SIGN.project(w[:1] + 10.0 ** -(1 + index % 5) * rng.standard_normal((UNITS, DIM)))
    charges = np.array([rng.uniform(1, 9), *rng.standard_normal(UNITS - 1)])
    return {"protons": w, "charges": charges, "units": x, "weights": rng.uniform(0, 3, UNITS)}


def _same_sign(instance: Instance) -> Finding:
    """The inequality (#) of the module: a lower bound of L where no weight is negative."""
    w, b, x, c = read(instance, "protons", "charges", "units", "weights")
    angles = SIGN.distance(x, w[:1])[:, 0]
    others, outside = np.sum(np.abs(b[1:])), SIGN.field(w[:1], w[1:], b[1:])[0]
    energy, total = b @ SIGN.field(w, w, b), b[0] + outside
    bound = energy - total**2 + (np.sum(c) - total) ** 2
    bound += 4 / math.pi * np.sum(c * angles * (b[0] - others - (np.sum(c) - c)))
    slack = float(library_loss(SIGN, w, b).value(Student(x, c))) - bound
    return Finding(bool(slack >= -ROUNDING * (1 + abs(bound))), {"slack": slack})


STARTS = 8
STEP = 0.005


def _draw_near(rng: np.random.Generator, index: int) -> Instance:
    """Starts in the basin of two units of weight 3/2 at w_1."""
    near = 0.15 * rng.standard_normal((STARTS, 2, 3)) + np.eye(3)[0]
    weights = 1.5 + 0.05 * rng.standard_normal((STARTS, 2))
    return {"starts": SIGN.project(near), "weights": weights}


def _descent_finds(instance: Instance) -> Finding:
    """Algorithm 1 of the library, constant steps."""
    starts, weights = read(instance, "starts", "weights")
    w, b = np.eye(3)[:2], np.array([3.0, 1.0])
    loss = library_loss(SIGN, w, b)
    x, c = descended(loss, starts, weights, STEP, 4000)
    far = float(np.max(SIGN.distance(x, w[:1])))
    values = SIGN.loss(c, x, b, w)
    numbers = {
        "least_loss": float(np.min(values)),
        "largest_loss": float(np.max(values)),
        "distance_over_step": far / STEP,
    }
    return Finding(
        not np.all((values >= 1 - ROUNDING) & (values < 1.3) & (far < 20 * STEP)), numbers
    )


SIGN_CONJECTURE = Claim(
    id="conjecture-sign",
    title="Conjecture: descent learns all sign units at once",
    sources=Sources(epd="Conj 3.13"),
    oracle=EXACT_LOSS,
    definition=NO_SMALLER_NEARBY,
    hypotheses=(
        "sign activation on S^(d-1), d >= 2; as many student units as the teacher has, k >= 2",
        "L as in EPD (5): positions and weights all move; no student weight is 0",
        "a local minimum has no smaller value nearby, a strict one only larger ones (Full, "
        "Definition 3.2): EPD's Definition 3.2 asks for a Hessian, which cusps do not have",
    ),
    statements=(
        Statement(
            "no-bad-minimum-on-the-circle",
            "No local minimum but the teacher, on S^1: a candidate is decided in exact fractions",
            _draw_on_circle,
            _bad_on_circle,
            role="open",
            quick=4,
            thorough=30,
        ),
        Statement(
            "no-bad-minimum-on-the-sphere",
            "No local minimum but the teacher, on S^(d-1): a candidate is decided in balls",
            draw_at_proton(SIGN),
            bad_at_proton(SIGN),
            role="open",
            thorough=30,
        ),
        Statement(
            "descent-finds-the-teacher",
            "Algorithm 1 ends at the teacher: b = (3, 1) at a right angle, starts near w_1",
            _draw_near,
            _descent_finds,
            role="open",
            quick=1,
            thorough=4,
            constants={"distance_over_step": "alpha -> 0 in EPD Conj 3.13"},
        ),
        Statement(
            "splitting",
            "L(M at x, -N at y) >= L(M - N at x) + (4/pi) N (M - B) t(x, y)",
            draw_split(SIGN),
            splitting(SIGN),
            quick=10,
            thorough=200,
        ),
        Statement(
            "same-sign",
            "L >= E - (b_1 + F_1)^2 + (C - b_1 - F_1)^2 + (4/pi) sum c_i t_i (b_1 - B - (C - c_i)) "
            "for c >= 0",
            _draw_same_sign,
            _same_sign,
            quick=10,
            thorough=200,
        ),
        Statement(
            "every-teacher",
            "Whatever the teacher, k units split at the best place of one are a local minimum of "
            "positive loss",
            draw_any_teacher(SIGN),
            every_teacher(SIGN),
            thorough=30,
        ),
        *STRICT_ON_SPHERE,
        *searches(
            SIGN,
            (
                (2, 2, 2, False),
                (2, 3, 3, False),
                (2, 4, 4, False),
                (2, 6, 6, False),
                (3, 2, 2, False),
                (3, 3, 3, False),
                (3, 4, 4, True),
                (3, 6, 6, False),
                (5, 5, 5, False),
                (2, 3, 5, False),
                (3, 3, 5, False),
            ),
        ),
    ),
    remarks=(
        "False, for every teacher of two or more units and in every dimension; the proof is in the "
        "docstring of earnshaw.papers.claims.sign.conjectures.",
        "The minima that every teacher has are not strict: units that share a place can exchange "
        "weight, and one that has given all of it away can leave. From each a path leads down "
        "along which L never rises: they are no spurious valleys at their own level "
        "(split-minima-have-an-exit).",
        "Strict ones, all units in different places, exist for an open set of teachers on S^2 "
        "(no-strict-minimum). A strict bad minimum is a spurious valley by itself (Venturi, "
        "Bandeira and Bruna: a component of a sublevel set without a global minimum): that of "
        "{L <= L*} is the point alone. So sign has spurious valleys.",
        "EPD's remark that the distance is implied by sign is right for strict minima: those of "
        "the distance are limits of those of sign. The other direction does not follow.",
        "Where a search has share_unsettled > 0 some descents were still moving, or a weight went "
        "to 0, which the conjecture excludes.",
    ),
)


# --- the distance ------------------------------------------------------------------------------


def _draw_two(rng: np.random.Generator, index: int) -> Instance:
    return {
        "protons": DISTANCE.random(rng, UNITS, DIM),
        "charges": rng.standard_normal(UNITS),
        "units": DISTANCE.random(rng, 2, DIM),
        "weights": rng.standard_normal(2),
    }


def _no_bottom(instance: Instance) -> Finding:
    """The second difference of L along weights s, s is -4 r, everywhere: L falls for ever."""
    w, b, x, c = read(instance, "protons", "charges", "units", "weights")
    loss = library_loss(DISTANCE, w, b)
    step = 100.0
    values = [float(loss.value(Student(x, c + s * step))) for s in (-1, 0, 1)]
    curvature = (values[0] - 2 * values[1] + values[2]) / step**2
    far = float(DISTANCE.distance(x[:1], x[1:])[0, 0])
    error = abs(curvature + 4 * far) / far
    return Finding(error < 1e-9, {"curvature": curvature, "relative_error": error})


def _plus_is_bounded(instance: Instance) -> Finding:
    """Whether the teacher, L = 0, is the least with Phi = +|theta - w|, at equal total charge."""
    w, b, x, _ = read(instance, "protons", "charges", "units", "weights")
    loss = population_loss(Teacher(w, b, Distance(DIM, sign=1)))
    total = float(np.sum(b))
    value = float(loss.value(Student(1e3 * x, np.array([total / 2 + 1, total / 2 - 1]))))
    return Finding(value >= 0, {"loss": value})


DISTANCE_CONJECTURE = Claim(
    id="conjecture-distance",
    title="Conjecture: descent learns all units of the distance potential at once",
    sources=Sources(epd="Conj 3.14"),
    oracle=EXACT_LOSS,
    definition=NO_SMALLER_NEARBY,
    hypotheses=(
        "Phi = -|theta - w| on R^d; as many student units as the teacher has, k >= 2",
        "L as in EPD (5): positions and weights all move; no student weight is 0",
        "student and teacher have the same total charge, unless said otherwise: else L has no "
        "lower bound",
        "a local minimum has no smaller value nearby, a strict one only larger ones (Full, "
        "Definition 3.2): EPD's Definition 3.2 asks for a Hessian, which cusps do not have",
    ),
    statements=(
        Statement(
            "no-bad-minimum",
            "No local minimum but the teacher at equal total charge: a candidate is decided in "
            "ball arithmetic",
            draw_at_proton(DISTANCE),
            bad_at_proton(DISTANCE),
            role="open",
            thorough=30,
        ),
        Statement(
            "no-minimum-with-free-charges",
            "To the letter, total charge free: no local minimum at all (there is no global one)",
            draw_level,
            bad_at_level,
            role="open",
            quick=2,
            thorough=10,
        ),
        Statement(
            "no-strict-minimum",
            "No strict local minimum but the teacher at equal total charge, in the plane: a "
            "candidate with all units in different places is decided in ball arithmetic",
            draw_strict,
            is_no_strict_minimum,
            role="open",
            quick=2,
            thorough=10,
        ),
        Statement(
            "no-lower-bound",
            "To the letter: the second derivative of L along equal changes of two weights is -4 r",
            _draw_two,
            _no_bottom,
            thorough=20,
        ),
        Statement(
            "splitting",
            "L(M at x, -N at y) >= L(M - N at x) + 2 N (M - B) |x - y|",
            draw_split(DISTANCE),
            splitting(DISTANCE),
            quick=10,
            thorough=200,
        ),
        Statement(
            "every-teacher",
            "Whatever the teacher, k units split at the best place of one are a local minimum of "
            "positive loss, at equal total charge",
            draw_any_teacher(DISTANCE),
            every_teacher(DISTANCE),
            thorough=30,
        ),
        Statement(
            "plus-sign",
            "With Phi = +|theta - w|, as printed, the teacher's loss is the least",
            _draw_two,
            _plus_is_bounded,
            role="printed",
            kind="misprint",
            quick=1,
            thorough=5,
        ),
        *searches(
            DISTANCE,
            (
                (1, 3, 3, False),
                (2, 2, 2, False),
                (2, 3, 3, True),
                (2, 4, 4, False),
                (3, 3, 3, True),
                (3, 4, 4, False),
                (3, 6, 6, False),
                (5, 5, 5, False),
                (2, 3, 5, False),
            ),
        ),
    ),
    remarks=(
        "Printed with +|theta - w|, which is unbounded below; -|theta - w| is meant "
        "(mathematics.md, error 19). With free charges that too is unbounded below: we read it "
        "at equal total charge, where L >= 0 and only the teacher has 0.",
        "False in that reading for every teacher of two or more units, in every dimension; to the "
        "letter, for teachers of codimension one. The proofs are in the docstring of "
        "papers/claims/sign/conjectures.py. With Phi = R - |theta - w| and free charges, splitting "
        "makes bad minima of k units from any local minimum of one unit as well.",
        "There are also strict bad minima with all units in different places, for an open set of "
        "teachers; the searches count them as share_distinct.",
    ),
)
