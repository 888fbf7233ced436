"""Gradient descent against a plain NumPy loop, and against its lemma."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, batch, descend, point, quadratic
from earnshaw.charges.network import Student, Teacher
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.method import Stop, stop_of
from earnshaw.descent.steps import Steps
from earnshaw.energy.population import population_loss

GENERATOR = np.random.default_rng(0)
X, W = GENERATOR.standard_normal((2, 2, 3))
C, B = GENERATOR.uniform(0.5, 1, (2, 2))
ALPHA, ITERATIONS = 0.05, 40


def _on_sphere(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _gaussian_gradient(x, c):
    """Of c.K c - 2 c.K b with K = exp(-r^2/2)."""

    def towards(y):
        gap = x[:, None] - y[None]
        kernel = np.exp(-np.sum(gap**2, axis=2) / 2)
        return kernel, -kernel[:, :, None] * gap

    (own, own_slope), (other, other_slope) = towards(x), towards(W)
    slope = np.einsum("ijd,j->id", own_slope, c) - np.einsum("ijd,j->id", other_slope, B)
    return 2 * c[:, None] * slope, 2 * (own @ c - other @ B)


def _hermite_gradient(x, c):
    """The same for K = (x.y)^3 on the sphere, the tangent part."""
    w = _on_sphere(W)
    own, other = x @ x.T, x @ w.T
    slope = (3 * own**2 * c) @ x - (3 * other**2 * B) @ w
    slope = 2 * c[:, None] * slope
    slope -= np.sum(slope * x, axis=1, keepdims=True) * x
    return slope, 2 * (own**3 @ c - other**3 @ B)


@functools.cache
def _loss(name):
    if name == "gaussian":
        return population_loss(Teacher(W, B, name))
    return population_loss(Teacher(_on_sphere(W), B, "hermite", on="sphere", degree=3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "on", "gradient"),
    [("gaussian", "space", _gaussian_gradient), ("hermite", "sphere", _hermite_gradient)],
)
def test_constant_steps_are_those_of_a_plain_loop(name, on, gradient):
    x, loss = X if on == "space" else _on_sphere(X), _loss(name)
    loop = descend(GradientDescent(Steps(ALPHA)), loss, batch(Student(x, C)), ITERATIONS)
    assert int(loop.iteration) == ITERATIONS
    c = C
    for _ in range(ITERATIONS):
        slope, change = gradient(x, c)
        x, c = x - ALPHA * slope, c - ALPHA * change
        if on == "sphere":
            x = _on_sphere(x)
    np.testing.assert_allclose(loop.states.student.positions[0], x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(loop.states.student.weights[0], c, rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        loop.states.gradient.positions[0], gradient(x, c)[0], rtol=0, atol=1e-13
    )


@pytest.mark.slow
def test_divergence_stops_at_the_last_finite_student():
    start = Student(_on_sphere(X), C)
    loop = descend(GradientDescent(Steps(1e3)), _loss("hermite"), batch(start), 200)
    assert stop_of(int(loop.states.stop[0])) == Stop.DIVERGED
    assert 10 < int(loop.iteration) < 100
    for part in (loop.states.student.positions, loop.states.student.weights, loop.states.value):
        assert np.all(np.isfinite(part))


@pytest.mark.slow
def test_adaptive_steps_find_the_curvature():
    """On x.A x/2 with eigenvalues 1 and 8 a step of 1/8 keeps the promise, one of 2 never does."""
    objective = Toy((jnp.diag(jnp.asarray([1.0, 8.0])),), quadratic)
    loop = descend(GradientDescent(tolerance=1e-9), objective, batch(point(1.0, 1.0)), 200)
    assert stop_of(int(loop.states.stop[0])) == Stop.STATIONARY
    assert float(loop.states.gradient_norm) <= 1e-9
    values = np.asarray(loop.history.values)[: int(loop.history.count), 0]
    norms = np.asarray(loop.history.gradient_norms)[: int(loop.history.count), 0]
    assert int(loop.history.every) == 1
    assert np.all(np.diff(values) <= -(norms[:-1] ** 2) / 16 / 2)


@pytest.mark.slow
def test_a_loss_that_falls_for_ever_is_followed_to_the_limit():
    objective = Toy((jnp.diag(jnp.asarray([1.0, -1.0])),), quadratic)
    loop = descend(GradientDescent(), objective, batch(point(1.0, 1e-3)), 30)
    assert float(loop.states.value[0]) < -1
    assert int(loop.iteration) == 30


@pytest.mark.slow
def test_steps_stay_finite_for_a_unit_that_has_landed_on_a_cusp():
    """Its gradient never vanishes, and no step is ever too long: the size must not double for ever.

    1100 doublings would make it infinite, and halving that would never end.
    """
    loss = population_loss(
        Teacher([[0.0, 0.0]], [1.0], "distance"), "without-constants", wrt="positions"
    )
    start = batch(Student([[0.3, 0.1]], [1.0]))
    loop = descend(GradientDescent(Steps(cusps=True)), loss, start, 1200)
    assert np.all(np.isfinite(loop.states.step_size))
    assert np.linalg.norm(loop.states.student.positions) < 1e-12
