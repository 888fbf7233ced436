"""Smooth steps: erf, the normal distribution function, tanh and the logistic function."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erf, ndtr
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.symmetry import ODD, Symmetries


class Erf(DotProduct):
    """The error function."""

    name = "erf"
    symmetries = ODD

    def __call__(self, x: ArrayLike) -> Array:
        """erf(x)."""
        return erf(jnp.asarray(x, dtype=float))


class NormalCdf(DotProduct):
    """The distribution function of N(0, 1)."""

    name = "normal-cdf"
    symmetries = Symmetries(flip=-1, constant=1.0)

    def __call__(self, x: ArrayLike) -> Array:
        """P(N(0, 1) <= x)."""
        return ndtr(jnp.asarray(x, dtype=float))


class Tanh(DotProduct):
    """The hyperbolic tangent."""

    name = "tanh"
    symmetries = ODD

    def __call__(self, x: ArrayLike) -> Array:
        """tanh(x)."""
        return jnp.tanh(jnp.asarray(x, dtype=float))


class Logistic(DotProduct):
    """1 / (1 + exp(-x))."""

    name = "logistic"
    symmetries = Symmetries(flip=-1, constant=1.0)

    def __call__(self, x: ArrayLike) -> Array:
        """1 / (1 + exp(-x))."""
        return jax.nn.sigmoid(jnp.asarray(x, dtype=float))
