"""Evaluation of power and Chebyshev series, elementwise, in JAX."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def power_sum(coefficients: Array, x: Array) -> Array:
    """sum_n coefficients_n x^n by Horner's rule, unrolled so that XLA fuses it into one loop."""
    total = jnp.zeros_like(x) + coefficients[-1]
    for n in reversed(range(len(coefficients) - 1)):
        total = total * x + coefficients[n]
    return total


def chebyshev_sum(coefficients: Array, x: Array) -> Array:
    """sum_n coefficients_n T_n(x) for x in [-1, 1], by Clenshaw's recurrence."""
    now = later = jnp.zeros_like(x)
    for n in reversed(range(1, len(coefficients))):
        now, later = coefficients[n] + 2 * x * now - later, now
    return coefficients[0] + x * now - later
