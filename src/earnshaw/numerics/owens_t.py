"""The bivariate normal distribution function by Owen's T: fast, right to 1e-16, without its tails.

    T(h, a) = (1/2 pi) integral_0^a exp(-h^2 (1 + x^2)/2) / (1 + x^2) dx

is a short Gauss rule for |a| <= 1, where nothing is steep, and for |a| > 1 its mirror image, with
g = a h and Q(x) = P(X > |x|),

    T(h, a) = sign(a) ((Q(h) + Q(g))/2 - Q(h) Q(g)) - T(g, 1/a).

Then (Owen 1956), with g_h = (k - rho h)/sqrt(1 - rho^2) and g_k = (h - rho k)/sqrt(1 - rho^2),

    Phi2(h, k; rho) = (Phi(h) + Phi(k))/2 - T(h, g_h/h) - T(k, g_k/k) - [h and k of other signs]/2.

`bivariate_normal.py` is right relative to small probabilities too, and takes several times as long.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtr

from earnshaw.numerics.bivariate_normal import conditional

_ORDER = 18
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_TINY = 1e-150  # stands for 0, where only the ratio of h and k counts
_FARTHEST = 60.0  # Phi(-39) is no number of float64


class BivariateNormal(NamedTuple):
    """P(X <= h, Y <= k), P(Y <= k | X = h) and P(X <= h | Y = k)."""

    both: Array
    given_x: Array
    given_y: Array


def bivariate_normal_fast(h: Array, k: Array, rho: Array, gap: Array) -> BivariateNormal:
    """For standard normals of correlation rho, gap = 1 - |rho|; elementwise.

    For values only: whoever needs derivatives knows them. At rho = +-1 with k = +-h, where the
    conditional ones jump, they are 1/2.
    """
    h, k, rho, gap = jnp.broadcast_arrays(h, k, rho, gap)
    h, k = (jnp.clip(x, -_FARTHEST, _FARTHEST) for x in (h, k))
    h, k = (jnp.where(jnp.abs(x) < _TINY, _TINY, x) for x in (h, k))
    own, other = jnp.stack([h, k]), jnp.stack([k, h])
    levers = jnp.clip(conditional(own, other, rho, gap), -1e9, 1e9)
    tails = ndtr(-jnp.abs(jnp.stack([own, levers])))
    below = jnp.where(jnp.stack([own, levers]) < 0, tails, 1 - tails)
    halves = below[0] / 2 - _owens_t(own, levers, *tails)
    both = halves[0] + halves[1] - jnp.where((h < 0) != (k < 0), 0.5, 0.0)
    return BivariateNormal(jnp.clip(both, 0.0, 1.0), *below[1])


def _owens_t(h: Array, g: Array, tail_h: Array, tail_g: Array) -> Array:
    """T(h, g/h), from Q(h) and Q(g)."""
    flat = jnp.abs(g) <= jnp.abs(h)
    large, small = jnp.where(flat, h, g), jnp.where(flat, g, h)
    rest = _small_slope(jnp.abs(large), jnp.abs(small / large))
    steep = (tail_h + tail_g) / 2 - tail_h * tail_g - rest
    return jnp.where((g < 0) == (h < 0), 1.0, -1.0) * jnp.where(flat, rest, steep)


def _small_slope(h: Array, a: Array) -> Array:
    """T(h, a) for h >= 0 and 0 <= a <= 1."""
    x = a[..., None] * _NODES
    square = 1 + x * x
    terms = jnp.exp(-(h * h / 2)[..., None] * square) / square
    return a * (terms @ jnp.asarray(_WEIGHTS)) / (2 * math.pi)
