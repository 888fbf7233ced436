"""Where a hunt starts: random students, each a function of the seed and its own number alone.

Positions are N(0, I/d) on R^d, of length about 1 (or N(0, s^2 I) for a given scale s), and uniform
on the sphere. Free weights are N(0, 1/k), so that a student's output has the same size whatever its
width; fixed ones are given. Start i of a seed is the same however many there are and however they
are batched, and the starts of two seeds are independent.
"""

from __future__ import annotations

import math

import numpy as np

from earnshaw.charges.manifolds import Manifold

ROLE = 5  # keeps these streams apart from all others of the same seed


def draw_starts(
    manifold: Manifold,
    shape: tuple[int, int],
    seed: int,
    numbers: range,
    *,
    scale: float | None = None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (s, k, d) and weights (s, k) of the starts of these numbers; `shape` is (k, d)."""
    units, dim = shape
    drawn = np.empty((len(numbers), units, dim + 1))
    for row, number in enumerate(numbers):
        drawn[row] = np.random.default_rng((ROLE, seed, number)).standard_normal((units, dim + 1))
    positions, charges = drawn[..., :dim], drawn[..., dim]
    if manifold.name == "sphere":
        positions = positions / np.linalg.norm(positions, axis=-1, keepdims=True)
    else:
        positions = positions * (1 / math.sqrt(dim) if scale is None else scale)
    if weights is not None:
        return positions, np.broadcast_to(weights, charges.shape).copy()
    return positions, charges / math.sqrt(units)
