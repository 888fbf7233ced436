"""Which teacher units a student has found, and which starts creep to 0."""

from __future__ import annotations

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.hunting.critical_points import is_approaching
from earnshaw.landscape.hunting.pairing import Pairing, pairing


@pytest.mark.slow
def test_units_go_with_the_teacher_that_they_are_most_like():
    loss = population_loss(Teacher(np.eye(4), np.ones(4), "relu"))
    near = np.array([[3.0, 0.1, 0, 0], [0.2, 0.9, 0.1, 0], [0.1, 0.8, 0, 0.2], [0, 0, 5.0, 1.0]])
    found = pairing(loss, Student(near, np.ones(4)))
    assert found == Pairing(alone=2, shared=1, missed=1, idle=0)
    assert found.words == "2 alone, 1 shared, 1 missed"
    found = pairing(loss, Student(near, [1.0, 0.0, 1.0, 1.0]))
    assert found == Pairing(alone=3, shared=0, missed=1, idle=1)


@pytest.mark.slow
def test_a_flipped_unit_is_the_same_unit():
    loss = population_loss(Teacher(np.eye(3), np.ones(3), "erf"))
    student = Student(-np.eye(3)[[2, 0, 1]], -np.ones(3))
    assert pairing(loss, student) == Pairing(3, 0, 0)


def test_unbounded_potentials_pair_by_distance():
    teacher = Teacher([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0], potential="-log(r)")
    student = Student([[0.1, 0.0], [0.2, 0.1]], [1.0, 1.0])
    assert pairing(population_loss(teacher, "without-constants"), student) == Pairing(0, 1, 1)


def test_creeping_to_zero_is_told_from_resting_above_it():
    """After t iterations of L' = -|g|^2 at step 1: L = 1/t, and L = 1e-4 + exp(-t/100)."""
    t = np.array([10_000, 10_000, 10_000, 100])
    loss = np.array([1e-4, 1e-4 + np.exp(-100.0), 0.5, 1e-2])
    fall = np.array([1e-8, np.exp(-100.0) / 100, 0.5e-4, 1e-4])
    found = is_approaching(loss, t, fall, loss)
    np.testing.assert_array_equal(found, [True, False, False, False])
