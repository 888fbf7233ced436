"""Clouds of charges: random points that keep apart, and averages over spheres around a point."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

TRIES = 10_000


def scattered(
    rng: np.random.Generator, count: int, dim: int, *, gap: float, spread: float = 1.0
) -> np.ndarray:
    """Points of N(0, spread^2 I), no two of them closer than `gap`; shape (count, dim)."""
    points: list[np.ndarray] = []
    for _ in range(TRIES):
        point = spread * rng.standard_normal(dim)
        if all(np.linalg.norm(point - other) >= gap for other in points):
            points.append(point)
        if len(points) == count:
            return np.array(points)
    raise RuntimeError(f"no room for {count} points {gap} apart")


def directions(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Points uniform on the unit sphere; shape (count, dim)."""
    points = rng.standard_normal((count, dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def frame(rng: np.random.Generator, dim: int) -> np.ndarray:
    """A random orthonormal basis, its vectors in rows."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    return (q * np.where(np.diagonal(r) < 0, -1.0, 1.0)).T


def charges(rng: np.random.Generator, count: int, least: float = 0.3) -> np.ndarray:
    """Charges of either sign, of sizes in [least, 1]."""
    return rng.choice([-1.0, 1.0], count) * rng.uniform(least, 1.0, count)


def distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """|x - y| for all x of the first and y of the second, from differences."""
    return np.linalg.norm(first[:, None] - second[None], axis=2)


def sphere_rule(dim: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, dim) and weights (n,) that average polynomials of degree < 2 order exactly.

    Over S^(dim-1): Gauss-Gegenbauer in the cosine of each polar angle, equal angles on the circle.
    """
    if dim == 1:
        return np.array([[1.0], [-1.0]]), np.full(2, 0.5)
    angles = math.pi * np.arange(2 * order) / order
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = np.full(2 * order, 0.5 / order)
    for higher in range(3, dim + 1):
        # The density of one coordinate of S^(higher-1) is (1 - t^2)^((higher-3)/2).
        cosines, mass = special.roots_jacobi(order, (higher - 3) / 2, (higher - 3) / 2)
        sines = np.sqrt(1 - cosines**2)
        tops = np.repeat(cosines, len(points))[:, None]
        points = np.hstack([tops, np.kron(sines[:, None], points)])
        weights = np.kron(mass / np.sum(mass), weights)
    return points, weights
