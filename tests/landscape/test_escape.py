"""Escape paths: their losses beside formulas by hand, and rises that must be seen."""

import math

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.landscape.escape import between, escape, trace
from earnshaw.landscape.proofs.escape_rise import rise_bounds

AXES = np.eye(3)
TEACHER = Teacher(AXES[:2], [3.0, 1.0], "sign", on="sphere")


@pytest.fixture(scope="module")
def loss():
    return population_loss(TEACHER)


def turned(angle):
    """A unit vector at an angle to the first axis."""
    return [math.cos(angle), 0.0, math.sin(angle)]


@pytest.mark.slow
def test_the_split_minimum_has_an_exit_that_ends_at_the_teacher(loss):
    """L = 9 + 1 - 2 (3 C) + C^2 with C = 3, so 1; level until the spare unit is on w_2, then 0."""
    path = escape(loss, Student(AXES[[0, 0]], [1.5, 1.5]))
    np.testing.assert_allclose(path.losses, [1, 1, 1, 0], atol=1e-15)
    assert (path.largest_rise, path.exact, path.never_rises) == (0, True, True)
    assert path.drop == 1
    np.testing.assert_array_equal(path.students[1].weights, [3, 0])
    np.testing.assert_array_equal(path.students[-1].positions, AXES[:2])
    bounds = rise_bounds(TEACHER, path)
    assert 0 <= bounds.rise < 1e-30
    assert 1 - 1e-15 < bounds.drop <= 1


@pytest.mark.slow
def test_opposite_units_of_an_odd_activation_share_a_place(loss):
    path = escape(loss, Student(AXES[[0, 0]] * [[1.0], [-1.0]], [4.0, 1.0]))
    np.testing.assert_array_equal(path.students[1].weights, [3, 0])
    assert path.losses[1] == pytest.approx(1, abs=1e-15)


@pytest.mark.slow
def test_there_is_no_exit_without_a_spare_unit_or_from_the_teacher(loss):
    assert escape(loss, Student(AXES[[0, 2]], [3.0, 0.5])) is None
    perfect = Student(AXES[[0, 1, 2]], [3.0, 1.0, 0.0])
    assert escape(loss, perfect) is None
    fixed = population_loss(TEACHER, wrt="positions")
    assert escape(fixed, Student(AXES[[0, 0]], [1.5, 1.5])) is None


@pytest.mark.slow
def test_a_rise_between_vertices_is_seen():
    """One unit of weight 1 for a teacher of 1: L = 4 t/pi. From t to t' over 0 it dips, then rises.

    The other way round, over the far side, it climbs to 4 at t = pi.
    """
    loss = population_loss(Teacher(AXES[:1], [1.0], "sign", on="sphere"))
    over = trace(loss, [Student([turned(-0.5)], [1.0]), Student([turned(0.5)], [1.0])])
    assert not over.exact
    assert over.largest_rise == pytest.approx(4 * 0.5 / math.pi, rel=1e-12)
    assert not over.never_rises
    assert over.drop == pytest.approx(0, abs=1e-15)
    far = [Student([turned(angle)], [1.0]) for angle in (2.5, 2 * math.pi - 3.0)]
    assert trace(loss, far).largest_rise > 4 * (3.1 - 2.5) / math.pi
    with pytest.raises(EarnshawError, match="only paths that move weights"):
        rise_bounds(loss.teacher, over)


@pytest.mark.slow
def test_weights_alone_make_a_parabola_whose_ends_decide():
    """L = (1 - c)^2 for c from -1 to 2: down to 0, then up to 1."""
    loss = population_loss(Teacher(AXES[:1], [1.0], "sign", on="sphere"))
    line = [Student(AXES[:1], [c]) for c in (-1.0, 1.0, 2.0)]
    path = trace(loss, line)
    np.testing.assert_allclose(path.losses, [4, 0, 1], atol=1e-15)
    assert path.exact
    assert path.largest_rise == 1
    assert rise_bounds(loss.teacher, path).rise == pytest.approx(1, abs=1e-15)


def test_segments_are_geodesics_at_even_speed(loss):
    one, other = Student([turned(0.2)], [1.0]), Student([turned(1.4)], [3.0])
    middle = between(loss, one, other, 0.25)
    np.testing.assert_allclose(middle.positions, [turned(0.5)], atol=1e-15)
    np.testing.assert_allclose(middle.weights, [1.5])


def test_a_path_needs_two_students(loss):
    with pytest.raises(EarnshawError, match="at least two"):
        trace(loss, [Student(AXES[:2], [1.0, 1.0])])


def test_the_summary_can_be_checked_by_hand(loss):
    plain = escape(loss, Student(AXES[[0, 0]], [1.5, 1.5])).summary()
    for vertex in plain["vertices"]:
        c, x = np.array(vertex["weights"]), np.array(vertex["positions"])
        phi = lambda a, b: 1 - 2 / np.pi * np.arccos(np.clip(a @ b.T, -1, 1))  # noqa: E731
        b, w = np.array([3.0, 1.0]), AXES[:2]
        by_hand = c @ phi(x, x) @ c - 2 * c @ phi(x, w) @ b + b @ phi(w, w) @ b
        assert vertex["loss"] == pytest.approx(by_hand, abs=1e-14)
    assert (plain["largest_rise"], plain["drop"]) == (0, 1)
