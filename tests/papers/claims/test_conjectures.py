"""The counterexamples to both conjectures, and what would not be one."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom

from earnshaw.charges.network import Student
from earnshaw.energy.population import population_loss
from earnshaw.landscape.escape import trace
from earnshaw.landscape.proofs._radial import SignKernel
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.sign import _circle as circle
from earnshaw.papers.claims.sign import _cone_lemmas as cone_lemmas
from earnshaw.papers.claims.sign import _sphere_around as sphere_around
from earnshaw.papers.claims.sign import _sphere_minimum as sphere_minimum
from earnshaw.papers.claims.sign import _strict_minimum as strict_minimum
from earnshaw.papers.claims.sign import conjectures
from earnshaw.papers.claims.sign._cones import DISTANCE, SIGN, descend, held_margin, split
from earnshaw.papers.claims.sign._endings import ending
from earnshaw.papers.claims.verdict import ClaimResult, Verdict, statement_result

pytestmark = pytest.mark.slow

ON_SPHERE, IN_SPACE = conjectures.SIGN_CONJECTURE, conjectures.DISTANCE_CONJECTURE


def statement(claim, name):
    (found,) = (one for one in claim.statements if one.name == name)
    return found


def instance(claim, name, index=0):
    return verify.draw(claim, statement(claim, name), index, 0)


def finding(claim, name, index=0, **changed):
    return verify.tested(statement(claim, name), {**instance(claim, name, index), **changed})


COUNTEREXAMPLES = [
    (ON_SPHERE, "no-bad-minimum-on-the-circle", 0),
    (ON_SPHERE, "no-bad-minimum-on-the-circle", 1),
    (ON_SPHERE, "no-bad-minimum-on-the-sphere", 0),
    (IN_SPACE, "no-bad-minimum", 0),
    (IN_SPACE, "no-minimum-with-free-charges", 0),
    (IN_SPACE, "no-strict-minimum", 0),
    (IN_SPACE, "no-strict-minimum", 1),
    (ON_SPHERE, "no-strict-minimum", 0),
]


@pytest.mark.parametrize(("claim", "name", "index"), COUNTEREXAMPLES)
def test_counterexamples_are_proved(claim, name, index):
    one = finding(claim, name, index)
    assert one.holds is False
    outcome = statement_result(statement(claim, name), [(0, {}, one)])
    assert ClaimResult(claim, (outcome,)).verdict == Verdict.FAILS


def test_what_is_no_minimum_is_no_counterexample():
    name = "no-bad-minimum-on-the-circle"
    # One unit of the two outweighs what the other can bear; or the point is not critical.
    assert finding(ON_SPHERE, name, weights=["5/2", "1/2"]).holds is True
    assert finding(ON_SPHERE, name, weights=["3/2", "7/4"]).holds is True
    # The teacher itself is a minimum, and not a bad one.
    perfect = {"units": [0, circle.TURN // 4], "weights": ["3", "1"]}
    assert finding(ON_SPHERE, name, **perfect).holds is True
    assert finding(ON_SPHERE, "no-bad-minimum-on-the-sphere", weights=[2.5, 0.5]).holds is True
    lighter = {"charges": [0.9, 1.0], "weights": [5.0, -3.1]}
    assert finding(IN_SPACE, "no-bad-minimum", **lighter).holds is True
    assert finding(IN_SPACE, "no-minimum-with-free-charges", weights=[0.4] * 3).holds is True
    assert finding(IN_SPACE, "no-strict-minimum", charges=[-0.7, -1.0, 1.25]).holds is True


LEMMAS = [
    (ON_SPHERE, "splitting", 1),
    (ON_SPHERE, "same-sign", 1),
    (ON_SPHERE, "every-teacher", 0),
    (IN_SPACE, "splitting", 1),
    (IN_SPACE, "no-lower-bound", 0),
    (IN_SPACE, "every-teacher", 0),
    (ON_SPHERE, "distance-is-the-small-scale", 0),
    (ON_SPHERE, "distance-implied-by-sign", 0),
    (ON_SPHERE, "open-set-of-teachers", 0),
    (ON_SPHERE, "split-minima-have-an-exit", 0),
    (ON_SPHERE, "split-minima-have-an-exit", 1),
]


@pytest.mark.parametrize(("claim", "name", "index"), LEMMAS)
def test_lemmas_hold(claim, name, index):
    assert finding(claim, name, index).holds is True


def test_the_strict_minimum_of_sign_is_that_of_the_reference():
    """Values that were found outside of this library: L, margin and eigenvalue at s = 0.05."""
    numbers = finding(ON_SPHERE, "no-strict-minimum").numbers
    assert numbers["loss"] == pytest.approx(0.1322911849, abs=1e-10)
    assert numbers["least_margin"] == pytest.approx(0.058, abs=5e-4)
    assert numbers["smallest_eigenvalue"] == pytest.approx(0.0374, abs=1e-4)


def test_the_search_finds_strict_minima_by_itself():
    """Nothing of the example is in its instance: random teachers and random starts."""
    drawn = instance(ON_SPHERE, "no-strict-minimum", 1)
    assert drawn["protons"].shape == (50, 3, 2)
    assert drawn["units"].shape == (50, 6, 3, 2)
    found = finding(ON_SPHERE, "no-strict-minimum", 1)
    numbers = found.numbers
    assert found.holds is False
    assert numbers["planar_minima"] >= numbers["proved"] >= 1
    assert numbers["least_rise"] > 0


def test_beyond_the_fold_there_is_no_strict_minimum():
    assert finding(ON_SPHERE, "no-strict-minimum", scale=0.08).holds is True
    # Nor with a charge that a planar minimum does not have: nothing to begin with.
    assert finding(ON_SPHERE, "no-strict-minimum", charges=[-0.7, -1.0, 1.25]).holds is True


@pytest.mark.parametrize("count", [0, 7, 100])
def test_the_interval_of_a_count_is_exact(count):
    """Clopper and Pearson: at the ends a binomial tail is 2.5 %."""
    numbers = sphere_around._counted(count, 100, {}).numbers
    if count:
        assert binom.sf(count - 1, 100, numbers["low"]) == pytest.approx(0.025)
    if count < 100:
        assert binom.cdf(count, 100, numbers["high"]) == pytest.approx(0.025)


def test_starts_near_the_strict_minimum_end_there(monkeypatch):
    monkeypatch.setattr(sphere_around, "NEAR_STARTS", 8)
    one = finding(ON_SPHERE, "near-starts-find-the-teacher")
    assert (one.holds, one.numbers["ended_there"]) == (False, 8)


def test_the_printed_sign_of_the_distance_is_wrong():
    assert finding(IN_SPACE, "plus-sign").holds is False


def test_a_wrong_loss_is_noticed(monkeypatch):
    def broken(*arguments):
        loss = population_loss(*arguments)
        return SimpleNamespace(
            value=lambda student: 1.01 * loss.value(student), gradient=loss.gradient
        )

    for module in (cone_lemmas, strict_minimum, conjectures, sphere_minimum):
        monkeypatch.setattr(module, "population_loss", broken)
    assert finding(ON_SPHERE, "no-strict-minimum").holds is None
    assert finding(ON_SPHERE, "distance-is-the-small-scale").holds is False
    for claim, name, index in COUNTEREXAMPLES[:4:3]:
        assert finding(claim, name, index).holds is None
    assert finding(IN_SPACE, "no-strict-minimum").holds is None
    for claim, name in (
        (ON_SPHERE, "splitting"),
        (IN_SPACE, "splitting"),
        (IN_SPACE, "no-lower-bound"),
    ):
        assert finding(claim, name).holds is False


def test_a_broken_proof_or_path_is_noticed(monkeypatch):
    """Kernels with a weaker cusp prove nothing; a path with a hill on it is no exit."""
    monkeypatch.setattr(SignKernel, "cusp", lambda self: 1 / arb.pi())
    assert finding(ON_SPHERE, "no-strict-minimum").holds is True
    assert finding(ON_SPHERE, "distance-implied-by-sign").holds is False

    def hill(loss, student):
        away = Student(np.roll(np.asarray(student.positions), 1, axis=1), student.weights)
        still = Student(away.positions, 0 * away.weights)
        return trace(loss, [student, Student(student.positions, still.weights), still, away])

    monkeypatch.setattr(sphere_around, "escape", hill)
    assert finding(ON_SPHERE, "split-minima-have-an-exit").holds is False


def test_a_descent_that_finds_the_teacher_would_be_no_counterexample(monkeypatch):
    answer = lambda loss, x, c, *_: (np.tile(np.eye(3)[:2], (8, 1, 1)), np.tile([3.0, 1.0], (8, 1)))  # noqa: E731
    monkeypatch.setattr(conjectures, "descended", answer)
    assert finding(ON_SPHERE, "descent-finds-the-teacher").holds is True


@pytest.mark.slow
def test_descent_of_the_library_is_stuck():
    assert finding(ON_SPHERE, "descent-finds-the-teacher").holds is False


def test_a_split_unit_sums_to_what_it_was():
    weights = split(Fraction(-2, 3), Fraction(5), 4)
    assert sum(weights) == Fraction(-2, 3)
    assert 0 not in weights


@pytest.mark.parametrize("cone", [SIGN, DISTANCE])
def test_margins_are_slopes_of_the_loss(cone):
    """Units that leave the first proton along or against the force of the others."""
    rng = np.random.default_rng(3)
    w, b = cone.random(rng, 3, 2), np.array([1.2, 0.4, -0.3])
    c, x = np.array([2.0, -0.7, 0.5]), np.repeat(w[:1], 3, axis=0)
    force = cone.pull(w[:1], w[1:], b[1:])[0]
    along, step, least = force / np.linalg.norm(force), 1e-6, np.inf
    for group in circle.edges(3):
        moved = cone.project(x + step * group[:, None] * along)
        rise = float(cone.loss(c, moved, b, w) - cone.loss(c, x, b, w)) / step
        least = min(least, rise / (2 * cone.slope * abs(group @ c)))
    assert held_margin(c, b[0], float(np.linalg.norm(force))) == pytest.approx(least, abs=1e-4)


def test_endings_are_told_apart():
    w, b = np.eye(3)[:2], np.array([3.0, 1.0])
    at = lambda *rows: np.eye(3)[list(rows)]  # noqa: E731
    assert ending(SIGN, np.array([3.0, 1.0]), at(0, 1), b, w).kind == "teacher"
    assert ending(SIGN, np.array([-3.0, 1.0]), at(0, 1) * [[-1.0], [1.0]], b, w).kind == "teacher"
    shared = ending(SIGN, np.array([1.5, 1.5]), at(0, 0), b, w)
    assert (shared.kind, shared.margin) == ("shared", pytest.approx(0.5))
    assert ending(SIGN, np.array([2.6, 0.4]), at(0, 0), b, w).kind == "unsettled"


def test_a_search_finds_bad_minima_and_the_teacher():
    """From the starts of the canonical counterexample, and from the teacher's own."""
    rng, w, b = np.random.default_rng(0), np.eye(3)[:2], np.array([3.0, 1.0])
    x = np.stack([np.eye(3)[[0, 0]], np.eye(3)[[0, 1]]])
    x = SIGN.project(x + 0.1 * rng.standard_normal(x.shape))
    c, x = descend(SIGN, np.array([[1.5, 1.5], [2.5, 1.2]]), x, b, w, steps=3000)
    assert [ending(SIGN, *one, b, w).kind for one in zip(c, x, strict=True)] == [
        "shared",
        "teacher",
    ]
