"""Duals of activations with a kink at 0 and no closed form: quadrature over sectors of the plane.

In polar coordinates of the plane of the two vectors, u = s1 r sin(a) and v = s2 r sin(b) with a + b
the opening of the sector where both have given signs: pi - t for equal signs, t for opposite ones.
On a sector s(u) s(v) is smooth, so Gauss rules in the angle and in panels of r reach rounding,

    E[s(u) s(v); sector] = (1/2 pi) integral_0^opening dx integral_0^inf r exp(-r^2/2) s(u) s(v) dr,

however long the vectors and however small the angle. (A Hermite series would fall only as a power
of its length: a kink makes the dual singular at rho = +-1.) The error is bounded as that of a
series is: by what a coarser rule differs by, which is about the root of it, and by rounding.
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
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.pair import Pair, angle, area, inverse_wedge
from earnshaw.duality.potential import elementwise_derivative
from earnshaw.numerics.quadrature import legendre_rule, panel_rule

EPS = float(np.finfo(float).eps)
EDGES = np.array([0.0, 0.25, 1.0, 2.5, 5.0, 9.5])  # of the panels in r; exp(-9.5^2/2) = 3e-20
TINY = 1e-300  # stands for 0, on the right side of the kink
RHOS = np.cos(np.linspace(0.0, math.pi, 9))  # where the rules are compared

Function = Callable[[Array], Array]


class Rule(NamedTuple):
    """Gauss-Legendre nodes and weights on [-1, 1] for the angle, and on panels for r."""

    angles: np.ndarray
    angle_weights: np.ndarray
    radii: np.ndarray
    radial_weights: np.ndarray


def _rule(angles: int, order: int) -> Rule:
    return Rule(*legendre_rule(angles), *panel_rule(EDGES, order))


FINE, COARSE = _rule(40, 14), _rule(32, 11)


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
        return f"sector quadrature ({len(FINE.angles)} x {len(FINE.radii)} nodes)"

    @property
    def scratch(self) -> int:
        return len(FINE.angles) * len(FINE.radii)

    def bound(self, variance: float) -> float | None:
        """The bound of the module's docstring."""
        return self.error

    def error_at(self, q1: Array, q2: Array) -> Array:
        """What the coarser rule differs by, over several correlations, and rounding."""
        size = jnp.sqrt(q1 * q2)[..., None]
        pair = Pair.of_moments(q1[..., None], q2[..., None], size * RHOS)
        pair = Pair(*jnp.broadcast_arrays(*pair))
        fine, coarse = (self._mean(self._s, self._s, pair, rule) for rule in (FINE, COARSE))
        gaps, sizes = (jnp.max(jnp.abs(part), axis=-1) for part in (fine - coarse, fine))
        return gaps + 64 * EPS * sizes

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
        s1, s2, t = jnp.sqrt(pair.q1), jnp.sqrt(pair.q2), angle(*pair)
        known = self.activation.symmetries
        same_both = known.flip is not None and known.constant == 0 and known.linear == 0
        total = jnp.zeros_like(t)
        for side in (1.0,) if same_both else (1.0, -1.0):
            for other, opening in ((side, math.pi - t), (-side, t)):
                total = total + _sector(left, right, side * s1, other * s2, opening, rule)
        return 2 * total if same_both else total

    def _given_zero(self, function: Function, pair: Pair) -> Array:
        """E[delta(u) function(v)]: given u = 0, v has deviation wedge / sqrt(q1)."""
        deviation = area(*pair) / jnp.sqrt(pair.q1)
        reach = jnp.maximum(deviation[..., None] * FINE.radii, TINY)
        weights = FINE.radial_weights * np.exp(-(FINE.radii**2) / 2) / (2 * math.pi)
        return (function(reach) + function(-reach)) @ weights / jnp.sqrt(pair.q1)


def _sector(
    left: Function, right: Function, s1: Array, s2: Array, opening: Array, rule: Rule
) -> Array:
    """E[left(u) right(v)] over the sector of the given opening; the signs of u, v are of s1, s2."""
    x = 0.5 * opening[..., None] * (1 + rule.angles)
    sizes = jnp.sin(opening[..., None] - x), jnp.sin(x)
    u, v = (
        jnp.sign(size)[..., None, None]
        * jnp.maximum((jnp.abs(size)[..., None] * along)[..., None] * rule.radii, TINY)
        for size, along in zip((s1, s2), sizes, strict=True)
    )
    weights = rule.radial_weights * rule.radii * np.exp(-(rule.radii**2) / 2)
    return opening * ((left(u) * right(v)) @ weights @ rule.angle_weights) / (4 * math.pi)


def sector_quadrature(activation: DotProduct, corner: float, variance: float) -> SectorQuadrature:
    """The moment of `activation`, with its error at two vectors of squared norm `variance`."""
    form = SectorQuadrature(activation, corner)
    size = jnp.asarray(float(variance))
    return eqx.tree_at(lambda made: made.error, form, float(jax.jit(form.error_at)(size, size)))
