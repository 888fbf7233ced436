"""Charges under the almost lambda-harmonic potential, in NumPy and SciPy alone.

What the library computes in JAX, a second time and by other formulas, for tests: Phi from SciPy's
Bessel functions outside the core and from Taylor's formula inside (mathematics.md, "The almost
lambda-harmonic potential", ball core, lambda = 1), and the loss of the papers with its gradient and
Hessian, as sums over pairs,

    L(a, theta) = sum_ij a_i a_j Phi(theta_i, theta_j) + 2 sum_ij a_i b_j Phi(theta_i, w_j)
                  + sum_ij b_i b_j Phi(w_i, w_j) + ridge |a|^2,

with the papers' charges a = -weights; ridge = 1 makes it the papers' G.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.optimize import root
from scipy.special import comb, kve, poch

Jet = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def _scaled(nu: float, r: np.ndarray) -> np.ndarray:
    """k_nu(r) = r^(-nu) K_nu(r), whose derivative in u = r^2 is -k_(nu+1)/2."""
    return r**-nu * kve(nu, r) * np.exp(-r)


def potential(dim: int, radius: float) -> Jet:
    """Phi, Phi' and Phi'' as functions of distances, normalised to Phi(0) = 1.

    Inside, -Phi' = g(u) = u^(1/2) k_(nu+1)(u^(1/2)) is replaced by its Taylor polynomial at
    u = radius^2 of order ceil((d - 1)/2), and integrated.
    """
    nu, edge = dim / 2 - 1, np.asarray(float(radius))
    order = math.ceil((dim - 1) / 2)
    slope = Polynomial([0.0])
    shift = Polynomial([-(edge**2), 0.0, 1.0])  # u - radius^2 in powers of r
    for n in range(order + 1):
        # The n-th derivative of u^(1/2) k_(nu+1) in u, by Leibniz' rule.
        derivative = sum(
            comb(n, m)
            * poch(1.5 - m, m)
            * edge ** (1 - 2 * m)
            * (-0.5) ** (n - m)
            * _scaled(nu + 1 + n - m, edge)
            for m in range(n + 1)
        )
        slope = slope + derivative / math.factorial(n) * shift**n
    depth = slope.integ()
    origin = _scaled(nu, edge) + depth(edge) - depth(0.0)
    bend = slope.deriv()

    def jet(r: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        r = np.asarray(r, dtype=float)
        inside, out = r < edge, np.maximum(r, edge)
        far, fall = _scaled(nu, out), out * _scaled(nu + 1, out)
        value = np.where(inside, _scaled(nu, edge) + depth(edge) - depth(r), far)
        first = -np.where(inside, slope(r), fall)
        second = np.where(inside, -bend(r), far + (dim - 1) * fall / out)
        return value / origin, first / origin, second / origin

    return jet


class Point(NamedTuple):
    """The loss at a student, its gradient and Hessian in (theta, a), flattened in this order."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray

    @property
    def delta(self) -> float:
        """The least delta with the point in M_delta."""
        least = float(np.linalg.eigvalsh(self.hessian)[0])
        return max(float(np.linalg.norm(self.gradient)), -least)


def _pairs(jet: Jet, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phi, its gradient and Hessian in x for all pairs; a unit exerts no force on itself."""
    apart = x[:, None] - y[None]
    r = np.linalg.norm(apart, axis=-1)
    value, first, second = jet(r)
    safe = np.where(r > 0, r, 1.0)
    unit, there = apart / safe[..., None], (r > 0)[..., None]
    turn = (first / safe)[..., None, None]
    along = unit[..., :, None] * unit[..., None, :]
    matrix = (second[..., None, None] - turn) * along + turn * np.eye(x.shape[1])
    return value, first[..., None] * unit * there, matrix * there[..., None]


def at(jet: Jet, theta: Any, a: Any, w: Any, b: Any, ridge: float = 0.0) -> Point:
    """L, or G, and its derivatives at a student of charges `a` (k,) at `theta` (k, d)."""
    theta, a, w, b = (np.asarray(part, dtype=float) for part in (theta, a, w, b))
    count, dim = theta.shape
    phi, force, bend = _pairs(jet, theta, theta)
    phi_w, force_w, bend_w = _pairs(jet, theta, w)
    among = phi @ a + phi_w @ b + ridge * a
    value = a @ (among + phi_w @ b) + b @ _pairs(jet, w, w)[0] @ b
    # The field at each unit of all others, and its derivative.
    field = np.einsum("ijd,j->id", force, a) + np.einsum("ijd,j->id", force_w, b)
    curving = np.einsum("ijde,j->ide", bend, a) + np.einsum("ijde,j->ide", bend_w, b)
    gradient = np.concatenate([(2 * a[:, None] * field).ravel(), 2 * among])
    places = -2 * np.einsum("i,j,ijde->idje", a, a, bend)
    mixed = 2 * np.einsum("i,ijd->idj", a, force)
    for i in range(count):
        places[i, :, i] = 2 * a[i] * curving[i]
        mixed[i, :, i] = 2 * field[i]
    size = count * dim
    hessian = np.empty((size + count, size + count))
    hessian[:size, :size] = places.reshape(size, size)
    hessian[:size, size:] = mixed.reshape(size, count)
    hessian[size:, :size] = hessian[:size, size:].T
    hessian[size:, size:] = 2 * phi + 2 * ridge * np.eye(count)
    return Point(float(value), gradient, hessian)


def best_charges(jet: Jet, theta: Any, w: Any, b: Any, ridge: float = 0.0) -> np.ndarray:
    """The charges a*(theta) that minimise L, or G, at given positions."""
    theta, w, b = (np.asarray(part, dtype=float) for part in (theta, w, b))
    matrix = _pairs(jet, theta, theta)[0] + ridge * np.eye(len(theta))
    return -np.linalg.solve(matrix, _pairs(jet, theta, w)[0] @ b)


def critical_point(
    jet: Jet, theta: np.ndarray, w: Any, b: Any, ridge: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Where Newton's method leads in (theta, a), from positions with their best charges."""
    shape, size = theta.shape, theta.size

    def derivatives(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = at(jet, x[:size].reshape(shape), x[size:], w, b, ridge)
        return here.gradient, here.hessian

    start = np.append(theta.ravel(), best_charges(jet, theta, w, b, ridge))
    x = root(derivatives, start, jac=True, options={"maxfev": 200}).x
    return x[:size].reshape(shape), x[size:]


def distances(theta: Any, w: Any) -> np.ndarray:
    """|theta_i - w_j|, (k, n)."""
    theta, w = np.asarray(theta, dtype=float), np.asarray(w, dtype=float)
    return np.linalg.norm(theta[:, None] - w[None], axis=-1)
