"""Derivatives by central differences in 60-digit arithmetic: right to about 28 digits.

They know nothing of the library: a function of mpmath numbers is all they need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

DIGITS = 60
STEP = mp.mpf(10) ** -15

Function = Callable[[Sequence[Any]], Any]


def hessian(function: Function, point: np.ndarray) -> np.ndarray:
    """The Hessian of `function` at a point of R^d, shape (d, d), in floats."""
    with mp.workdps(DIGITS):
        x, size = [mp.mpf(float(t)) for t in point], len(point)
        matrix = np.zeros((size, size))
        for i in range(size):
            for j in range(i, size):
                matrix[i, j] = matrix[j, i] = float(_second(function, x, i, j))
    return matrix


def gradient(function: Function, point: np.ndarray) -> np.ndarray:
    """The gradient of `function` at a point of R^d, shape (d,), in floats."""
    with mp.workdps(DIGITS):
        x = [mp.mpf(float(t)) for t in point]
        slopes = [
            (function(_moved(x, i, STEP)) - function(_moved(x, i, -STEP))) / (2 * STEP)
            for i in range(len(x))
        ]
        return np.array([float(slope) for slope in slopes])


def laplacian(function: Function, point: np.ndarray) -> float:
    """The trace of the Hessian, summed before it is rounded: a 0 is a 0 to 25 digits."""
    with mp.workdps(DIGITS):
        x = [mp.mpf(float(t)) for t in point]
        return float(mp.fsum(_second(function, x, i, i) for i in range(len(x))))


def distance(x: Sequence[Any], y: Sequence[Any] | np.ndarray) -> Any:
    """|x - y| in mpmath numbers."""
    pairs = zip(x, y, strict=True)
    return mp.sqrt(mp.fsum((mp.mpf(a) - mp.mpf(float(b))) ** 2 for a, b in pairs))


def _second(function: Function, x: list[Any], i: int, j: int) -> Any:
    if i == j:
        sides = function(_moved(x, i, STEP)) + function(_moved(x, i, -STEP))
        return (sides - 2 * function(x)) / STEP**2
    corners = [
        sign * other * function(_moved(_moved(x, i, sign * STEP), j, other * STEP))
        for sign in (1, -1)
        for other in (1, -1)
    ]
    return mp.fsum(corners) / (4 * STEP**2)


def _moved(x: list[Any], axis: int, step: Any) -> list[Any]:
    return [t + step if i == axis else t for i, t in enumerate(x)]
