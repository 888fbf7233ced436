"""Duals of laplace and elu: exponentials on half-lines, by integrals over sectors of the plane.

In polar coordinates of the plane of the two vectors, u = s1 r sin(a) and v = s2 r sin(b) with a + b
the opening of the sector where both have given signs: pi - t for equal signs, t for opposite ones.
The radial integral is elementary,

    T_n(m) = integral_0^inf r^n exp(-r^2/2 - m r) dr,   T_0(m) = sqrt(pi/2) erfcx(m / sqrt 2),
    T_1 = 1 - m T_0,  T_2 = T_0 - m T_1,

and what is left is the integral of an entire function over an interval, which Gauss-Legendre does
to rounding: (1/2 pi) integral_0^opening T_1(s1 sin(opening - x) + s2 sin x) dx is
E[exp(-|u| - |v|); the sector]. MATH.md writes the same with the bivariate normal distribution
function, as exp(...) Phi2(...), which overflows at long vectors; this form does not.

Derivatives in c follow Price's theorem, E[s'(u) s'(v)] and E[s''(u) s''(v)], sector by sector:
differentiating through the angle instead would lose digits as 1/D near rho = +-1.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import erfcx

from earnshaw.numerics.autodiff import tangent
from earnshaw.potentials.arccosine import CORNER
from earnshaw.potentials.dual import Moment
from earnshaw.potentials.pair import Pair, angle, area, changes, inverse_wedge

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


def _swap(pair: Pair) -> Pair:
    return pair._replace(q1=pair.q2, q2=pair.q1)


class Laplace(Moment):
    """exp(-|x|): s' = -sgn(x) exp(-|x|), s'' = s - 2 delta. f'' is infinite at rho = +-1."""

    @property
    def scratch(self) -> int:
        return len(_NODES)

    @property
    def kink(self) -> float:
        return CORNER

    def __call__(self, pair: Pair) -> Array:
        """Two sectors of equal signs and two of opposite ones."""
        return _with_partials(self, *jnp.broadcast_arrays(*pair))

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
        bumps = 2 * (_half_bump(pair) + _half_bump(_swap(pair)))
        return self.value(pair) - 2 * bumps + 4 * inverse_wedge(*pair) / (2 * math.pi)

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""
        return self.value(pair) - 4 * _half_bump(pair)


class Elu(Moment):
    """x for x > 0, alpha (exp(x) - 1) for x < 0.

    s' = 1 for x > 0 and alpha exp(x) below; s'' = alpha exp(x) for x < 0, plus (1 - alpha) delta:
    for alpha = 1 both derivatives are finite everywhere, else f'' is infinite at rho = +-1.
    """

    alpha: float

    @property
    def scratch(self) -> int:
        return len(_NODES)

    @property
    def kink(self) -> float:
        return CORNER

    def __call__(self, pair: Pair) -> Array:
        """The quadrants one by one."""
        return _with_partials(self, *jnp.broadcast_arrays(*pair))

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
        bumps = self.alpha * jump * (_half_bump(pair) + _half_bump(_swap(pair)))
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


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _with_partials(form: Any, q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    return form.value(Pair(q1, q2, c, low, high))


def _value_jvp(form: Any, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    pair = Pair(*primals)
    value = form.value(pair)
    return value, tangent(
        value,
        (lambda: _slope(form, *pair), tangents[2]),
        (lambda: form.stretch(pair) / 2, tangents[0]),
        (lambda: form.stretch(_swap(pair)) / 2, tangents[1]),
    )


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _slope(form: Any, q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    return form.slope(Pair(q1, q2, c, low, high))


def _slope_jvp(form: Any, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    pair = Pair(*primals)
    value = form.slope(pair)

    def along(which: int) -> Array:
        """The partial in q1 or q2 at a fixed angle: everything else is stretched along."""
        steps = [entry / (2 * pair[which]) for entry in pair]
        steps[which], steps[1 - which] = jnp.ones_like(pair.c), jnp.zeros_like(pair.c)
        return jax.jvp(lambda *entries: form.slope(Pair(*entries)), tuple(pair), tuple(steps))[1]

    return value, changes(primals, tangents).turned(form.curvature(pair)) + tangent(
        value, (lambda: along(0), tangents[0]), (lambda: along(1), tangents[1])
    )


_with_partials.defjvp(_value_jvp, symbolic_zeros=True)
_slope.defjvp(_slope_jvp, symbolic_zeros=True)
