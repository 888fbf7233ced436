"""The best charges at given positions: a symmetric positive semidefinite system, solved stably.

At fixed positions the loss is the quadratic form c.(K + ridge) c - 2 c.p + const, K the Gram matrix
of the units and p the teacher's potential at them. Units that coincide make K singular: the
solution of least norm (after scaling K to unit diagonal) shares the weight among them.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

DENSE = 2048  # units up to which K is a matrix; above, conjugate gradients on products with it


def solve_dense(gram: Array, pull: Array) -> Array:
    """The c of least norm, in scaled units, with gram c = pull to rounding."""
    size = jnp.sqrt(jnp.diagonal(gram))
    scale = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1.0), 0.0)
    values, vectors = jnp.linalg.eigh(gram * scale[:, None] * scale)
    floor = len(pull) * np.finfo(float).eps * jnp.max(jnp.abs(values))
    inverse = jnp.where(values > floor, 1 / jnp.where(values > floor, values, 1.0), 0.0)
    return scale * (vectors @ (inverse * (vectors.T @ (scale * pull))))


def solve_by_products(product: Callable[[Array], Array], diagonal: Array, pull: Array) -> Array:
    """The same by conjugate gradients, scaled to unit diagonal; to a relative residual of 1e-12."""
    size = jnp.sqrt(diagonal)
    scale = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1.0), 0.0)
    scaled, _ = jax.scipy.sparse.linalg.cg(
        lambda c: scale * product(scale * c), scale * pull, tol=1e-12, maxiter=10 * len(pull)
    )
    return scale * scaled
