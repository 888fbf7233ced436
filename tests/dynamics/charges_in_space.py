"""Hand-written forces between charges, in NumPy: nothing here uses earnshaw.

Electrons of weights c at theta (k, d), protons of weights b at w (m, d), a potential Phi = f(r):
the force under Phi on electron i is c_i (sum_j b_j grad Phi - sum_(l != i) c_l grad Phi).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

Slope = Callable[[np.ndarray], np.ndarray]  # f'(r)/r as a function of r


def forces(slope: Slope, theta: np.ndarray, c: np.ndarray, w: np.ndarray, b: np.ndarray):
    """The force on each electron, (k, d)."""
    total = np.zeros_like(theta)
    for i in range(len(theta)):
        for j in range(len(w)):
            gap = theta[i] - w[j]
            total[i] += c[i] * b[j] * slope(np.linalg.norm(gap)) * gap
        for other in range(len(theta)):
            if other != i:
                gap = theta[i] - theta[other]
                total[i] -= c[i] * c[other] * slope(np.linalg.norm(gap)) * gap
    return total


def rates(value: Callable, theta: np.ndarray, c: np.ndarray, w: np.ndarray, b: np.ndarray):
    """How fast the weights change, (k,): the potential of protons less that of all electrons."""
    phi = lambda x, y: value(np.linalg.norm(x[:, None] - y[None], axis=2))  # noqa: E731
    return phi(theta, w) @ b - phi(theta, theta) @ c


def flow(slope, theta, c, w, b, times, factor=1.0, value=None, method="DOP853", rtol=1e-11):
    """Positions (n, k, d) and weights (n, k) at `times`; weights move if `value` is given."""
    k, d = theta.shape

    def field(t: float, y: np.ndarray) -> np.ndarray:
        x, weights = y[: k * d].reshape(k, d), y[k * d :]
        change = np.zeros(k) if value is None else rates(value, x, weights, w, b)
        return factor * np.concatenate([forces(slope, x, weights, w, b).ravel(), change])

    start = np.concatenate([theta.ravel(), c])
    found = solve_ivp(field, (0, times[-1]), start, method, times, rtol=rtol, atol=rtol / 100)
    assert found.success
    return found.y[: k * d].T.reshape(-1, k, d), found.y[k * d :].T


def check_energy_falls(path) -> None:
    """At every recorded step, to rounding and what the integrator's tolerance allows."""
    rise = np.diff(path.energy)
    assert np.all(rise <= 1e-9 * max(1.0, np.max(np.abs(path.energy)))), rise.max()
    assert np.all(np.diff(path.times) > 0)
