"""Descent in lockstep against its rule written out in plain Python, and on a cusp."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, batch, descend, point, saddle
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.random import random_teacher
from earnshaw.descent import loop
from earnshaw.descent.lockstep_descent import LockstepDescent
from earnshaw.descent.method import RUNNING, Stop, stop_of
from earnshaw.energy.population import population_loss
from earnshaw.landscape.hunting.hunt import hunt

TOY = Toy((), saddle)
STARTS = [(0.3, 1.0), (-2.0, 0.5), (1e-3, 3.0)]


def _saddle(x):
    """`saddle` and its gradient."""
    value = (x[0] ** 4 - 2 * x[0] ** 2 + 2 * x[1] ** 2) / 4
    return value, np.array([x[0] ** 3 - x[0], x[1]])


def _plain(start, steps):
    """The positions after each of the steps, while the decrease is well above rounding."""
    x, size = np.array(start), 1.25
    value, slope = _saddle(x)
    for _ in range(steps):
        trial = x - size * slope
        new, after = _saddle(trial)
        if new <= value - size * slope @ slope / 2:
            x, value, slope, size = trial, new, after, 1.25 * size
        else:
            size /= 2
        yield x, size


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_every_iteration_is_that_of_the_plain_rule(start):
    for steps, (x, size) in enumerate(_plain(start, 12), 1):
        states = descend(LockstepDescent(), TOY, batch(point(*start)), steps).states
        np.testing.assert_allclose(states.student.positions[0, 0], x, rtol=1e-12, atol=1e-14)
        assert float(states.step_size[0]) == size


@pytest.mark.slow
def test_a_bare_descent_is_the_loop_without_its_history():
    method, starts = LockstepDescent(), batch(*(point(*start) for start in STARTS))
    begun = jax.vmap(lambda student: method.init(TOY, student))(starts)
    states, used = loop.descend(method, TOY, begun, jnp.asarray(25))
    again, more = loop.descend(method, TOY, states, jnp.asarray(1000))
    whole = descend(method, TOY, starts, 1025)
    assert np.array_equal(used + more, whole.used)
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(whole.states), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert [stop_of(int(code)) for code in again.stop] == [Stop.STATIONARY] * 3
    np.testing.assert_allclose(np.abs(again.student.positions[:, 0]), [[1, 0]] * 3, atol=1e-7)


def test_a_stationary_start_stays_to_the_last_bit():
    minimum = point(1.0, 0.0)
    state = LockstepDescent().init(TOY, minimum)
    assert stop_of(int(state.stop)) == Stop.STATIONARY
    run = descend(LockstepDescent(), TOY, batch(minimum), 10)
    assert int(run.used[0]) == 0


@pytest.mark.slow
def test_a_unit_falls_straight_onto_a_cusp_and_stays():
    """-2 c b |x| pulls with a constant force, which turns round where the charge is."""
    teacher = Teacher([[0.0, 0.0]], [1.0], "distance")
    loss = population_loss(teacher, "without-constants", wrt="positions")
    start = np.array([0.3, 0.1])
    run = descend(LockstepDescent(cusps=True), loss, batch(Student(start[None], [1.0])), 120)
    x = np.asarray(run.states.student.positions[0, 0])
    assert np.linalg.norm(x) < 1e-14
    assert abs(x[0] * start[1] - x[1] * start[0]) < 1e-15
    assert int(run.states.stop[0]) == RUNNING


@pytest.mark.slow
def test_hunts_among_cusps_end_at_the_teacher():
    """Three sign units: of 60 starts nearly all find the loss 0, none by looking at the teacher."""
    found = hunt(random_teacher("sign", 3, 3, seed=0), starts=60, iterations=1000)
    assert sum(point.count for point in found.found if point.relative_loss < 1e-12) >= 57
