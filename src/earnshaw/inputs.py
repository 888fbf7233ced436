"""Input distributions: what the network is fed with, and therefore what the charges feel."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.errors import check_real


class Gaussian(eqx.Module):
    """The centred Gaussian N(0, width^2 I). The papers' case is width 1."""

    width: float = 1.0

    def __check_init__(self) -> None:
        check_real("input width", self.width, 0.0)

    def log_density(self, x: Array) -> Array:
        """log p(x) for points `x` of shape (..., d); shape (...)."""
        dim = x.shape[-1]
        scaled = jnp.sum(x * x, axis=-1) / (2 * self.width**2)
        return -scaled - dim * (0.5 * math.log(2 * math.pi) + math.log(self.width))

    def sample(self, key: Array, count: int, dim: int) -> Array:
        """`count` independent inputs, shape (count, dim)."""
        return self.width * jax.random.normal(key, (count, dim))
