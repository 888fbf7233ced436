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
        rows = coefficients.reshape(-1, *[1] * x.ndim)
        return long_power_sum(jnp.broadcast_to(rows, (len(coefficients), *x.shape)), x)
    total = jnp.zeros_like(x) + coefficients[-1]
    for n in reversed(range(len(coefficients) - 1)):
        total = total * x + coefficients[n]
    return total


@jax.jit
def long_power_sum(rows: Array, x: Array) -> Array:
    """sum_n rows_n x^n with coefficients of shape (N, *x.shape), for N too large to unroll."""

    def step(total: Array, row: Array) -> tuple[Array, None]:
        return total * x + row, None

    return jax.lax.scan(step, jnp.zeros_like(x), rows, reverse=True)[0]


def chebyshev_sum(coefficients: Array, x: Array) -> Array:
    """sum_n coefficients_n T_n(x) for x in [-1, 1], by Clenshaw's recurrence."""
    now = later = jnp.zeros_like(x)
    for n in reversed(range(1, len(coefficients))):
        now, later = coefficients[n] + 2 * x * now - later, now
    return coefficients[0] + x * now - later
