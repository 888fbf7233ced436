"""Saddles are never called minima, however near to one: Hypothesis tries."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from earnshaw.charges.network import Student, Teacher
from earnshaw.landscape.proofs._energy import jet, loss
from earnshaw.landscape.proofs.problem import FREE, Problem
from earnshaw.landscape.proofs.prove import prove

SMOOTH = ["relu", "erf", "hermite-3", "exponential"]


def consistent(proof):
    """What a minimum or a saddle must be, by values of the loss alone, at 400 bits."""
    problem = Problem(proof.teacher, proof.centre, proof.wrt, proof.objective, proof.held_by)
    size = problem.variables
    with ctx.workprec(400):
        # The true critical point, by Newton's method.
        y = [arb(0)] * size
        for _ in range(8):
            here = jet(problem, y)
            step = here.hessian.mid().solve(here.gradient.mid()).mid()
            y = [(a - b).mid() for a, b in zip(y, step.entries(), strict=True)]
        assert all(abs(a) <= arb(proof.radius) for a in y)
        middle = loss(problem, y)
        assert arb(proof.loss[0]) <= middle <= arb(proof.loss[1])
        h = arb(2) ** -60
        if proof.kind == "strict-saddle":
            v = [arb(x) * h for x in proof.direction]
            assert loss(problem, [a + b for a, b in zip(y, v, strict=True)]) < middle
        else:
            rng = np.random.default_rng(0)
            for _ in range(2 * size):
                v = [arb(x) * h for x in rng.normal(size=size).tolist()]
                assert loss(problem, [a + b for a, b in zip(y, v, strict=True)]) > middle


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(SMOOTH),
    on=st.sampled_from(["space", "sphere"]),
    units=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    shrink=st.sampled_from([1.0, 0.5]),
)
def test_what_is_proven_near_random_points_is_true(name, on, units, seed, shrink):
    """Random points are mostly no critical points; Newton's method ends at saddles more often."""
    rng = np.random.default_rng(seed)
    w, x = shrink * rng.normal(size=(2, 2)), shrink * rng.normal(size=(units, 2))
    if on == "sphere":
        w, x = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (w, x))
    teacher = Teacher(w, [1.0, 1.0], name, on=on)
    student = Student(x, np.full(units, 2.0 / units))
    # A few steps of Newton's method in floats, to where something can be proven.
    problem = Problem(teacher, student, "positions", "full", (FREE,) * units)
    for _ in range(30):
        here = jet(problem, [arb(0)] * problem.variables)
        g = np.array([float(v) for v in here.gradient.entries()])
        h = np.array([[float(v) for v in row] for row in here.hessian.tolist()])
        assume(np.all(np.isfinite(h)) and np.all(np.isfinite(g)))
        step = -np.linalg.lstsq(h, g, rcond=1e-12)[0]
        problem = problem.moved((step * min(1.0, 0.3 / (1e-300 + np.max(np.abs(step))))).tolist())
    proof = prove(teacher, problem.centre, wrt="positions")
    if proof.proven:
        consistent(proof)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(
    exponent=st.floats(-17.5, -0.5),
    side=st.sampled_from([-1, 1]),
    length=st.floats(0.5, 1.0),
    turn=st.floats(-1e-3, 1e-3),
)
def test_on_both_sides_of_a_bifurcation(exponent, side, length, turn):
    """One unit between two protons (x, +-y) on the circle, hermite-3.

    L = const - 2 (cos^3(phi - a) + cos^3(phi + a)) has L''(0) = 12 cos a (cos^2 a - 2 sin^2 a): a
    minimum or a maximum by the sign of x^2 - 2 y^2, which fractions know exactly and which is never
    0. Where that is too near 0 to say, the proof must not say.
    """
    y = np.sqrt(0.5) * (1 + side * 10.0**exponent)
    x, y = length / np.hypot(1, y), length * y / np.hypot(1, y)
    teacher = Teacher(
        np.array([[x, y], [x, -y]]) / np.hypot(x, y), [1.0, 1.0], "hermite-3", on="sphere"
    )
    (x, y), (again, below) = np.asarray(teacher.positions).tolist()
    assert (again, below) == (x, -y)
    exact = Fraction(x) ** 2 - 2 * Fraction(y) ** 2
    start = Student([[np.cos(turn), np.sin(turn)]], [1.0])
    for student in (Student([[1.0, 0.0]], [1.0]), start):
        proof = prove(teacher, student, wrt="positions")
        at_zero = abs(float(proof.centre.positions[0, 1])) < 1e-9
        if proof.kind == "minimum" and at_zero:
            assert exact > 0
        if proof.kind == "strict-saddle":
            assert exact < 0
            assert at_zero
    proof = prove(teacher, Student([[1.0, 0.0]], [1.0]), wrt="positions")
    if abs(exact) > 1e-6:
        assert proof.kind == ("minimum" if exact > 0 else "strict-saddle")


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(SMOOTH),
    share=st.floats(0.0, 1.0),
    exponent=st.integers(-16, -3),
    seed=st.integers(0, 10**6),
)
def test_nothing_is_claimed_on_a_valley_floor(name, share, exponent, seed):
    """Two units share one proton's place and weight: parting them costs nothing, or O(|v|^3).

    Also perturbed: Newton's method then goes somewhere else on the floor, or nowhere.
    """
    rng = np.random.default_rng(seed)
    teacher = Teacher(rng.normal(size=(1, 2)), [1.0], name)
    x = np.repeat(np.asarray(teacher.positions), 2, axis=0)
    weights = np.array([share, 1.0 - share])
    noise = 10.0**exponent * rng.normal(size=(2, 2))
    for moved in (x, x + noise):
        assert prove(teacher, Student(moved, weights), wrt="both").kind != "minimum"


@settings(max_examples=30, deadline=None)
@given(
    ratio=st.floats(-2.0, 2.0),
    distance=st.floats(0.02, 2.0),
)
def test_a_cusp_holds_only_what_it_is_strong_enough_to_hold(ratio, distance):
    """One unit on a proton of charge `ratio`, another proton of charge 1 at a distance.

    pull = 2 kappa ratio against |net| = 2 |Phi'(distance)|, from the kernel's own derivative.
    """
    teacher = Teacher([[0.0, 0.0, 0.0], [distance, 0.0, 0.0]], [ratio, 1.0], "almost-harmonic")
    problem = Problem(teacher, Student([[0.0, 0.0, 0.0]], [1.0]), "positions", "full", (FREE,))
    slope = float(problem.kernel.radial(arb(distance) ** 2, 1)[1]) * distance
    pull = float(problem.kernel.cusp()) * ratio
    proof = prove(teacher, problem.centre, wrt="positions")
    expected = "inconclusive"
    if abs(pull) > abs(slope):
        expected = "cusp-minimum" if pull > 0 else "strict-saddle"
    if proof.kind != expected:  # only where it is too near to say
        assert proof.kind == "inconclusive"
        assert abs(pull) - abs(slope) < 1e-6 * (1 + abs(slope))
