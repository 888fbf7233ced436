"""What one more unit would do: against the loss itself, by refitting and by finite differences."""

import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew

pytestmark = pytest.mark.slow

CASES = {
    "almost-harmonic": {"activation": "almost-harmonic", "dim": 3},
    "relu": {"activation": "relu", "dim": 3},
    "sphere": {"activation": "hermite-3", "dim": 3, "on": "sphere"},
    "regularized": {"activation": "gaussian", "dim": 3, "positions": "gaussian"},
    "samples": {"activation": "tanh", "dim": 3},
}


def losses(name):
    teacher = ew.random_teacher(units=3, seed=1, **CASES[name])
    if name == "samples":
        return teacher, ew.empirical_loss(teacher, samples=500, seed=2)
    objective = "regularized" if name == "regularized" else "full"
    return teacher, ew.population_loss(teacher, objective)


@pytest.mark.parametrize("name", CASES)
def test_free_units_against_the_loss(name):
    teacher, loss = losses(name)
    student = ew.random_student(teacher, 2, seed=3)
    points = ew.random_student(teacher, 4, seed=4).positions
    there = loss.left_by(student).free_units(points)
    assert float(loss.left_by(student).empty_value()) == pytest.approx(float(loss.value(student)))
    for point, weight, log_saving in zip(points, there.weights, there.log_savings, strict=True):
        more = [
            float(
                loss.value(
                    ew.Student(
                        jnp.vstack([student.positions, point]),
                        jnp.append(student.weights, weight * factor),
                    )
                )
            )
            for factor in (0.0, 0.9, 1.0, 1.1)
        ]
        # L(factor) is a parabola with its least value at 1.
        assert more[0] - more[2] == pytest.approx(np.exp(float(log_saving)), rel=1e-6, abs=1e-13)
        assert more[1] - more[2] == pytest.approx((more[0] - more[2]) / 100, rel=1e-4, abs=1e-12)
        assert more[3] - more[2] == pytest.approx((more[0] - more[2]) / 100, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_the_logarithm(name):
    teacher, loss = losses(name)
    left = loss.left_by(ew.random_student(teacher, 2, seed=3))
    points = ew.random_student(teacher, 4, seed=4).positions
    direction = np.random.default_rng(0).standard_normal(points.shape)
    direction = loss.manifold.tangent(points, direction)
    h = 1e-5
    ahead, behind = (
        left.free_units(loss.manifold.retract(points, side * h * direction)).log_savings
        for side in (1, -1)
    )
    slope = jnp.sum(left.free_units(points).gradients * direction, axis=1)
    np.testing.assert_allclose((ahead - behind) / (2 * h), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_unexplained_is_a_ratio_of_potentials(name):
    teacher, loss = losses(name)
    student = ew.random_student(teacher, 2, seed=3)
    points = ew.random_student(teacher, 4, seed=4).positions
    found = loss.unexplained(points, student)
    if name == "samples":
        outputs = loss.response.outputs(loss.x, points)
        units = loss.response.outputs(loss.x, student.positions)
        left = outputs.T @ (loss.y - units @ student.weights)
        made = outputs.T @ (units @ jnp.abs(student.weights))
    else:
        phi = teacher.potential
        between = lambda x, y: loss.field.matrix(x, y)  # noqa: E731
        assert phi is not None
        left = (
            between(points, teacher.positions) @ teacher.weights
            - between(points, student.positions) @ student.weights
        )
        made = between(points, student.positions) @ jnp.abs(student.weights)
    np.testing.assert_allclose(found, jnp.log(jnp.abs(left / made)), rtol=1e-9, atol=1e-9)
    nothing = ew.Student(student.positions, jnp.zeros(2))
    assert np.all(np.isposinf(loss.unexplained(points, nothing)))


@pytest.mark.parametrize("name", CASES)
def test_refit_leaves_room_alone(name):
    teacher, loss = losses(name)
    student = ew.random_student(teacher, 5, seed=3)
    used = jnp.asarray([True, False, True, True, False])
    fitted, value = loss.refit(student, used)
    rows = np.flatnonzero(used)
    few = ew.Student(student.positions[rows], student.weights[rows])
    np.testing.assert_allclose(fitted.weights[rows], loss.optimal_weights(few).weights, rtol=1e-7)
    assert np.all(np.asarray(fitted.weights)[~np.asarray(used)] == 0)
    assert float(value) == pytest.approx(float(loss.value(fitted)), rel=1e-10, abs=1e-13)


SLOPES = [
    ("almost-harmonic", 3, None),
    ("almost-harmonic", 3, "sphere"),
    ("sign", 3, "sphere"),
    ("sign", 3, "space"),
    ("bessel", 1, None),
    ("gaussian", 3, None),
    ("relu", 3, "space"),
    ("hermite-3", 3, "sphere"),
]


@pytest.mark.parametrize(("name", "dim", "on"), SLOPES)
def test_cusps_against_a_short_step(name, dim, on):
    """Phi(x, x) - Phi(y, x) = cusp |y - x| for y close to x, across x where only that is a cusp."""
    teacher = ew.random_teacher(name, dim, 2, seed=5, on=on)
    loss, h = ew.population_loss(teacher), 1e-6
    x = teacher.positions if on == "sphere" else 2 * teacher.positions
    step = np.random.default_rng(1).standard_normal(x.shape)
    if dim > 1:
        step -= (np.sum(step * x, axis=1) / np.sum(x * x, axis=1))[:, None] * x
    step /= np.linalg.norm(step, axis=1, keepdims=True)
    y = loss.manifold.retract(x, h * step)
    fall = (loss.field.coupling.exact(x, x)[0] - loss.field.coupling.exact(y, x)[0]) / h
    np.testing.assert_allclose(loss.cusp(x), fall, rtol=1e-4, atol=1e-4)
