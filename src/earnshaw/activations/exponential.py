"""Exponentials of x, of -x^2 and of -|x|."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.symmetry import EVEN, NONE, Symmetries, polynomial_symmetries
from earnshaw.errors import check_real


class Exponential(DotProduct):
    """exp(rate x + shift). EPD's Table 1 wants rate 1, shift -1 (it prints -2: MATH, error 5)."""

    rate: float = 1.0
    shift: float = 0.0
    name = "exponential"
    source = "EPD, Table 1"

    def __check_init__(self) -> None:
        check_real("rate", self.rate)
        check_real("shift", self.shift)

    @property
    def symmetries(self) -> Symmetries:
        """None, except for rate = 0, which is a constant."""
        return polynomial_symmetries([math.exp(self.shift)]) if self.rate == 0 else NONE

    def __call__(self, x: ArrayLike) -> Array:
        """exp(rate x + shift)."""
        return jnp.exp(self.rate * jnp.asarray(x, dtype=float) + self.shift)


class GaussianBump(DotProduct):
    """exp(curvature x^2) with curvature < 0."""

    curvature: float = -0.5
    name = "gaussian-bump"
    symmetries = EVEN

    def __check_init__(self) -> None:
        check_real("curvature", self.curvature, -math.inf, 0.0)

    def __call__(self, x: ArrayLike) -> Array:
        """exp(curvature x^2)."""
        return jnp.exp(self.curvature * jnp.asarray(x, dtype=float) ** 2)


class Laplace(DotProduct):
    """exp(-|x|)."""

    name = "laplace"
    kinks = (0.0,)
    symmetries = EVEN

    def __call__(self, x: ArrayLike) -> Array:
        """exp(-|x|)."""
        return jnp.exp(-jnp.abs(jnp.asarray(x, dtype=float)))
