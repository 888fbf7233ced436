"""Evaluation of power and Chebyshev series, elementwise, in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def power_sum(coefficients: Array, x: Array) -> Array:
    """sum_n coefficients_n x^n by Horner's rule.

    Unrolled, so that XLA fuses it into one pass over x, up to a length that still compiles fast.
    """
    if len(coefficients) > 256:
        rows = coefficients.reshape(*[1] * x.ndim, -1)
        return product_power_sum(rows, jnp.ones_like(rows), x)
    total = jnp.zeros_like(x) + coefficients[-1]
    for n in reversed(range(len(coefficients) - 1)):
        total = total * x + coefficients[n]
    return total


@jax.jit
def product_power_sum(left: Array, right: Array, x: Array) -> Array:
    """sum_n left_n right_n x^n, for long series whose coefficients are products.

    `left` and `right` have shapes (..., N) that broadcast against x: for a tile of pairs, (k, 1, N)
    and (1, m, N) against (k, m), so that no array of shape (k, m, N) is made.
    """

    def step(total: Array, factors: tuple[Array, Array]) -> tuple[Array, None]:
        return total * x + factors[0] * factors[1], None

    shape = jnp.broadcast_shapes(left.shape[:-1], right.shape[:-1], x.shape)
    series = (jnp.moveaxis(left, -1, 0), jnp.moveaxis(right, -1, 0))
    return jax.lax.scan(step, jnp.zeros(shape), series, reverse=True)[0]


def chebyshev_sum(coefficients: Array, x: Array) -> Array:
    """sum_n coefficients_n T_n(x) for x in [-1, 1], by Clenshaw's recurrence."""
    now = later = jnp.zeros_like(x)
    for n in reversed(range(1, len(coefficients))):
        now, later = coefficients[n] + 2 * x * now - later, now
    return coefficients[0] + x * now - later
