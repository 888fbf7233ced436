"""Proofs with known answers, and what there can be no proof of."""

import dataclasses
import json

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import minimize

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs._energy import jet, loss
from earnshaw.landscape.proofs.check import check_proof
from earnshaw.landscape.proofs.problem import FREE, Problem
from earnshaw.landscape.proofs.prove import prove


def points(count, dim, seed=0, on="space"):
    x = np.random.default_rng(seed).normal(size=(count, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True) if on == "sphere" else x


def holds(proof):
    """The proof passes its own check, and its loss is that of points in the box."""
    assert check_proof(proof) is proof
    problem = Problem(proof.teacher, proof.centre, proof.wrt, proof.objective, proof.held_by)
    with ctx.workprec(256):
        value = loss(problem, [arb(0)] * problem.variables)
        # The loss at the centre exceeds that at the critical point by second order only.
        low, high = proof.loss
        assert value > arb(low) - 1e-20
        assert value < arb(high) + 1e-20
    return True


@pytest.mark.parametrize("on", ["space", "sphere"])
@pytest.mark.parametrize("name", ["erf", "hermite-3", "exponential"])
def test_the_perfect_student_is_a_strict_minimum(name, on):
    teacher = Teacher(0.8 * points(3, 3, on="space"), [1.0, -1.0, 2.0], name)
    if on == "sphere":
        teacher = Teacher(points(3, 3, on=on), [1.0, -1.0, 2.0], name, on=on)
    proof = prove(teacher, teacher.student())
    assert (proof.kind, proof.variables) == ("minimum", 12 if on == "space" else 9)
    assert proof.loss[0] <= 0 <= proof.loss[1] < 1e-20
    assert not proof.away_from_zero
    assert proof.smallest_eigenvalue > 0
    assert holds(proof)


@pytest.mark.parametrize("on", ["space", "sphere"])
def test_relu_is_proven_at_coincident_units(on):
    """Where student and teacher coincide the angle has no derivative, but the loss has two."""
    teacher = Teacher(np.eye(3), np.ones(3), "relu", on=on)
    noise = 1e-4 * points(3, 3)
    start = np.eye(3) + noise
    if on == "sphere":
        start /= np.linalg.norm(start, axis=1, keepdims=True)
    proof = prove(teacher, Student(start, np.ones(3)), wrt="positions", objective="assumption-1")
    assert proof.kind == "minimum"
    assert proof.moved > 1e-5
    np.testing.assert_allclose(proof.centre.positions, np.eye(3), atol=1e-15)
    assert holds(proof)


def safran_shamir(dim):
    """Near the bad minimum: all but one unit lean away from their proton, towards the first one.

    Found from starts N(0, I/6), of which 2 in 600 end here or at a permutation.
    """
    x = np.full((dim, dim), -0.05) + 1.037 * np.eye(dim)
    x[:, 0] = 0.308
    x[0] = 0.225
    x[0, 0] = -0.602
    return Student(x, np.ones(dim))


def test_a_bad_minimum_of_safran_and_shamir():
    teacher = Teacher(np.eye(6), np.ones(6), "relu")
    proof = prove(teacher, safran_shamir(6), wrt="positions")
    assert (proof.kind, proof.variables) == ("minimum", 36)
    assert proof.away_from_zero
    assert proof.radius < 1e-14
    assert proof.loss[1] - proof.loss[0] < 1e-14
    # Relative to the empty student the loss is small but not 0.
    empty = 6 / 2 + 30 / (2 * np.pi)
    assert 1e-3 < proof.loss[0] / empty < 0.05
    assert holds(proof)
    # Permuted and rotated it is the same minimum.
    turn = np.linalg.qr(points(6, 6))[0]
    turned = Teacher(np.asarray(teacher.positions) @ turn, np.ones(6), "relu")
    there = Student(np.asarray(proof.centre.positions)[::-1] @ turn, np.ones(6))
    other = prove(turned, there, wrt="positions")
    assert other.kind == "minimum"
    np.testing.assert_allclose(other.loss, proof.loss, atol=1e-13)


@pytest.mark.parametrize("weight", [1.0, -1.0])
def test_quadratic_saddles(weight):
    """hermite-2 at w = e1, one unit of weight +-1: a saddle at a suitable length across."""
    # Phi = c^2 + (q1 - 1)(q2 - 1)/2, so L = s^2 (q^2 + (q - 1)^2/2) - 2 s c^2 + 1 at |w| = 1. At
    # c = 0 it is critical for q = 1/3, and falls along w for s > 0; for s < 0 it is a minimum
    # along w but flat along the other directions that keep the length: in two dimensions, none.
    teacher = Teacher([[1.0, 0.0]], [1.0], "hermite-2")
    proof = prove(teacher, Student([[1e-6, 0.577350]], [weight]), wrt="positions")
    assert proof.kind == ("strict-saddle" if weight > 0 else "minimum")
    assert proof.loss[0] <= 4 / 3 <= proof.loss[1]
    if weight > 0:
        assert proof.curvature < 0
        assert abs(proof.direction[0]) > 0.99
    assert holds(proof)


def test_least_squares_of_weights_alone():
    """The loss is quadratic in the weights: its minimum is the solution of K c = k."""
    teacher = Teacher(points(4, 3), [1.0, 2.0, -1.0, 0.5], "erf")
    units = points(2, 3, seed=1)
    proof = prove(teacher, Student(units, [0.0, 0.0]), wrt="weights")
    assert (proof.kind, proof.variables) == ("inconclusive", 2)  # too far from the answer
    x = np.concatenate([units, np.asarray(teacher.positions)])
    q = 1 + 2 * np.sum(x * x, axis=1)
    gram = 2 / np.pi * np.arcsin(2 * x @ x.T / np.sqrt(np.outer(q, q)))
    best = np.linalg.solve(gram[:2, :2], gram[:2, 2:] @ np.asarray(teacher.weights))
    proof = prove(teacher, Student(units, best + 1e-3), wrt="weights")
    assert proof.kind == "minimum"
    np.testing.assert_allclose(proof.centre.weights, best, rtol=1e-12)
    least = 2 * np.linalg.eigvalsh(gram[:2, :2])[0]
    assert 0.99 * least < proof.smallest_eigenvalue < least
    assert proof.away_from_zero


HARMONIC = points(3, 3, seed=4) * 2


def test_the_perfect_student_of_an_almost_harmonic_teacher_is_a_cusp_minimum():
    teacher = Teacher(HARMONIC, [1.0, -1.0, 2.0], "almost-harmonic")
    start = Student(HARMONIC[[2, 0, 1]] + 1e-14, [2.0, 1.0, -1.0])
    for wrt, variables in (("both", 3), ("positions", 0)):
        proof = prove(teacher, start, wrt=wrt)
        assert (proof.kind, proof.variables) == ("cusp-minimum", variables)
        assert proof.held_by == (2, 0, 1)
        # pull = 2 c b kappa, kappa about 7.77 (mathematics.md), and the others are far
        assert min(proof.margins) == pytest.approx(2 * 7.77, rel=0.01)
        assert holds(proof)


def test_weights_of_units_at_cusps_settle_where_the_loss_is_not_zero():
    """Two units for three protons: on two of them, with weights that make up for the third."""
    teacher = Teacher(HARMONIC, [1.0, 1.0, 2.0], "almost-harmonic")
    proof = prove(teacher, Student(HARMONIC[[0, 2]], [1.0, 2.0]))
    assert proof.kind == "cusp-minimum"
    assert proof.away_from_zero
    assert np.all(np.asarray(proof.centre.weights) > [1.0, 2.0])
    assert holds(proof)


def test_a_free_unit_between_two_charges_is_a_saddle():
    """Earnshaw: off the cores no charge is held. One unit is, the other sits in the middle."""
    w = [[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 40.0]]
    teacher = Teacher(w, [1.0, 1.0, 1.0], "almost-harmonic")
    proof = prove(teacher, Student([[0, 0, 1e-5], w[2]], [1.0, 1.0]), wrt="positions")
    assert proof.kind == "strict-saddle"
    assert proof.held_by == (FREE, 2)
    assert proof.curvature < 0
    assert holds(proof)


def test_a_unit_on_a_proton_of_the_other_sign_is_repelled():
    teacher = Teacher(HARMONIC, [1.0, 1.0, 2.0], "almost-harmonic")
    proof = prove(teacher, Student(HARMONIC[[0, 1]], [1.0, -1.0]), wrt="positions")
    assert proof.kind == "strict-saddle"
    assert "repelled" in proof.reason
    assert proof.margins[0] > 0 > proof.margins[1]
    assert holds(proof)


def test_several_units_on_one_proton_are_not_decided():
    teacher = Teacher(HARMONIC, [1.0, 1.0, 2.0], "almost-harmonic")
    both = Student(HARMONIC[[2, 2]], [1.0, 0.5])
    proof = prove(teacher, both, wrt="positions")
    assert proof.kind == "inconclusive"
    assert "one proton" in proof.reason


@pytest.mark.parametrize("degrees", [100.0, 119.9, 120.1, 150.0])
def test_torricelli(degrees):
    """The point with the least sum of distances to a triangle's corners, for Phi = -r.

    It is a corner if the angle there exceeds 120 degrees, and else sees all sides under 120.
    """
    angle = np.radians(degrees)
    corner = np.array([0.5, 0.25])
    sides = np.array([[0.0, 0.0], [1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    teacher = Teacher(corner + sides, np.ones(3), "distance")
    proof = prove(teacher, Student([corner], [1.0]), wrt="positions")
    assert proof.kind == ("cusp-minimum" if degrees > 120 else "inconclusive")
    if degrees < 120:  # on the bisector, where it sees the two other corners under 120 degrees
        half = angle / 2
        away = np.cos(half) - np.sin(half) / np.tan(np.pi / 3)
        inner = corner + away * np.array([np.cos(half), np.sin(half)])
        proof = prove(teacher, Student([inner], [1.0]), wrt="positions")
        assert proof.kind == "minimum"
    assert holds(proof)


@pytest.mark.slow
def test_sign_on_the_sphere():
    """One unit in the middle of three orthogonal ones, by the angles; and the perfect student."""
    teacher = Teacher(np.eye(3), np.ones(3), "sign", on="sphere")
    proof = prove(teacher, Student([np.full(3, 3**-0.5)], [1.0]), wrt="positions")
    assert proof.kind == "minimum"
    exact = 4 - 6 * (1 - 2 * np.arccos(3**-0.5) / np.pi)
    assert proof.loss[0] - 1e-14 < exact < proof.loss[1] + 1e-14
    proof = prove(teacher, teacher.student())
    assert proof.kind == "cusp-minimum"
    np.testing.assert_allclose(proof.margins, 4 / np.pi, rtol=1e-8)
    assert holds(proof)
    opposite = prove(teacher, Student(-np.eye(3), -np.ones(3)))
    assert opposite.kind == "inconclusive"
    assert "opposite" in opposite.reason


@pytest.mark.slow
def test_almost_harmonic_units_on_the_sphere():
    w = points(4, 3, on="sphere")
    teacher = Teacher(w, [1.0, -1.0, 2.0, 1.0], "almost-harmonic", on="sphere", core="paper")
    assert holds(prove(teacher, teacher.student()))
    few = Problem(teacher, Student(w[:2], [1.0, -1.0]), "both", "full", (0, 1))
    here = jet(few, [arb(0)] * 2)  # in the weights alone one step of Newton's method is exact
    step = here.hessian.solve(here.gradient)
    proof = prove(teacher, few.moved([-float(change) for change in step.entries()]).centre)
    assert (proof.kind, proof.away_from_zero) == ("cusp-minimum", True)
    assert holds(proof)


@pytest.mark.parametrize(
    ("teacher", "student", "wrt"),
    [
        # (s theta, c/s) is the same network.
        (Teacher(np.eye(3), np.ones(3), "relu"), Student(np.eye(3), np.ones(3)), "both"),
        # Two halves of a unit may part: nothing changes at second order.
        (Teacher([[1.0, 0]], [1.0], "relu"), Student([[1.0, 0]] * 2, [0.5, 0.5]), "positions"),
        (Teacher([[1.0, 0]], [1.0], "erf"), Student([[1.0, 0]] * 2, [0.5, 0.5]), "both"),
        # A unit of weight 0 may be anywhere.
        (Teacher([[1.0, 0]], [1.0], "erf"), Student([[1.0, 0], [0.3, 2]], [1.0, 0]), "positions"),
        # Rotations about the teacher's axis move the student.
        (
            Teacher([[0.0, 0, 1.0]], [1.0], "hermite-2"),
            Student([[0.577350269, 0, 0]], [1.0]),
            "positions",
        ),
        # A linear network: only the sum of weight times position counts.
        (Teacher([[1.0, 0]], [1.0], "hermite-1"), Student([[1.0, 0]], [1.0]), "both"),
        # relu at the origin has a kink.
        (Teacher([[1.0, 0]], [1.0], "relu"), Student([[0.0, 0.0]], [1.0]), "positions"),
        # Not critical at all.
        (Teacher(np.eye(2), np.ones(2), "erf"), Student([[3.0, 1]], [2.0]), "both"),
        (Teacher(np.eye(2), np.ones(2), "relu"), Student(np.zeros((0, 2)), []), "positions"),
        # On S^0 there is nowhere to go.
        (Teacher([[1.0]], [1.0], "relu", on="sphere"), Student([[1.0]], [1.0]), "positions"),
    ],
)
def test_degenerate_points_are_inconclusive_with_a_reason(teacher, student, wrt):
    proof = prove(teacher, student, wrt=wrt)
    assert proof.kind == "inconclusive"
    assert len(proof.reason) > 10
    assert "\n" not in proof.reason
    json.dumps(proof.summary(), allow_nan=False)
    with pytest.raises(EarnshawError, match="proves nothing"):
        check_proof(proof)


def test_more_bits_give_the_same_proof():
    teacher = Teacher(np.eye(6), np.ones(6), "relu")
    few, many = (prove(teacher, safran_shamir(6), wrt="positions", bits=b) for b in (80, 300))
    assert few.kind == many.kind == "minimum"
    assert max(few.loss[0], many.loss[0]) <= min(few.loss[1], many.loss[1])
    assert (few.bits, many.bits) == (80, 300)


def test_a_true_critical_point_is_within_the_radius():
    """Newton's method at 600 bits finds it in the box; on the sphere too."""
    teacher = Teacher(points(2, 3, on="sphere"), [1.0, 1.0], "erf", on="sphere")
    middle = np.sum(np.asarray(teacher.positions), axis=0)
    # Between the two, with the best weight there: 2 Phi(m, w)/Phi(m, m).
    m = middle / np.linalg.norm(middle)
    near, own = (np.arcsin(2 / 3 * m @ x) for x in (np.asarray(teacher.positions)[0], m))
    start = Student([m], [2 * near / own])
    with ctx.workprec(600):
        proof = prove(teacher, start, bits=128)
        assert (proof.bits, proof.variables) == (128, 3)
        assert proof.proven
        problem = Problem(teacher, proof.centre, "both", "full", (FREE,))
        y = [arb(0)] * problem.variables
        for _ in range(8):
            here = jet(problem, y)
            step = here.hessian.mid().solve(here.gradient.mid()).mid()
            y = [(a - b).mid() for a, b in zip(y, step.entries(), strict=True)]
        assert all(abs(a) <= arb(proof.radius) for a in y)
        assert arb(proof.loss[0]) <= loss(problem, y) <= arb(proof.loss[1])
        assert ctx.prec == 600


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objective": "one-node"}, "allowed|known|did you mean"),
        ({"wrt": "all"}, "wrt"),
        ({"bits": 3}, "bits is 3; allowed"),
        ({"objective": "assumption-1"}, "assumption-1"),
        ({"teacher": Teacher(np.eye(2), np.ones(2), "gelu")}, "allowed: relu, erf, hermite-N"),
        ({"teacher": Teacher(np.eye(2), np.ones(2), "sign")}, "sign on the sphere"),
        ({"teacher": Teacher(np.eye(2), np.ones(2), potential="exp(-r^2)")}, "allowed: relu"),
        ({"student": Student(np.ones((1, 3)), [1.0])}, "allowed: \\(units, 2\\)"),
        ({"student": None}, "needs a Teacher and a Student"),
    ],
)
def test_bad_questions_are_one_line(change, words):
    asked = {
        "teacher": Teacher(np.eye(2), np.ones(2), "erf"),
        "student": Student(np.eye(2), [1, 1]),
    }
    asked |= change
    with pytest.raises(EarnshawError, match=words) as error:
        prove(asked.pop("teacher"), asked.pop("student"), **asked)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "strict-saddle"),
        ("kind", "cusp-minimum"),
        ("kind", "degenerate"),
        ("radius", 1e-30),
        ("radius", 0.3),
        ("radius", 0.0),
        ("radius", -1.0),
        ("loss", (0.0, 0.01)),
        ("smallest_eigenvalue", 0.5),
        ("smallest_eigenvalue", None),
        ("smallest_eigenvalue", -1.0),
        ("curvature", -1.0),
        ("direction", (1.0,) * 36),
        ("variables", 35),
        ("bits", 10),
        ("held_by", (0,) + (FREE,) * 5),
        ("held_by", (9,) + (FREE,) * 5),
        ("held_by", ()),
        ("margins", (1.0,) + (None,) * 5),
        ("wrt", "both"),
        ("objective", "regularized"),
    ],
)
def test_a_false_claim_does_not_pass(field, value):
    teacher = Teacher(np.eye(6), np.ones(6), "relu")
    proof = prove(teacher, safran_shamir(6), wrt="positions")
    with pytest.raises(EarnshawError):
        check_proof(dataclasses.replace(proof, **{field: value}))


def relu_loss(flat, dim):
    """L and its gradient for weights 1 and an orthonormal teacher, in floats."""
    x = flat.reshape(-1, dim)
    value, force = dim / 2 + dim * (dim - 1) / (2 * np.pi), 0.0
    for y, sign in ((x, 1), (np.eye(dim), -2)):
        sizes, others = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
        product = np.outer(sizes, others)
        cosine = np.clip(x @ y.T / product, -1, 1)
        sine, opening = np.sqrt(1 - cosine**2), np.pi - np.arccos(cosine)
        value += sign * np.sum(product * sine + opening * (x @ y.T)) / (2 * np.pi)
        across = (sine @ others / sizes)[:, None] * x + opening @ y
        force += (2 if sign > 0 else sign) * across / (2 * np.pi)
    return value, force.ravel()


@pytest.mark.slow
@pytest.mark.parametrize("dim", [7, 8, 10])
def test_larger_minima_of_safran_and_shamir(dim):
    start = np.asarray(safran_shamir(dim).positions).ravel()
    settings = {"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-9}
    end = minimize(relu_loss, start, (dim,), "L-BFGS-B", jac=True, options=settings)
    teacher = Teacher(np.eye(dim), np.ones(dim), "relu")
    student = Student(end.x.reshape(dim, dim), np.ones(dim))
    proof = prove(teacher, student, wrt="positions")
    assert (proof.kind, proof.variables) == ("minimum", dim**2)
    assert proof.loss[0] > 0.01
    assert proof.loss[1] == pytest.approx(end.fun, abs=1e-9)
    assert holds(proof)
