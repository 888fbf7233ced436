"""Networks of quadratic units, as the one quadratic function of x that they are.

With s(x) = a_0 + a_1 x + a_2 x^2,

    sum_i c_i s(x.w_i) = constant + linear.x + x^T form x,

    constant = a_0 sum_i c_i,  linear = a_1 sum_i c_i w_i,  form = a_2 sum_i c_i w_i w_i^T.

Units that are rotated into each other give the same form, so two such networks are compared as
functions, not unit by unit.
"""

from __future__ import annotations

import math

import equinox as eqx
import numpy as np

RANK_ROUNDING = 1e-10  # eigenvalues below this part of the largest count as 0


class Quadratic(eqx.Module):
    """constant + linear.x + x^T form x; shapes (), (d,) and (d, d)."""

    constant: float
    linear: np.ndarray
    form: np.ndarray

    @property
    def rank(self) -> int:
        """The rank of the form: the fewest units with which it can be written."""
        return int(np.linalg.matrix_rank(self.form, hermitian=True, rtol=RANK_ROUNDING))

    def distance(self, other: Quadratic) -> float:
        """The Frobenius distance of the forms, joined by that of the linear and constant parts."""
        return math.hypot(
            self.constant - other.constant,
            float(np.linalg.norm(self.linear - other.linear)),
            float(np.linalg.norm(self.form - other.form)),
        )


def quadratic(
    coefficients: tuple[float, float, float], positions: np.ndarray, weights: np.ndarray
) -> Quadratic:
    """The function of units at `positions` (k, d) with `weights` (k,); s has a_0, a_1, a_2."""
    level, slope, curvature = coefficients
    return Quadratic(
        constant=level * float(np.sum(weights)),
        linear=slope * (weights @ positions),
        form=curvature * (positions.T @ (weights[:, None] * positions)),
    )
