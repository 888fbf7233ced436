"""Implicit steps: the flow of one erf unit with a free weight, against SciPy and to its end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import earnshaw as ew

pytestmark = pytest.mark.slow

W, B = 2.0, 1.5  # the teacher: 1.5 erf(2 x)
START = (0.3, 0.2)


def phi(x, y):
    """E[erf(x X) erf(y X)] for X ~ N(0, 1)."""
    return 2 / np.pi * np.arcsin(2 * x * y / np.sqrt((1 + 2 * x * x) * (1 + 2 * y * y)))


def velocity(_, state):
    """-(1/2) grad of c^2 Phi(x, x) - 2 c b Phi(x, w), by complex steps."""
    h = 1e-30

    def loss(x, c):
        return c * c * phi(x, x) - 2 * c * B * phi(x, W)

    x, c = state
    return [-loss(x + 1j * h, c).imag / h / 2, -loss(x, c + 1j * h).imag / h / 2]


def flow(time: float, **asked) -> ew.Path:
    teacher = ew.Teacher([[W]], [B], "erf")
    student = ew.Student([[START[0]]], [START[1]])
    return ew.simulate(teacher, student, time, wrt="both", **asked)


def test_the_way_is_that_of_scipys_radau():
    path = flow(30.0, solver="implicit")
    known = solve_ivp(velocity, (0.0, 30.0), START, method="Radau", rtol=1e-11, atol=1e-12)
    assert path.stop == "time"
    assert path.positions[-1, 0, 0] == pytest.approx(known.y[0, -1], abs=1e-6)
    assert path.weights[-1, 0] == pytest.approx(known.y[1, -1], abs=1e-6)


def test_it_comes_to_rest_at_a_certified_point():
    path = flow(1e7, solver="implicit", max_steps=2000)
    assert path.stop == "equilibrium"
    assert ew.certify(path.teacher, path.student).kind == "minimum"
    assert path.positions[-1, 0, 0] == pytest.approx(W, abs=1e-4)


def test_it_goes_on_from_where_it_stopped():
    whole, half = flow(20.0, solver="implicit"), flow(10.0, solver="implicit")
    extended = ew.extend(half, 20.0)
    assert extended.pause.solver == "implicit"
    assert extended.positions[-1, 0, 0] == pytest.approx(whole.positions[-1, 0, 0], abs=1e-7)


@pytest.mark.parametrize("activation", ["relu", "almost-harmonic"])
def test_what_is_not_smooth_is_refused(activation):
    teacher = ew.Teacher(np.eye(3), np.ones(3), activation)
    with pytest.raises(ValueError, match="needs a smooth flow"):
        ew.simulate(teacher, ew.Student(np.eye(3) / 2, np.ones(3)), solver="implicit")
