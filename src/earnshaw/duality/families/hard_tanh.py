"""hard-tanh: x, held between -1 and 1.

Its second derivative is a point mass at each corner, so by Price's theorem the moment M has

    d^2 M / dc^2 = (exp(-|theta - w|^2 / 2 D^2) - exp(-|theta + w|^2 / 2 D^2)) / (pi D),

D the area of the parallelogram of the two vectors, and M(0) = 0, M'(0) = p(q1) p(q2) with
p(q) = P(|u| < 1) = erf(1 / sqrt(2 q)). With P = sqrt(q1 q2), c = P cos x and t the angle,

    M = c p(q1) p(q2) + (P / pi) integral_t^(pi/2) (cos t - cos x) B(x) dx,
    B = exp(-(sqrt(q1) - sqrt(q2))^2 / (2 P^2 sin(x)^2))
        (exp(-1 / (P (1 + cos x))) - exp(-1 / (P (1 - cos x)))).

B is smooth, but flat at x = 0 on scales as small as 1/sqrt(P) and the difference of the norms: the
integral is done on panels that shrink towards t. For long vectors the two exponentials are nearly
1: their difference is taken from that of the exponents, 2 cos(x) / (P sin(x)^2).
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erf, ndtr
from jax.typing import ArrayLike

from earnshaw.duality._price import PriceMoment
from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import DotProduct, NumpyFormula
from earnshaw.duality.gaussian_means import GaussianMeans, HalfLine, Polynomial, Sum
from earnshaw.duality.pair import ROUNDING, Moment, Pair, angle, area, inverse_wedge
from earnshaw.duality.symmetry import ODD
from earnshaw.numerics.quadrature import graded, panel_rule

# On [0, 1]: 18 nodes integrate B over a panel [y, 3 y] to rounding.
_FINEST = 3.0**-18
_NODES, _WEIGHTS = panel_rule(graded(_FINEST, 1.0, 3.0), 18)
_SHORTEST = 1e-60  # of the squared norms; below it the unit is linear to rounding, and far below


class HardTanhMoment(PriceMoment):
    """The moment above; s' is 1 between the corners, s'' a mass of 1 at -1 and of -1 at 1."""

    @property
    def scratch(self) -> int:
        return len(_NODES)

    def relative_error(self, q1: Array, q2: Array) -> ArrayLike:
        """Rounding, and the innermost panel, where (P/pi) times the integrand is < P x^2/2 pi.

        Long vectors only: for short ones B = 0 there.
        """
        inmost = jnp.sqrt(q1) * jnp.sqrt(q2) * (2 * _FINEST) ** 3
        return ROUNDING + jnp.minimum(inmost, 4.0)

    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]; the moment is odd in c."""
        pair, side = _acute(pair)
        size, t = jnp.sqrt(pair.q1) * jnp.sqrt(pair.q2), angle(*pair)[..., None]
        x, weights = _panels(t)
        lever = 2 * jnp.sin((x + t) / 2) * jnp.sin((x - t) / 2)
        rest = size / math.pi * jnp.sum(weights * lever * _bracket(pair, x), axis=-1)
        return side * (pair.c * _inside(pair.q1) * _inside(pair.q2) + rest)

    def slope(self, pair: Pair) -> Array:
        """P(|u| < 1, |v| < 1)."""
        pair, _ = _acute(pair)
        x, weights = _panels(angle(*pair)[..., None])
        rest = jnp.sum(weights * _bracket(pair, x), axis=-1) / math.pi
        return _inside(pair.q1) * _inside(pair.q2) + rest

    def curvature(self, pair: Pair) -> Array:
        """The density of (u, v) at the four corners, with their signs."""
        pair, side = _acute(pair)
        gap = jnp.square(jnp.sqrt(pair.q1) - jnp.sqrt(pair.q2))
        apart = jnp.where(gap == 0, 0.0, gap / (2 * pair.low * pair.high))
        parted = pair.low * pair.high > 0
        apart_too = 2 * pair.c / jnp.where(parted, pair.low * pair.high, 1.0)
        rise = jnp.where(parted, -jnp.expm1(-apart_too), 1.0)
        density = jnp.exp(-apart - 1 / pair.high) * rise
        return side * jnp.where(density == 0, 0.0, density * inverse_wedge(*pair)) / math.pi

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)] = -2 times the density of u at 1, times E[s(v)] given u = 1."""
        q1 = jnp.maximum(pair.q1, _SHORTEST)
        mean, deviation = pair.c / q1, area(*pair) / jnp.sqrt(q1)
        held = _rectified(mean + 1, deviation) - _rectified(mean - 1, deviation) - 1
        return -2 * jnp.exp(-0.5 / q1) / jnp.sqrt(2 * math.pi * q1) * held


def _acute(pair: Pair) -> tuple[Pair, Array]:
    """The pair with w or -w, whichever is nearer to theta, and which it was."""
    q1, q2 = (jnp.maximum(q, _SHORTEST) for q in pair[:2])
    low, high = jnp.minimum(pair.low, pair.high), jnp.maximum(pair.low, pair.high)
    return Pair(q1, q2, jnp.abs(pair.c), low, high), jnp.where(pair.c < 0, -1.0, 1.0)


def _panels(t: Array) -> tuple[Array, Array]:
    """Nodes and weights on [t, pi/2]."""
    length = math.pi / 2 - t
    return t + length * _NODES, length * _WEIGHTS


def _bracket(pair: Pair, x: Array) -> Array:
    """B(x) for angles of shape (..., n)."""
    size = (jnp.sqrt(pair.q1) * jnp.sqrt(pair.q2))[..., None]
    gap = (jnp.sqrt(pair.q1) - jnp.sqrt(pair.q2))[..., None] / (size * jnp.sin(x))
    far = 2 * jnp.square(jnp.cos(x / 2))
    rise = -jnp.expm1(-2 * jnp.cos(x) / (size * jnp.square(jnp.sin(x))))
    return jnp.exp(-0.5 * gap * gap - 1 / (size * far)) * rise


def _inside(q: Array) -> Array:
    """P(|u| < 1)."""
    return erf(1 / jnp.sqrt(2 * q))


def _rectified(mean: Array, deviation: Array) -> Array:
    """E[max(0, X)] for X ~ N(mean, deviation^2)."""
    spread = deviation > 0
    safe = jnp.where(spread, deviation, 1.0)
    z = mean / safe
    smooth = mean * ndtr(z) + safe * jnp.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return jnp.where(spread, smooth, jnp.maximum(mean, 0.0))


@ACTIVATIONS.register("hard-tanh")
class HardTanh(DotProduct):
    """-1 for x < -1, x between, 1 for x > 1."""

    name = "hard-tanh"
    kinks = (-1.0, 1.0)
    symmetries = ODD
    in_numpy = NumpyFormula(
        "x, held between -1 and 1", "np.clip(x, -1.0, 1.0)", "np.heaviside(1 - np.abs(x), 0.5)"
    )

    def __call__(self, x: ArrayLike) -> Array:
        """max(-1, min(x, 1)), with the slope 1/2 at the corners."""
        return jnp.minimum(jnp.maximum(jnp.asarray(x, dtype=float), -1.0), 1.0)

    def moment(self) -> Moment:
        """A single integral."""
        return HardTanhMoment()

    def gaussian_means(self) -> GaussianMeans:
        """x + max(0, -1 - x) - max(0, x - 1)."""
        return Sum(
            (1.0, 1.0, -1.0),
            (Polynomial((0.0, 1.0)), HalfLine(1, -1.0, -1), HalfLine(1, 1.0)),
        )

    @staticmethod
    def in_torch(torch: Any, x: Any) -> Any:
        """max(-1, min(x, 1)), with the slope 1/2 at the corners as JAX has it."""
        one = torch.ones_like(x)
        return torch.minimum(torch.maximum(x, -one), one)
