"""The direction in which a loss bends down the most, for methods that leave saddles.

The smallest eigenpair of the (Riemannian) Hessian over all coordinates that may move, by
Hessian-vector products inside the compiled loop: exact to rounding up to 64 coordinates, beyond
that the best that 64 products tell. Then the value is an upper bound of the smallest eigenvalue,
while v.H v = value still holds, which is all that Lemma D.2 needs of v.
"""

from __future__ import annotations

from typing import NamedTuple

from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Gradient, Objective, coordinate_hvp, direction_of, freedom
from earnshaw.numerics.lanczos import PRODUCTS, smallest_ritz_pair


class SoftMode(NamedTuple):
    """The curvature `value` along a unit tangent `direction` v, and |H v - value v| = residual."""

    value: Array
    direction: Gradient
    residual: Array


def softest_mode(objective: Objective, student: Student, products: int = PRODUCTS) -> SoftMode:
    """The smallest Hessian eigenvalue at `student` and its direction; +inf if nothing moves."""
    found = smallest_ritz_pair(
        lambda coordinates: coordinate_hvp(objective, student, coordinates),
        freedom(objective, student),
        products,
    )
    return SoftMode(found.value, direction_of(objective, student, found.vector), found.residual)
