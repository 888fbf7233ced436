"""Least squares over more rows than fit in memory, without squaring the condition number.

The normal equations S^T S c = S^T y lose half the digits. The triangle R of a QR factorisation of
[S, y] has the same singular values as [S, y] itself, and can be kept up to date block by block of
rows (TSQR: Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.numerics.fixed_order import column_sums


def append_rows(triangle: Array, rows: Array) -> Array:
    """The triangle (k, k) of all rows so far, and of `rows` (m, k)."""
    return jnp.linalg.qr(jnp.concatenate([triangle, rows]), mode="r")


def solve_triangle(triangle: Array) -> Array:
    """The c (k,) of least |S c - y|, from the triangle (k + 1, k + 1) of [S, y].

    Columns of S are scaled to length 1; directions with singular values below rounding, which the
    data do not determine, get no weight, as in `numpy.linalg.lstsq`.
    """
    count = triangle.shape[0] - 1
    if count == 0:
        return jnp.zeros(0)
    columns, target = triangle[:count, :count], triangle[:count, count]
    length = jnp.sqrt(column_sums(columns**2))
    length = jnp.where(length > 0, length, 1.0)
    left, sizes, right = jnp.linalg.svd(columns / length)
    kept = sizes > 4 * count * jnp.finfo(sizes.dtype).eps * sizes[0]
    scaled = jnp.where(kept, (left.T @ target) / jnp.where(kept, sizes, 1.0), 0.0)
    return (right.T @ scaled) / length
