"""Electrons of another activation than the protons', against SciPy's flow of the networks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import earnshaw as ew
from earnshaw.dynamics.path_file import load_path, save_path
from earnshaw.lab.replay import replay_of

pytestmark = pytest.mark.slow

# The teacher 1.2 sin(1.5 x + 0.3) + 0.4 sin(x - 0.5), the students c s(t x + e), in R: elementary
# potentials, which are soon compiled.
X = np.linspace(-12, 12, 4801)
DENSITY = np.exp(-(X**2) / 2) / np.sqrt(2 * np.pi) * (X[1] - X[0])
ANSWER = 1.2 * np.sin(1.5 * X + 0.3) + 0.4 * np.sin(X - 0.5)
TEACHER = ew.Teacher([[1.5], [1.0]], [1.2, 0.4], "sin", biases=[0.3, -0.5])
SMOOTH = {
    "gaussian-bump": (lambda u: np.exp(-(u**2) / 2), lambda u: -u * np.exp(-(u**2) / 2)),
    "sin": (np.sin, np.cos),
}
BEGIN = {"positions": [[0.4], [-0.7]], "weights": [0.5, 0.3], "biases": [0.1, 0.6]}
TIME = 4.0


def end_of_flow(names):
    """Places (2, 2), with biases, and weights (2,) after the flow of -(1/2) grad E[(f - g)^2]."""

    def velocity(_, state):
        places, weights = state[:4].reshape(2, 2), state[4:]
        u = places[:, :1] * X + places[:, 1:]
        values = np.array([SMOOTH[name][0](row) for name, row in zip(names, u, strict=True)])
        slopes = np.array([SMOOTH[name][1](row) for name, row in zip(names, u, strict=True)])
        left = (ANSWER - weights @ values) * DENSITY
        moves = weights[:, None] * np.stack([slopes * X @ left, slopes @ left], axis=1)
        return np.concatenate([moves.ravel(), values @ left])

    places = np.concatenate([BEGIN["positions"], np.transpose([BEGIN["biases"]])], axis=1)
    start = np.concatenate([places.ravel(), BEGIN["weights"]])
    state = solve_ivp(velocity, (0, TIME), start, rtol=1e-10, atol=1e-12).y[:, -1]
    return state[:4].reshape(2, 2), state[4:]


@pytest.mark.parametrize("names", [["gaussian-bump"] * 2, ["gaussian-bump", "sin"]], ids="-".join)
def test_the_flow_is_that_of_the_two_networks(names, tmp_path):
    student = ew.Student(**BEGIN, activation=names[0] if len(set(names)) == 1 else names)
    path = ew.simulate(TEACHER, student, TIME, wrt="both")
    places, weights = end_of_flow(names)
    np.testing.assert_allclose(path.positions[-1], places, atol=1e-6)
    np.testing.assert_allclose(path.weights[-1], weights, atol=1e-6)
    own = np.array([SMOOTH[n][0](p[0] * X + p[1]) for n, p in zip(names, places, strict=True)])
    np.testing.assert_allclose(path.energy[-1], (ANSWER - weights @ own) ** 2 @ DENSITY, rtol=1e-6)
    np.testing.assert_allclose(path.student(X[:, None]), weights @ own, atol=1e-5)
    assert replay_of(path)["table"] is None  # the lab's engine knows one potential


def test_a_path_in_a_file_knows_of_which_kind_its_electrons_are(tmp_path):
    student = ew.Student(**BEGIN, activation="gaussian-bump")
    path = ew.simulate(TEACHER, student, TIME / 2, wrt="both")
    save_path(tmp_path / "path.npz", path)
    again, _ = load_path(tmp_path / "path.npz")
    assert again.student.unit_kind.name == "gaussian-bump"
    longer = ew.extend(again, TIME)
    np.testing.assert_array_equal(longer.energy, ew.extend(path, TIME).energy)
    assert longer.energy[-1] < path.energy[-1]
    path.plot(tmp_path / "path.png")


def test_units_that_would_bind_to_each_other_only_are_refused():
    jumping = ew.Student([[1.0], [0.5]], [1.0, 1.0], biases=[0.0, 0.2], activation="step")
    with pytest.raises(ValueError, match=r"^(step on R|units of step).*; allowed: "):
        ew.simulate(TEACHER, jumping)
