"""The loss in balls: that of the library, and derivatives that are its own differences."""

import numpy as np
import pytest
from flint import arb, ctx

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.proofs._energy import jet, loss
from earnshaw.landscape.proofs._held_units import margins
from earnshaw.landscape.proofs.problem import FREE, Problem

CASES = [
    ("relu", {}, "space"),
    ("relu", {}, "sphere"),
    ("erf", {"width": 1.5}, "sphere"),
    ("hermite-4", {}, "space"),
    ("exponential", {"rate": 0.5, "shift": -0.25}, "sphere"),
    ("almost-harmonic", {"radius": 0.3}, "space"),
    ("almost-harmonic", {"radius": 0.3, "core": "paper", "lam": 2.0}, "sphere"),
]


def networks(name, parameters, on, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    w, theta = rng.normal(size=(3, dim)), rng.normal(size=(2, dim))
    if on == "sphere":
        w, theta = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (w, theta))
    teacher = Teacher(w, rng.normal(size=3), name, on=on, **parameters)
    return teacher, Student(theta, rng.normal(size=2))


@pytest.mark.slow
@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[6]], ids=["relu", "erf", "harmonic"])
def test_the_loss_is_that_of_the_library(case):
    teacher, student = networks(*case)
    problem = Problem(teacher, student, "weights", "full", (FREE, FREE))
    with ctx.workprec(128):
        mine = float(loss(problem, [arb(0)] * problem.variables))
    library = float(population_loss(teacher, wrt="weights").value(student))
    assert mine == pytest.approx(library, rel=1e-12)


def test_the_regularized_loss_adds_the_squares_of_the_weights():
    teacher, student = networks(*CASES[0])
    full, more = (
        loss(Problem(teacher, student, "weights", name, (FREE, FREE)), [arb(0)] * 2)
        for name in ("full", "regularized")
    )
    squares = float(np.sum(np.asarray(student.weights) ** 2))
    assert float(more - full) == pytest.approx(squares, rel=1e-13)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")
@pytest.mark.parametrize("wrt", ["both", "positions"])
def test_derivatives_are_central_differences(case, wrt):
    teacher, student = networks(*case)
    problem = Problem(teacher, student, wrt, "regularized", (FREE, FREE))
    with ctx.workprec(320):
        # Off the centre, where the chart of the sphere is not flat.
        here = [arb(v) for v in np.random.default_rng(1).uniform(-0.1, 0.1, problem.variables)]
        step = arb(2) ** -60
        found = jet(problem, here)
        rng = np.random.default_rng(2)
        for _ in range(3):
            v = [arb(x) for x in rng.normal(size=problem.variables)]
            ahead, behind = (
                [y + s * step * x for y, x in zip(here, v, strict=True)] for s in (1, -1)
            )
            middle = loss(problem, here)
            above, below = loss(problem, ahead), loss(problem, behind)
            slope = sum((g * x for g, x in zip(found.gradient.entries(), v, strict=True)), arb(0))
            rows = found.hessian.tolist()
            bend = sum(
                (
                    a * h * b
                    for a, row in zip(v, rows, strict=True)
                    for h, b in zip(row, v, strict=True)
                ),
                arb(0),
            )
            assert abs(float((above - below) / (2 * step) - slope)) < 1e-25
            assert abs(float((above - 2 * middle + below) / step**2 - bend)) < 1e-25


def test_margins_are_one_sided_slopes():
    """A held unit that leaves in direction v changes L by pull |v| + net.v: two opposite slopes."""
    teacher, _ = networks("almost-harmonic", {"radius": 0.3}, "space")
    positions = np.array(teacher.positions)[[2, 0]]
    weights = np.array([0.7, -1.2])
    problem = Problem(teacher, Student(positions, weights), "positions", "full", (2, 0))
    rng = np.random.default_rng(3)
    with ctx.workprec(256):
        pull, force = margins(problem, [])[0]
        here, sums, most = loss(problem, []), [], 0.0
        for _ in range(20):
            v = rng.normal(size=3)
            v *= 2.0**-40 / np.linalg.norm(v)
            slopes = []
            for side in (1, -1):
                # The exact offset: a float added to a float would round.
                free = Problem(teacher, Student(positions, weights), "positions", "full", (FREE, 0))
                moved = loss(free, [arb(x) for x in (side * v).tolist()])
                slopes.append(float((moved - here) / arb(np.linalg.norm(v))))
            sums.append(sum(slopes) / 2)
            most = max(most, abs(slopes[0] - slopes[1]) / 2)
        np.testing.assert_allclose(sums, float(pull), rtol=1e-9)
        assert most <= float(force) * (1 + 1e-9)


def test_protons_without_charge_are_not_there():
    teacher = Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0], "almost-harmonic")
    student = Student([[0.0, 1.0]], [1.0])
    problem = Problem(teacher, student, "positions", "full", (FREE,))
    with ctx.workprec(128):
        found = jet(problem, [arb(0)] * 2)
        assert all(entry.is_finite() for entry in found.hessian.entries())
