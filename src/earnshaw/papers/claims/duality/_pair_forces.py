"""Charges by hand: potentials in high precision, and forces between pairs in NumPy.

The papers' notation: protons of charge b at w, electrons of charge a at theta, and

    L(a, theta) = sum a_i a_j Phi(theta_i, theta_j) + 2 sum a_i b_j Phi(theta_i, w_j) + constant.

Electron-Proton Dynamics (Full, Definition 2.2) moves electron i by -sum_(j != i) F_i(j), where
F_i(j) = a_i a_j grad Phi(theta_i, theta_j) for every other charge, fixed ones too. A `Law` is a
potential in mpmath, for L and its differences, and its gradient in NumPy, for the forces: one
checks the other. Nothing here uses earnshaw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

Array = np.ndarray


class Law(NamedTuple):
    """Phi(theta, w) in mpmath, and its gradient in theta in NumPy; `on` is where units live."""

    on: str
    potential: Callable[[Any, Any], Any]
    gradient: Callable[[Array, Array], Array]


def _dot(x: Any, y: Any) -> Any:
    return mpmath.fdot(x, y)


def _gaussian(x: Any, y: Any) -> Any:
    return mpmath.exp(-sum((p - q) ** 2 for p, q in zip(x, y, strict=True)) / 2)


def _gaussian_gradient(x: Array, y: Array) -> Array:
    return -math.exp(-float(np.sum((x - y) ** 2)) / 2) * (x - y)


def _relu(x: Any, y: Any) -> Any:
    c, square = _dot(x, y), _dot(x, x) * _dot(y, y)
    wedge = mpmath.sqrt(max(square - c * c, mpmath.mpf(0)))
    return (wedge + (mpmath.pi - mpmath.atan2(wedge, c)) * c) / (2 * mpmath.pi)


def _relu_gradient(x: Array, y: Array) -> Array:
    size, other = float(np.linalg.norm(x)), float(np.linalg.norm(y))
    c = float(x @ y)
    angle = math.acos(min(max(c / (size * other), -1.0), 1.0))
    return (other * math.sin(angle) * x / size + (math.pi - angle) * y) / (2 * math.pi)


def _exponential(x: Any, y: Any) -> Any:
    return mpmath.exp((_dot(x, x) + _dot(y, y)) / 2 + _dot(x, y))


def _tangent(slope: Callable[[float], float]) -> Callable[[Array, Array], Array]:
    """f'(rho) (w - rho theta), the gradient of f(rho) on the sphere."""

    def gradient(x: Array, y: Array) -> Array:
        rho = float(x @ y)
        return slope(rho) * (y - rho * x)

    return gradient


def _relu_slope(rho: float) -> float:
    return (math.pi - math.acos(min(max(rho, -1.0), 1.0))) / (2 * math.pi)


LAWS = {
    "gaussian": Law("space", _gaussian, _gaussian_gradient),
    "exponential": Law("sphere", _exponential, _tangent(lambda rho: math.exp(1 + rho))),
    "relu": Law("sphere", _relu, _tangent(_relu_slope)),
    "hermite-3": Law("sphere", lambda x, y: _dot(x, y) ** 3, _tangent(lambda rho: 3 * rho * rho)),
    "relu in space": Law("space", _relu, _relu_gradient),
}


def velocities(law: Law, theta: Array, a: Array, w: Array, b: Array) -> Array:
    """Electron-Proton Dynamics under Phi: the velocity of each electron, (k, d)."""
    total = np.zeros_like(theta)
    for i, here in enumerate(theta):
        for j, there in enumerate(theta):
            if j != i:
                total[i] -= a[i] * a[j] * law.gradient(here, there)
        for charge, there in zip(b, w, strict=True):
            total[i] -= a[i] * charge * law.gradient(here, there)
    return total


def descent_by_differences(law: Law, theta: Array, a: Array, w: Array, b: Array) -> Array:
    """-grad (L/2), L as in Full eq. 1, by central differences in 50 digits.

    On the sphere the gradient is that of L(theta/|theta|), as the papers define it.
    """
    with mpmath.workdps(50):
        step = mpmath.mpf(10) ** -15
        charges = [mpmath.mpf(float(c)) for c in (*a, *b)]
        places = [[mpmath.mpf(float(x)) for x in place] for place in (*theta, *w)]

        def half(moved: int, place: list[Any]) -> Any:
            """What of L/2 depends on electron `moved`, put at `place`."""
            if law.on == "sphere":
                size = mpmath.sqrt(_dot(place, place))
                place = [x / size for x in place]
            pairs = (
                charges[moved] * charge * law.potential(place, other)
                for j, (charge, other) in enumerate(zip(charges, places, strict=True))
                if j != moved
            )
            return sum(pairs) + charges[moved] ** 2 * law.potential(place, place) / 2

        out = np.zeros_like(theta)
        for i, axis in np.ndindex(*theta.shape):
            ends = []
            for side in (1, -1):
                place = list(places[i])
                place[axis] += side * step
                ends.append(half(i, place))
            out[i, axis] = float((ends[1] - ends[0]) / (2 * step))
        return out


def integrate(field: Callable[[Array], Array], theta: Array, time: float) -> Array:
    """Where d theta/dt = field(theta) leads, by SciPy's DOP853 to 1e-11."""

    def flat(t: float, y: Array) -> Array:
        return field(y.reshape(theta.shape)).ravel()

    found = solve_ivp(flat, (0, time), theta.ravel(), "DOP853", rtol=1e-11, atol=1e-13)
    return found.y[:, -1].reshape(theta.shape)
