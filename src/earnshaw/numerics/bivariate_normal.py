"""The bivariate normal distribution function Phi2(h, k; rho) = P(X <= h, Y <= k).

X and Y are standard normals of correlation rho. Its derivative in rho is the density (Plackett),

    exp(-(h - k)^2 / (4 (1 - rho)) - (h + k)^2 / (4 (1 + rho))) / (2 pi sqrt(1 - rho^2)),

positive; and at rho = 0 and rho = -1 the function is known. With p = sqrt((1 - rho)/(1 + rho)),

    Phi2 = Phi(h) Phi(k) + I(p, 1)                          for rho >= 0,
    Phi2 = max(0, Phi(h) - Phi(-k)) + I(p, inf)             for rho < 0,
    I(a, b) = (1/pi) integral_a^b exp(-((h-k)^2 (1 + 1/p^2) + (h+k)^2 (1 + p^2)) / 8) dp/(1 + p^2),

sums of positive terms: small probabilities keep their digits. (p -> 1/p exchanges h - k and h + k,
so that p <= 1 always.) The integrand is log-concave in log(p), so where it is more than exp(-40) of
its largest value is known from a quadratic equation. Gauss' rule does the rest, except at small p,
where exp(-(h-k)^2/8p^2) is steep: there three terms of the series of the other factor are
integrated in closed form, and what is left vanishes as p^6. Drezner and Wesolowsky (1990) and
Genz (2004) have the same derivative and a like expansion in the angle. SciPy's
`multivariate_normal.cdf` is Genz's, not elementwise, and has no tails; JAX has none.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfcx, ndtr
from jax.typing import ArrayLike

from earnshaw.numerics.autodiff import tangent
from earnshaw.numerics.quadrature import panel_rule

_FALL = 40.0  # what is smaller than exp(-_FALL) of the largest value is left out
_SMALL = 0.25  # below this p the series, or below _SMALL_TOO / |h + k| if that is less
_SMALL_TOO = 1.6
_ORDER, _REST = 32, 20  # nodes above and below
_FARTHEST = 60.0  # |h|, |k| beyond are infinite: Phi(-39) is no number of float64
_TINY, _LEAST = 1e-150, 1e-120  # stand for 0 in quotients, and for p = 0


def bivariate_normal_cdf(
    h: ArrayLike, k: ArrayLike, rho: ArrayLike, gap: ArrayLike | None = None
) -> Array:
    """P(X <= h, Y <= k), elementwise; `gap` = 1 - |rho|, if it is known better than from `rho`.

    Absolute errors are about 1e-16, relative ones about 1e-14 (times h^2/100 in the tails, where
    they are those of exp(-h^2/2)). Derivatives of every order; they are infinite at rho = +-1
    where the function has a kink.
    """
    h, k, rho = jnp.broadcast_arrays(*(jnp.asarray(x, dtype=float) for x in (h, k, rho)))
    fixed = jax.lax.stop_gradient(rho)
    gap = 1 - jnp.abs(fixed) if gap is None else jnp.asarray(gap, dtype=float)
    # The value that was given, with the derivative that 1 - |rho| has.
    gap = jax.lax.stop_gradient(gap) - jnp.where(rho < 0, -1.0, 1.0) * (rho - fixed)
    return _cdf(h, k, rho, jnp.broadcast_to(gap, h.shape))


@jax.custom_jvp
def _cdf(h: Array, k: Array, rho: Array, gap: Array) -> Array:
    h, k = (jnp.clip(x, -_FARTHEST, _FARTHEST) for x in (h, k))
    positive, minus, plus = rho >= 0, jnp.abs(h - k), jnp.abs(h + k)
    p = jnp.maximum(jnp.sqrt(gap / (2 - gap)), _LEAST)
    steep, other = jnp.where(positive, minus, plus), jnp.where(positive, plus, minus)
    start, end = jnp.where(positive, p, 0.0), jnp.where(positive, 1.0, p)
    known = jnp.where(positive, ndtr(h) * ndtr(k), _overlap(h, k))
    return known + _integral(steep, other, start, end) / math.pi


def _overlap(h: Array, k: Array) -> Array:
    """max(0, Phi(h) - Phi(-k)), from the tails where both are near 1."""
    upper = jnp.where(h - k > 0, ndtr(k) - ndtr(-h), ndtr(h) - ndtr(-k))
    return jnp.maximum(upper, 0.0)


def _integral(a: Array, b: Array, start: Array, end: Array) -> Array:
    """integral_start^end exp(-(a^2 (1 + 1/p^2) + b^2 (1 + p^2)) / 8) dp / (1 + p^2), end <= 1.

    The exponent is -(a^2 + b^2)/8 - a b/4 - D/8 with D = (a/p - b p)^2, least at p^2 = a/b or at
    the end next to it; D <= D_least + 8 * 40 are two quadratic equations in p.
    """
    a, b = a + _TINY, b + _TINY
    top = jnp.clip(jnp.sqrt(a / b), jnp.maximum(start, _TINY), end)
    reach = jnp.sqrt((a / top - b * top) ** 2 + 8 * _FALL)
    root = reach + jnp.sqrt(reach * reach + 4 * a * b)
    low, high = jnp.maximum(start, 2 * a / root), jnp.minimum(end, root / (2 * b))
    joint = jnp.clip(jnp.minimum(_SMALL, _SMALL_TOO / b), low, high)
    p, weights = panel_rule(jnp.stack([joint, high], axis=-1), _ORDER)
    steep, other = (a * a / 8)[..., None], (b * b / 8)[..., None]
    fall = steep * (1 + 1 / (p * p)) + other * (1 + p * p)
    above = jnp.sum(weights * jnp.exp(-fall) / (1 + p * p), axis=-1)
    # Below: exp(-other p^2) / (1 + p^2) = 1 - first p^2 + second p^4 - ...
    first, second = 1 + other, 1 + other + other * other / 2
    p, weights = panel_rule(jnp.stack([low, joint], axis=-1), _REST)
    square = p * p
    rest = jnp.exp(-other * square) / (1 + square) - (1 - first * square + second * square**2)
    below = jnp.sum(weights * jnp.exp(-steep / square) * rest, axis=-1)
    ends = [_power_integrals(a * a / 8, x) for x in (joint, jnp.maximum(low, _TINY))]
    terms = [upper - lower for upper, lower in zip(*ends, strict=True)]
    below = below + terms[0] - first[..., 0] * terms[1] + second[..., 0] * terms[2]
    # An empty interval is left out, since its factor can be larger than all that is above.
    return above + jnp.where(joint > low, jnp.exp(-(a * a + b * b) / 8) * below, 0.0)


def _power_integrals(steep: Array, end: Array) -> list[Array]:
    """integral_0^end p^(2n) exp(-steep / p^2) dp for n = 0, 1, 2; by parts from one to the next."""
    x = jnp.sqrt(steep) / end
    last = jnp.exp(-x * x)
    found = [end * last * (1 - math.sqrt(math.pi) * x * erfcx(x))]
    for n in (1, 2):
        found.append((end ** (2 * n + 1) * last - 2 * steep * found[-1]) / (2 * n + 1))
    return found


def conditional(h: Array, k: Array, rho: Array, gap: Array) -> Array:
    """(k - rho h) / sqrt(1 - rho^2), without cancellation: how far k is, given X = h.

    At rho = +-1 with k = +-h it is 0, the limit.
    """
    side = jnp.where(rho < 0, -1.0, 1.0)
    lever = (k - side * h) + side * gap * h
    spread = gap * (2 - gap)
    at_once = (spread > 0) | (lever != 0)
    return lever / jnp.sqrt(jnp.where(at_once, spread, 1.0))


def bivariate_normal_density(h: Array, k: Array, rho: Array, gap: Array) -> Array:
    """The density of (X, Y) at (h, k); `gap` = 1 - |rho|."""
    less, more = jnp.where(rho < 0, 2 - gap, gap), jnp.where(rho < 0, gap, 2 - gap)
    minus, plus = (h - k) ** 2, (h + k) ** 2
    exponent = _over(minus, 4 * less) + _over(plus, 4 * more)
    return jnp.exp(-exponent) / (2 * math.pi * jnp.sqrt(less * more))


def _over(x: Array, y: Array) -> Array:
    """x / y, and 0 for 0 / 0."""
    return jnp.where(x == 0, 0.0, x / jnp.where(x == 0, 1.0, y))


def _cdf_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    h, k, rho, gap = primals
    value = _cdf(*primals)

    def edge(x: Array, y: Array) -> Array:
        density = jnp.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        inside = jnp.isfinite(x)
        finite = jnp.where(inside, x, 0.0)
        return jnp.where(inside, density * ndtr(conditional(finite, y, rho, gap)), 0.0)

    return value, tangent(
        value,
        (lambda: edge(h, k), tangents[0]),
        (lambda: edge(k, h), tangents[1]),
        (lambda: bivariate_normal_density(h, k, rho, gap), tangents[2]),
    )


_cdf.defjvp(_cdf_jvp, symbolic_zeros=True)
