"""Signs of symmetric matrices that are known as balls: every matrix of the enclosure at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import column, dot, finite
from earnshaw.landscape.proofs._enclosure import approximate_inverse


def exceeds(matrix: arb_mat, shift: float) -> bool:
    """Whether every eigenvalue of every symmetric matrix in `matrix` is larger than `shift`.

    Elimination without pivoting, in balls, on `matrix` - shift I: if all pivots are positive, so
    are those of each matrix inside, which then has a factor L D L^T with D > 0.
    """
    size = matrix.nrows()
    rows = matrix.tolist()
    for i in range(size):
        rows[i][i] -= arb(shift)
    for k in range(size):
        pivot = rows[k][k]
        if not pivot > 0:
            return False
        for i in range(k + 1, size):
            factor = rows[i][k] / pivot
            for j in range(k + 1, i + 1):
                rows[i][j] -= factor * rows[j][k]
    return True


def smallest_eigenvalue(matrix: arb_mat) -> float | None:
    """A lower bound >= 0 of all eigenvalues, or None if they are not all proven positive."""
    values = np.linalg.eigvalsh(_floats(matrix))
    inverse = approximate_inverse(matrix)
    # In matrices of very different scales floats do not see the smallest eigenvalue, but for a
    # positive matrix it is at least 1/trace of the inverse, to which nothing is lost.
    trace = float(inverse.trace()) if inverse is not None else 0.0
    other = 1 / trace if trace > 0 else 0.0
    guesses = [0.999 * float(values[0]), 0.5 * float(values[0]), 0.999 * other, 0.5 * other, 0.0]
    for guess in guesses:
        if guess >= 0 and exceeds(matrix, guess):
            return guess
    return None


def falling_direction(matrix: arb_mat) -> tuple[list[float], arb] | None:
    """A direction v, in floats, with v.Hv/v.v < 0 for all of the enclosure, and that ball."""
    plain = _floats(matrix)
    sizes = np.sqrt(np.abs(np.diag(plain)))
    sizes = np.where(sizes > 0, sizes, 1.0)
    # The second try finds falling directions that are small beside the rest of the matrix.
    for scale in (np.ones_like(sizes), 1 / sizes):
        with np.errstate(over="ignore"):
            scaled = plain * np.outer(scale, scale)
        if not np.all(np.isfinite(scaled)):
            continue
        vector = scale * np.linalg.eigh(scaled)[1][:, 0]
        vector = (vector / np.max(np.abs(vector))).tolist()
        if (found := curvature_along(matrix, vector)) < 0:
            return vector, found
    return None


def curvature_along(matrix: arb_mat, direction: Sequence[float]) -> arb:
    """v.Hv / v.v over the enclosure."""
    v = column(direction)
    return dot(v, matrix * v) / dot(v, v)


def _floats(matrix: arb_mat) -> np.ndarray:
    rows = matrix.tolist()
    if not finite(matrix.entries()):
        return np.full((len(rows), len(rows)), np.nan)
    plain = np.array([[float(x) for x in row] for row in rows])
    return (plain + plain.T) / 2
