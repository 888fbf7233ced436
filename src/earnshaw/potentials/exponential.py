"""Duals that are exponentials of the covariance: sin, cos, rbf, exp; and the Gaussian bump."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from earnshaw.potentials.dual import Moment
from earnshaw.potentials.pair import Pair

# exp(-S/2) sinh c and exp(-S/2) cosh c are written with exponentials of (c - S/2) <= 0 and
# (-c - S/2) <= 0, S = q1 + q2 >= 2|c|: nothing overflows however long the vectors are.


class Sin(Moment):
    """sin: exp(-(q1 + q2)/2) sinh c."""

    def __call__(self, pair: Pair) -> Array:
        """Half the difference of two decaying exponentials."""
        half = (pair.q1 + pair.q2) / 2
        return 0.5 * (jnp.exp(pair.c - half) - jnp.exp(-pair.c - half))


class Cos(Moment):
    """cos: exp(-(q1 + q2)/2) cosh c."""

    def __call__(self, pair: Pair) -> Array:
        """Half the sum of two decaying exponentials."""
        half = (pair.q1 + pair.q2) / 2
        return 0.5 * (jnp.exp(pair.c - half) + jnp.exp(-pair.c - half))


class Rbf(Moment):
    """sqrt(2) sin(sqrt(2 gamma) x + pi/4): exp(-gamma |theta - w|^2)."""

    gamma: float

    def __call__(self, pair: Pair) -> Array:
        """exp(-gamma (q1 + q2 - 2c))."""
        return jnp.exp(-self.gamma * (pair.q1 + pair.q2 - 2 * pair.c))


class Exponential(Moment):
    """exp(b x + a): exp(2a + b^2 ((q1 + q2)/2 + c))."""

    rate: float
    shift: float

    def __call__(self, pair: Pair) -> Array:
        """The moment generating function of u + v."""
        growth = (pair.q1 + pair.q2) / 2 + pair.c
        return jnp.exp(2 * self.shift + self.rate**2 * growth)


class GaussianBump(Moment):
    """exp(b x^2), b < 0: ((1 - 2 b q1)(1 - 2 b q2) - 4 b^2 c^2)^(-1/2)."""

    curvature: float

    def __call__(self, pair: Pair) -> Array:
        """A Gaussian integral in the plane."""
        q1, q2, c = pair[:3]
        b = self.curvature
        return (1 - 2 * b * (q1 + q2) + 4 * b * b * (q1 * q2 - c * c)) ** -0.5
