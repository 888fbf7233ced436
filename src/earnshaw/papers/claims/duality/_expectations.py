"""E[sigma(X, theta) sigma(X, w)] from its definition, by quadratures of our own.

- `dot_product_mean`   sigma = s(x.w): a plane integral in polar coordinates, split along the rays
                       where a factor changes sign, so that kinks and jumps at 0 cost nothing;
- `autocorrelation`    sigma = h(|x - w|)/sqrt(p(x)): the density p cancels, and what is left is
                       integral h(|x|) h(|x - delta|) dx over R^d, in polar coordinates around 0;
- `sphere_area`, `panels`, `towards` are what they are made of, for claims that need others.

Nothing of earnshaw is in them; `radial_profile` takes h from an activation of the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from earnshaw.duality.activation import Translation
from earnshaw.numerics.jax_as_numpy import as_numpy

Function = Callable[[np.ndarray], np.ndarray]


@lru_cache(maxsize=8)
def _legendre(order: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(order)


def panels(edges: Sequence[float] | np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on each interval between `edges`, one after the other."""
    x, w = _legendre(order)
    low, high = np.asarray(edges[:-1], dtype=float), np.asarray(edges[1:], dtype=float)
    middle, half = (low + high)[:, None] / 2, (high - low)[:, None] / 2
    return (middle + half * x).ravel(), (half * w).ravel()


def towards(points: Sequence[float], low: float, high: float, finest: float = 1e-9) -> np.ndarray:
    """Edges from `low` to `high` that halve towards each of `points`, where h may be infinite."""
    steps = finest * 2.0 ** np.arange(48)
    ends = [np.array([low, high]), np.asarray(points, dtype=float)]
    edges = np.concatenate([*ends, *(p + side * steps for p in points for side in (1, -1))])
    return np.unique(edges[(edges >= low) & (edges <= high)])


def radial_profile(activation: Translation) -> Function:
    """h(r) of a radial translation activation, along the first axis."""

    def along(r: Any) -> Any:
        return activation.profile(r[..., None] * np.eye(1, activation.dim)[0])

    return as_numpy(along)


def sphere_area(dim: int) -> float:
    """|S^(d-1)| = 2 pi^(d/2)/Gamma(d/2), the area of the unit sphere of R^d."""
    return 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)


def dot_product_mean(s: Function, rho: float, q1: float = 1.0, q2: float = 1.0) -> float:
    """E[s(u) s(v)], u and v centred Gaussians of variances q1, q2 and correlation rho."""
    t = math.acos(min(max(rho, -1.0), 1.0))
    # cos(phi) and cos(phi - t) change sign at these angles.
    edges = np.array([-0.5, -0.5, 0.5, 0.5, 1.5]) * math.pi + np.array([0, t, 0, t, 0])
    phi, angular = panels(edges, 48)
    r, radial = panels(np.linspace(0, 18, 13), 24)
    u = math.sqrt(q1) * np.cos(phi)[:, None] * r
    v = math.sqrt(q2) * np.cos(phi - t)[:, None] * r
    return float(angular @ (s(u) * s(v)) @ (radial * r * np.exp(-r * r / 2)) / (2 * math.pi))


def autocorrelation(
    h: Function, dim: int, delta: float, reach: float, kinks: Sequence[float] = ()
) -> float:
    """The integral of h(|x|) h(|x - delta e|) over R^dim, for h negligible beyond `reach`.

    `kinks` are radii at which h is not smooth.
    """
    marks = [0.0, delta, *kinks, *(delta + k for k in kinks), *(abs(delta - k) for k in kinks)]
    r, radial = panels(towards(marks, 0.0, reach, 1e-7), 10)
    if delta == 0:
        return float(sphere_area(dim) * np.sum(radial * r ** (dim - 1) * h(r) ** 2))
    if dim == 1:
        return float(np.sum(radial * h(r) * (h(np.abs(r - delta)) + h(r + delta))))
    # The angle is split where |x - delta e| is at a kink, and graded towards the other point.
    base = np.concatenate([[0.0], np.geomspace(1e-5, math.pi, 28)])
    cosines = [(r * r + delta**2 - k * k) / (2 * r * delta) for k in kinks]
    crossings = [np.arccos(np.clip(c, -1, 1))[None] for c in cosines]
    edges = np.sort(np.concatenate([np.tile(base[:, None], len(r)), *crossings]), axis=0)
    x, w = _legendre(10)
    inner = np.zeros_like(r)
    for low, high in pairwise(edges):
        phi = (low + high) / 2 + (high - low) / 2 * x[:, None]
        distance = np.sqrt((r - delta) ** 2 + 4 * r * delta * np.sin(phi / 2) ** 2)
        inner += (high - low) / 2 * (w @ (np.sin(phi) ** (dim - 2) * h(distance)))
    return float(sphere_area(dim - 1) * np.sum(radial * r ** (dim - 1) * h(r) * inner))
