"""Where free units start: random points like the teacher's, none of which knows the teacher.

Drawn with NumPy on the host, a stream for each round of a seed: nothing to compile, and the same
points in every process.
"""

from __future__ import annotations

import math

import equinox as eqx
import numpy as np

from earnshaw.manifolds import Manifold


class Starts(eqx.Module):
    """Points of N(0, scale^2 I) on R^d; directions of length `scale` where `on_shell`."""

    scale: float = eqx.field(static=True)
    on_shell: bool = eqx.field(static=True, default=False)

    def draw(self, seed: int, round: int, count: int, dim: int) -> np.ndarray:
        """`count` points for one round of a run, (count, dim)."""
        points = np.random.default_rng((seed, round)).standard_normal((count, dim))
        if self.on_shell:
            points /= np.linalg.norm(points, axis=1, keepdims=True)
        return self.scale * points


def usual_starts(manifold: Manifold, dim: int, directions: bool) -> Starts:
    """The papers' laws: uniform on the sphere, N(0, d log d I) on R^d (Full, Theorem 4.6).

    `directions` is for dot-product units on R^d: the length of such a unit is the steepness of its
    activation, and starts have length 1.
    """
    if manifold.name == "sphere" or directions:
        return Starts(1.0, on_shell=True)
    return Starts(math.sqrt(dim * math.log(max(dim, 2))))
