"""One student laid on another: the order and the signs of its units that bring it nearest.

A network does not depend on the order of its units, nor, where the activation is odd or even, on
the sign of theta_i (with that of c_i if it is odd). Where it is homogeneous of degree n on R^d and
weights are free, (theta_i, c_i) may be (t theta_i, t^-n c_i): then each unit gets the length of its
partner. Of all these the one is taken that minimises the sum over pairs of

    |theta_i - theta'_j|^2 + |c_i - c'_j|^2

(an assignment). Flips that leave a constant or a linear function behind are not used, unlike in
`charges/matching.py`: they make another network, with another loss. Where weights may not move, a
flip or an order must not change the weight of a place.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Objective
from earnshaw.errors import EarnshawError
from earnshaw.landscape.escape import equal_sides

SAME = 1e-9  # weights that differ by less are the same
FORBIDDEN = 1e200


def aligned(loss: Objective, to: Student, student: Student) -> Student:
    """`student` with its units in the order, and with the signs and lengths, nearest to `to`."""
    if student.positions.shape != to.positions.shape:
        raise EarnshawError(
            f"the students have {to.units} and {student.units} units; allowed: as many in both"
        )
    if not to.units:
        return student
    x, c = np.asarray(to.positions), np.asarray(to.weights)
    costs, places, charges = [], [], []
    for side, factor in equal_sides(loss):
        y, b = _scaled(loss, x, side * np.asarray(student.positions), np.asarray(student.weights))
        b = np.broadcast_to(factor * b, y.shape[:2])
        cost = np.sum((x[:, None] - y) ** 2, axis=2) + (c[:, None] - b) ** 2
        if loss.wrt == "positions":
            cost = np.where(np.abs(c[:, None] - b) > SAME * np.max(np.abs(c)), FORBIDDEN, cost)
        costs.append(cost)
        places.append(y)
        charges.append(b)
    best = np.argmin(costs, axis=0)
    rows, columns = linear_sum_assignment(np.min(costs, axis=0))
    if np.min(costs, axis=0)[rows, columns].sum() >= FORBIDDEN:
        raise EarnshawError(
            "the students have different weights, and only positions move; allowed: the same "
            "weights up to order, or free weights"
        )
    chosen = best[rows, columns]
    return Student(
        np.array(places)[chosen, rows, columns], np.array(charges)[chosen, rows, columns]
    )


def _scaled(
    loss: Objective, x: np.ndarray, y: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each of y (m, d) at the length of each of x (k, d), where that changes nothing: (k, m, d)."""
    shape = (len(x), *y.shape)
    degree = loss.degree
    free = degree == 0 or (loss.wrt == "both" and not loss.ridge)
    if loss.manifold.name == "sphere" or degree is None or not free:
        return np.broadcast_to(y, shape), np.broadcast_to(b, shape[:2])
    wanted, length = (np.linalg.norm(z, axis=1) for z in (x, y))
    possible = (wanted[:, None] > 0) & (length > 0)
    growth = np.where(possible, wanted[:, None], 1.0) / np.where(possible, length, 1.0)
    return growth[..., None] * y, growth**-degree * b
