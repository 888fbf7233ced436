"""Networks and losses are functions: teacher(x), student(x), loss(student)."""

from __future__ import annotations

import pickle

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError

POSITIONS, WEIGHTS = np.array([[0.6, 0.8], [-1.0, 0.5]]), np.array([1.5, -2.0])
X = np.array([[1.0, 2.0], [-3.0, 0.25], [0.5, -1.0]])
TEACHER = ew.Teacher(POSITIONS, WEIGHTS, "relu")


def relu(positions, weights):
    return np.maximum(X @ np.asarray(positions).T, 0) @ np.asarray(weights)


def test_students_are_called_with_their_teachers_activation():
    random = ew.random_student(TEACHER, 3, seed=5)
    for network in (TEACHER, TEACHER.student(), random):
        want = relu(network.positions, network.weights)
        np.testing.assert_allclose(network(X), want, rtol=1e-14)
    bare = ew.Student(POSITIONS, WEIGHTS)
    with pytest.raises(EarnshawError, match="this student has no activation; allowed: "):
        bare(X)
    np.testing.assert_allclose(bare.of(TEACHER)(X), relu(POSITIONS, WEIGHTS), rtol=1e-14)
    assert bare.unit_kind is None
    assert pickle.loads(pickle.dumps(random)).unit_kind.name == "relu"
    for inputs in ([1.0, 2.0], [[1.0]], "x"):
        with pytest.raises(EarnshawError, match=r"allowed: \(samples, 2\)"):
            random(inputs)


def test_what_a_student_remembers_is_no_part_of_the_pytree():
    """Nothing is compiled again for it, and nothing stale comes out of compiled functions."""
    knows, bare = TEACHER.student(), ew.Student(POSITIONS, WEIGHTS)
    assert jax.tree.structure(knows) == jax.tree.structure(bare)
    assert jax.tree.map(lambda leaf: leaf, knows).unit_kind is None


@pytest.mark.slow
def test_a_loss_is_a_function_of_the_student():
    """For relu units at right angles E[(f - g)^2] is a sum that can be written down."""
    teacher = ew.Teacher([[1.0, 0.0]], [1.0], "relu")
    student = ew.Student([[0.0, 1.0]], [2.0])
    # E[relu^2] = 1/2, E[relu(x1) relu(x2)] = 1/(2 pi).
    want = 0.5 + 4 * 0.5 - 2 * 2 / (2 * np.pi)
    loss = ew.population_loss(teacher)
    np.testing.assert_allclose(loss(student), want, rtol=1e-14)
    assert loss(student) == loss.value(student)


def test_reprs_are_a_line():
    loss = ew.population_loss(TEACHER)
    assert repr(TEACHER) == "Teacher(relu, 2 units in d = 2, in space)"
    assert repr(TEACHER.student()) == "Student(relu, 2 units in d = 2)"
    assert repr(ew.Student([[1.0]], [1.0])) == "Student(1 unit in d = 1)"
    assert repr(loss) == f"PopulationLoss(full, of {TEACHER!r})"
    assert "2 of 2 units" in repr(ew.match(TEACHER, TEACHER.student()))
    for thing in (TEACHER.species, loss, ew.match(TEACHER, TEACHER.student())):
        assert len(repr(thing).splitlines()) == 1
