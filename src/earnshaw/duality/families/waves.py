"""Waves: sin, cos, and the phase-shifted sine whose potential is the radial basis function.

With S = q1 + q2 >= 2|c|, exp(-S/2) sinh c and exp(-S/2) cosh c are written with exponentials of
c - S/2 = -|theta - w|^2/2 and -c - S/2 = -|theta + w|^2/2: nothing overflows however long the
vectors are, and `half_distance` keeps the digits of a small distance between long vectors.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import LARGEST_RATE, DotProduct, NumpyFormula
from earnshaw.duality.gaussian_means import GaussianMeans, Smooth
from earnshaw.duality.pair import EPS, ROUNDING, Moment, Pair, half_distance
from earnshaw.duality.symmetry import EVEN, ODD
from earnshaw.limits import check_real


class WaveMoment(Moment):
    """What the three share: how far a distance is off.

    A scaled norm s = width |theta| is rounded by s EPS/2, hence |theta - w|^2/2 by |s1 - s2| as
    much, and x exp(-x^2/2) < 0.61. On the sphere the two norms are the same number.
    """

    @property
    def pitch(self) -> float:
        """The waves of s are those of sin(pitch x)."""
        return 1.0

    def bound(self, variance: float) -> float | None:
        """The rounding alone."""
        return ROUNDING * float(self(Pair.on_sphere(1.0, variance)))

    def relative_error(self, q1: Array, q2: Array) -> ArrayLike:
        """For long vectors that of the distance, too."""
        return ROUNDING + 2 * EPS * self.pitch * (jnp.sqrt(q1) + jnp.sqrt(q2))


class SinMoment(WaveMoment):
    """sin: exp(-(q1 + q2)/2) sinh c."""

    def __call__(self, pair: Pair) -> Array:
        """exp(|c| - S/2) (1 - exp(-2|c|))/2 with the sign of c: short vectors lose nothing."""
        side = jnp.where(pair.c < 0, -1.0, 1.0)
        near = Pair(
            *(jnp.where(side < 0, *both) for both in zip(pair.opposite(), pair, strict=True))
        )
        return -0.5 * side * jnp.exp(-half_distance(*near)) * jnp.expm1(-2 * near.c)


class CosMoment(WaveMoment):
    """cos: exp(-(q1 + q2)/2) cosh c."""

    def __call__(self, pair: Pair) -> Array:
        """Half the sum of two decaying exponentials."""
        apart, across = half_distance(*pair), half_distance(*pair.opposite())
        return 0.5 * (jnp.exp(-apart) + jnp.exp(-across))


class RbfMoment(WaveMoment):
    """sqrt(2) sin(sqrt(2 gamma) x + pi/4): exp(-gamma |theta - w|^2)."""

    gamma: float

    @property
    def pitch(self) -> float:
        return math.sqrt(2 * self.gamma)

    def __call__(self, pair: Pair) -> Array:
        """exp(-2 gamma |theta - w|^2/2)."""
        return jnp.exp(-2 * self.gamma * half_distance(*pair))


def _smoothed_sin(x: Array, variance: Array) -> Array:
    return jnp.exp(-variance / 2) * jnp.sin(x)


def _smoothed_cos(x: Array, variance: Array) -> Array:
    return jnp.exp(-variance / 2) * jnp.cos(x)


@ACTIVATIONS.register("sin")
class Sin(DotProduct):
    """sin(x)."""

    name = "sin"
    symmetries = ODD
    in_numpy = NumpyFormula("sin(x)", "np.sin(x)", "np.cos(x)")

    def __call__(self, x: ArrayLike) -> Array:
        """sin(x)."""
        return jnp.sin(jnp.asarray(x, dtype=float))

    def moment(self) -> Moment:
        """exp(-(q1 + q2)/2) sinh c."""
        return SinMoment()

    def gaussian_means(self) -> GaussianMeans:
        """exp(-v/2) sin(x)."""
        return Smooth(_smoothed_sin, waves=1.0)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """sin(x)."""
        return torch.sin(x)


@ACTIVATIONS.register("cos")
class Cos(DotProduct):
    """cos(x)."""

    name = "cos"
    symmetries = EVEN
    in_numpy = NumpyFormula("cos(x)", "np.cos(x)", "-np.sin(x)")

    def __call__(self, x: ArrayLike) -> Array:
        """cos(x)."""
        return jnp.cos(jnp.asarray(x, dtype=float))

    def moment(self) -> Moment:
        """exp(-(q1 + q2)/2) cosh c."""
        return CosMoment()

    def gaussian_means(self) -> GaussianMeans:
        """exp(-v/2) cos(x)."""
        return Smooth(_smoothed_cos, waves=1.0)

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """cos(x)."""
        return torch.cos(x)


@ACTIVATIONS.register("rbf")
class Rbf(DotProduct):
    """sqrt(2) sin(sqrt(2 gamma) x + pi/4): its potential is exp(-gamma |theta - w|^2)."""

    gamma: float = 1.0
    name = "rbf"
    in_numpy = NumpyFormula(
        "sqrt(2) sin(sqrt(2 gamma) x + pi/4)",
        "math.sqrt(2) * np.sin(math.sqrt(2 * GAMMA) * x + math.pi / 4)",
        "2 * math.sqrt(GAMMA) * np.cos(math.sqrt(2 * GAMMA) * x + math.pi / 4)",
    )

    def __check_init__(self) -> None:
        check_real("gamma", self.gamma, 0.0, LARGEST_RATE)

    def __call__(self, x: ArrayLike) -> Array:
        """sqrt(2) sin(sqrt(2 gamma) x + pi/4)."""
        phase = math.sqrt(2 * self.gamma) * jnp.asarray(x, dtype=float) + math.pi / 4
        return math.sqrt(2) * jnp.sin(phase)

    def moment(self) -> Moment:
        """exp(-gamma |theta - w|^2)."""
        return RbfMoment(self.gamma)

    def gaussian_means(self) -> GaussianMeans:
        """exp(-gamma v) s(x)."""
        return Smooth(self._smoothed, waves=math.sqrt(2 * self.gamma))

    def _smoothed(self, x: Array, variance: Array) -> Array:
        return jnp.exp(-self.gamma * variance) * self(x)

    @staticmethod
    def in_torch(torch: Any, x: Any, gamma: Any) -> Any:
        """sqrt(2) sin(sqrt(2 gamma) x + pi/4)."""
        return math.sqrt(2) * torch.sin(torch.sqrt(2 * gamma) * x + math.pi / 4)
