"""Hessian descent, SecondGD and noisy SGD on charges, on samples and on a strict saddle."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, batch, descend, one_step, point, saddle, seed
from earnshaw.charges.network import Student, Teacher
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.hessian_descent import HessianDescent
from earnshaw.descent.loop import stop_codes
from earnshaw.descent.method import Stop, stop_of
from earnshaw.descent.noisy_sgd import NoisySGD, stochastic_gradient, unit_noise
from earnshaw.descent.second_gd import SecondGD
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.population import population_loss

pytestmark = pytest.mark.slow

TOY = Toy((), saddle)


@functools.cache
def _case(name):
    """A loss and two starts: two units under a teacher of two."""
    activation, on, dim = {
        "gaussian": ("gaussian", "space", 3),
        "relu": ("relu", "space", 2),
        "hermite": ("hermite", "sphere", 3),
        "almost-harmonic": ("almost-harmonic", "space", 3),
        "samples": ("tanh", "space", 2),
    }[name]
    generator = np.random.default_rng(1)
    x, w = generator.standard_normal((2, 2, dim)), generator.standard_normal((2, dim))
    if on == "sphere":
        x, w = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (x, w))
    parameters = {"degree": 3} if name == "hermite" else {}
    teacher = Teacher(w, generator.uniform(0.5, 1, 2), activation, on=on, **parameters)
    loss = empirical_loss(teacher, 50, batch=10) if name == "samples" else population_loss(teacher)
    return loss, Student(x, generator.uniform(-1, 1, (2, 2)))


def _values(loop):
    assert int(loop.history.every) == 1
    return np.asarray(loop.history.values)[: int(loop.history.count)]


@pytest.mark.parametrize(
    ("name", "method"),
    [
        # SecondGD makes steps of both kinds.
        *((name, SecondGD(eta=0.1)) for name in ("gaussian", "hermite", "almost-harmonic")),
        ("relu", GradientDescent()),
        ("samples", SecondGD(eta=0.1)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_no_step_increases_the_loss(name, method):
    loss, starts = _case(name)
    loop = descend(method, loss, starts, 100)
    values = _values(loop)
    assert np.all(np.diff(values, axis=0) <= 0)
    assert np.all(values[-1] < values[0])
    assert np.all(np.isfinite(loop.states.student.positions))


def test_second_gd_leaves_a_saddle_that_traps_gradient_descent():
    """Two units in one place with one weight stay together under the gradient."""
    loss, starts = _case("gaussian")
    together = Student(
        jnp.tile(starts.positions[:, :1], (1, 2, 1)), jnp.tile(starts.weights[:, :1], (1, 2))
    )
    trapped = descend(GradientDescent(tolerance=1e-6), loss, together, 3000)
    assert stop_of(int(trapped.states.stop[0])) == Stop.STATIONARY
    escaped = descend(SecondGD(), loss, together, 3000)
    assert stop_of(int(escaped.states.stop[0])) == Stop.CONVERGED
    assert float(trapped.states.value[0]) > 0.01
    assert float(escaped.states.value[0]) < 1e-9
    end = jax.tree.map(lambda part: part[0], escaped.states.student)
    smallest = np.linalg.eigvalsh(np.asarray(loss.hessian(end)))[0]
    assert smallest >= -1e-6
    assert float(escaped.states.smallest_eigenvalue[0]) == pytest.approx(smallest, abs=1e-12)


def test_hessian_descent_alone_stops_where_nothing_curves_down():
    # Beyond |x| = 1/sqrt(3) the toy is convex: a gradient, and no curvature to follow.
    loop = descend(HessianDescent(), TOY, batch(point(0.8, 1.0), point(1.0, 0.0)), 10)
    assert [stop_of(int(code)) for code in loop.states.stop] == [Stop.NO_DECREASE, Stop.CONVERGED]
    assert np.array_equal(loop.states.student.positions[0, 0], [0.8, 1.0])
    assert float(loop.states.smallest_eigenvalue[1]) == pytest.approx(1)
    loop = descend(HessianDescent(), TOY, batch(point(0.1, 1.0), point(0.0, -0.5)), 100)
    assert np.all(np.diff(_values(loop), axis=0) <= 0)
    assert np.all(np.abs(loop.states.student.positions[:, 0, 0]) > 0.57)  # where it is convex
    assert np.array_equal(loop.states.student.positions[:, 0, 1], [1.0, -0.5])


@pytest.mark.parametrize("method", [HessianDescent(), SecondGD()], ids=["hd", "second-gd"])
def test_a_hessian_that_is_not_finite_ends_the_run_where_it_is(method):
    broken = Toy((), lambda x: jnp.sum(jnp.abs(x) ** 1.5), size=2)
    before, after = one_step(method, broken, point(0.0, 0.0))
    assert stop_of(int(after.stop)) == Stop.NO_DECREASE
    assert np.array_equal(after.student.positions, before.student.positions)


@pytest.mark.parametrize("wrt", ["both", "positions", "weights"])
def test_noise_has_length_one_and_is_tangent(wrt):
    loss, starts = _case("hermite")
    loss = dataclasses.replace(loss, wrt=wrt)
    student = jax.tree.map(lambda part: part[0], starts)
    draw = jax.jit(jax.vmap(lambda key: unit_noise(loss, student, key)))
    noise = draw(jax.random.split(seed(), 500))
    lengths = jnp.sum(noise.positions**2, axis=(1, 2)) + jnp.sum(noise.weights**2, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-13)
    outward = jnp.sum(noise.positions * student.positions, axis=2)
    np.testing.assert_allclose(outward, 0, atol=1e-14)
    assert (wrt == "weights") == (not np.any(noise.positions))
    assert (wrt == "positions") == (not np.any(noise.weights))
    free = {"both": 6, "positions": 4, "weights": 2}[wrt]
    share = float(jnp.mean(jnp.sum(noise.weights**2, axis=1)))
    assert share == pytest.approx((free - 4) / free if wrt != "weights" else 1, abs=0.05)
    assert np.max(np.abs(np.mean(noise.positions, axis=0))) < 0.1


def test_noisy_sgd_reaches_a_minimum_from_the_saddle():
    method = NoisySGD(step_size=2e-3, tolerance=0.1)
    starts = batch(point(0.0, 0.0), point(0.0, 0.0))
    loop = descend(method, TOY, starts, 20_000)
    assert np.all(loop.states.stop == Stop.CONVERGED.code)
    places = np.asarray(loop.states.student.positions)[:, 0]
    assert np.all(np.abs(np.abs(places[:, 0]) - 1) < 0.05)
    assert np.all(np.asarray(loop.states.smallest_eigenvalue) >= -2 / 30)
    assert np.all(jax.vmap(lambda state: state.gradient_norm)(loop.states) <= 2 / 30)
    again = descend(method, TOY, starts, 20_000)
    assert np.array_equal(again.states.student.positions, loop.states.student.positions)
    other = descend(method, TOY, starts, 20_000, key=1)
    assert not np.array_equal(other.states.student.positions, loop.states.student.positions)
    failed = descend(method, TOY, starts, 10)
    assert [stop_of(int(code)) for code in stop_codes(method, failed, False)] == [Stop.FAIL] * 2


def test_noisy_sgd_steps_on_minibatches_where_there_are_some():
    loss, starts = _case("samples")
    state = NoisySGD().init(loss, jax.tree.map(lambda part: part[0], starts))
    slope = stochastic_gradient(loss, state, seed(4))
    expected = loss.minibatch(seed(4)).gradient(state.student)
    np.testing.assert_allclose(slope.positions, expected.positions, atol=1e-14)
    assert np.any(np.abs(slope.positions - state.gradient.positions) > 1e-3)
    whole = dataclasses.replace(loss, batch=None)
    assert stochastic_gradient(whole, state, seed(4)) is state.gradient


def test_noisy_sgd_is_the_step_of_algorithm_4():
    start = point(0.3, 0.2)
    before, after = one_step(NoisySGD(step_size=0.1), TOY, start)
    noise = unit_noise(TOY, start, jax.random.split(seed())[0])
    expected = start.positions - 0.1 * (before.gradient.positions + noise.positions)
    np.testing.assert_allclose(after.student.positions, expected, atol=1e-15)
    assert float(after.value) == pytest.approx(float(saddle(expected[0])), abs=1e-15)
