"""Kinds of degenerate points: each where a formula says what it is."""

import math

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.certificate import certificate
from earnshaw.landscape.flat import flat_kind
from earnshaw.landscape.hunting.hunt import hunt

pytestmark = pytest.mark.slow

AXES = np.eye(3)


def test_units_that_share_a_place_are_in_a_valley():
    """The local minimum of the split unit, not strict: certify says so and hands out the path."""
    teacher = Teacher(AXES[:2], [3.0, 1.0], "sign", on="sphere")
    student = Student(AXES[[0, 0]], [1.5, 1.5])
    plain = certificate(population_loss(teacher), student)
    assert (plain.kind, plain.strict) == ("degenerate", None)
    found = ew.certify(teacher, student)
    assert (found.kind, found.strict) == ("valley", False)
    assert found.escape.drop == 1
    assert found.summary()["escape"]["largest_rise"] == 0
    assert found.summary()["strict"] is False


def test_a_strict_minimum_says_so_and_a_saddle_does_not():
    teacher = Teacher(AXES[:2], [3.0, 1.0], "sign", on="sphere")
    perfect = ew.certify(teacher, teacher.student())
    assert (perfect.kind, perfect.strict, perfect.escape) == ("cusp-minimum", True, None)
    repelled = ew.certify(teacher, Student(AXES[[0, 2]], [3.0, 0.0]))
    assert (repelled.kind, repelled.strict) == ("strict-saddle", False)


def test_a_minimum_with_an_orbit_is_not_strict():
    """relu with free weights: (t theta, c/t) is the same function for every t."""
    teacher = Teacher([[1.0, 0.25], [-0.5, 1.0]], [1.0, 2.0], "relu")
    assert ew.certify(teacher, teacher.student()).strict is False
    fixed = population_loss(teacher, wrt="positions")
    assert ew.certify(fixed, teacher.student()).strict is True


def test_a_unit_of_fixed_weight_zero_is_on_a_plateau():
    """Its position changes nothing at all; all else is at the answer."""
    teacher = Teacher([[0.0, 0.0], [1.5, 0.0]], [1.0, -1.0], "gaussian")
    loss = population_loss(teacher, "without-constants", wrt="positions")
    spare = Student([[0.0, 0.0], [1.5, 0.0], [0.5, 0.5]], [1.0, -1.0, 0.0])
    found = ew.certify(loss, spare)
    assert (found.kind, found.strict, found.escape) == ("plateau", False, None)
    assert "2 flat directions" in found.reason


def test_a_unit_that_is_repelled_for_ever_is_in_a_channel():
    """L = 2 + 2 exp(-r^2/2): at r = 6.2 forces are below the tolerance, and L falls to 2."""
    loss = population_loss(Teacher([[0.0, 0.0]], [-1.0], "gaussian"), wrt="positions")
    far = 6.2
    found = ew.certify(loss, Student([[far, 0.0]], [1.0]))
    assert (found.kind, found.strict) == ("channel", False)
    assert found.escape.drop == pytest.approx(2 * math.exp(-(far**2) / 2), rel=1e-5)
    # Attracted, it is the other way round: a flat place that a path leads out of, inwards.
    attracted = population_loss(Teacher([[0.0, 0.0]], [1.0], "gaussian"), wrt="positions")
    found = ew.certify(attracted, Student([[far, 0.0]], [1.0]))
    assert found.kind == "valley"
    assert found.escape.drop > 0


def test_two_units_that_become_a_derivative_are_in_a_channel():
    """On R^1, Phi = exp(-r^2/2): a pair of weights +-a at +-h saves 4 C(h)^2/(2 - 2 Phi(2h)).

    For an odd C that is C'(0)^2 (1 + (C'''/C' + 3) h^2/3 + ...), so that h -> 0 is best where
    C'''(0) < -3 C'(0); the limit is C'(0)^2, and a = C'(0)/(2h) grows without bound.
    """
    w, b = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([1.1, -1.0, 1.0, -1.1])
    loss = population_loss(Teacher(w[:, None], b, "gaussian"))
    slope = float(np.sum(b * w * np.exp(-(w**2) / 2)))
    third = float(np.sum(b * (w**3 - 3 * w) * np.exp(-(w**2) / 2)))
    assert third / slope < -3
    energy = float(b @ np.exp(-((w[:, None] - w) ** 2) / 2) @ b)
    student = loss.optimal_weights(Student([[-0.1], [0.1]], [-1.0, 1.0]))
    found = flat_kind(loss, student, 1e-6)
    assert found.kind == "channel"
    assert found.path.losses[-1] == pytest.approx(energy - slope**2, rel=1e-6)
    assert abs(found.path.students[-1].weights[1]) > 100 * abs(student.weights[1])


def test_what_cannot_be_told_stays_degenerate():
    """x^4 in disguise: between two Gaussians at the distance where C''(0) = 0, C''''(0) < 0.

    One unit of fixed weight in the middle of protons at +-1: C(x) has a flat maximum, L a minimum
    of fourth order. It is strict, but no second derivative says so.
    """
    loss = population_loss(Teacher([[-1.0], [1.0]], [1.0, 1.0], "gaussian"), wrt="positions")
    found = ew.certify(loss, Student([[0.0]], [1.0]))
    assert (found.kind, found.strict, found.escape) == ("degenerate", None, None)


def test_hunts_say_which_flat_place_starts_end_in():
    """One unit too many, all charges fixed: no. Two units for one: both at it, sharing its weight.

    L = (1 - sum c)^2 there, 0 for every share: a minimum that is not strict, whatever the start.
    """
    teacher = Teacher([[0.3, -0.2]], [1.0], "gaussian")
    found = hunt(teacher, units=2, starts=4, iterations=3000)
    assert all(point.strict is not True for point in found.found)
    plain = found.summary()["found"]
    assert all({"strict", "escape"} <= set(point) for point in plain)
