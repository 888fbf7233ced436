"""A proof file in which anything was changed is rejected, or says what is still true.

Every number and text of a proof is changed, one at a time, and the file is given the digest that
fits it, as who wants to deceive would. What `check_proof` lets through is judged by mpmath alone:
the potentials are written out here, the critical point is found by Newton's method with divided
differences at 60 digits, and the claims of the file are compared with the numbers there.
"""

from __future__ import annotations

import copy
import functools
import json
import math

import mpmath
import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs import proof_file
from earnshaw.landscape.proofs.check import check_proof
from earnshaw.landscape.proofs.proof_file import written
from earnshaw.landscape.proofs.prove import prove

H = mpmath.mpf(10) ** -18  # of divided differences, at 60 digits
EPS, LAM = 0.25, 2.0  # of the almost-harmonic potential


# --- the potentials, as the papers have them ------------------------------------------------------


def products(x, y, width):
    return [mpmath.fdot(a, b) * width**2 for a, b in ((x, x), (y, y), (x, y))]


def erf(x, y, width):
    q1, q2, c = products(x, y, width)
    return 2 / mpmath.pi * mpmath.asin(2 * c / mpmath.sqrt((1 + 2 * q1) * (1 + 2 * q2)))


def exponential(x, y, width):
    q1, q2, c = products(x, y, width)
    return mpmath.exp((q1 + q2 + 2 * c) / 2)


def hermite_2(x, y, width):
    """He_2(u)/sqrt 2 = (u^2 - 1)/sqrt 2: E[u^2 v^2] = q1 q2 + 2 c^2."""
    q1, q2, c = products(x, y, width)
    return (q1 * q2 + 2 * c * c - q1 - q2 + 1) / 2


def relu(x, y, width):
    q1, q2, c = products(x, y, width)
    size = mpmath.sqrt(q1 * q2)
    cosine = min(mpmath.mpf(1), max(mpmath.mpf(-1), c / size))
    angle = mpmath.acos(cosine)
    return (size * mpmath.sin(angle) + (mpmath.pi - angle) * c) / (2 * mpmath.pi)


def distance(x, y, width):
    return -mpmath.sqrt(mpmath.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def sign(x, y, width):
    q1, q2, c = products(x, y, width)
    return 2 / mpmath.pi * mpmath.asin(min(1, max(-1, c / mpmath.sqrt(q1 * q2))))


def almost_harmonic(x, y, width):
    """exp(-s r)/r in d = 3, s^2 = LAM; within r < EPS its force is linear in r^2. 1 at r = 0."""
    s, eps = mpmath.sqrt(LAM), mpmath.mpf(EPS)
    force = mpmath.exp(-s * eps) * (s / eps + 1 / eps**2)
    bend = -mpmath.exp(-s * eps) * (s**2 / eps + 2 * s / eps**2 + 2 / eps**3) / (2 * eps)

    def inside(r):
        gap = eps - r
        return (
            mpmath.exp(-s * eps) / eps + force * gap + bend * ((eps**3 - r**3) / 3 - eps**2 * gap)
        )

    r = mpmath.sqrt(mpmath.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
    return (inside(r) if r < eps else mpmath.exp(-s * r) / r) / inside(mpmath.mpf(0))


POTENTIALS = {
    "almost-harmonic": almost_harmonic,
    "sign": sign,
    "erf": erf,
    "exponential": exponential,
    "hermite-2": hermite_2,
    "relu": relu,
    "distance": distance,
}


def made():
    """A proof by each kernel that has a short formula, minima and saddles, cusps and none."""
    two = [[1.0, 0.25], [-0.25, 0.875]]
    for name in ("erf", "exponential"):
        teacher = Teacher(two, [1.0, -0.75], name, width=0.75)
        yield f"{name}-minimum", prove(teacher, teacher.student())
    yield (
        "hermite-2-saddle",
        prove(
            Teacher([[1.0, 0.0]], [1.0], "hermite-2"),
            Student([[0.0, 0.57735]], [1.0]),
            wrt="positions",
        ),
    )
    ones = Teacher(np.eye(2), np.ones(2), "relu")
    yield "relu-minimum", prove(ones, ones.student(), wrt="positions", objective="assumption-1")
    erf_one = Teacher([[1.0, 0.25]], [1.0], "erf")
    yield "erf-weights", prove(erf_one, Student([[0.5, 0.5]], [1.0]), wrt="weights")
    # Electrons of weight 1 among protons: held on the first, free between the others.
    protons = Teacher([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], [1.0, 0.25, 0.25], "distance")
    held = Student([[0.0, 0.0]], [1.0])
    yield "distance-cusp", prove(protons, held, wrt="positions")
    circle = Teacher([[1.0, 0.0], [0.6, 0.8]], [1.0, 0.5], "sign", on="sphere")
    yield "sign-cusp", prove(circle, Student([[1.0, 0.0]], [1.0]), wrt="positions")
    screened = Teacher(
        [[0.0, 0.0, 0.0], [1.5, 0.0, 0.5]], [1.0, -0.5], "almost-harmonic", radius=EPS, lam=LAM
    )
    yield "almost-harmonic-cusp", prove(screened, Student([[0.0, 0.0, 0.0]], [1.0]))


NAMES = (
    "erf-minimum",
    "exponential-minimum",
    "hermite-2-saddle",
    "relu-minimum",
    "erf-weights",
    "distance-cusp",
    "sign-cusp",
    "almost-harmonic-cusp",
)


@functools.cache
def files():
    """The text of each proof's file."""
    return {name: written(proof) for name, proof in made() if proof.proven}


# --- the judge ------------------------------------------------------------------------------------


class Judge:
    """What is true of the point that a file is about, by 60 digits."""

    def __init__(self, fields):
        teacher, centre = fields["teacher"], fields["centre"]
        phi, width = POTENTIALS[teacher["activation"]], mpmath.mpf(teacher["width"])
        self.phi = lambda x, y: phi(x, y, width)
        self.w, self.b = _exact(teacher)
        self.x, self.c = _exact(centre)
        self.curved = teacher["on"] == "sphere"
        self.held = fields["held_by"]
        self.ridge = fields["objective"] == "regularized"
        self.weights = fields["wrt"] != "positions"
        free = [i for i, j in enumerate(self.held) if j == -1 and fields["wrt"] != "weights"]
        self.places = [(i, k) for i in free for k in range(len(self.x[0]))]
        self.size = len(self.c) * self.weights + len(self.places)

    def loss(self, y, x=None):
        c, x = list(self.c), copy.deepcopy(self.x if x is None else x)
        if self.weights:
            c = [a + b for a, b in zip(c, y, strict=False)]
        for (i, k), step in zip(self.places, y[len(y) - len(self.places) :], strict=True):
            x[i][k] += step
        charges = [*zip(c, x, strict=True), *((-b, w) for b, w in zip(self.b, self.w, strict=True))]
        total = mpmath.fsum(p * q * self.phi(u, v) for p, u in charges for q, v in charges)
        return total + mpmath.fsum(a * a for a in c) * self.ridge

    def slopes(self, y):
        """Gradient and Hessian by divided differences."""
        n, at = self.size, {}

        def value(*steps):
            key = tuple(sorted(steps))
            if key not in at:
                moved = list(y)
                for i, sign in steps:
                    moved[i] += sign * H
                at[key] = self.loss(moved)
            return at[key]

        gradient = [(value((i, 1)) - value((i, -1))) / (2 * H) for i in range(n)]
        hessian = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(i + 1):
                pairs = [(a, b) for a in (1, -1) for b in (1, -1)]
                second = mpmath.fsum(a * b * value((i, a), (j, b)) for a, b in pairs)
                hessian[i, j] = hessian[j, i] = second / (4 * H**2)
        return mpmath.matrix(gradient), hessian

    def critical(self):
        y = [mpmath.mpf(0)] * self.size
        for _ in range(4 if self.size else 0):
            gradient, hessian = self.slopes(y)
            step = mpmath.lu_solve(hessian, gradient)
            y = [a - b for a, b in zip(y, step, strict=True)]
        return y

    def margin(self, unit):
        """The least and the largest slope of the loss along motions of a held unit."""
        slopes, zero = [], [mpmath.mpf(0)] * self.size
        here, rng = self.loss(zero), np.random.default_rng(0)
        for direction in rng.normal(size=(60, len(self.x[0]))):
            x, v = copy.deepcopy(self.x), mpmath.matrix(direction.tolist())
            if self.curved:  # a tangent
                along = mpmath.fdot(v, x[unit])
                v = mpmath.matrix([a - along * b for a, b in zip(v, x[unit], strict=True)])
            v *= H / mpmath.norm(v)
            x[unit] = [a + b for a, b in zip(x[unit], v, strict=True)]
            slopes.append((self.loss(zero, x) - here) / H)
        return min(slopes), max(slopes)


def _exact(charges):
    return (
        [[mpmath.mpf(v) for v in row] for row in charges["positions"]],
        [mpmath.mpf(v) for v in charges["weights"]],
    )


@functools.cache
def found(problem):
    """The critical point of a problem in JSON: place, loss, margins of held units, Hessian."""
    with mpmath.workdps(60):
        judge = Judge(json.loads(problem))
        y = judge.critical()
        seen = [judge.margin(i) for i, j in enumerate(judge.held) if j != -1]
        return y, judge.loss(y), seen, judge.slopes(y)[1] if judge.size else None


def true(fields):
    """Whether all that a file says is so; what is less than 1e-12 beside it cannot be seen."""
    names = ("teacher", "centre", "held_by", "objective", "wrt")
    y, loss, seen, hessian = found(json.dumps({name: fields[name] for name in names}))
    with mpmath.workdps(60):
        radius, tiny = mpmath.mpf(fields["radius"]), mpmath.mpf(10) ** -20
        low, high = map(mpmath.mpf, fields["loss"])
        if any(abs(a) > radius + tiny for a in y) or not low - tiny <= loss <= high + tiny:
            return False
        claimed = [m for m in fields["margins"] if m is not None]
        for (least, most), margin in zip(seen, claimed, strict=True):
            if not (0 < margin <= least * (1 + 1e-12) or most * (1 - 1e-12) <= margin < 0):
                return False
        if fields["away_from_zero"] != (low > 0):
            return False
        if hessian is None:
            return fields["kind"] == ("cusp-minimum" if min(claimed) > 0 else "strict-saddle")
        if fields["kind"] == "strict-saddle":
            v = mpmath.matrix(fields["direction"])
            return (v.T * hessian * v)[0] / (v.T * v)[0] < fields["curvature"] * (1 - 1e-12) < 0
        lowest = min(mpmath.eigsy(hessian, eigvals_only=True))
        kind = "cusp-minimum" if claimed else "minimum"
        return fields["kind"] == kind and 0 <= fields["smallest_eigenvalue"] < lowest * (1 + 1e-12)


# --- the changes ----------------------------------------------------------------------------------


def leaves(tree, path=()):
    if isinstance(tree, dict):
        pairs = tree.items()
    elif isinstance(tree, list):
        pairs = enumerate(tree)
    else:
        yield path, tree
        return
    for key, value in pairs:
        yield from leaves(value, (*path, key))


def others(value):
    """Other values for one: its last bit, its sign, ten times as much; other texts."""
    if value is None:
        return [0.5, -0.5, [1.0], "x"]
    if isinstance(value, bool):
        return [not value, 1]
    if isinstance(value, int):
        return [value + 1, value - 1, -value, 10 * value, 64, "1", None]
    if isinstance(value, float):
        bits = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
        return [*bits, -value, 10 * value, value / 3, value * (1 + 1e-9), 0.0, 1.0, "NaN", None]
    near = {
        "minimum": ["cusp-minimum", "strict-saddle"],
        "cusp-minimum": ["minimum", "strict-saddle"],
        "strict-saddle": ["minimum", "cusp-minimum"],
        "both": ["positions", "weights"],
        "positions": ["both", "weights"],
        "weights": ["both", "positions"],
        "full": ["regularized", "assumption-1"],
        "assumption-1": ["full", "regularized"],
        "space": ["sphere"],
        "erf": ["relu", "exponential"],
        "relu": ["erf", "hermite-2"],
    }
    return [*near.get(value, []), value.replace("0", "9"), value + "0", ""]


def signed(fields):
    """The text of a file, with the digest that fits."""
    body = json.dumps({key: value for key, value in fields.items() if key != "digest"})
    return body[:-1] + f', "digest": "{proof_file._digest(body)}"}}'


def changes(text):
    fields = json.loads(text)
    for path, value in leaves(fields):
        if path == ("digest",):
            continue
        for other in others(value):
            if other == value and type(other) is type(value):
                continue
            changed = copy.deepcopy(fields)
            inner = changed
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = other
            yield path, other, changed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_judge_finds_true_what_was_proven_and_not_its_opposites(name):
    fields = json.loads(files()[name])
    assert true(fields)
    assert not true(fields | {"loss": [fields["loss"][1] + 1e-9, fields["loss"][1] + 1]})
    other = {"minimum": "cusp-minimum"}.get(fields["kind"], "minimum")
    if fields["variables"] and fields["smallest_eigenvalue"] is not None:
        assert not true(fields | {"kind": other})
        assert not true(fields | {"smallest_eigenvalue": 1.01 * fields["smallest_eigenvalue"]})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_passes_after_a_change_is_true(name, tmp_path):
    path, passed, complaints = tmp_path / "proof.json", [], []
    for where, other, fields in changes(files()[name]):
        path.write_text(signed(fields))
        try:
            proof = check_proof(path)
        except EarnshawError as error:
            complaints.append(str(error))
            continue
        assert true(fields), (where, other)
        assert math.isnan(proof.moved)  # a remark, of which nothing is known
        passed.append(where[0])
    assert not any("\n" in complaint for complaint in complaints)
    # Weaker claims pass, and were judged; stronger ones, and most of the rest, do not.
    assert {"radius", "bits", "moved", "loss"} <= set(passed) | {"radius"}
    assert len(complaints) > 3 * len(passed)


def test_a_number_says_no_more_than_its_float(tmp_path):
    """More digits would be read as the same float, and claim more of the loss than was proven."""
    path, text = tmp_path / "proof.json", files()["hermite-2-saddle"]
    low = json.loads(text)["loss"][0]
    body = text.partition('"digest"')[0].rstrip().rstrip(",") + "}"
    finer = body.replace(f'"loss": [{low!r}', f'"loss": [{low!r}1')
    assert float(f"{low!r}1") == low
    assert finer != body
    with pytest.raises(EarnshawError, match="not written as a float is"):
        proof_file._digest(finer)
    path.write_text(finer[:-1] + ', "digest": "0"}')
    with pytest.raises(EarnshawError, match="not written as a float is"):
        check_proof(path)
