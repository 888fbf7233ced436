"""Activations built from half-lines: sign, step, and the powers of max(0, x)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.symmetry import Symmetries, polynomial_symmetries
from earnshaw.errors import check_real


class Sign(DotProduct):
    """sgn(x): -1, 0 or 1 (EPD, Table 1 without its factor sqrt(2); MATH, error 4)."""

    name = "sign"
    source = "EPD, Table 1; Full, Table 1"
    kinks = (0.0,)
    symmetries = Symmetries(flip=-1, degree=0)

    def __call__(self, x: ArrayLike) -> Array:
        """sgn(x)."""
        return jnp.sign(jnp.asarray(x, dtype=float))


class Step(DotProduct):
    """1 for x > 0, 0 for x < 0, 1/2 at 0."""

    name = "step"
    kinks = (0.0,)
    symmetries = Symmetries(flip=-1, constant=1.0, degree=0)

    def __call__(self, x: ArrayLike) -> Array:
        """The Heaviside function."""
        return jnp.heaviside(jnp.asarray(x, dtype=float), 0.5)


class Relu(DotProduct):
    """max(0, x)."""

    name = "relu"
    source = "EPD, Table 1"
    kinks = (0.0,)
    symmetries = Symmetries(flip=1, linear=1.0, degree=1)

    def __call__(self, x: ArrayLike) -> Array:
        """max(0, x)."""
        return jnp.maximum(jnp.asarray(x, dtype=float), 0.0)


class LeakyRelu(DotProduct):
    """negative_slope * x for x < 0, positive_slope * x for x > 0."""

    negative_slope: float = 0.01
    positive_slope: float = 1.0
    name = "leaky-relu"
    kinks = (0.0,)

    def __check_init__(self) -> None:
        check_real("negative_slope", self.negative_slope)
        check_real("positive_slope", self.positive_slope)

    @property
    def symmetries(self) -> Symmetries:
        """s(-x) = s(x) - (negative_slope + positive_slope) x; a straight line if they are equal."""
        if self.negative_slope == self.positive_slope:
            return polynomial_symmetries([0.0, self.positive_slope])
        return Symmetries(flip=1, linear=self.negative_slope + self.positive_slope, degree=1)

    def __call__(self, x: ArrayLike) -> Array:
        """Two half-lines that meet at 0."""
        x = jnp.asarray(x, dtype=float)
        return jnp.where(x < 0, self.negative_slope, self.positive_slope) * x


class ReluSquared(DotProduct):
    """max(0, x)^2."""

    name = "relu2"
    kinks = (0.0,)
    symmetries = Symmetries(degree=2)

    def __call__(self, x: ArrayLike) -> Array:
        """max(0, x)^2."""
        return jnp.maximum(jnp.asarray(x, dtype=float), 0.0) ** 2


class ReluCubed(DotProduct):
    """max(0, x)^3."""

    name = "relu3"
    kinks = (0.0,)
    symmetries = Symmetries(degree=3)

    def __call__(self, x: ArrayLike) -> Array:
        """max(0, x)^3."""
        return jnp.maximum(jnp.asarray(x, dtype=float), 0.0) ** 3
