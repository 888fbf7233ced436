"""Directions of orbits: the loss is constant along them, at every student, and there are no more.

The number of them is that of the group, counted by hand; that nothing changes is checked on the
gradient, which is orthogonal to the orbit at every student, critical or not.
"""

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.population import population_loss
from earnshaw.landscape.symmetries import orbit_coordinates, orbit_directions

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)


def student_of(units, dim, on="space"):
    x = RNG.normal(size=(units, dim))
    if on == "sphere":
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return Student(x, RNG.normal(size=units))


# activation, dim, teacher units, student units, manifold, objective, wrt, dimension of the orbit
CASES = [
    ("relu", 3, 3, 2, "space", "full", "both", 2),  # a scale each
    ("relu", 3, 3, 2, "space", "regularized", "both", 0),  # |c|^2 sees the scale
    ("relu", 3, 1, 2, "space", "full", "both", 3),  # and turns about the one teacher unit
    ("erf", 3, 1, 2, "sphere", "full", "both", 1),
    ("gaussian", 3, 1, 2, "space", "full", "positions", 3),  # about the point itself
    ("gaussian", 3, 2, 2, "space", "full", "positions", 1),  # about the line
    # 9 coordinates, and 6 entries of sum theta theta^T: orthogonal maps of three units, SO(3).
    ("hermite-2", 3, 3, 3, "space", "full", "positions", 3),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_loss_does_not_change_along_an_orbit(case):
    name, dim, teacher_units, units, on, objective, wrt, count = case
    w = np.eye(teacher_units, dim) + 0.2 * RNG.normal(size=(teacher_units, dim))
    if on == "sphere":
        w /= np.linalg.norm(w, axis=1, keepdims=True)
    loss = population_loss(Teacher(w, np.ones(teacher_units), name, on=on), objective, wrt=wrt)
    student = student_of(units, dim, on)
    orbit = orbit_directions(loss, student)
    assert orbit.shape == (units * (dim + 1), count)
    np.testing.assert_allclose(orbit.T @ orbit, np.eye(count), atol=1e-12)
    slope = np.concatenate([np.ravel(part) for part in loss.gradient(student)])
    assert np.linalg.norm(slope) > 0.01
    np.testing.assert_allclose(orbit.T @ slope, 0.0, atol=1e-10)
    coordinates = orbit_coordinates(loss, student)
    np.testing.assert_allclose(coordinates.T @ coordinates, np.eye(count), atol=1e-12)


def test_samples_have_no_rotations():
    teacher = Teacher(np.eye(1, 3), [1.0], "relu")
    loss = empirical_loss(teacher, 10, seed=0)
    assert orbit_directions(loss, student_of(2, 3)).shape == (8, 0)
