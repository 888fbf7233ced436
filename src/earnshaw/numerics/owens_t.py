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

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.numerics.bivariate_normal import conditional

# Gauss' rule on [-a, a], of which an even integrand needs one half. Ten nodes leave 1.4e-16.
_HALF = 10
_NODES, _WEIGHTS = (part[_HALF:] for part in np.polynomial.legendre.leggauss(2 * _HALF))
_TINY = 1e-150  # stands for 0, where only the ratio of h and k counts
_MANY = 2**14  # pairs from which on the result is kept for all who use it
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
    arrays = tuple(jnp.asarray(x, dtype=float) for x in (h, k, rho, gap))
    return _bivariate_normal(*arrays) if arrays[2].size < _MANY else _kept(*arrays)


def _kept(*arrays: Array) -> BivariateNormal:
    """The same, computed once and kept.

    XLA would compute it again for every sum that it enters; what a conditional gives it keeps. That
    the first number is one is always so, but the compiler cannot know.
    """
    first = arrays[0].ravel()[0]
    like = jax.eval_shape(_bivariate_normal, *arrays)
    none = lambda *_: jax.tree.map(lambda leaf: jnp.full(leaf.shape, jnp.nan), like)  # noqa: E731
    return jax.lax.cond(first == first, _bivariate_normal, none, *arrays)


def _bivariate_normal(h: Array, k: Array, rho: Array, gap: Array) -> BivariateNormal:
    h, k = (jnp.clip(x, -_FARTHEST, _FARTHEST) for x in (h, k))
    h, k = (jnp.where(jnp.abs(x) < _TINY, _TINY, x) for x in (h, k))
    one, two = (_half(*pair, rho, gap) for pair in ((h, k), (k, h)))
    both = one.both + two.both - jnp.where((h < 0) != (k < 0), 0.5, 0.0)
    return BivariateNormal(jnp.clip(both, 0.0, 1.0), one.given_x, two.given_x)


def _half(h: Array, k: Array, rho: Array, gap: Array) -> BivariateNormal:
    """Phi(h)/2 - T(h, g/h) with g = (k - rho h)/sqrt(1 - rho^2), and Phi(g) as `given_x`.

    What depends on h alone keeps its shape: in a tile of many pairs it costs nothing.
    """
    g = jnp.clip(conditional(h, k, rho, gap), -1e9, 1e9)
    (tail_h, below_h), (tail_g, below_g) = _normal(h), _normal(g)
    flat = jnp.abs(g) <= jnp.abs(h)
    large, small = jnp.where(flat, h, g), jnp.where(flat, g, h)
    rest = _small_slope(large, jnp.abs(small / large))
    steep = (tail_h + tail_g) / 2 - tail_h * tail_g - rest
    t = jnp.where((g < 0) == (h < 0), 1.0, -1.0) * jnp.where(flat, rest, steep)
    return BivariateNormal(below_h / 2 - t, below_g, below_g)


def _normal(x: Array) -> tuple[Array, Array]:
    """Q(x) = P(X > |x|) and Phi(x): by one erfc, a fifth of what `ndtr` costs."""
    tail = jax.lax.erfc(jnp.abs(x) / math.sqrt(2)) / 2
    return tail, jnp.where(x < 0, tail, 1 - tail)


def _small_slope(h: Array, a: Array) -> Array:
    """T(h, a) for 0 <= a <= 1: a sum that is written out, so that no node is kept in memory."""
    fall = -h * h / 2
    total = jnp.zeros_like(fall * a)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        square = 1 + (float(node) * a) ** 2
        total = total + float(weight) * jnp.exp(fall * square) / square
    return a * total / (2 * math.pi)
