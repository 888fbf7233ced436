"""laplace and elu: exponentials on half-lines, whose duals are integrals over sectors of the plane.

In polar coordinates of the plane of the two vectors, u = s1 r sin(a) and v = s2 r sin(b) with a + b
the opening of the sector where both have given signs: pi - t for equal signs, t for opposite ones.
The radial integral is known,

    T_n(m) = integral_0^inf r^n exp(-r^2/2 - m r) dr,    T_n' = -T_(n+1),

and what is left is an integral over an interval: E[exp(-|u| - |v|); the sector] is
(1/2 pi) integral_0^opening T_1(s1 sin(opening - x) + s2 sin x) dx. mathematics.md writes the same
with the bivariate normal distribution function, as exp(...) Phi2(...), which overflows at long
vectors; this form does not. Derivatives are means too, sector by sector (`_price.py`).

How every step keeps its digits:

- T_n by a Chebyshev series (`numerics/tail_moments.py`);
- elu of short vectors is nearly linear, and exp(u) - 1 must not be a difference of large numbers:
  falls of T_n are divided differences of the series, second ones a power series;
- the integrand of long vectors lives within 1/s of the edges of the sector (`_sector_rule.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import erfcx, ndtr
from jax.typing import ArrayLike

from earnshaw.duality._price import PriceMoment, swapped
from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality._sector_rule import sector
from earnshaw.duality.activation import LARGEST_FACTOR, DotProduct, NumpyFormula
from earnshaw.duality.families.arccosine import Relu
from earnshaw.duality.gaussian_means import GaussianMeans, HalfExponential, HalfLine, Sum
from earnshaw.duality.pair import ROUNDING, Moment, Pair, angle, area, inverse_wedge
from earnshaw.duality.symmetry import EVEN, NONE, Symmetries
from earnshaw.limits import check_real
from earnshaw.numerics.quadrature import panel_rule
from earnshaw.numerics.tail_moments import KNEE, place, tail_moment, tail_series

_SHORT, _POWERS = 0.5, 26  # where a + b is less, that many powers of it are enough
_HALF = 32  # nodes on either half of a sector

TURN = 2 * math.pi

Rows = Callable[[Array, Array], Array]


def _fall(n: int, start: Array, step: Array) -> Array:
    """(T_n(start) - T_n(start + step)) / step for n = 1, 2, also for a step of 0.

    With S the series, w = (1 + m)^(-n-1) and the places y1, y2 of both ends, it is
    w1 (S(y1) - S(y2)) + (w1 - w2) S(y2); Clenshaw's recurrence has one for the divided difference
    of S.
    """
    end = start + step
    y1, y2 = place(start), place(end)
    now = later = slope = slope_later = jnp.zeros_like(y2)
    first, *rest = tail_series(n)
    for coefficient in reversed(rest):
        slope, slope_later = 2 * now + 2 * y1 * slope - slope_later, slope
        now, later = coefficient + 2 * y2 * now - later, now
    value, slope = first + y2 * now - later, now + y1 * slope - slope_later
    near, far = 1 + start, 1 + end
    spread = near + far if n == 1 else near * near + near * far + far * far
    turn = 2 * KNEE / ((start + KNEE) * (end + KNEE))
    return (spread / far ** (n + 1) * value - turn * slope) / near ** (n + 1)


def _second_fall(a: Array, b: Array) -> Array:
    """T_1(0) - T_1(a) - T_1(b) + T_1(a + b), the radial mean of (1 - exp(-a r))(1 - exp(-b r)).

    For short vectors sum_n (-1)^n (T_(n+1)(0)/n!) p_n with p_n = (a + b)^n - a^n - b^n, for which
    p_(n+1) = (a + b) p_n + a b (a^(n-1) + b^(n-1)): all positive.
    """
    less, more = jnp.minimum(a, b), jnp.maximum(a, b)
    long = less * (_fall(1, jnp.zeros_like(less), less) - _fall(1, more, less))
    short = a + b <= _SHORT
    a, b = (jnp.where(short, part, 0.0) for part in (a, b))
    power_a, power_b, product = a, b, a * b
    term, total = 2 * product, jnp.zeros_like(product)
    for n in range(2, _POWERS):
        total = total + (-1) ** n * 2 ** (n / 2) * math.gamma(n / 2 + 1) / math.factorial(n) * term
        term = (a + b) * term + product * (power_a + power_b)
        power_a, power_b = power_a * a, power_b * b
    return jnp.where(short, total, long)


def _sector(s1: Array, s2: Array, opening: Array, other: Array, rows: Rows) -> Array:
    """(1/2 pi) integral_0^opening rows(s1 sin(opening - x), s2 sin x) dx, opening + other = pi."""
    near, far, weights = sector(s1, s2, opening, other, _HALF)
    s1, s2 = s1[..., None], s2[..., None]
    return jnp.sum(weights * (rows(s1 * far, s2 * near) + rows(s1 * near, s2 * far)), -1) / TURN


def _decaying(along1: Array, along2: Array) -> Array:
    """Of E[exp(-|u| - |v|); the sector]."""
    return tail_moment(1, along1 + along2)


def _one_decaying(along1: Array, along2: Array) -> Array:
    """Of E[exp(-|u|) + exp(-|v|); the sector]."""
    return tail_moment(1, along1) + tail_moment(1, along2)


def _one_linear(along1: Array, along2: Array) -> Array:
    """Of E[|u| (1 - exp(-|v|)) + |v| (1 - exp(-|u|)); the sector]."""
    falls = (_fall(2, jnp.zeros_like(along), along) for along in (along1, along2))
    return along1 * along2 * sum(falls)


class _Sizes:
    """Two vectors: their lengths, and the openings of the sectors of equal and opposite signs."""

    def __init__(self, pair: Pair) -> None:
        self.s1, self.s2 = jnp.sqrt(pair.q1), jnp.sqrt(pair.q2)
        self.same, self.crossed = angle(*pair.opposite()), angle(*pair)

    def equal(self, rows: Rows) -> Array:
        """Over one of the two sectors where u and v have one sign."""
        return _sector(self.s1, self.s2, self.same, self.crossed, rows)

    def opposed(self, rows: Rows) -> Array:
        """Over one of the two where they have different signs."""
        return _sector(self.s1, self.s2, self.crossed, self.same, rows)


class SectorMoment(PriceMoment):
    """What the two share: the nodes, and their error."""

    @property
    def scratch(self) -> int:
        return 2 * _HALF

    def relative_error(self, q1: Array, q2: Array) -> ArrayLike:
        """Rounding, and Gauss' rule in y (`_sector_rule.py`).

        T_n is bounded for |arg m| < 3 pi/4, so the rows are for |Im y| < 0.6 pi/reach: an ellipse
        around [0, 1] whose semi-axes add up to exp(arcsinh(1.2 pi/reach)).
        """
        reach = jnp.arcsinh(2 * jnp.maximum(1.0, jnp.sqrt(jnp.maximum(q1, q2))))
        return ROUNDING + 16 * jnp.exp(-2 * _HALF * jnp.arcsinh(1.2 * math.pi / reach))


def _half_bump(pair: Pair) -> Array:
    """E[delta(u) exp(v); v < 0]: given u = 0, v has deviation wedge / sqrt(q1)."""
    deviation = area(*pair) / jnp.sqrt(pair.q1)
    return erfcx(deviation / math.sqrt(2)) / (2 * jnp.sqrt(2 * math.pi * pair.q1))


class LaplaceMoment(SectorMoment):
    """exp(-|x|): s' = -sgn(x) exp(-|x|), s'' = s - 2 delta. f'' is infinite at rho = +-1."""

    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]."""
        sizes = _Sizes(pair)
        return 2 * (sizes.equal(_decaying) + sizes.opposed(_decaying))

    def slope(self, pair: Pair) -> Array:
        """E[s'(u) s'(v)]: the same with the sign of the opposite sectors changed."""
        sizes = _Sizes(pair)
        return 2 * (sizes.equal(_decaying) - sizes.opposed(_decaying))

    def curvature(self, pair: Pair) -> Array:
        """E[s''(u) s''(v)]."""
        bumps = 2 * (_half_bump(pair) + _half_bump(swapped(pair)))
        return self.value(pair) - 2 * bumps + 4 * inverse_wedge(*pair) / TURN

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""
        return self.value(pair) - 4 * _half_bump(pair)


class EluMoment(SectorMoment):
    """x for x > 0, alpha (exp(x) - 1) for x < 0.

    s' = 1 for x > 0 and alpha exp(x) below; s'' = alpha exp(x) for x < 0, plus (1 - alpha) delta:
    for alpha = 1 both derivatives are finite everywhere, else f'' is infinite at rho = +-1.
    """

    alpha: float

    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]."""
        sizes = _Sizes(pair)
        positive = (area(*pair) + sizes.same * pair.c) / TURN
        crossed, negative = sizes.opposed(_one_linear), sizes.equal(_second_fall)
        return positive - self.alpha * crossed + self.alpha**2 * negative

    def slope(self, pair: Pair) -> Array:
        """E[s'(u) s'(v)]."""
        sizes = _Sizes(pair)
        crossed, negative = sizes.opposed(_one_decaying), sizes.equal(_decaying)
        return sizes.same / TURN + self.alpha * crossed + self.alpha**2 * negative

    def curvature(self, pair: Pair) -> Array:
        """E[s''(u) s''(v)]."""
        smooth = self.alpha**2 * _Sizes(pair).equal(_decaying)
        jump = 1 - self.alpha
        if jump == 0:
            return smooth
        bumps = self.alpha * jump * (_half_bump(pair) + _half_bump(swapped(pair)))
        return smooth + bumps + jump**2 * inverse_wedge(*pair) / TURN

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""
        sizes = _Sizes(pair)
        # v e^u where u < 0 < v, and (e^v - 1) e^u where both are negative
        rising = sizes.opposed(lambda along1, along2: along2 * tail_moment(2, along1))
        falling = sizes.equal(lambda along1, along2: along2 * _fall(1, along1, along2))
        smooth = self.alpha * (rising - self.alpha * falling)
        jump = 1 - self.alpha
        if jump == 0:
            return smooth
        deviation = area(*pair) / sizes.s1
        given_zero = deviation / math.sqrt(2 * math.pi) + self.alpha * (
            erfcx(deviation / math.sqrt(2)) / 2 - 0.5
        )
        return smooth + jump * given_zero / (math.sqrt(2 * math.pi) * sizes.s1)


class EluMeans(GaussianMeans):
    """elu: s_0 = max(0, x) + alpha (exp(x) - 1)[x < 0], s_1 = [x > 0] + alpha exp(x)[x < 0], ..."""

    alpha: float = eqx.field(static=True)
    kinks = (0.0,)
    places = ((0.0, 0.0), (0.0, 1.0))

    def jumps(self, i: int) -> tuple[float, ...]:
        return ({0: 0.0, 1: 1 - self.alpha}.get(i, -self.alpha),)

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """Both sides; below 0 with tau <= 1, E[exp(X) - 1; X < 0] is

        expm1(x + v/2) Phi(-x/tau - tau) - (Phi(-x/tau) - Phi(-x/tau - tau)),

        the bracket an integral of the density, so that short vectors lose nothing.
        """
        below = HalfExponential(-1)
        if i:
            linear = HalfLine(0).mean(0, x, variance) if i == 1 else 0.0
            return linear + self.alpha * below.mean(i, x, variance)
        tau = jnp.sqrt(variance)
        short = tau <= 1
        far = below.mean(0, x, variance) - HalfLine(0, side=-1).mean(0, x, variance)
        tau = jnp.where(short & (tau > 0), tau, 1.0)
        y = jnp.clip(x / tau, -40.0, 40.0)
        nodes, weights = panel_rule(np.array([0.0, 1.0]), 10)
        steps = y[..., None] + tau[..., None] * nodes
        bracket = tau * jnp.sum(weights * jnp.exp(-steps * steps / 2), -1) / math.sqrt(TURN)
        small = jnp.minimum(x + variance / 2, 41.0)  # beyond, Phi is 0
        near = jnp.expm1(small) * ndtr(-y - tau) - bracket
        hard = jnp.expm1(jnp.minimum(x, 0.0))
        near = jnp.where(variance > 0, near, hard)
        return HalfLine(1).mean(0, x, variance) + self.alpha * jnp.where(short, near, far)


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

    def gaussian_means(self) -> GaussianMeans:
        """Two half-lines."""
        return Sum((1.0, 1.0), (HalfExponential(1), HalfExponential(-1)))

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
        check_real("alpha", self.alpha, -LARGEST_FACTOR, LARGEST_FACTOR)

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

    def gaussian_means(self) -> GaussianMeans:
        """Linear above 0, exponential below."""
        return EluMeans(float(self.alpha))

    @staticmethod
    def in_torch(torch: Any, x: Any, alpha: Any) -> Any:
        """x for x > 0, alpha (exp(x) - 1) for x <= 0."""
        return torch.where(x > 0, x, alpha * torch.expm1(torch.where(x > 0, 0.0, x)))
