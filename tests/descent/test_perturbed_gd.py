"""Perturbed gradient descent: it leaves an exact saddle, waits between pushes, ends in M_eps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, batch, descend, one_step, point, saddle, seed
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.loop import begin, run
from earnshaw.descent.method import Stop
from earnshaw.descent.perturbed_gd import PerturbedGD, ball_noise
from earnshaw.descent.steps import Steps

TOY = Toy((), saddle)
SADDLES = batch(point(0.0, 0.0), point(0.0, 0.0), point(0.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("steps", [Steps(0.1), Steps()], ids=["constant", "adaptive"])
def test_an_exact_saddle_is_left_for_a_minimum(steps):
    method = PerturbedGD(steps, tolerance=1e-4, radius=1e-3, pause=200)
    loop = descend(method, TOY, SADDLES, 2000)
    assert np.all(loop.states.stop == Stop.CONVERGED.code)
    places = np.asarray(loop.states.student.positions)[:, 0]
    np.testing.assert_allclose(np.abs(places[:, 0]), 1, atol=1e-3)
    # By hand: the gradient (x^3 - x, y) and the Hessian diag(3 x^2 - 1, 1).
    x, y = places.T
    assert np.max(np.hypot(x**3 - x, y)) <= 1e-4
    assert np.min(3 * x**2 - 1) >= -1e-4
    stuck = descend(GradientDescent(steps), TOY, SADDLES, 2000)
    assert not np.any(np.asarray(stuck.states.student.positions)[:, 0, 0])


@pytest.mark.slow
def test_a_push_is_small_and_the_next_one_has_to_wait():
    method = PerturbedGD(Steps(0.1), tolerance=1e-2, radius=1e-3, pause=5)
    before, after = one_step(method, TOY, point(0.0, 0.0))
    assert 0 < np.linalg.norm(after.student.positions) <= 1e-3
    assert (int(before.rested), int(after.rested)) == (5, 0)
    loop = begin(method, TOY, batch(point(0.0, 0.0)), seed())
    first = run(method, TOY, loop, 1)[0].states
    start = np.asarray(first.student.positions)[0, 0]
    # Five plain steps of gradient descent, though the gradient is small: x' = 1.1 x, y' = 0.9 y.
    later = run(method, TOY, loop, 6)[0].states
    growth = np.array([1.1, 0.9]) ** 5
    np.testing.assert_allclose(later.student.positions[0, 0], growth * start, rtol=1e-5)
    assert int(later.rested[0]) == 5


@pytest.mark.slow
def test_pushes_are_uniform_in_the_ball():
    keys = jax.random.split(seed(1), 4000)
    noise = jax.vmap(lambda key: ball_noise(TOY, point(0.0, 0.0), key).positions[0])(keys)
    lengths = np.linalg.norm(noise, axis=1)
    # P(|xi| <= t) = t^2 in the plane, each with a standard error of at most 0.008.
    for t in (0.3, 0.6, 0.9):
        assert np.mean(lengths <= t) == pytest.approx(t**2, abs=0.03)
    assert np.max(np.abs(np.mean(noise, axis=0))) < 0.04
    assert lengths.max() <= 1


@pytest.mark.slow
def test_a_minimum_is_recognised_at_once():
    before, after = one_step(PerturbedGD(tolerance=1e-6), TOY, point(1.0, 0.0))
    assert int(after.stop) == Stop.CONVERGED.code
    assert float(after.smallest_eigenvalue) == pytest.approx(1.0)
    assert np.array_equal(before.student.positions, after.student.positions)
    assert jnp.array_equal(before.value, after.value)
