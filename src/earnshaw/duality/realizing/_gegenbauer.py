"""Positive semidefinite kernels on S^(d-1): Schoenberg's theorem, numerically.

Let P_k be the Gegenbauer polynomial of degree k for S^(d-1) with P_k(1) = 1 (cosines for d = 2,
Legendre for d = 3):

    (k + d - 2) P_(k+1) = (2k + d - 2) t P_k - k P_(k-1).

A continuous f(rho) = sum_k a_k P_k(rho) is positive semidefinite on S^(d-1) if and only if every
a_k >= 0. The a_k come either from the Taylor coefficients of f, which is exact for polynomials, or
from Gauss quadrature with the weight (1 - t^2)^((d-3)/2), with an estimate of its error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import flint
import numpy as np
from scipy.special import gammaln, roots_gegenbauer

from earnshaw.numerics.budget import checkpoint

_NODES = (480, 720)  # two sizes: their difference is the error estimate
_DEGREES = 160
_ROUNDING = 1e-15


class GegenbauerSeries(NamedTuple):
    """Gegenbauer coefficients a_0, a_1, ... of f on S^(dim-1), with a bound or estimate of error.

    `rest` is the part of f(1) = sum_k a_k that lies beyond the last one; 0 means the list is whole.
    """

    dim: int
    values: np.ndarray
    errors: np.ndarray
    rest: float

    @property
    def first_negative(self) -> int | None:
        """The degree of the most negative coefficient that is negative beyond its error."""
        excess = np.where(self.values < -self.errors, self.values, 0.0)
        return int(np.argmin(excess)) if np.any(excess < 0) else None

    @property
    def is_whole(self) -> bool:
        """Whether all of f(1), up to 1e-9 of it, is in the coefficients seen."""
        return abs(self.rest) <= 1e-9 * max(float(np.sum(np.abs(self.values))), 1e-300)


def from_taylor(coefficients: Sequence[Any], dim: int) -> GegenbauerSeries:
    """The coefficients of sum_n c_n rho^n, with c_n exact fractions (`flint.fmpq`) or balls.

    Horner's rule with the matrix of multiplication by t. Exact for fractions; with balls, one that
    contains 0 counts as 0.
    """
    total: list[Any] = []
    with flint.ctx.workprec(512):
        for c in reversed(coefficients):
            checkpoint("the Gegenbauer series")
            shifted = [flint.fmpq(0)] * (len(total) + 1)
            for k, value in enumerate(total):
                up, down = _times_t(k, dim)
                shifted[k + 1] = shifted[k + 1] + value * up
                if k:
                    shifted[k - 1] = shifted[k - 1] + value * down
            shifted[0] = shifted[0] + c
            total = shifted
        values = np.array([_to_float(value) for value in total])
    return GegenbauerSeries(dim, values, np.zeros_like(values), 0.0)


def from_values(function: Callable[[np.ndarray], np.ndarray], dim: int) -> GegenbauerSeries:
    """The coefficients of any f by quadrature, as far as rounding lets them be known.

    a_k = N_k integral f P_k, where N_k, the number of harmonics of degree k, is also how much the
    rounding of the integral is blown up; degrees from where that exceeds 1e-3 on are left out.
    """
    at_one = float(function(np.array([1.0]))[0])
    first, second = (_quadrature(function, dim, nodes) for nodes in _NODES)
    counts = harmonics(dim, _DEGREES)
    scale = max(abs(at_one), float(np.max(np.abs(first[:1]), initial=0.0)), 1e-300)
    errors = 4 * np.abs(first - second) + 200 * _ROUNDING * scale * np.sqrt(counts)
    unknown = np.flatnonzero(~(errors <= 1e-3 * scale))
    known = int(unknown[0]) if len(unknown) else _DEGREES
    values, errors = second[:known], errors[:known]
    visible = values[np.abs(values) > errors]
    return GegenbauerSeries(dim, values, errors, at_one - float(np.sum(visible)))


def harmonics(dim: int, count: int) -> np.ndarray:
    """N_k = (2k + d - 2)/(d - 2) binomial(k + d - 3, k): harmonics of degree k on S^(d-1)."""
    k = np.arange(1, count)
    if dim == 2:
        return np.concatenate([[1.0], np.full(count - 1, 2.0)])
    logs = gammaln(k + dim - 2) - gammaln(k + 1) - gammaln(dim - 1)
    return np.concatenate([[1.0], (2 * k + dim - 2) * np.exp(logs)])


def polynomials(dim: int, count: int, t: np.ndarray) -> np.ndarray:
    """P_0 .. P_(count-1) at the points `t`; shape (count, len(t))."""
    rows = np.empty((count, len(t)))
    rows[0] = 1.0
    rows[1:2] = t
    for k in range(1, count - 1):
        rows[k + 1] = ((2 * k + dim - 2) * t * rows[k] - k * rows[k - 1]) / (k + dim - 2)
    return rows


def _quadrature(function: Callable[[np.ndarray], np.ndarray], dim: int, nodes: int) -> np.ndarray:
    points, weights = roots_gegenbauer(nodes, (dim - 2) / 2)
    weights = weights / np.sum(weights)
    integrals = polynomials(dim, _DEGREES, points) @ (weights * function(points))
    return harmonics(dim, _DEGREES) * integrals


def _times_t(k: int, dim: int) -> tuple[flint.fmpq, flint.fmpq]:
    """(u, v) with t P_k = u P_(k+1) + v P_(k-1)."""
    if k == 0:
        return flint.fmpq(1), flint.fmpq(0)
    return flint.fmpq(k + dim - 2, 2 * k + dim - 2), flint.fmpq(k, 2 * k + dim - 2)


def _to_float(value: Any) -> float:
    if isinstance(value, flint.fmpq):
        return int(value.p) / int(value.q)
    return 0.0 if value.contains(flint.arb(0)) else float(value)
