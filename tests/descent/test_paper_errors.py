"""What is wrong in the papers' Algorithms 1 and 2, with witnesses.

See mathematics.md, errors 1 and 2.
"""

import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, batch, descend, one_step, point, quadratic
from earnshaw.descent.hessian_descent import HessianDescent
from earnshaw.descent.method import RUNNING, Stop
from earnshaw.descent.second_gd import SecondGD
from earnshaw.descent.steps import Steps

SADDLE = Toy((jnp.diag(jnp.asarray([-1.0, 2.0])),), quadratic)
ALPHA = 0.25


def _printed_hessian_descent(objective, student, alpha):
    """Full, Algorithm 1, as printed: beta = -alpha lambda sign(grad.v)."""
    matrix, x = np.asarray(objective.parameters[0]), np.asarray(student.positions)[0]
    values, vectors = np.linalg.eigh(matrix)
    beta = -alpha * values[0] * np.sign((matrix @ x) @ vectors[:, 0])
    return point(*(x + beta * vectors[:, 0]))


@pytest.mark.slow
def test_paper_error_1_printed_hessian_descent_climbs():
    start = point(0.5, 0.1)
    before = float(SADDLE.value(start))
    printed = float(SADDLE.value(_printed_hessian_descent(SADDLE, start, ALPHA)))
    assert printed > before + ALPHA * 0.1
    _, ours = one_step(HessianDescent(Steps(ALPHA)), SADDLE, start)
    assert float(ours.value) <= before - ALPHA**2 / 3
    # The step is -alpha |lambda| sign(grad.v) v: here from 0.5 to 0.75 along the first axis.
    np.testing.assert_allclose(ours.student.positions, [[0.75, 0.1]], atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [Steps(ALPHA), Steps()], ids=["constant", "adaptive"])
def test_paper_error_1_an_exact_saddle_is_left(steps):
    start = point(0.0, 0.0)
    printed = _printed_hessian_descent(SADDLE, start, ALPHA)
    assert np.array_equal(printed.positions, start.positions)  # sign(0) = 0 never moves
    for method in (HessianDescent(steps), SecondGD(steps)):
        _, ours = one_step(method, SADDLE, start)
        assert int(ours.stop) == RUNNING
        assert float(ours.value) <= -(ALPHA**2) / 3
        assert float(ours.smallest_eigenvalue) == pytest.approx(-1, rel=1e-14)


def _even_cubic(x, gamma, b3):
    """-gamma x^2/2 + b3 |x|^3/6 + y^2/2: its Hessian has the Lipschitz constant b3."""
    return -gamma * x[0] ** 2 / 2 + b3 * jnp.abs(x[0]) ** 3 / 6 + x[1] ** 2 / 2


@pytest.mark.slow
def test_paper_error_2_the_printed_decrease_is_not_reached():
    """With alpha = 1/B3 the decrease is 0.35 alpha^2 gamma^3: at least a third, never half."""
    gamma, b3 = 0.5, 2.0
    alpha, eta = 1 / b3, 1.0
    objective = Toy((jnp.asarray(gamma), jnp.asarray(0.9 * b3)), _even_cubic)
    method = SecondGD(Steps(alpha), eta=eta, gamma=gamma * (1 - 1e-12))
    before, after = one_step(method, objective, point(0.0, 0.0))
    decrease = float(before.value - after.value)
    unit = alpha**2 * gamma**3
    assert unit / 3 < decrease < unit / 2
    assert decrease == pytest.approx(0.35 * unit, rel=1e-12)
    printed_threshold = min(alpha * eta**2 / 2, unit / 2)
    assert float(after.value) >= float(before.value) - printed_threshold  # as printed: stops here
    assert int(after.stop) == RUNNING  # ours goes on
    assert float(method.threshold(method.steps.size)) == pytest.approx(unit / 3, rel=1e-9)


@pytest.mark.slow
def test_paper_error_2_equality_is_progress():
    """A gradient step that decreases by exactly its guarantee must not end the run."""
    parabola = Toy((jnp.eye(2),), quadratic)
    alpha, eta = 1.0, 0.5
    method = SecondGD(Steps(alpha), eta=eta, gamma=10.0)
    before, after = one_step(method, parabola, point(0.5, 0.0))
    threshold = float(method.threshold(method.steps.size))
    assert float(before.value - after.value) == threshold == alpha * eta**2 / 2
    assert float(after.value) >= float(before.value) - threshold  # as printed: stops here
    assert int(after.stop) == RUNNING
    ended = descend(method, parabola, batch(point(0.5, 0.0)), 10)
    assert int(ended.states.stop[0]) == Stop.CONVERGED.code
    assert float(ended.states.student.positions[0, 0, 0]) == 0


def test_steps_that_do_not_keep_the_promise_are_taken_back():
    """Algorithm 2 returns x_(i-1), not x_i."""
    parabola = Toy((100 * jnp.eye(2),), quadratic)
    start = point(0.5, 0.0)
    _, after = one_step(SecondGD(Steps(1.0), eta=1e-3, gamma=1e-3), parabola, start)
    assert int(after.stop) == Stop.NO_DECREASE.code
    assert np.array_equal(after.student.positions, start.positions)
