"""Exponentials of x and of -x^2, whose duals are Gaussian integrals."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import LARGEST_RATE, DotProduct, NumpyFormula
from earnshaw.duality.gaussian_means import GaussianMeans, Smooth
from earnshaw.duality.pair import EPS, ROUNDING, Moment, Pair, gram
from earnshaw.duality.symmetry import EVEN, NONE, Symmetries, polynomial_symmetries
from earnshaw.limits import check_real

LARGEST_SHIFT = 300.0  # exp(2 shift) is then 1e260


class ExponentialMoment(Moment):
    """exp(b x + a): exp(2a + b^2 ((q1 + q2)/2 + c))."""

    rate: float
    shift: float

    def __call__(self, pair: Pair) -> Array:
        """The moment generating function of u + v."""
        growth = (pair.q1 + pair.q2) / 2 + pair.c
        return jnp.exp(2 * self.shift + self.rate**2 * growth)

    def relative_error(self, q1: Array, q2: Array) -> ArrayLike:
        """Six roundings of an exponent of this size, each of half an EPS, and the rest."""
        size = 2 * abs(self.shift) + self.rate**2 * (q1 + q2)
        return ROUNDING + 4 * EPS * size


class GaussianBumpMoment(Moment):
    """exp(b x^2), b < 0: ((1 - 2 b q1)(1 - 2 b q2) - 4 b^2 c^2)^(-1/2)."""

    curvature: float

    def __call__(self, pair: Pair) -> Array:
        """A Gaussian integral in the plane."""
        q1, q2 = pair[:2]
        b = 2 * self.curvature
        return (1 - b * (q1 + q2) + b * b * gram(*pair)) ** -0.5


@ACTIVATIONS.register("exponential")
class Exponential(DotProduct):
    """exp(rate x + shift).

    EPD's Table 1 wants rate 1, shift -1 (it prints -2: mathematics.md, error 5).
    """

    rate: float = 1.0
    shift: float = 0.0
    name = "exponential"
    source = "EPD, Table 1"
    in_numpy = NumpyFormula(
        "exp(rate x + shift)", "np.exp(RATE * x + SHIFT)", "RATE * np.exp(RATE * x + SHIFT)"
    )

    def __check_init__(self) -> None:
        check_real("rate", self.rate, -LARGEST_RATE, LARGEST_RATE)
        check_real("shift", self.shift, -LARGEST_SHIFT, LARGEST_SHIFT)

    @property
    def symmetries(self) -> Symmetries:
        """None, except for rate = 0, which is a constant."""
        return polynomial_symmetries([math.exp(self.shift)]) if self.rate == 0 else NONE

    def __call__(self, x: ArrayLike) -> Array:
        """exp(rate x + shift)."""
        return jnp.exp(self.rate * jnp.asarray(x, dtype=float) + self.shift)

    def moment(self) -> Moment:
        """exp(2 shift + rate^2 ((q1 + q2)/2 + c))."""
        return ExponentialMoment(self.rate, self.shift)

    def gaussian_means(self) -> GaussianMeans:
        """exp(b x + a + b^2 v/2)."""
        return Smooth(self._smoothed)

    def _smoothed(self, x: Array, variance: Array) -> Array:
        return jnp.exp(self.rate * x + self.shift + self.rate**2 * variance / 2)

    @staticmethod
    def in_torch(torch: Any, x: Any, rate: Any, shift: Any) -> Any:
        """exp(rate x + shift)."""
        return torch.exp(rate * x + shift)


@ACTIVATIONS.register("gaussian-bump")
class GaussianBump(DotProduct):
    """exp(curvature x^2) with curvature < 0."""

    curvature: float = -0.5
    name = "gaussian-bump"
    symmetries = EVEN
    in_numpy = NumpyFormula(
        "exp(curvature x^2)",
        "np.exp(CURVATURE * x**2)",
        "2 * CURVATURE * x * np.exp(CURVATURE * x**2)",
    )

    def __check_init__(self) -> None:
        check_real("curvature", self.curvature, -LARGEST_RATE, 0.0)

    def __call__(self, x: ArrayLike) -> Array:
        """exp(curvature x^2)."""
        return jnp.exp(self.curvature * jnp.asarray(x, dtype=float) ** 2)

    def moment(self) -> Moment:
        """A Gaussian integral in the plane."""
        return GaussianBumpMoment(self.curvature)

    def gaussian_means(self) -> GaussianMeans:
        """exp(b x^2 / (1 - 2 b v)) / sqrt(1 - 2 b v)."""
        return Smooth(self._smoothed, width=math.sqrt(-0.5 / self.curvature))

    def _smoothed(self, x: Array, variance: Array) -> Array:
        spread = 1 - 2 * self.curvature * variance
        return jnp.exp(self.curvature * x * x / spread) / jnp.sqrt(spread)

    @staticmethod
    def in_torch(torch: Any, x: Any, curvature: Any) -> Any:
        """exp(curvature x^2)."""
        return torch.exp(curvature * x**2)
