"""Duals of erf, the normal distribution function and gelu: the arc-sine family.

Written with the arc tangent, since arcsin(x / sqrt(x^2 + y^2)) = atan2(x, y) keeps every digit, and
with (1 + q1)(1 + q2) - c^2 = 1 + q1 + q2 + (q1 q2 - c^2), whose bracket is never large against the
rest.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array

from earnshaw.potentials.dual import Moment
from earnshaw.potentials.pair import Pair


class Erf(Moment):
    """erf: (2/pi) arcsin(2c / sqrt((1 + 2 q1)(1 + 2 q2)))."""

    def __call__(self, pair: Pair) -> Array:
        """As an arc tangent."""
        q1, q2, c = pair[:3]
        other = jnp.sqrt(1 + 2 * (q1 + q2) + 4 * (q1 * q2 - c * c))
        return (2 / math.pi) * jnp.arctan2(2 * c, other)


class NormalCdf(Moment):
    """The normal distribution function: 1/4 + arcsin(c / sqrt((1 + q1)(1 + q2))) / 2 pi."""

    def __call__(self, pair: Pair) -> Array:
        """As an arc tangent."""
        q1, q2, c = pair[:3]
        other = jnp.sqrt(1 + q1 + q2 + (q1 * q2 - c * c))
        return 0.25 + jnp.arctan2(c, other) / (2 * math.pi)


class Gelu(Moment):
    """gelu: c/4 + ((c^2 + P E^2)/((1+q1)(1+q2) E) + c atan(c/E)) / 2 pi.

    Here P = q1 q2 and E^2 = (1 + q1)(1 + q2) - c^2.
    """

    def __call__(self, pair: Pair) -> Array:
        """The closed form above."""
        q1, q2, c = pair[:3]
        squared = 1 + q1 + q2 + (q1 * q2 - c * c)
        root = jnp.sqrt(squared)
        algebraic = (c * c + q1 * q2 * squared) / ((1 + q1) * (1 + q2) * root)
        return c / 4 + (algebraic + c * jnp.arctan2(c, root)) / (2 * math.pi)
