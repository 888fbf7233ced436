"""The smallest eigenpair of a symmetric operator, inside compiled code.

Lanczos' method with a fixed number of products, for descent loops that may not return to Python;
`eigenpairs.py` is the one that goes on until it has converged. Orthogonalising against the whole
basis, twice, is cheap beside a Hessian-vector product and keeps the basis orthonormal to rounding.
When H maps the span of the basis into itself (a multiple eigenvalue, a start that misses an
eigenvector), the basis goes on with a new random vector, so that with as many vectors as
coordinates it is always complete: then the pair is exact to rounding.

All products are kept, so that the Ritz values are those of Q H Q^T itself, and the residual is that
of the Ritz vector itself, for no product more. With fewer vectors than coordinates the value is an
upper bound of the smallest eigenvalue, and v.H v = value holds all the same.

SciPy cannot be called from compiled code. JAX has `lobpcg_standard`: with 67 products its value is
above the smallest eigenvalue of a relu Hessian (40 units in R^10) by 8e-3 of the norm, where 64
products here are exact to rounding; on an even spectrum by 2e-3 against 8e-6
(`python benchmarks/numerics.py --only ritz`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.numerics.fixed_order import sum_all

PRODUCTS = 64
ROUNDING = float(np.finfo(float).eps)


class RitzPair(NamedTuple):
    """v.H v = value for the unit `vector` v, and |H v - value v| = residual."""

    value: Array
    vector: Array
    residual: Array


def smallest_ritz_pair(
    product: Callable[[Array], Array], size: int, products: int = PRODUCTS
) -> RitzPair:
    """The algebraically smallest Ritz pair of H after min(size, products) products.

    Args:
        product: v -> H v for vectors of shape (size,), H symmetric; traced once.
        size: the number of coordinates. With none, the smallest eigenvalue is +inf.
        products: the most vectors that the basis may have.
    """
    if size == 0:
        return RitzPair(jnp.asarray(jnp.inf), jnp.zeros(0), jnp.zeros(()))
    count = min(size, products)
    key = jax.random.key(0, impl="threefry2x32")  # the same start in every process

    def random(step: Array | int) -> Array:
        return _unit(jax.random.normal(jax.random.fold_in(key, step), (size,)))

    def grow(step: Array, basis: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        rows, images, norm = basis
        image = product(rows[step])
        norm = jnp.maximum(norm, _length(image))
        rest = _beside(rows, image)
        invariant = _length(rest) <= 10 * ROUNDING * norm
        onward = jax.lax.cond(
            invariant, lambda: _beside(rows, random(step + 1)), lambda: _unit(rest)
        )
        onward = _unit(_beside(rows, onward))
        # What comes after the last product has no row, and is dropped.
        rows = rows.at[step + 1].set(onward, mode="drop")
        return rows, images.at[step].set(image), norm

    rows = jnp.zeros((count, size)).at[0].set(random(0))
    start = (rows, jnp.zeros((count, size)), jnp.zeros(()))
    rows, images, _ = jax.lax.fori_loop(0, count, grow, start)

    matrix = rows @ images.T
    scale = _scale(matrix)  # squares of a Hessian of order 1e-200 would underflow
    values, vectors = jnp.linalg.eigh((matrix + matrix.T) / (2 * scale))
    value, mix = scale * values[0], vectors[:, 0]
    vector = mix @ rows
    return RitzPair(value, _unit(vector), _length(mix @ images - value * vector))


def _beside(rows: Array, vector: Array) -> Array:
    """What `vector` has beside the span of the rows."""
    return vector - (rows @ vector) @ rows


def _scale(values: Array) -> Array:
    largest = jnp.max(jnp.abs(values))
    return jnp.where(largest > 0, largest, 1.0)


def _length(vector: Array) -> Array:
    scale = _scale(vector)
    return scale * jnp.sqrt(sum_all((vector / scale) ** 2))


def _unit(vector: Array) -> Array:
    length = _length(vector)
    return vector / jnp.where(length > 0, length, 1.0)
