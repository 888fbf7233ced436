"""Room for more units: numbers of units filled up to a few sizes, so that few programs compile.

A unit of weight 0 is no charge at all. Losses of few units are compiled for 8, 16, 32 or 64 of
them, students' and teachers' alike; those that are not there have weight 0, in the place of the
last one. One more unit then finds what was compiled. NumPy fills up and cuts off: in JAX these
would be programs of their own, one for each number.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student, is_concrete

LEAST, MOST = 8, 64


def room(count: int) -> int:
    """The size that `count` units are compiled for."""
    size = LEAST
    while size < count:
        size *= 2
    return size if 0 < count <= MOST else count


def filled(positions: Any, weights: Any) -> tuple[Any, Any]:
    """Positions (k, d) and weights (k, ...) of as many units as there is room for.

    Arrays of NumPy, which are no part of a trace.
    """
    size = room(len(positions))
    if size == len(positions):
        return positions, weights
    places = np.pad(np.asarray(positions), ((0, size - len(positions)), (0, 0)), mode="edge")
    return places, weightless(weights, size)


def filled_student(student: Student) -> Student:
    """The student, with units of weight 0."""
    return Student(*filled(student.positions, student.weights))


def weightless(rows: Any, size: int) -> Any:
    """Rows (k, ...), and zeros until there are `size`."""
    extra = ((0, size - len(rows)), *((0, 0),) * (rows.ndim - 1))
    if len(rows) == size:
        return rows
    return np.pad(np.asarray(rows), extra) if is_concrete(rows) else jnp.pad(rows, extra)


def first(rows: Array, count: int) -> Array:
    """The first `count` of the rows (k, ...)."""
    if len(rows) == count:
        return rows
    return jnp.asarray(np.asarray(rows)[:count]) if is_concrete(rows) else rows[:count]


def block(matrix: Array, chosen: np.ndarray) -> Array:
    """The rows and columns of a matrix that are `chosen` (n,)."""
    if chosen.all():
        return matrix
    places = np.ix_(chosen, chosen)
    return jnp.asarray(np.asarray(matrix)[places]) if is_concrete(matrix) else matrix[places]
