"""Kinds of points, and their numbers against finite differences of the value alone."""

import json
import math

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.random import random_teacher
from earnshaw.energy import charged_loss
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.objective import Objective
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.landscape import _curvature as curvature
from earnshaw.landscape.certificate import certificate

STEP = 1e-6


def made(name, dim, units=3, *, weights=None, seed=0, **more):
    teacher = random_teacher(name, dim, units, seed, **more)
    if weights is not None:
        teacher = Teacher(teacher.positions, weights, teacher.species, on=teacher.manifold)
    return teacher, population_loss(teacher)


def unit(loss, student, index, step, direction):
    """The student with one unit moved."""
    x = np.array(student.positions)
    x[index] = np.asarray(loss.manifold.retract(x[index], step * direction))
    return Student(x, student.weights)


def one_sided(loss, student, index, direction):
    """The slope of the loss as a unit leaves, to second order in the step."""
    start = value(loss, student)
    near, far = (
        (value(loss, unit(loss, student, index, s, direction)) - start) / s
        for s in (STEP, 2 * STEP)
    )
    return 2 * near - far


def value(loss, student):
    """The loss, by the function that certificates compile too."""
    return float(loss.value_and_gradient(student)[0])


def best(loss, student):
    """The best weights of one unit with Phi = 1 there: the loss is c^2 - 2 c C + const."""
    return Student(student.positions, student.weights - loss.gradient(student).weights / 2)


def measured(loss, student, index):
    """The pull and the net force on a bound unit, from values of the loss only."""
    x = np.asarray(student.positions)
    basis = np.asarray(loss.manifold.basis(x))[index].T
    slopes = np.array([[one_sided(loss, student, index, s * v) for s in (1, -1)] for v in basis])
    return slopes.mean(), np.linalg.norm((slopes[:, 0] - slopes[:, 1]) / 2)


PERFECT = [
    ("almost-harmonic", 3, "space", "cusp-minimum"),
    ("almost-harmonic", 7, "space", "cusp-minimum"),
    ("almost-harmonic", 3, "sphere", "cusp-minimum"),
    ("sign", 3, "sphere", "cusp-minimum"),
    ("sign", 3, "space", "cusp-minimum"),
    ("bessel", 2, "space", "cusp-minimum"),
    ("gaussian", 3, "space", "minimum"),
    ("relu", 3, "space", "minimum"),
    ("hermite-3", 3, "sphere", "minimum"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dim", "on", "kind"), PERFECT)
def test_the_answer_is_a_minimum_in_any_order_and_to_rounding(name, dim, on, kind):
    teacher, loss = made(name, dim, on=on)
    perfect = teacher.student()
    found = certificate(loss, perfect)
    assert (found.kind, found.moved) == (kind, 0.0)
    assert found.gradient_norm <= 1e-13
    assert found.smallest_eigenvalue > -1e-13
    order, bound = np.array([2, 0, 1]), kind == "cusp-minimum"
    noise = np.random.default_rng(0).standard_normal((3, dim))
    x = np.asarray(perfect.positions)[order] + 1e-14 * noise
    again = certificate(loss, Student(x, np.asarray(perfect.weights)[order]))
    assert again.kind == kind
    assert again.gradient_norm <= 1e-12
    assert again.held_by.tolist() == (order.tolist() if bound else [-1, -1, -1])
    assert np.all(np.isnan(again.cusp_margins)) == (not bound)
    if bound:
        assert again.cusp_margins == pytest.approx(found.cusp_margins[order], rel=1e-9)
        assert np.all(found.cusp_margins > 0)


@pytest.mark.slow
def test_flat_directions_of_a_perfect_relu_are_no_saddle():
    teacher, loss = made("relu", 3)
    found = certificate(loss, teacher.student())
    # One direction a unit changes nothing, (theta_i, -c_i): the next eigenvalue is what counts.
    spectrum = np.linalg.eigvalsh(np.asarray(loss.hessian(teacher.student())))
    assert np.max(np.abs(spectrum[:3])) <= 1e-12
    assert found.smallest_eigenvalue == pytest.approx(spectrum[3], rel=1e-6)
    assert "0 to rounding" in found.reason
    stretched = Student(2 * teacher.positions, teacher.weights / 2)
    assert certificate(loss, stretched).kind == "minimum"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dim", "on"),
    [("almost-harmonic", 3, "space"), ("almost-harmonic", 3, "sphere"), ("sign", 3, "sphere")],
)
def test_margins_are_those_of_the_loss(name, dim, on):
    """At the first proton with another weight, the others anywhere: forces do not cancel."""
    teacher, loss = made(name, dim, on=on, weights=np.array([0.9, -0.7, 0.8]))
    x = np.array(teacher.positions)
    x[1], x[2] = x[[2, 1]] + 0.3
    if on == "space":  # near enough for its force to be felt
        x[1] = x[0] + 0.2
    x = np.asarray(loss.manifold.project(x))
    student = Student(x, np.array([0.6, -0.4, 0.5]))
    found = certificate(loss, student)
    assert found.held_by.tolist() == [0, -1, -1]
    pull, net = measured(loss, student, 0)
    assert net > 1e-3
    assert found.cusp_margins[0] == pytest.approx(pull - net, rel=1e-4)
    assert np.all(np.isnan(found.cusp_margins[1:]))
    assert found.kind == "not-critical"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "on"), [("gaussian", "space"), ("sign", "sphere")])
def test_the_gradient_norm_is_that_of_the_loss(name, on):
    loss = made(name, 3, on=on)[1]
    generator = np.random.default_rng(4)
    x = np.asarray(loss.manifold.project(generator.standard_normal((3, 3))))
    student = Student(x, generator.uniform(-1, 1, 3))
    found = certificate(loss, student)
    squares = 0.0
    for index, basis in enumerate(np.asarray(loss.manifold.basis(x))):
        for v in basis.T:
            high, low = (value(loss, unit(loss, student, index, s * 1e-5, v)) for s in (1, -1))
            squares += ((high - low) / 2e-5) ** 2
    for axis in np.eye(3):
        high, low = (value(loss, Student(x, student.weights + s * 1e-5 * axis)) for s in (1, -1))
        squares += ((high - low) / 2e-5) ** 2
    assert found.kind == "not-critical"
    assert found.gradient_norm == pytest.approx(math.sqrt(squares), rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "almost-harmonic"])
def test_midway_between_two_equal_charges_is_a_saddle(name):
    """By symmetry critical; off the protons no stable point (Full, Theorem 3.6)."""
    apart = np.eye(1, 3) * (1.5 if name == "gaussian" else 0.5)
    loss = population_loss(Teacher(np.concatenate([apart, -apart]), np.ones(2), name))
    midway = best(loss, Student(np.zeros((1, 3)), np.ones(1)))
    found = certificate(loss, midway)
    assert found.kind == "strict-saddle"
    assert found.gradient_norm <= 1e-12
    step = 1e-3
    values = [value(loss, Student(np.eye(1, 3) * s, midway.weights)) for s in (step, 0)]
    assert found.smallest_eigenvalue <= 2 * (values[0] - values[1]) / step**2 + 1e-3


@pytest.mark.slow
def test_a_minimum_that_is_not_the_answer():
    """One unit for two protons far apart stays with the one it has, and nothing is 0."""
    w = np.array([[0.0, 0, 0], [3.0, 0, 0]])
    for name, kind in (("almost-harmonic", "cusp-minimum"), ("gaussian", "minimum")):
        loss = population_loss(Teacher(w, np.array([1.0, 0.5]), name))
        student = Student(w[:1], np.ones(1))
        for _ in range(60):
            student = best(loss, student)
            slope = loss.gradient(student).positions
            x = student.positions if kind == "cusp-minimum" else student.positions - slope / 2
            student = Student(x, student.weights)
        found = certificate(loss, best(loss, student))
        assert found.kind == kind
        assert found.loss > 0.1
        assert found.smallest_eigenvalue > 0.1


@pytest.mark.slow
def test_a_repelled_unit_is_no_minimum():
    teacher, loss = made("almost-harmonic", 3, weights=np.array([0.9, -0.7, 0.8]))
    fixed = population_loss(teacher, wrt="positions")
    weights = np.asarray(teacher.weights) * np.array([1.0, -1.0, 1.0])
    student = Student(teacher.positions, weights)
    assert certificate(loss, student).kind == "not-critical"  # its weight pulls
    found = certificate(fixed, student)
    assert found.kind == "strict-saddle"
    assert "unit 1 is repelled" in found.reason
    assert found.smallest_eigenvalue == math.inf
    assert found.cusp_margins[1] < 0 < found.cusp_margins[0]
    pull, net = measured(fixed, student, 1)
    assert found.cusp_margins[1] == pytest.approx(pull - net, rel=1e-3)


@pytest.mark.slow
def test_the_antipode_with_the_opposite_weight_is_as_good_for_sign():
    teacher, loss = made("sign", 3, on="sphere")
    flip = np.array([-1.0, 1.0, -1.0])
    student = Student(flip[:, None] * teacher.positions, flip * teacher.weights)
    found = certificate(loss, student)
    assert found.kind == "cusp-minimum"
    assert found.cusp_margins == pytest.approx(
        certificate(loss, teacher.student()).cusp_margins, rel=1e-10
    )
    for index in range(3):
        pull, net = measured(loss, student, index)
        assert found.cusp_margins[index] == pytest.approx(pull - net, rel=1e-4, abs=1e-7)
    wrong = Student(flip[:, None] * teacher.positions, teacher.weights)
    fixed = population_loss(teacher, wrt="positions")
    assert certificate(fixed, wrong).cusp_margins[0] < 0


@pytest.mark.slow
def test_units_of_one_place_are_tried_together():
    """Weights 2 and -3 on a proton of charge 1: each held by the rest, the pair is repelled."""
    loss = population_loss(
        Teacher(np.zeros((1, 3)), np.ones(1), "almost-harmonic"), wrt="positions"
    )
    pair = Student(np.zeros((2, 3)), np.array([2.0, -3.0]))
    found = certificate(loss, pair)
    assert np.all(found.cusp_margins > 0)
    assert found.kind == "strict-saddle"
    moved = Student(np.full((2, 3), STEP), pair.weights)
    assert value(loss, moved) < value(loss, pair)
    shared = certificate(loss, Student(np.zeros((2, 3)), np.array([0.3, 0.7])))
    assert shared.kind == "cusp-minimum"
    held = certificate(loss, Student(np.zeros((2, 3)), np.array([3.0, -1.0])))
    assert (held.kind, held.held_by.tolist()) == ("cusp-minimum", [0, 0])
    # Two of weight 1: the proton and the other unit cancel, until both move.
    assert certificate(loss, Student(np.zeros((2, 3)), np.ones(2))).kind == "inconclusive"


@pytest.mark.slow
def test_units_that_hold_each_other_move_as_one():
    """A pair of opposite weights is bound, but free to move: its force is that on the pair."""
    loss = population_loss(
        Teacher(np.zeros((1, 3)), np.ones(1), "almost-harmonic"), wrt="positions"
    )
    x = np.full((2, 3), 0.3)
    found = certificate(loss, Student(x + np.array([[0.0], [1e-13]]), np.array([2.0, -1.0])))
    assert found.held_by.tolist() == [-3, -2]
    assert np.all(found.cusp_margins > 0)
    high, low = (
        value(loss, Student(x + s * STEP / 3**0.5, np.array([2.0, -1.0]))) for s in (1, -1)
    )
    slope = (high - low) / (2 * STEP)
    # Along the unit direction in which both move, a step of 1 takes each 1/sqrt(2) far.
    assert found.gradient_norm == pytest.approx(abs(slope) / 2**0.5, rel=1e-5)


@pytest.mark.slow
def test_a_unit_of_weight_zero():
    teacher, loss = made("gaussian", 3, 2, positions="gaussian")
    x = np.concatenate([teacher.positions, np.full((1, 3), 0.5)])
    spare = Student(x, np.append(teacher.weights, 0.0))
    assert certificate(loss, spare).kind == "minimum"  # the loss is 0
    fixed = population_loss(teacher, "without-constants", wrt="positions")
    assert certificate(fixed, spare).kind == "degenerate"  # its position is flat


@pytest.mark.slow
def test_a_unit_of_weight_zero_on_a_cusp_where_the_potential_vanishes():
    """C(0) = 0 and C(v) = -|v| - v + ..., so that L = c^2 - 2 c C(v) falls with c < 0 and v > 0."""
    loss = population_loss(Teacher([[0.0], [1.0]], [1.0, -math.e], "bessel"))
    found = certificate(loss, Student([[0.0]], [0.0]))
    assert found.gradient_norm <= 1e-14
    assert (found.kind, found.held_by.tolist()) == ("strict-saddle", [-1])
    assert value(loss, Student([[0.1]], [-0.1])) < found.loss


@pytest.mark.slow
def test_every_way_to_the_smallest_eigenvalue_agrees(monkeypatch):
    teacher, loss = made("gaussian", 3)
    spaced = Student(teacher.positions / 4 + 0.1, teacher.weights)
    dense = certificate(loss, spaced)
    cusped, held = made("almost-harmonic", 3)
    columns = certificate(held, cusped.student())
    monkeypatch.setattr(curvature, "SMALL", 0)
    monkeypatch.setattr(charged_loss, "FEW", 0)
    searched, matrix = certificate(loss, spaced), certificate(held, cusped.student())
    for one, other in ((searched, dense), (matrix, columns)):
        assert one.smallest_eigenvalue == pytest.approx(other.smallest_eigenvalue, rel=1e-9)
        assert one.residual <= 1e-6
    hessian = np.asarray(loss.hessian(spaced))
    assert dense.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(hessian)[0], rel=1e-9)


@pytest.mark.slow
def test_samples():
    teacher, _ = made("relu", 3)
    loss = empirical_loss(teacher, samples=300, seed=0)
    assert certificate(loss, teacher.student()).kind == "minimum"
    off = Student(teacher.positions + 0.1, teacher.weights)
    found = certificate(loss, off)
    gradient = loss.gradient(off)
    norm = math.hypot(*(float(np.linalg.norm(part)) for part in gradient))
    assert (found.kind, found.gradient_norm) == ("not-critical", pytest.approx(norm))
    signs = Teacher(np.eye(3), np.ones(3), "sign", on="sphere")
    assert certificate(empirical_loss(signs, samples=50), signs.student()).kind == "minimum"
    weights = empirical_loss(teacher, samples=300, seed=0, wrt="weights")
    solved = certificate(weights, weights.optimal_weights(off))
    assert solved.kind == "minimum"
    assert solved.smallest_eigenvalue > 0


@pytest.mark.slow
def test_the_summary_is_json():
    teacher, loss = made("almost-harmonic", 3)
    fixed = population_loss(teacher, wrt="positions")
    summary = json.loads(json.dumps(certificate(fixed, teacher.student()).summary()))
    assert summary["kind"] == "cusp-minimum"
    assert summary["smallest_eigenvalue"] is None
    assert summary["bound_units"] == 3
    assert summary["smallest_margin"] > 0
    assert certificate(loss, teacher.student(), tolerance=1e-3).summary()["tolerance"] == 1e-3


@pytest.mark.slow
def test_what_is_not_covered_says_so():
    cross = population_loss(Teacher(np.eye(2), np.ones(2), "bessel"), wrt="positions")
    ridge = certificate(cross, Student(np.array([[1.0, 0.4]]), np.ones(1)))
    assert ridge.kind == "inconclusive"
    assert "ridge" in ridge.reason
    charges = population_loss(
        Teacher(np.eye(2), np.ones(2), "lambda-harmonic"), "without-constants"
    )
    assert certificate(charges, Student(np.eye(2), np.ones(2))).kind == "inconclusive"


def test_bad_input():
    teacher, loss = made("gaussian", 3)
    with pytest.raises(EarnshawError, match="dimension 2; allowed: 3"):
        certificate(loss, Student(np.zeros((1, 2)), np.ones(1)))
    with pytest.raises(EarnshawError, match="tolerance"):
        certificate(loss, teacher.student(), tolerance=-1.0)
    with pytest.raises(EarnshawError, match="needs a loss"):
        certificate(teacher, teacher.student())
    with pytest.raises(EarnshawError, match="needs a Student"):
        certificate(loss, teacher)
    empty = certificate(loss, Student(np.zeros((0, 3)), np.zeros(0)))
    assert empty.kind == "minimum"


@pytest.mark.slow
def test_where_everything_is_bound_no_hessian_is_compiled(monkeypatch):
    teacher, loss = made("almost-harmonic", 7)
    monkeypatch.setattr(Objective, "hvp", lambda *_: pytest.fail("a Hessian-vector product"))
    assert certificate(loss, teacher.student()).smallest_eigenvalue > 1
