"""Waves: sin, cos, and the phase-shifted sine whose potential is the radial basis function.

With S = q1 + q2 >= 2|c|, exp(-S/2) sinh c and exp(-S/2) cosh c are written with exponentials of
(c - S/2) <= 0 and (-c - S/2) <= 0: nothing overflows however long the vectors are.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import DotProduct, NumpyFormula
from earnshaw.duality.pair import Moment, Pair
from earnshaw.duality.symmetry import EVEN, ODD
from earnshaw.errors import check_real


class SinMoment(Moment):
    """sin: exp(-(q1 + q2)/2) sinh c."""

    def __call__(self, pair: Pair) -> Array:
        """Half the difference of two decaying exponentials."""
        half = (pair.q1 + pair.q2) / 2
        return 0.5 * (jnp.exp(pair.c - half) - jnp.exp(-pair.c - half))


class CosMoment(Moment):
    """cos: exp(-(q1 + q2)/2) cosh c."""

    def __call__(self, pair: Pair) -> Array:
        """Half the sum of two decaying exponentials."""
        half = (pair.q1 + pair.q2) / 2
        return 0.5 * (jnp.exp(pair.c - half) + jnp.exp(-pair.c - half))


class RbfMoment(Moment):
    """sqrt(2) sin(sqrt(2 gamma) x + pi/4): exp(-gamma |theta - w|^2)."""

    gamma: float

    def __call__(self, pair: Pair) -> Array:
        """exp(-gamma (q1 + q2 - 2c))."""
        return jnp.exp(-self.gamma * (pair.q1 + pair.q2 - 2 * pair.c))


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
        check_real("gamma", self.gamma, 0.0)

    def __call__(self, x: ArrayLike) -> Array:
        """sqrt(2) sin(sqrt(2 gamma) x + pi/4)."""
        phase = math.sqrt(2 * self.gamma) * jnp.asarray(x, dtype=float) + math.pi / 4
        return math.sqrt(2) * jnp.sin(phase)

    def moment(self) -> Moment:
        """exp(-gamma |theta - w|^2)."""
        return RbfMoment(self.gamma)

    @staticmethod
    def in_torch(torch: Any, x: Any, gamma: Any) -> Any:
        """sqrt(2) sin(sqrt(2 gamma) x + pi/4)."""
        return math.sqrt(2) * torch.sin(torch.sqrt(2 * gamma) * x + math.pi / 4)
