"""The population loss in float64 NumPy, all pairs at once: for sizes where 80 digits take too long.

Gradients are typed by hand. Hessian-vector products are their complex-step derivatives,
Im g(x + i h v)/h with h = 1e-30, which have no truncation error and nothing to cancel. Nothing here
uses earnshaw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Kernel = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def gaussian(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phi = exp(-r^2/2), and A, B with grad_x Phi = A x + B y."""
    squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
    phi = np.exp(-squares / 2)
    return phi, -phi, phi


def relu(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phi = |x||y| (sin t + (pi - t) cos t)/2 pi; grad = (|y|/|x| sin t x + (pi - t) y)/2 pi."""
    long, short = np.sqrt((x * x).sum(1))[:, None], np.sqrt((y * y).sum(1))
    cosine = (x @ y.T) / (long * short)
    t, sine = np.arccos(cosine), np.sqrt((1 - cosine) * (1 + cosine))
    phi = long * short * (sine + (np.pi - t) * cosine) / (2 * np.pi)
    return phi, short / long * sine / (2 * np.pi), (np.pi - t) / (2 * np.pi)


def self_energy(name: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Phi(x, x), and A with its gradient A x."""
    if name == "gaussian":
        return np.ones(len(x), x.dtype), np.zeros(len(x), x.dtype)
    return (x * x).sum(1) / 2, np.ones(len(x), x.dtype)


KERNELS: dict[str, Kernel] = {"gaussian": gaussian, "relu": relu}


class NumpyLoss:
    """L = sum c c Phi - 2 sum c b Phi + sum b b Phi for distinct student units."""

    def __init__(self, name: str, positions: Any, weights: Any) -> None:
        self.name, self.kernel = name, KERNELS[name]
        self.w, self.b = np.asarray(positions), np.asarray(weights)

    def value_and_gradient(
        self, x: np.ndarray, c: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        own, own_slope = self_energy(self.name, x)
        phi, A, B = self.pairs(x, x)
        pull, A2, B2 = self.kernel(x, self.w)
        push, tug = phi @ c + own * c, pull @ self.b
        value = c @ push - 2 * c @ tug + self.constant
        along = (A @ c - A2 @ self.b)[:, None] * x + (B * c) @ x - (B2 * self.b) @ self.w
        slope = 2 * c[:, None] * along + (c * c * own_slope)[:, None] * x
        return value, slope, 2 * (push - tug)

    def pairs(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """The kernel with its diagonal left out."""
        with np.errstate(all="ignore"):
            blocks = self.kernel(x, y)
        for block in blocks:
            np.fill_diagonal(block, 0.0)
        return blocks

    @property
    def constant(self) -> float:
        return float(
            self.b @ self.pairs(self.w, self.w)[0] @ self.b
            + self_energy(self.name, self.w)[0] @ self.b**2
        )

    def hvp(self, x: Any, c: Any, along: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
        h = 1e-30
        _, slope, tug = self.value_and_gradient(x + 1j * h * along, c + 1j * h * weights)
        return slope.imag / h, tug.imag / h
