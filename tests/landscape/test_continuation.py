"""Curves of minima that end where a formula says, and the end of the strict minimum of sign."""

import math

import numpy as np
import pytest
from scipy.optimize import fsolve

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.continuation import follow, settle
from earnshaw.papers.claims.sign._sphere_minimum import exponential

pytestmark = pytest.mark.slow


def test_a_unit_between_two_protons_is_at_rest_until_they_are_too_far_apart():
    """C = exp(-(x-s)^2/2) + exp(-(x+s)^2/2) has its maximum at 0 while s < 1: C'' ~ s^2 - 1."""
    family = lambda s: Teacher([[-s], [s]], [1.0, 1.0], "gaussian")  # noqa: E731
    branch = follow(family, Student([[0.001]], [1.9]), 0.3, 2.0)
    assert branch.ended == "eigenvalue"
    assert branch.end.parameter == pytest.approx(1, abs=1e-9)
    assert branch.turns > 0.1  # s goes on: a fork, not a fold
    for point in branch.points:
        best = 2 * math.exp(-(point.parameter**2) / 2)
        assert float(point.student.weights[0]) == pytest.approx(best, rel=1e-9)


def test_a_bound_unit_is_let_go_where_another_proton_is_as_strong():
    """Sign: forces do not fall off, so a unit on a proton of charge 1 is held by (4/pi)(1 - s)."""
    family = lambda s: Teacher(np.eye(3)[:2], [1.0, s], "sign", on="sphere")  # noqa: E731
    branch = follow(family, Student(np.eye(3)[:1], [1.0]), 0.2, 3.0)
    assert branch.ended == "margin"
    assert branch.end.parameter == pytest.approx(1, abs=1e-9)
    for point in branch.points:
        assert point.margin == pytest.approx(4 / math.pi * (1 - point.parameter), abs=1e-9)


def test_a_weight_that_changes_its_sign_ends_the_curve():
    """Between two protons of charge s, at angles +-t, the best weight is 1 + 2 s (1 - 2 t/pi)."""
    angle = 0.6
    x = [[1.0, 0.0], *([math.cos(angle), side * math.sin(angle)] for side in (1, -1))]
    family = lambda s: Teacher(x, [1.0, s, s], "sign", on="sphere")  # noqa: E731
    branch = follow(family, Student([[1.0, 0.0]], [0.9]), -0.1, -3.0)
    assert branch.ended in ("weight", "margin")  # the pull of the cusp goes with the weight
    assert branch.end.parameter == pytest.approx(-0.5 / (1 - 2 * angle / math.pi), abs=1e-9)


def test_a_saddle_is_not_followed():
    family = lambda s: Teacher([[-s], [s]], [1.0, 1.0], "gaussian")  # noqa: E731
    with pytest.raises(EarnshawError, match="does not begin at a strict minimum"):
        follow(family, Student([[0.0]], [0.3]), 1.5, 2.0)


def test_the_range_that_was_asked_for():
    family = lambda s: Teacher([[-s], [s]], [1.0, 1.0], "gaussian")  # noqa: E731
    branch = follow(family, Student([[0.0]], [1.9]), 0.3, 0.6)
    assert (branch.ended, branch.end.parameter) == ("range", 0.6)
    back = follow(family, branch.end.student, 0.6, 0.3)
    assert back.end.loss == pytest.approx(branch.points[0].loss, rel=1e-12)


def test_no_critical_point_is_near():
    with pytest.raises(EarnshawError, match="does not settle"):
        settle(Teacher([[0.0]], [1.0], "gaussian"), Student([[40.0]], [1.0]))


# --- the strict minimum of sign, by equations of our own -----------------------------------------

W, B = np.array([[0.0, 0.0], [0.0, 3.0], [-3.0, 2.0]]), np.array([-0.75, -1.0, 1.25])


def equations(z, s):
    """Of p (2,), the free unit at exp(s p), and c (3,): forces on it over s, and fields at all."""
    w, free = exponential(s * W), exponential(s * z[None, :2])[0]
    x, c = np.array([w[0], w[2], free]), z[2:]
    phi = lambda a, b: 1 - 2 / np.pi * np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)  # noqa: E731
    charges, places = np.append(B, -c), [*w, *x]
    fields = [sum(q * phi(one, y) for q, y in zip(charges, places, strict=True)) for one in x]
    force = np.zeros(3)
    for q, y in zip(charges[:5], places[:5], strict=True):
        across = y - free * (free @ y)
        force += q * across / np.linalg.norm(across)
    size = np.linalg.norm(z[:2])
    radial = np.append(math.cos(s * size) * z[:2] / size, -math.sin(s * size))
    around = np.array([-z[1], z[0], 0.0]) / size
    return np.array([force @ radial, force @ around, *fields])


def fold(unknowns):
    """Equations, and a null vector v of their Jacobian of length 1: (z, v, s)."""
    z, v, s = unknowns[:5], unknowns[5:10], unknowns[10]
    step = 1e-5
    along = (equations(z + step * v, s) - equations(z - step * v, s)) / (2 * step)
    return np.concatenate([equations(z, s), along, [v @ v - 1]])


def test_the_strict_minimum_of_sign_ends_in_a_fold():
    family = lambda s: Teacher(exponential(s * W), B, "sign", on="sphere")  # noqa: E731
    p = np.array([[-4.1136, -2.8366]])
    begin = Student(
        np.concatenate([exponential(0.05 * W[[0, 2]]), exponential(0.05 * p)]),
        [-1.3072, 0.7327, 0.1315],
    )
    branch = follow(family, begin, 0.05, 0.08)
    # The reference values of the issue, which are not ours: L, weights, margin, eigenvalue.
    first = branch.points[0]
    assert first.loss == pytest.approx(0.1322911849, abs=1e-10)
    assert first.margin == pytest.approx(0.058, abs=5e-4)
    assert first.eigenvalue == pytest.approx(0.0374, abs=5e-5)
    assert branch.ended == "eigenvalue"
    assert branch.turns < 1e-9
    guess = np.array([-5.1, -4.4, -1.29, 0.749, 0.118, 0.75, 0.66, 0, 0, 0, 0.0613])
    solved, _, success, _ = fsolve(fold, guess, full_output=True, xtol=1e-12)
    assert success == 1
    assert branch.end.parameter == pytest.approx(solved[10], abs=1e-7)
    np.testing.assert_allclose(np.asarray(branch.end.student.weights), solved[2:5], atol=1e-4)
    assert 0.05 < branch.end.parameter < 0.08
