"""erf, the normal distribution function and gelu, whose duals are arc sines.

These are written with the arc tangent, since arcsin(x / sqrt(x^2 + y^2)) = atan2(x, y) keeps every
digit, and with (1 + q1)(1 + q2) - c^2 = 1 + q1 + q2 + (q1 q2 - c^2), all terms positive. The
bracket is `gram`, which loses nothing for long vectors that are nearly parallel.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy import special
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import DotProduct, NumpyFormula
from earnshaw.duality.gaussian_means import GaussianMeans, Smooth
from earnshaw.duality.half_lines import HalfLines
from earnshaw.duality.pair import Moment, Pair, gram
from earnshaw.duality.symmetry import ODD, Symmetries

# -- NumPy functions that exported files carry with them ------------------------------------------


def erf(x: np.ndarray) -> np.ndarray:
    """The error function, element by element."""
    return np.vectorize(math.erf, otypes=[float])(x)


def normal_cdf(x: np.ndarray) -> np.ndarray:
    """P(N(0, 1) <= x), also right relative to itself where it is tiny."""
    return 0.5 * np.vectorize(math.erfc, otypes=[float])(-x / math.sqrt(2))


def normal_density(x: np.ndarray) -> np.ndarray:
    """The density of N(0, 1)."""
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


# -- moments --------------------------------------------------------------------------------------


class ErfMoment(Moment):
    """erf: (2/pi) arcsin(2c / sqrt((1 + 2 q1)(1 + 2 q2)))."""

    def __call__(self, pair: Pair) -> Array:
        """As an arc tangent."""
        q1, q2, c = pair[:3]
        other = jnp.sqrt(1 + 2 * (q1 + q2) + 4 * gram(*pair))
        return (2 / math.pi) * jnp.arctan2(2 * c, other)


class NormalCdfMoment(Moment):
    """The normal distribution function: 1/4 + arcsin(c / sqrt((1 + q1)(1 + q2))) / 2 pi."""

    def __call__(self, pair: Pair) -> Array:
        """As an arc tangent."""
        q1, q2, c = pair[:3]
        other = jnp.sqrt(1 + q1 + q2 + gram(*pair))
        return 0.25 + jnp.arctan2(c, other) / (2 * math.pi)


class GeluMoment(Moment):
    """gelu: c/4 + ((c^2 + P E^2)/((1+q1)(1+q2) E) + c atan(c/E)) / 2 pi.

    Here P = q1 q2 and E^2 = (1 + q1)(1 + q2) - c^2.
    """

    def __call__(self, pair: Pair) -> Array:
        """The closed form above."""
        q1, q2, c = pair[:3]
        root = jnp.sqrt(1 + q1 + q2 + gram(*pair))
        part1, part2 = 1 / (1 + q1), 1 / (1 + q2)
        algebraic = (c * part1) * (c * part2) / root + (q1 * part1) * (q2 * part2) * root
        return c / 4 + (algebraic + c * jnp.arctan2(c, root)) / (2 * math.pi)


# -- activations ----------------------------------------------------------------------------------


@ACTIVATIONS.register("erf")
class Erf(DotProduct):
    """The error function."""

    name = "erf"
    symmetries = ODD
    in_numpy = NumpyFormula(
        "erf(x), the error function", "erf(x)", "2 / math.sqrt(math.pi) * np.exp(-(x**2))", (erf,)
    )

    def __call__(self, x: ArrayLike) -> Array:
        """erf(x)."""
        return special.erf(jnp.asarray(x, dtype=float))

    def moment(self) -> Moment:
        """An arc sine."""
        return ErfMoment()

    def gaussian_means(self) -> GaussianMeans:
        """erf(x / sqrt(1 + 2 v)): more noise only stretches it; and 2 [x + N/sqrt(2) > 0] - 1."""
        lines = HalfLines(((0, 0.0, 2.0),), constant=-1.0, noise=0.5)
        return Smooth(_smoothed_erf, width=0.7, lines=lines)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """erf(x)."""
        return torch.erf(x)


@ACTIVATIONS.register("normal-cdf")
class NormalCdf(DotProduct):
    """The distribution function of N(0, 1)."""

    name = "normal-cdf"
    symmetries = Symmetries(flip=-1, constant=1.0)
    in_numpy = NumpyFormula(
        "P(N(0, 1) <= x)", "normal_cdf(x)", "normal_density(x)", (normal_cdf, normal_density)
    )

    def __call__(self, x: ArrayLike) -> Array:
        """P(N(0, 1) <= x)."""
        return special.ndtr(jnp.asarray(x, dtype=float))

    def moment(self) -> Moment:
        """1/4 and an arc sine."""
        return NormalCdfMoment()

    def gaussian_means(self) -> GaussianMeans:
        """Phi(x / sqrt(1 + v)); and a step of x + N."""
        return Smooth(_smoothed_cdf, width=1.0, lines=HalfLines(((0, 0.0, 1.0),), noise=1.0))

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """P(N(0, 1) <= x); PyTorch's own ndtr gives up in the left tail."""
        return torch.erfc(-x / math.sqrt(2)) / 2


def _smoothed_erf(x: Array, variance: Array) -> Array:
    return special.erf(x / jnp.sqrt(1 + 2 * variance))


def _smoothed_cdf(x: Array, variance: Array) -> Array:
    return special.ndtr(x / jnp.sqrt(1 + variance))


def _smoothed_gelu(x: Array, variance: Array) -> Array:
    root = jnp.sqrt(1 + variance)
    y = x / root
    density = jnp.exp(-y * y / 2) / math.sqrt(2 * math.pi)
    return x * special.ndtr(y) + variance / root * density


@ACTIVATIONS.register("gelu")
class Gelu(DotProduct):
    """x P(N(0, 1) <= x), the exact one (not its tanh approximation)."""

    name = "gelu"
    symmetries = Symmetries(flip=1, linear=1.0)
    in_numpy = NumpyFormula(
        "x P(N(0, 1) <= x)",
        "x * normal_cdf(x)",
        "normal_cdf(x) + x * normal_density(x)",
        (normal_cdf, normal_density),
    )

    def __call__(self, x: ArrayLike) -> Array:
        """x times the normal distribution function."""
        x = jnp.asarray(x, dtype=float)
        return x * special.ndtr(x)

    def moment(self) -> Moment:
        """An algebraic function and an arc sine."""
        return GeluMoment()

    def gaussian_means(self) -> GaussianMeans:
        """x Phi(x/r) + (v/r) phi(x/r), r = sqrt(1 + v); and max(0, y) - delta(y) of y = x + N."""
        lines = HalfLines(((1, 0.0, 1.0), (-1, 0.0, -1.0)), noise=1.0)
        return Smooth(_smoothed_gelu, width=1.0, lines=lines)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """x P(N(0, 1) <= x)."""
        return x * NormalCdf.in_torch(torch, x)
