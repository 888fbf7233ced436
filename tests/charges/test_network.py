"""Teacher and student: what they compute, the signs of their charges, and what they refuse."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import earnshaw as ew
from earnshaw.charges.network import network
from earnshaw.errors import EarnshawError

GENERATOR = np.random.default_rng(0)
POSITIONS = GENERATOR.standard_normal((4, 3))
WEIGHTS = GENERATOR.standard_normal(4)
ON_SPHERE = POSITIONS / np.linalg.norm(POSITIONS, axis=1, keepdims=True)
INPUTS = GENERATOR.standard_normal((50, 3))


@pytest.mark.parametrize(
    ("name", "s"), [("relu", lambda z: np.maximum(z, 0)), ("tanh", np.tanh), ("sign", np.sign)]
)
def test_a_teacher_is_a_two_layer_network(name, s):
    teacher = ew.Teacher(POSITIONS, WEIGHTS, activation=name)
    assert (teacher.units, teacher.dim, teacher.manifold.name) == (4, 3, "space")
    np.testing.assert_allclose(teacher(INPUTS), s(INPUTS @ POSITIONS.T) @ WEIGHTS, rtol=1e-13)


def test_a_teacher_of_translations():
    """sigma = (2c/pi)^(d/4) exp(-c |x - w|^2) / sqrt(p(x)), p the inputs' density."""
    teacher = ew.Teacher(POSITIONS, WEIGHTS, "gaussian", rate=0.5, width=1.5)
    gaps = np.sum((INPUTS[:, None] - POSITIONS) ** 2, axis=2)
    density = np.exp(-np.sum(INPUTS**2, axis=1) / (2 * 1.5**2)) / (2 * math.pi * 1.5**2) ** 1.5
    exact = (1 / math.pi) ** 0.75 * np.exp(-0.5 * gaps) @ WEIGHTS / np.sqrt(density)
    np.testing.assert_allclose(teacher(INPUTS), exact, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "erf", "hermite-3"])
def test_mean_square_of_a_teacher_is_its_energy(name):
    """E[f^2] = sum_ij b_i b_j Phi(w_i, w_j) with the raw potential, by Monte Carlo."""
    teacher = ew.Teacher(POSITIONS, WEIGHTS, activation=name, width=0.8)
    pairs = teacher.potential.between(POSITIONS[:, None], POSITIONS)
    exact = float(WEIGHTS @ pairs @ WEIGHTS)
    x = 0.8 * np.random.default_rng(1).standard_normal((50_000, 3))
    squares = np.asarray(teacher(x)) ** 2
    assert abs(np.mean(squares) - exact) < 5 * np.std(squares) / math.sqrt(len(squares))


def test_the_perfect_student_has_the_natural_sign_and_opposite_charges():
    teacher = ew.Teacher(POSITIONS, WEIGHTS, activation="tanh")
    student = teacher.student()
    np.testing.assert_array_equal(student.weights, WEIGHTS)
    np.testing.assert_array_equal(student.charges, -WEIGHTS)
    g = network(teacher.activation, student, jnp.asarray(INPUTS))
    np.testing.assert_array_equal(g, teacher(INPUTS))


@settings(max_examples=10, deadline=None)
@given(units=st.integers(0, 5), dim=st.integers(1, 4))
def test_students_of_any_shape(units, dim):
    student = ew.Student(np.ones((units, dim)), np.arange(units))
    assert (student.units, student.dim) == (units, dim)
    assert student.positions.dtype == student.weights.dtype == jnp.float64
    assert student.charges.shape == (units,)


def test_a_student_without_units_is_zero():
    empty = ew.Student(np.zeros((0, 3)), [])
    g = network(ew.activation("relu"), empty, jnp.asarray(INPUTS))
    np.testing.assert_array_equal(g, np.zeros(50))


def test_networks_are_pytrees():
    """They pass through jit, vmap and grad; a batch of students has a leading axis."""
    teacher = ew.Teacher(POSITIONS, WEIGHTS, activation="tanh")
    compiled = eqx.filter_jit(lambda t, x: t(x))(teacher, INPUTS)
    np.testing.assert_allclose(compiled, teacher(INPUTS), rtol=1e-13)
    students = jax.vmap(lambda s: ew.Student(s * POSITIONS, s * WEIGHTS))(jnp.array([1.0, 2.0]))
    assert students.positions.shape == (2, 4, 3)
    assert (students.units, students.dim) == (4, 3)

    def mean(student):
        return jnp.mean(network(teacher.activation, student, jnp.asarray(INPUTS)))

    slope = jax.grad(mean)(teacher.student())
    exact = np.mean(np.tanh(INPUTS @ POSITIONS.T), axis=0)
    np.testing.assert_allclose(slope.weights, exact, rtol=1e-12)


def test_the_sphere_is_chosen_by_name():
    teacher = ew.Teacher(ON_SPHERE, WEIGHTS, activation="relu", on="sphere")
    assert teacher.manifold.name == "sphere"
    assert ew.Teacher(ON_SPHERE, WEIGHTS, "sphere-synthetic").manifold.name == "sphere"
    formula = ew.Teacher(ON_SPHERE, WEIGHTS, potential="exp(rho - 1)", on="sphere")
    np.testing.assert_allclose(formula.potential(0.5), math.exp(-0.5), rtol=1e-14)


def test_a_formula_on_space():
    teacher = ew.Teacher(POSITIONS, WEIGHTS, potential="exp(-r**2)")
    gap = np.sum((POSITIONS[0] - POSITIONS[1]) ** 2)
    found = teacher.potential.between(POSITIONS[0], POSITIONS[1])
    np.testing.assert_allclose(found, math.exp(-gap), rtol=1e-13)


def relu(positions, weights, **more):
    return ew.Teacher(positions, weights, activation="relu", **more)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: relu(np.ones((4, 3)), np.ones(3)), "allowed: weights of shape (4,)"),
        (lambda: relu(np.ones(3), np.ones(3)), "allowed: (units, dimension)"),
        (lambda: relu(np.ones((2, 0)), np.ones(2)), "allowed: (units, dimension)"),
        (lambda: relu(np.ones((0, 3)), []), "no units"),
        (lambda: relu([[1.0, math.nan]], [1.0]), "positions have NaN"),
        (lambda: relu([[1.0, 2.0]], [math.inf]), "weights have NaN or infinite"),
        (lambda: relu([["one", "two"]], [1.0]), "arrays of real numbers"),
        (lambda: relu([["1", "2"]], [1.0]), "arrays of real numbers"),
        (lambda: relu([[1.0, 2.0], [3.0]], [1.0, 1.0]), "arrays of real numbers"),
        (lambda: relu([[1j, 2.0]], [1.0]), "arrays of real numbers"),
        (lambda: relu([[10**400, 2]], [1.0]), "arrays of real numbers"),
        (lambda: relu(None, None), "arrays of real numbers"),
        (lambda: relu(POSITIONS, WEIGHTS, on="sphere"), "off the sphere"),
        (lambda: relu(POSITIONS, WEIGHTS, on="torus"), "unknown manifold 'torus'"),
        (lambda: relu(POSITIONS, WEIGHTS, dim=3), "no parameter 'dim'"),
        (lambda: relu(POSITIONS, WEIGHTS, normalize=True), "no parameter 'normalize'"),
        (lambda: relu(POSITIONS, WEIGHTS, slope=2.0), "no parameter 'slope'"),
        (lambda: relu(POSITIONS, WEIGHTS, width=0.0), "width"),
        (lambda: relu(POSITIONS, WEIGHTS, potential="r"), "activation=, or potential="),
        (lambda: ew.Teacher(POSITIONS, WEIGHTS), "activation=, or potential="),
        (lambda: ew.Teacher(POSITIONS, WEIGHTS, "rellu"), "did you mean relu"),
        (lambda: ew.Teacher(POSITIONS, WEIGHTS, "sphere-synthetic", on="space"), "on=sphere"),
        (lambda: ew.Teacher(POSITIONS, WEIGHTS, potential="exp(-r)", lam=2.0), "['lam']"),
        (lambda: ew.Teacher(POSITIONS, WEIGHTS, potential="exp(-s)"), "unknown name 's'"),
        (lambda: relu(POSITIONS, WEIGHTS)(np.ones(3)), "allowed: (samples, 3)"),
        (lambda: relu(POSITIONS, WEIGHTS)(np.ones((5, 1))), "allowed: (samples, 3)"),
        (lambda: ew.Student(np.ones((2, 3)), np.ones((3, 3))), "weights of shape (2,), or"),
        (lambda: ew.Student([[math.nan]], [1.0]), "student's positions have NaN"),
    ],
)
def test_bad_input_is_one_line(call, words):
    with pytest.raises(EarnshawError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
