"""Methods run on the surfaces of `_surfaces.py`, and what the claims on them share.

All runs but those on the funnel are of points in R^3 and of the same number of starts, so that a
method is compiled once for all claims.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.loop import Loop, begin, run
from earnshaw.descent.method import Method
from earnshaw.descent.steps import Steps
from earnshaw.energy.objective import Objective
from earnshaw.papers.claims.claim import Instance
from earnshaw.papers.claims.learning._surfaces import points

N = 3  # the dimension of all surfaces but the funnel: one shape, compiled once
SLACK = 1e-12  # of comparisons, relative: what rounding of a step may cost
STARTS = 8
STATIONARY = 1e-9


def constant_steps(alpha: float) -> Steps:
    """Steps of the one size alpha."""
    return Steps(jnp.asarray(alpha))


def gradient_descent(alpha: float) -> GradientDescent:
    """Gradient descent with constant steps, until the gradient is at most STATIONARY."""
    return GradientDescent(constant_steps(alpha), jnp.asarray(STATIONARY))


def run_from(method: Method, objective: Objective, starts: Any, limit: int, seed: int = 0) -> Loop:
    """The method from all starts (s, n), for `limit` iterations at most."""
    key = jax.random.key(seed, impl="threefry2x32")
    return run(method, objective, begin(method, objective, points(starts), key), limit)[0]


def final_places(loop: Loop) -> np.ndarray:
    """Where the starts ended, (s, n)."""
    return np.asarray(loop.states.student.positions)[:, 0]


def least_curvature(matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """The least eigenvalue and its direction."""
    values, vectors = np.linalg.eigh(matrix)
    return float(values[0]), vectors[:, 0]


def wells_bound(instance: Instance) -> float:
    """L = max |3 y^2 - p| over |y_i| <= 1.5 sqrt(p_i). Steps of 1/(2L) stay in this box."""
    return float(np.max((3 * 1.5**2 - 1) * np.asarray(instance["depths"])))
