"""The dual of a polynomial activation by two-dimensional Gauss quadrature.

Independent of the Hermite algebra that made the activation: it only evaluates s. With

    E[s(u) s(v)],  u = x,  v = rho x + sqrt(1 - rho^2) y,  x, y independent N(0, 1),

a rule of N + 1 nodes a side is exact for s of degree N. It is also stable: |s(u) s(v)| times the
weights is at most of the order of exp((u^2 + v^2)/4 - (x^2 + y^2)/2) <= 1, whatever N.
"""

from __future__ import annotations

import math

import jax
import numpy as np
from scipy.special import roots_hermitenorm

from earnshaw.duality.activation import DotProduct

MAX_DEGREE = 300  # beyond it s(v) at the corners of the grid leaves the range of float64


def dual_by_quadrature(activation: DotProduct, degree: int, rho: np.ndarray) -> np.ndarray:
    """E[s(u) s(v)] at each correlation in `rho`, for s a polynomial of at most `degree`."""
    nodes, weights = roots_hermitenorm(degree + 1)
    weights = weights / np.sum(weights)
    evaluate = jax.jit(activation.__call__)
    # s(u) on the same square as s(v): one shape, one compilation.
    u = np.repeat(nodes[:, None], len(nodes), axis=1)
    left = weights * np.asarray(evaluate(u))[:, 0]
    totals = []
    for correlation in np.asarray(rho, dtype=float):
        other = math.sqrt(max(0.0, 1 - correlation**2))
        v = correlation * nodes[:, None] + other * nodes[None, :]
        totals.append(float(left @ (np.asarray(evaluate(v)) @ weights)))
    return np.array(totals)
