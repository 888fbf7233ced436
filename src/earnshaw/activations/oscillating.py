"""Waves: sin, cos, and the phase-shifted sine whose potential is the radial basis function."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.symmetry import EVEN, ODD
from earnshaw.errors import check_real


class Sin(DotProduct):
    """sin(x)."""

    name = "sin"
    symmetries = ODD

    def __call__(self, x: ArrayLike) -> Array:
        """sin(x)."""
        return jnp.sin(jnp.asarray(x, dtype=float))


class Cos(DotProduct):
    """cos(x)."""

    name = "cos"
    symmetries = EVEN

    def __call__(self, x: ArrayLike) -> Array:
        """cos(x)."""
        return jnp.cos(jnp.asarray(x, dtype=float))


class Rbf(DotProduct):
    """sqrt(2) sin(sqrt(2 gamma) x + pi/4): its potential is exp(-gamma |theta - w|^2)."""

    gamma: float = 1.0
    name = "rbf"

    def __check_init__(self) -> None:
        check_real("gamma", self.gamma, 0.0)

    def __call__(self, x: ArrayLike) -> Array:
        """sqrt(2) sin(sqrt(2 gamma) x + pi/4)."""
        phase = math.sqrt(2 * self.gamma) * jnp.asarray(x, dtype=float) + math.pi / 4
        return math.sqrt(2) * jnp.sin(phase)
