"""Softened rectifiers: gelu, softplus, silu, mish and elu."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import ndtr
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.rectified import Relu
from earnshaw.activations.symmetry import NONE, Symmetries
from earnshaw.errors import check_real


class Gelu(DotProduct):
    """x P(N(0, 1) <= x), the exact one (not its tanh approximation)."""

    name = "gelu"
    symmetries = Symmetries(flip=1, linear=1.0)

    def __call__(self, x: ArrayLike) -> Array:
        """x times the normal distribution function."""
        x = jnp.asarray(x, dtype=float)
        return x * ndtr(x)


class Softplus(DotProduct):
    """log(1 + exp(x))."""

    name = "softplus"
    symmetries = Symmetries(flip=1, linear=1.0)

    def __call__(self, x: ArrayLike) -> Array:
        """log(1 + exp(x))."""
        return jax.nn.softplus(jnp.asarray(x, dtype=float))


class Silu(DotProduct):
    """x / (1 + exp(-x)), also called swish."""

    name = "silu"
    symmetries = Symmetries(flip=1, linear=1.0)

    def __call__(self, x: ArrayLike) -> Array:
        """x / (1 + exp(-x))."""
        return jax.nn.silu(jnp.asarray(x, dtype=float))


class Mish(DotProduct):
    """x tanh(log(1 + exp(x)))."""

    name = "mish"

    def __call__(self, x: ArrayLike) -> Array:
        """x tanh(softplus(x))."""
        x = jnp.asarray(x, dtype=float)
        return x * jnp.tanh(jax.nn.softplus(x))


class Elu(DotProduct):
    """x for x > 0, alpha (exp(x) - 1) for x < 0."""

    alpha: float = 1.0
    name = "elu"
    kinks = (0.0,)

    def __check_init__(self) -> None:
        check_real("alpha", self.alpha)

    @property
    def symmetries(self) -> Symmetries:
        """None, except for alpha = 0, which is relu."""
        return Relu.symmetries if self.alpha == 0 else NONE

    def __call__(self, x: ArrayLike) -> Array:
        """x for x > 0, alpha (exp(x) - 1) for x < 0."""
        return jax.nn.elu(jnp.asarray(x, dtype=float), self.alpha)
