"""q1 q2 - c^2 where both products agree in all their digits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def product_minus_square(q1: Array, q2: Array, c: Array) -> Array:
    """q1 q2 - c^2 to 1e-15 of itself, or to 1e-31 q1 q2 where that is more.

    Products of halves of 26 and 27 bits are exact, so it does not matter whether the compiler
    fuses them with additions; those that can cancel are two-sums (Knuth), which lose nothing.
    """
    (a, a_rest), (b, b_rest), (e, e_rest) = _halves(q1), _halves(q2), _halves(c)
    across, lost = _two_sum(a * b_rest, a_rest * b)
    middle, lost_too = _two_sum(across, -2 * e * e_rest)
    top, lost_most = _two_sum(a * b, -e * e)
    whole, rest = _two_sum(top, middle)
    return whole + (rest + lost + lost_too + lost_most + (a_rest * b_rest - e_rest * e_rest))


def _halves(x: Array) -> tuple[Array, Array]:
    """The upper 26 bits of the mantissa, and the rest."""
    bits = jax.lax.bitcast_convert_type(x, jnp.int64)
    upper = jax.lax.bitcast_convert_type(bits & -(1 << 27), jnp.float64)
    return upper, x - upper


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """x + y rounded, and what the rounding lost."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)
