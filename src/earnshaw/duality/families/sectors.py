"""laplace and elu: exponentials on half-lines, whose duals are integrals over sectors of the plane.

In polar coordinates of the plane of the two vectors, u = s1 r sin(a) and v = s2 r sin(b) with a + b
the opening of the sector where both have given signs: pi - t for equal signs, t for opposite ones.
The radial integral is elementary,

    T_n(m) = integral_0^inf r^n exp(-r^2/2 - m r) dr,   T_0(m) = sqrt(pi/2) erfcx(m / sqrt 2),
    T_1 = 1 - m T_0,  T_2 = T_0 - m T_1,

and what is left is the integral of an entire function over an interval, which Gauss-Legendre does
to rounding: (1/2 pi) integral_0^opening T_1(s1 sin(opening - x) + s2 sin x) dx is
E[exp(-|u| - |v|); the sector]. mathematics.md writes the same with the bivariate normal
distribution function, as exp(...) Phi2(...), which overflows at long vectors; this form does not.

Derivatives are means too, sector by sector (`_price.py`).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import erfcx
from jax.typing import ArrayLike

from earnshaw.duality._price import PriceMoment, swapped
from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import DotProduct, NumpyFormula
from earnshaw.duality.families.arccosine import Relu
from earnshaw.duality.pair import Moment, Pair, angle, area, inverse_wedge
from earnshaw.duality.symmetry import EVEN, NONE, Symmetries
from earnshaw.errors import check_real

# 48 nodes integrate every sector to rounding for norms up to 10, and to 1e-13 up to 40.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def _radial(n: int, m: Array) -> Array:
    """T_n(m) for m >= 0 and n = 0, 1, 2."""
    zeroth = math.sqrt(math.pi / 2) * erfcx(m / math.sqrt(2))
    if n == 0:
        return zeroth
    first = 1 - m * zeroth
    return first if n == 1 else zeroth - m * first


def _sector(s1: Array, s2: Array, opening: Array, power: int = 0) -> Array:
    """E[u^power exp(-u - v); u > 0, v > 0], the sector of the given opening; power 0 or 1.

    In `power` 1 the exponential acts on v alone: E[u exp(-v); u, v > 0].
    """
    x = 0.5 * opening[..., None] * (1 + _NODES)
    along1, along2 = s1[..., None] * jnp.sin(opening[..., None] - x), s2[..., None] * jnp.sin(x)
    rows = _radial(1, along1 + along2) if power == 0 else along1 * _radial(2, along2)
    return opening * (rows @ jnp.asarray(_WEIGHTS)) / (4 * math.pi)


def _sizes(pair: Pair) -> tuple[Array, Array, Array]:
    return jnp.sqrt(pair.q1), jnp.sqrt(pair.q2), angle(*pair)


def _half_bump(pair: Pair) -> Array:
    """E[delta(u) exp(v); v < 0]: given u = 0, v has deviation wedge / sqrt(q1)."""
    deviation = area(*pair) / jnp.sqrt(pair.q1)
    return erfcx(deviation / math.sqrt(2)) / (2 * jnp.sqrt(2 * math.pi * pair.q1))


class LaplaceMoment(PriceMoment):
    """exp(-|x|): s' = -sgn(x) exp(-|x|), s'' = s - 2 delta. f'' is infinite at rho = +-1."""

    @property
    def scratch(self) -> int:
        return len(_NODES)

    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]."""
        s1, s2, t = _sizes(pair)
        return 2 * (_sector(s1, s2, math.pi - t) + _sector(s1, s2, t))

    def slope(self, pair: Pair) -> Array:
        """E[s'(u) s'(v)]: the same with the sign of the opposite sectors changed."""
        s1, s2, t = _sizes(pair)
        return 2 * (_sector(s1, s2, math.pi - t) - _sector(s1, s2, t))

    def curvature(self, pair: Pair) -> Array:
        """E[s''(u) s''(v)]."""
        bumps = 2 * (_half_bump(pair) + _half_bump(swapped(pair)))
        return self.value(pair) - 2 * bumps + 4 * inverse_wedge(*pair) / (2 * math.pi)

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""
        return self.value(pair) - 4 * _half_bump(pair)


class EluMoment(PriceMoment):
    """x for x > 0, alpha (exp(x) - 1) for x < 0.

    s' = 1 for x > 0 and alpha exp(x) below; s'' = alpha exp(x) for x < 0, plus (1 - alpha) delta:
    for alpha = 1 both derivatives are finite everywhere, else f'' is infinite at rho = +-1.
    """

    alpha: float

    @property
    def scratch(self) -> int:
        return len(_NODES)

    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]."""
        s1, s2, t = _sizes(pair)
        same, zero = math.pi - t, jnp.zeros_like(t)
        positive = (area(*pair) + same * pair.c) / (2 * math.pi)
        negative = (
            _sector(s1, s2, same)
            - _sector(s1, zero, same)
            - _sector(zero, s2, same)
            + same / (2 * math.pi)
        )
        crossed = (
            _sector(s1, s2, t, 1)
            + _sector(s2, s1, t, 1)
            - _sector(s1, zero, t, 1)
            - _sector(s2, zero, t, 1)
        )
        return positive + self.alpha * crossed + self.alpha**2 * negative

    def slope(self, pair: Pair) -> Array:
        """E[s'(u) s'(v)]."""
        s1, s2, t = _sizes(pair)
        same, zero = math.pi - t, jnp.zeros_like(t)
        crossed = _sector(s1, zero, t) + _sector(zero, s2, t)
        negative = _sector(s1, s2, same)
        return same / (2 * math.pi) + self.alpha * crossed + self.alpha**2 * negative

    def curvature(self, pair: Pair) -> Array:
        """E[s''(u) s''(v)]."""
        s1, s2, t = _sizes(pair)
        smooth = self.alpha**2 * _sector(s1, s2, math.pi - t)
        jump = 1 - self.alpha
        if jump == 0:
            return smooth
        bumps = self.alpha * jump * (_half_bump(pair) + _half_bump(swapped(pair)))
        return smooth + bumps + jump**2 * inverse_wedge(*pair) / (2 * math.pi)

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""
        s1, s2, t = _sizes(pair)
        same, zero = math.pi - t, jnp.zeros_like(t)
        smooth = self.alpha * (_sector(s1, s2, same) - _sector(s1, zero, same))
        smooth = self.alpha * (smooth + _sector(s2, s1, t, 1))
        jump = 1 - self.alpha
        if jump == 0:
            return smooth
        deviation = area(*pair) / s1
        given_zero = deviation / math.sqrt(2 * math.pi) + self.alpha * (
            erfcx(deviation / math.sqrt(2)) / 2 - 0.5
        )
        return smooth + jump * given_zero / (math.sqrt(2 * math.pi) * s1)


@ACTIVATIONS.register("laplace")
class Laplace(DotProduct):
    """exp(-|x|)."""

    name = "laplace"
    kinks = (0.0,)
    symmetries = EVEN
    in_numpy = NumpyFormula(
        "exp(-|x|)", "np.exp(-np.abs(x))", "np.where(x < 0, 1.0, -1.0) * np.exp(-np.abs(x))"
    )

    def __call__(self, x: ArrayLike) -> Array:
        """exp(-|x|)."""
        return jnp.exp(-jnp.abs(jnp.asarray(x, dtype=float)))

    def moment(self) -> Moment:
        """Sectors of equal and of opposite signs."""
        return LaplaceMoment()

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """exp(-|x|); |x| has the slope 1 at 0, as JAX has it (`torch.abs` has 0)."""
        return torch.exp(-torch.where(x < 0, -x, x))


@ACTIVATIONS.register("elu")
class Elu(DotProduct):
    """x for x > 0, alpha (exp(x) - 1) for x < 0."""

    alpha: float = 1.0
    name = "elu"
    kinks = (0.0,)
    in_numpy = NumpyFormula(
        "x for x > 0, alpha (exp(x) - 1) for x <= 0",
        "np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0.0)))",
        "np.where(x > 0, 1.0, ALPHA * np.exp(np.minimum(x, 0.0)))",
    )

    def __check_init__(self) -> None:
        check_real("alpha", self.alpha)

    @property
    def symmetries(self) -> Symmetries:
        """None, except for alpha = 0, which is relu."""
        return Relu.symmetries if self.alpha == 0 else NONE

    def __call__(self, x: ArrayLike) -> Array:
        """x for x > 0, alpha (exp(x) - 1) for x < 0."""
        return jax.nn.elu(jnp.asarray(x, dtype=float), self.alpha)

    def moment(self) -> Moment:
        """The quadrants one by one."""
        return EluMoment(self.alpha)

    @staticmethod
    def in_torch(torch: Any, x: Any, alpha: Any) -> Any:
        """x for x > 0, alpha (exp(x) - 1) for x <= 0."""
        return torch.where(x > 0, x, alpha * torch.expm1(torch.where(x > 0, 0.0, x)))
