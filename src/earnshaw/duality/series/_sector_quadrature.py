"""Duals of activations with a kink at 0 and no closed form: quadrature over sectors of the plane.

In polar coordinates of the plane of the two vectors, u = s1 r sin(a) and v = s2 r sin(b) with a + b
the opening of the sector where both have given signs: pi - t for equal signs, t for opposite ones.
On a sector s(u) s(v) is smooth, so Gauss rules in the angle and in panels of r reach rounding,

    E[s(u) s(v); sector] = (1/2 pi) integral_0^opening dx integral_0^inf r exp(-r^2/2) s(u) s(v) dr,

however long the vectors and however small the angle. (A Hermite series would fall only as a power
of its length: a kink makes the dual singular at rho = +-1.) The error is bounded as that of a
series is: by rounding, and by what coarser rules differ by. Where they converge, the next coarser
one is off by more than the fine one; where s(u) is too steep for all rules, the coarsest is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality._price import PriceMoment, swapped
from earnshaw.duality._sector_rule import sector
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.pair import EPS, UNDERFLOW, Pair, angle, area, inverse_wedge
from earnshaw.duality.potential import elementwise_derivative
from earnshaw.numerics.quadrature import panel_rule

EDGES = np.array([1.0, 2.5, 5.0, 9.5])  # of the outer panels in r; exp(-9.5^2/2) = 3e-20
INNER = 3  # panels between 1/s and 1, for functions of s r
TINY = 1e-300  # stands for 0, on the right side of the kink
TURNS = np.array([0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 0.7, 1.1])
RHOS = np.cos(np.concatenate([TURNS, [math.pi / 2], math.pi - TURNS]))  # where rules are compared

Function = Callable[[Array], Array]


class Rule(NamedTuple):
    """How many nodes on either half of a sector, and on each panel of r."""

    half: int
    order: int

    def radii(self, size: Array) -> tuple[Array, Array]:
        """Nodes and weights in r for functions of `size` r (...,); shapes (..., count)."""
        least = jax.lax.stop_gradient(1 / jnp.maximum(4.0, size))[..., None]
        inner = least ** (np.arange(INNER, 0, -1) / INNER)
        outer = jnp.broadcast_to(EDGES, (*size.shape, len(EDGES)))
        edges = jnp.concatenate([jnp.zeros_like(least), inner, outer], axis=-1)
        return panel_rule(edges, self.order)

    @property
    def nodes(self) -> int:
        """How many a sector has."""
        return 2 * self.half * self.order * (INNER + len(EDGES))


FINE, MIDDLE, COARSE = Rule(24, 12), Rule(20, 11), Rule(12, 8)


class SectorQuadrature(PriceMoment):
    """E[s(u) s(v)] for an s that is continuous, and smooth but for x = 0.

    `corner` is the jump of s' at 0. `error` is that on the sphere, for the norm it was built for.
    """

    activation: DotProduct
    corner: float = eqx.field(static=True)
    error: float = 0.0

    @property
    def method(self) -> str:
        """Sector quadrature, with its size."""
        return f"sector quadrature ({FINE.nodes} nodes)"

    @property
    def scratch(self) -> int:
        return FINE.nodes

    def bound(self, variance: float) -> float | None:
        """The bound of the module's docstring."""
        return self.error

    def error_at(self, q1: Array, q2: Array) -> Array:
        """What coarser rules differ by, over several correlations, and rounding."""
        size = (jnp.sqrt(q1) * jnp.sqrt(q2))[..., None]
        pair = Pair.of_moments(q1[..., None], q2[..., None], size * RHOS)
        pair = Pair(*jnp.broadcast_arrays(*pair))
        rules = (FINE, MIDDLE, COARSE)
        fine, middle, coarse = (self._mean(self._s, self._s, pair, rule) for rule in rules)
        near, far, sizes = (
            jnp.max(jnp.abs(part), axis=-1) for part in (fine - middle, fine - coarse, fine)
        )
        gaps = jnp.where(16 * near < far, 4 * near, 2 * far)
        return gaps + 64 * EPS * sizes + UNDERFLOW

    def value(self, pair: Pair) -> Array:
        """E[s(u) s(v)]."""
        return self._mean(self._s, self._s, pair)

    def slope(self, pair: Pair) -> Array:
        """E[s'(u) s'(v)]."""
        return self._mean(self._first, self._first, pair)

    def curvature(self, pair: Pair) -> Array:
        """E[s''(u) s''(v)]; a corner adds its point mass at 0 on either side, and on both."""
        smooth = self._mean(self._second, self._second, pair)
        if self.corner == 0:
            return smooth
        crossed = self._given_zero(self._second, pair)
        crossed = crossed + self._given_zero(self._second, swapped(pair))
        masses = self.corner**2 * inverse_wedge(*pair) / (2 * math.pi)
        return smooth + self.corner * crossed + masses

    def stretch(self, pair: Pair) -> Array:
        """E[s''(u) s(v)]."""
        smooth = self._mean(self._second, self._s, pair)
        if self.corner == 0:
            return smooth
        return smooth + self.corner * self._given_zero(self._s, pair)

    def _s(self, x: Array) -> Array:
        return self.activation(x)

    def _first(self, x: Array) -> Array:
        return elementwise_derivative(self.activation, x)

    def _second(self, x: Array) -> Array:
        return elementwise_derivative(partial(elementwise_derivative, self.activation), x)

    def _mean(self, left: Function, right: Function, pair: Pair, rule: Rule = FINE) -> Array:
        """E[left(u) right(v)], two sectors of equal signs and two of opposite ones."""
        s1, s2 = jnp.sqrt(pair.q1), jnp.sqrt(pair.q2)
        same, crossed = angle(*pair.opposite()), angle(*pair)
        known = self.activation.symmetries
        same_both = known.flip is not None and known.constant == 0 and known.linear == 0
        total = jnp.zeros_like(same)
        for side in (1.0,) if same_both else (1.0, -1.0):
            for other, openings in ((side, (same, crossed)), (-side, (crossed, same))):
                total = total + _sector(left, right, side * s1, other * s2, *openings, rule)
        return 2 * total if same_both else total

    def _given_zero(self, function: Function, pair: Pair) -> Array:
        """E[delta(u) function(v)]: given u = 0, v has deviation wedge / sqrt(q1)."""
        deviation = area(*pair) / jnp.sqrt(pair.q1)
        radii, weights = FINE.radii(deviation)
        reach = jnp.maximum(deviation[..., None] * radii, TINY)
        weights = weights * jnp.exp(-(radii**2) / 2) / (2 * math.pi)
        both = jnp.sum(weights * (function(reach) + function(-reach)), axis=-1)
        return both / jnp.sqrt(pair.q1)


def _sector(
    left: Function, right: Function, s1: Array, s2: Array, opening: Array, other: Array, rule: Rule
) -> Array:
    """E[left(u) right(v)] over the sector of the given opening; the signs of u, v are of s1, s2."""
    size1, size2 = jnp.abs(s1), jnp.abs(s2)
    near, far, weights = sector(size1, size2, opening, other, rule.half)
    radii, radial_weights = rule.radii(jnp.maximum(size1, size2))
    radial_weights = radial_weights * radii * jnp.exp(-(radii**2) / 2)
    total = jnp.zeros_like(opening)
    for sines in ((far, near), (near, far)):
        u, v = (
            jnp.sign(length)[..., None, None]
            * jnp.maximum((size[..., None] * sine)[..., None] * radii[..., None, :], TINY)
            for length, size, sine in zip((s1, s2), (size1, size2), sines, strict=True)
        )
        rays = jnp.sum(radial_weights[..., None, :] * left(u) * right(v), axis=-1)
        total = total + jnp.sum(weights * rays, axis=-1)
    return total / (2 * math.pi)


def sector_quadrature(activation: DotProduct, corner: float, variance: float) -> SectorQuadrature:
    """The moment of `activation`, with its error at two vectors of squared norm `variance`."""
    form = SectorQuadrature(activation, corner)
    size = jnp.asarray(float(variance))
    return eqx.tree_at(lambda made: made.error, form, float(form.error_at(size, size)))
