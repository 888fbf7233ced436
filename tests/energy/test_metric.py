"""The metric of functions: E[grad g grad g^T], by quadrature and as a Hessian."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

import earnshaw as ew

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def of_quadrature(positions, weights):
    """By Gauss-Hermite quadrature in the plane, from the derivatives of c erf(x.w)."""
    x = np.stack(np.meshgrid(NODES, NODES), axis=-1).reshape(-1, 2)
    mass = np.outer(WEIGHTS, WEIGHTS).ravel() / (2 * np.pi)
    along = x @ positions.T
    by_positions = (weights * 2 / np.sqrt(np.pi) * np.exp(-(along**2)))[:, :, None] * x[:, None]
    slopes = np.concatenate([by_positions.reshape(len(x), -1), erf(along)], axis=1)
    return slopes.T @ (mass[:, None] * slopes)


def test_metric_is_that_of_quadrature():
    rng = np.random.default_rng(0)
    teacher = ew.random_teacher("erf", dim=2, units=2, seed=0)
    student = ew.Student(0.5 * rng.normal(size=(3, 2)), rng.normal(size=3))
    found = ew.population_loss(teacher).metric(student)
    expected = of_quadrature(np.asarray(student.positions), np.asarray(student.weights))
    assert np.asarray(found) == pytest.approx(expected, abs=1e-10)


CASES = {
    "relu": {"activation": "relu"},
    "gaussian": {"activation": "gaussian"},
    "sphere": {"activation": "erf", "on": "sphere"},
    "biased erf": {"activation": "erf", "biases": "gaussian"},
    "biased tanh": {"activation": "tanh", "biases": "gaussian"},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_metric_is_half_the_hessian_at_the_answer(case):
    asked = dict(CASES[case])
    teacher = ew.random_teacher(asked.pop("activation"), dim=3, units=3, seed=1, **asked)
    loss, answer = ew.population_loss(teacher), teacher.student()
    assert np.asarray(loss.metric(answer)) == pytest.approx(
        np.asarray(loss.hessian(answer)) / 2, abs=1e-12
    )


@pytest.mark.slow
def test_metric_of_units_of_two_activations_is_half_the_hessian_at_the_answer():
    rng = np.random.default_rng(3)
    kinds = ["sin", "gaussian-bump", "sin"]
    teacher = ew.Teacher(rng.normal(size=(3, 2)), rng.normal(size=3), kinds, biases=np.ones(3))
    loss, answer = ew.population_loss(teacher), teacher.student()
    assert np.asarray(loss.metric(answer)) == pytest.approx(
        np.asarray(loss.hessian(answer)) / 2, abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("wrt", ["positions", "weights", "both"])
def test_metric_of_what_moves_with_two_outputs(wrt):
    rng = np.random.default_rng(2)
    teacher = ew.Teacher(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), "erf")
    loss, answer = ew.population_loss(teacher, wrt=wrt), teacher.student()
    assert np.asarray(loss.metric(answer)) == pytest.approx(
        np.asarray(loss.hessian(answer)) / 2, abs=1e-12
    )


@pytest.mark.slow
def test_metric_of_samples_is_the_mean_of_products():
    teacher = ew.random_teacher("tanh", dim=3, units=2, seed=0)
    loss = ew.empirical_loss(teacher, samples=500, objective="regularized", chunk=64)
    student = ew.random_student(teacher, units=3, seed=1)

    def outputs(positions, weights):
        return jnp.tanh(loss.x @ positions.T) @ weights

    parts = jax.jacobian(outputs, (0, 1))(student.positions, student.weights)
    slopes = np.concatenate([np.reshape(part, (500, -1)) for part in parts], axis=1)
    expected = slopes.T @ slopes / 500 + np.diag([0.0] * 9 + [1.0] * 3)
    assert np.asarray(loss.metric(student)) == pytest.approx(expected, abs=1e-12)
