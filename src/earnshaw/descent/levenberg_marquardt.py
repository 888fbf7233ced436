"""Levenberg-Marquardt: Gauss-Newton steps, damped where the quadratic model does not hold.

A step solves (A + mu D) step = -gradient, A the Gauss-Newton matrix and D the largest diagonal of A
met so far (Marquardt's scaling in Moré's form, which makes the method indifferent to the units of
the parameters). After a good step mu falls by as much as the model was good, after a bad one it
grows faster and faster (Nielsen's rule).

The normal equations are handed in as a function of the parameters, so that one loop serves every
sum of squares: networks fitted to tables (`learning/fitting/_solvers.py`) and charges on samples
(`learning/samples/_refine.py`). The loop runs on the host: the normal equations are what costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

FIRST_DAMPING, LEAST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-15, 1e12
FLOOR = 1e-14  # of D, relative to its largest entry: directions that the data do not determine
SLOW_STEPS = 3  # in a row, after which the descent has settled


class NormalEquations(NamedTuple):
    """F, its gradient (P,) and Gauss-Newton matrix (P, P); `error` is F without its penalty."""

    value: float
    gradient: np.ndarray
    matrix: np.ndarray
    error: float


class Descent(NamedTuple):
    """Parameters (P,), the normal equations there, iterations, and whether it ended by itself."""

    vector: np.ndarray
    here: NormalEquations
    iterations: int
    settled: bool


def levenberg_marquardt(
    normal: Callable[[np.ndarray], NormalEquations],
    vector: np.ndarray,
    free: np.ndarray,
    iterations: int = 100,
    tolerance: float = 1e-9,
    perfect: float = 0.0,
) -> Descent:
    """Descend F from `vector` (P,), of which the entries in the mask `free` (P,) move.

    It has settled when three steps in a row lower F by less than `tolerance` times F, when no step
    lowers F, or when F without its penalty is at most `perfect`. F never rises.
    """
    here = normal(vector)
    scale = np.zeros(int(np.sum(free)))
    mu, growth, slow, settled, done = FIRST_DAMPING, 2.0, 0, False, 0
    while done < iterations and not settled:
        done += 1
        if here.error <= perfect:
            settled = True
            break
        scale = np.maximum(scale, np.diagonal(here.matrix)[free])
        step, predicted = _step(here.matrix[np.ix_(free, free)], here.gradient[free], scale, mu)
        trial = vector.copy()
        trial[free] += step
        there = normal(trial)
        gain = here.value - there.value
        if np.isfinite(there.value) and gain > 0:
            quality = gain / predicted if predicted > 0 else 1.0
            fallen = mu * max(1 / 3, 1 - (2 * quality - 1) ** 3) if quality < 1 else mu / 10
            mu, growth = max(LEAST_DAMPING, fallen), 2.0
            slow = slow + 1 if gain <= tolerance * here.value else 0
            vector, here = trial, there
            settled = slow >= SLOW_STEPS
        else:
            mu, growth = mu * growth, 2 * growth
            settled = mu > LARGEST_DAMPING
    return Descent(vector, here, done, settled)


def _step(
    matrix: np.ndarray, gradient: np.ndarray, scale: np.ndarray, mu: float
) -> tuple[np.ndarray, float]:
    """The damped step, and by how much the quadratic model says that it lowers F."""
    scale = np.maximum(scale, FLOOR * np.max(scale, initial=0.0))
    scale = np.where(scale > 0, scale, 1.0)
    root = np.sqrt(scale)
    scaled = matrix / np.outer(root, root)
    if not (np.all(np.isfinite(scaled)) and np.all(np.isfinite(gradient))):
        return np.zeros_like(gradient), 0.0
    while True:
        try:
            factor = cho_factor(scaled + mu * np.eye(len(scaled)))
            break
        except LinAlgError:
            mu = max(10 * mu, 1e-14)
            if mu > LARGEST_DAMPING:
                return np.zeros_like(gradient), 0.0
    step = -cho_solve(factor, gradient / root)
    predicted = -(gradient / root) @ step - step @ scaled @ step / 2
    return step / root, float(predicted)
