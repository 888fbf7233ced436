"""Quadrature rules on the line, as (nodes, weights), and the plane split along kinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from earnshaw.numerics.budget import TooMuchWork

MAX_PANELS = 200_000  # of one rule: half a gigabyte, with what is computed at its nodes


def trapezoid_rule(half_width: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Equispaced nodes on [-half_width, half_width] with weight `step`.

    For an integrand that is analytic in a strip and negligible at the ends, the error falls
    exponentially in 1/step: no rule does better on the whole line.
    """
    count = int(np.ceil(half_width / step))
    nodes = step * np.arange(-count, count + 1)
    return nodes, np.full(len(nodes), step)


@lru_cache(maxsize=8)
def legendre_rule(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [-1, 1], each right to rounding.

    NumPy's weights are off by 1e-12 of themselves near the ends (64 nodes). A Newton step with
    longer mantissas mends them, by (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1) and
    w = 2/((1 - x^2) P'^2).
    """
    x: np.ndarray = np.polynomial.legendre.leggauss(order)[0].astype(np.longdouble)
    for _ in range(2):
        before, now = np.ones_like(x), x
        for n in range(1, order):
            before, now = now, ((2 * n + 1) * x * now - n * before) / (n + 1)
        slope = order * (before - x * now) / ((1 - x) * (1 + x))
        x = x - now / slope
    return x.astype(float), (2 / ((1 - x) * (1 + x) * slope**2)).astype(float)


def panel_rule(edges: Any, order: int = 20) -> tuple[Any, Any]:
    """Gauss-Legendre of the given order on each panel; `edges` has shape (..., panels + 1).

    Nodes and weights have shape (..., panels * order), and are NumPy's or JAX's as `edges` is.
    Empty panels get weight 0.
    """
    x, w = legendre_rule(order)
    middle = 0.5 * (edges[..., 1:] + edges[..., :-1])[..., None]
    half = 0.5 * (edges[..., 1:] - edges[..., :-1])[..., None]
    shape = (*edges.shape[:-1], -1)
    return (middle + half * x).reshape(shape), (half * w).reshape(shape)


def subdivide(edges: np.ndarray, width: float) -> np.ndarray:
    """Split the intervals between `edges` so that none is wider than `width`."""
    needed = np.maximum(1, np.ceil(np.diff(edges) / width))
    if not np.sum(needed) <= MAX_PANELS:
        raise TooMuchWork(f"a quadrature would need more than {MAX_PANELS} panels")
    parts = needed.astype(int)
    pieces = [
        np.linspace(left, right, count + 1)[:-1]
        for left, right, count in zip(edges[:-1], edges[1:], parts, strict=True)
    ]
    return np.concatenate([*pieces, edges[-1:]])


def graded(low: float, high: float, ratio: float = 2.0) -> np.ndarray:
    """0, low, low ratio, low ratio^2, ..., high: intervals that shrink towards 0."""
    count = max(1, math.ceil(math.log(high / low) / math.log(ratio)))
    return np.concatenate([[0.0], np.geomspace(low, high, count + 1)])


def split_edges(half_width: float, points: np.ndarray, width: float = 2.0) -> np.ndarray:
    """Edges of panels no wider than `width` on [-half_width, half_width], split at `points`.

    `points` has shape (..., n). Points outside become empty panels at the ends rather than fewer
    panels, so that the number of nodes, and what JAX compiles for it, stays the same.
    """
    count = 2 * int(np.ceil(half_width / width))
    uniform = np.linspace(-half_width, half_width, count + 1)
    uniform = np.broadcast_to(uniform, (*points.shape[:-1], count + 1))
    inside = np.clip(points, -half_width, half_width)
    return np.sort(np.concatenate([uniform, inside], axis=-1), axis=-1)


def correlated_mean(
    function: Callable[[np.ndarray], Any],
    kinks: Sequence[float],
    angle: float,
    half_width: float = 12.0,
    order: int = 20,
) -> float:
    """E[s(u) s(v)] for standard normals with correlation cos(angle), split along every kink.

    With p, q independent, u = p cos(t/2) + q sin(t/2) and v = p cos(t/2) - q sin(t/2). For fixed p
    the kinks cut the q axis at +-(kink - p cos(t/2)) / sin(t/2); the inner integral is then smooth
    in p except where two cuts cross, and varies there on the scale tan(t/2), so the outer panels
    are split and refined around those crossings.
    """
    cosine, sine = np.cos(angle / 2), np.sin(angle / 2)
    points = np.asarray(kinks, dtype=float)
    crossings = (points[:, None] + points[None, :]).ravel() / (2 * cosine)
    ladder = np.arange(-10, 11, 2) * (sine / cosine)
    p, p_weights = panel_rule(split_edges(half_width, (crossings[:, None] + ladder).ravel()), order)
    cuts = (points - p[:, None] * cosine) / sine
    edges = split_edges(half_width, np.concatenate([cuts, -cuts], axis=-1))
    q, q_weights = panel_rule(edges, order)
    u, v = p[:, None] * cosine + q * sine, p[:, None] * cosine - q * sine
    values = np.asarray(function(u), dtype=float) * np.asarray(function(v), dtype=float)
    inner = np.sum(q_weights * values * np.exp(-0.5 * q * q), axis=1)
    return float(np.sum(p_weights * np.exp(-0.5 * p * p) * inner) / (2 * np.pi))
