"""Duals of sign, step, and the powers of max(0, x): the arc-cosine family.

With t the angle between the vectors, P = q1 q2 and D = sqrt(P - c^2), J_n = E[u_+^n v_+^n] is

    J_0 = (pi - t) / 2 pi
    J_1 = (D + (pi - t) c) / 2 pi
    J_2 = (3 D c + (pi - t)(P + 2 c^2)) / 2 pi
    J_3 = (D (4 P + 11 c^2) + (pi - t)(9 P c + 6 c^3)) / 2 pi.

Derivatives come from Price's theorem, dE[s(u)s(v)]/dc = E[s'(u)s'(v)]: dJ_n/dc = n^2 J_(n-1), and
dJ_0/dc = 1/(2 pi D), which is infinite at rho = +-1. So for sign and step already f' is infinite
there, for relu and leaky-relu f''; from relu2 on both are finite. Euler's relation for homogeneous
functions, 2 q1 dJ/dq1 + c dJ/dc = n J, gives the rest: dJ = (dJ/dc) turn + n J stretch (pair.py).
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.potentials.dual import Moment
from earnshaw.potentials.pair import Pair, angle, area, changes, inverse_wedge

# Where 1 - |rho| is larger, second derivatives are right to 1e-10 without `low` and `high`.
JUMP = 1e-6  # for sign and step
CORNER = 1e-8  # for the others, whose first derivative is finite


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def half_line_moment(n: int, q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    """J_n = E[u_+^n v_+^n] for n = 0, 1, 2, 3."""
    opening = math.pi - angle(q1, q2, c, low, high)
    wedge, product = jnp.sqrt(low * high), q1 * q2
    if n == 0:
        total = opening
    elif n == 1:
        total = wedge + opening * c
    elif n == 2:
        total = 3 * wedge * c + opening * (product + 2 * c * c)
    else:
        total = wedge * (4 * product + 11 * c * c) + opening * c * (9 * product + 6 * c * c)
    return total / (2 * math.pi)


def _half_line_jvp(n: int, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    value = half_line_moment(n, *primals)
    if n == 0:
        slope = inverse_wedge(*primals) / (2 * math.pi)
    else:
        slope = n * n * half_line_moment(n - 1, *primals)
    change = changes(primals, tangents)
    return value, change.turned(slope) + change.stretched(n * value)


half_line_moment.defjvp(_half_line_jvp, symbolic_zeros=True)


class Sign(Moment):
    """sgn: 1 - 2 t / pi. (EPD's Table 1 pairs this with sqrt(2) sgn, whose potential is twice.)"""

    @property
    def degree(self) -> int | None:
        return 0

    @property
    def kink(self) -> float:
        return JUMP

    def __call__(self, pair: Pair) -> Array:
        """4 J_0 - 1."""
        return 4 * half_line_moment(0, *pair) - 1


class HalfLine(Moment):
    """step, relu, relu2, relu3: J_n for `power` n = 0, 1, 2, 3."""

    power: int

    @property
    def degree(self) -> int | None:
        return self.power

    @property
    def kink(self) -> float:
        return JUMP if self.power == 0 else CORNER

    def __call__(self, pair: Pair) -> Array:
        """J_n."""
        return half_line_moment(self.power, *pair)

    @property
    def linear_factor(self) -> float | None:
        """1/2 pi for relu."""
        return 1 / (2 * math.pi) if self.power == 1 else None

    def linear_parts(self, pair: Pair) -> tuple[Array, Array]:
        """For relu, pi - t and D."""
        return math.pi - angle(*pair), area(*pair)


class TwoSlopes(Moment):
    """leaky relu, slope a for x < 0, b for x > 0: a x + (b - a) x_+, so a b c + (b - a)^2 J_1."""

    negative_slope: float
    positive_slope: float

    @property
    def degree(self) -> int | None:
        return 1

    @property
    def kink(self) -> float:
        return CORNER

    def __call__(self, pair: Pair) -> Array:
        """The linear part and the rectified one; E[u v_+] = c/2 joins them."""
        a, b = self.negative_slope, self.positive_slope
        linear = a * b * pair.c
        if a == b:  # no kink, and no infinite second derivative to multiply by 0
            return linear
        return linear + (b - a) ** 2 * half_line_moment(1, *pair)

    @property
    def linear_factor(self) -> float | None:
        """(b - a)^2 / 2 pi, unless there is no kink."""
        step = self.positive_slope - self.negative_slope
        return step**2 / (2 * math.pi) if step else None

    def linear_parts(self, pair: Pair) -> tuple[Array, Array]:
        """pi - t + 2 pi a b / (b - a)^2 and D."""
        a, b = self.negative_slope, self.positive_slope
        return math.pi + 2 * math.pi * a * b / (b - a) ** 2 - angle(*pair), area(*pair)
