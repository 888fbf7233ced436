"""Moments whose derivatives are moments again: Price's theorem.

For u, v centred Gaussians with variances q1, q2 and covariance c,

    d/dc E[s(u) s(v)] = E[s'(u) s'(v)],        d/dq1 E[s(u) s(v)] = E[s''(u) s(v)] / 2.

Where a moment is an integral over the angle, differentiating through that would lose digits as
1 / sqrt(q1 q2 - c^2) for nearly parallel vectors; means of derivatives of s lose none.
"""

from __future__ import annotations

import abc
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.duality.pair import CORNER, Moment, Pair, changes
from earnshaw.numerics.autodiff import tangent


class PriceMoment(Moment):
    """E[s(u) s(v)] for a continuous s, with the means that its derivatives are.

    A corner of s makes a point mass of s'', which the two last means must include.
    """

    @property
    def kink(self) -> float:
        return CORNER

    @abc.abstractmethod
    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]."""

    @abc.abstractmethod
    def slope(self, pair: Pair) -> Array:
        """E[s'(u) s'(v)]."""

    @abc.abstractmethod
    def curvature(self, pair: Pair) -> Array:
        """E[s''(u) s''(v)], infinite for parallel vectors if s has a corner."""

    @abc.abstractmethod
    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""

    def __call__(self, pair: Pair) -> Array:
        """The value, with its derivatives."""
        return _with_partials(self, *jnp.broadcast_arrays(*pair))


def swapped(pair: Pair) -> Pair:
    """The pair (w, theta)."""
    return pair._replace(q1=pair.q2, q2=pair.q1)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _with_partials(
    form: PriceMoment, q1: Array, q2: Array, c: Array, low: Array, high: Array
) -> Array:
    return form.value(Pair(q1, q2, c, low, high))


def _value_jvp(form: PriceMoment, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    pair = Pair(*primals)
    value = form.value(pair)
    return value, tangent(
        value,
        (lambda: _slope(form, *pair), tangents[2]),
        (lambda: form.stretch(pair) / 2, tangents[0]),
        (lambda: form.stretch(swapped(pair)) / 2, tangents[1]),
    )


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _slope(form: PriceMoment, q1: Array, q2: Array, c: Array, low: Array, high: Array) -> Array:
    return form.slope(Pair(q1, q2, c, low, high))


def _slope_jvp(form: PriceMoment, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
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
