"""A function of one variable as Chebyshev polynomials on panels, fitted where it needs them."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from earnshaw.numerics.hankel import Function

DEGREE = 19
_NODES = np.cos((2 * np.arange(DEGREE + 1) + 1) * np.pi / (2 * DEGREE + 2))
_FIT = np.linalg.inv(chebyshev.chebvander(_NODES, DEGREE)).T


class PiecewiseChebyshev:
    """Polynomials of degree 19 on the panels between `edges`; `coefficients` (panels, 20)."""

    def __init__(self, edges: np.ndarray, coefficients: np.ndarray) -> None:
        self.edges, self.coefficients = edges, coefficients

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The function at points within the panels (outside: at the nearest end), by Clenshaw."""
        x = np.clip(np.asarray(x, dtype=float), self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.edges) - 2)
        left, right = self.edges[panel], self.edges[panel + 1]
        t = (2 * x - left - right) / (right - left)
        own = self.coefficients[panel]
        high, higher = np.zeros_like(t), np.zeros_like(t)
        for j in range(DEGREE, 0, -1):
            high, higher = own[..., j] + 2 * t * high - higher, high
        return own[..., 0] + t * high - higher


def fit_panels(
    function: Function, edges: np.ndarray, tolerance: float = 0.0, depth: int = 0
) -> PiecewiseChebyshev:
    """Fit `function` on the panels between `edges`, halving those that are not resolved.

    A panel is resolved when its last coefficients are below `tolerance` or 1e-13 of the largest
    value in it; at most `depth` halvings.
    """
    found_left, found, left, right = [], [], edges[:-1], edges[1:]
    for level in range(depth + 1):
        x = (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * _NODES
        values = function(x.ravel()).reshape(x.shape)
        coefficients = values @ _FIT
        rough = np.max(np.abs(coefficients[:, -3:]), axis=1)
        split = rough > np.maximum(tolerance, 1e-13 * np.max(np.abs(values), axis=1))
        if level == depth:
            split[:] = False
        found_left.append(left[~split])
        found.append(coefficients[~split])
        left, right = left[split], right[split]
        if len(left) == 0:
            break
        middle = (left + right) / 2
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    starts = np.concatenate(found_left)
    order = np.argsort(starts)
    return PiecewiseChebyshev(np.append(starts[order], edges[-1]), np.concatenate(found)[order])
