"""The flow of a smooth potential, against SciPy, gradient descent and the minima it must reach."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from dynamics.charges_in_space import check_energy_falls, flow
from earnshaw.dynamics.simulate import simulate

W, B = np.array([[0.0, 0, 0], [1.0, 0.2, 0]]), np.array([1.0, 0.5])
THETA, C = np.array([[0.1, 0.4, 0], [0.6, 0.3, 0.2]]), np.array([0.9, 0.4])
TEACHER = ew.Teacher(W, B, potential="exp(-r^2)")
STUDENT = ew.Student(THETA, C)


def slope(r):
    """f'(r)/r of exp(-r^2)."""
    return -2 * np.exp(-r * r)


@pytest.mark.slow
@pytest.mark.parametrize("wrt", ["positions", "both"])
def test_paper_error_3_flow_on_half_the_loss_is_dynamics_under_phi(wrt):
    value = (lambda r: np.exp(-r * r)) if wrt == "both" else None
    path = simulate(TEACHER, STUDENT, 1.5, wrt=wrt)
    assert path.stop == "time"
    assert path.times[-1] == 1.5
    once = flow(slope, THETA, C, W, B, [1.5], value=value)
    twice = flow(slope, THETA, C, W, B, [1.5], value=value, factor=2.0)
    for found, right, wrong in zip((path.positions, path.weights), once, twice, strict=True):
        np.testing.assert_allclose(found[-1], right[-1], atol=2e-7)
        if wrt == "both":
            assert np.max(np.abs(found[-1] - wrong[-1])) > 1e-3
    assert np.max(np.abs(path.positions[-1] - twice[0][-1])) > 1e-2
    check_energy_falls(path)


@pytest.mark.slow
def test_recorded_energy_is_the_loss():
    path = simulate(TEACHER, STUDENT, 1.5)
    loss = ew.population_loss(TEACHER)
    middle = len(path.times) // 2
    for n in (0, middle, -1):
        there = ew.Student(path.positions[n], path.weights[n])
        assert path.energy[n] == pytest.approx(float(loss.value(there)), rel=1e-12)
    np.testing.assert_array_equal(path.student.positions, path.positions[-1])


@pytest.mark.slow
def test_gradient_descent_converges_to_the_flow_at_first_order():
    time, steps = 1.5, np.array([16, 32, 64, 128])
    loss = ew.population_loss(TEACHER, wrt="positions")
    end = simulate(TEACHER, STUDENT, time).positions[-1]
    errors = []
    for count in steps:
        x = THETA
        for _ in range(count):
            x = x - time / count * np.asarray(loss.gradient(ew.Student(x, C)).positions) / 2
        errors.append(np.max(np.abs(x - end)))
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order == pytest.approx(1.0, abs=0.08)


@pytest.mark.slow
def test_comes_to_equilibrium_at_the_teacher():
    path = simulate(TEACHER, ew.Student(THETA, B), 1e4)
    assert path.stop == "equilibrium"
    np.testing.assert_allclose(path.positions[-1], W, atol=1e-5)
    assert path.energy[-1] < 1e-10
    assert not path.events
    assert np.all(path.bound == -1)
    check_energy_falls(path)


def test_resampling_agrees_with_the_steps_and_with_the_flow_between():
    path = simulate(TEACHER, STUDENT, 1.5)
    positions, weights = path.at(path.times)
    np.testing.assert_allclose(positions, path.positions, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(weights, path.weights)
    between = np.linspace(0.05, 1.45, 9)
    exact = flow(slope, THETA, C, W, B, between)[0]
    np.testing.assert_allclose(path.at(between)[0], exact, atol=2e-3)
    np.testing.assert_array_equal(path.at([99.0])[0][0], path.positions[-1])
    with pytest.raises(ew.EarnshawError, match="times is"):
        path.at([np.nan])


def test_bitwise_the_same_twice():
    first, second = (simulate(TEACHER, STUDENT, 1.5) for _ in range(2))
    for name in ("times", "positions", "weights", "energy"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_step_limit_and_interruption():
    short = simulate(TEACHER, STUDENT, 1.5, max_steps=1)
    assert short.stop == "step-limit"
    told = []

    def stop_soon(part, note):
        told.append((part, note))
        raise KeyboardInterrupt

    path = simulate(TEACHER, STUDENT, 1.5, on_progress=stop_soon)
    assert path.stop == "interrupted"
    assert len(path.times) == len(path.positions) == len(path.energy) == 1
    assert told[0][0] == 0.0
    assert "0 of 2 units bound" in told[0][1]
