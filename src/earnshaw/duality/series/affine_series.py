"""Two units with biases, of which one is smooth and has no closed form: the Hermite series.

With a_n(mu, q) = E[s(mu + sqrt(q) Z) he_n(Z)],

    E[s(u) s'(v)] = sum_n a_n(mu1, q1) a'_n(mu2, q2) rho^n:

coefficients per unit, then a series per pair. For tanh, logistic, softplus, silu and mish, analytic
in a strip, a_n falls as exp(-const sqrt(n/q)): one such activation is enough, the other may be made
of half-lines (`half_lines.py`), whose coefficients are known. The bound has the three parts of
`_hermite_series.py`: Cauchy-Schwarz and Parseval for what is cut off, twice the difference to every
second node for the quadrature, and rounding.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine import Affine, Jet
from earnshaw.duality.half_lines import HalfLinePair, HalfLines, hermite_coefficients
from earnshaw.duality.pair import EPS, UNDERFLOW, value_and_slope
from earnshaw.numerics.hermite import weighted_hermite
from earnshaw.numerics.quadrature import trapezoid_rule
from earnshaw.numerics.series import product_power_sum

DEGREE = 512
STEP = 1 / 32  # resolves he_511, and units of norm 8
HALF_WIDTH = 46.0  # beyond the last turning point, 2 sqrt(512)


@lru_cache(maxsize=1)
def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Nodes (M,), M = 4 k + 1, and features (M, N): a_n = sum_i s(nodes_i) features_in."""
    nodes, weights = trapezoid_rule(HALF_WIDTH, STEP)
    rows = weighted_hermite(DEGREE, nodes)
    counts = rows[0] > 1e-160  # exp(-z^2/4)
    nodes, weights, rows = nodes[counts], weights[counts], rows[:, counts]
    return nodes, (rows * rows[0] * weights).T


class AffineSeries(eqx.Module):
    """sum_n a_n(mu1, q1) a'_n(mu2, q2) rho^n for two functions, one of them smooth."""

    first: DotProduct | HalfLines
    second: DotProduct | HalfLines

    @property
    def method(self) -> str:
        """Hermite series, with its length."""
        return f"hermite series ({DEGREE} terms)"

    @property
    def proven(self) -> bool:
        """Whether `error_at` is a bound: for activations of the library."""
        return all(isinstance(one, HalfLines) or one.known for one in (self.first, self.second))

    @eqx.filter_jit
    def __call__(self, units: Affine) -> Array:
        """The series, by Horner's rule in rho."""
        left = coefficients(self.first, units.mu1, units.q1)
        right = coefficients(self.second, units.mu2, units.q2)
        moving = (units.q1 > 0) & (units.q2 > 0)
        product = jnp.sqrt(jnp.where(moving, units.q1 * units.q2, 1.0))
        return product_power_sum(left, right, jnp.where(moving, units.c / product, 0.0))

    turning: ClassVar[bool] = False

    def jet(self, units: Affine) -> Jet:
        """The sum and its derivatives.

        d/dq1 has a part through rho = c/sqrt(q1 q2).
        """
        mu, q = units.mu1, units.q1
        left, in_mu = value_and_slope(lambda mu: coefficients(self.first, mu, q), mu)
        in_q = value_and_slope(lambda q: coefficients(self.first, mu, q), q)[1]
        right = coefficients(self.second, units.mu2, units.q2)
        moving = (units.q1 > 0) & (units.q2 > 0)
        product = jnp.sqrt(jnp.where(moving, units.q1 * units.q2, 1.0))
        rho = jnp.where(moving, units.c / product, 0.0)
        value, slope = value_and_slope(lambda rho: product_power_sum(left, right, rho), rho)
        along, spread = (product_power_sum(part, right, rho) for part in (in_mu, in_q))
        by_angle = jnp.where(moving, slope * rho / (2 * jnp.where(moving, q, 1.0)), 0.0)
        return Jet(value, along, 2 * (spread - by_angle), jnp.where(moving, slope / product, 0.0))

    @eqx.filter_jit
    def error_at(self, units: Affine) -> Array:
        """The three parts of the module's docstring, at every rho."""
        (tail1, off1, size1) = _parts(self.first, units.mu1, units.q1)
        (tail2, off2, size2) = _parts(self.second, units.mu2, units.q2)
        quadrature = off1 * (size2 + off2) + off2 * size1
        rounding = 4 * EPS * DEGREE * size1 * size2
        total = jnp.sqrt(tail1) * jnp.sqrt(tail2) + quadrature + rounding + UNDERFLOW
        return jnp.where(jnp.isnan(total), jnp.inf, total)


def _values(function: DotProduct, mu: Array, q: Array) -> Array:
    nodes = jnp.asarray(_rule()[0])
    size = jnp.sqrt(jnp.where(q > 0, q, 1.0)) * (q > 0)
    return function(mu[..., None] + size[..., None] * nodes)


def coefficients(function: DotProduct | HalfLines, mu: Array, q: Array) -> Array:
    """a_n(mu, q) for n < N; shape (..., N)."""
    if isinstance(function, HalfLines):
        return hermite_coefficients(function, mu, q, DEGREE)
    return _values(function, mu, q) @ jnp.asarray(_rule()[1])


def _parts(function: DotProduct | HalfLines, mu: Array, q: Array) -> tuple[Array, Array, Array]:
    """What the coefficients leave of E[s^2], how far off they are as a vector, and its length."""
    if isinstance(function, HalfLines):
        found, one = coefficients(function, mu, q), Affine.of_one(mu, q)
        pair = HalfLinePair(function, function)
        power, off = pair(one), pair.error_at(one)
        tail = jnp.abs(power - jnp.sum(found**2, axis=-1)) + 64 * EPS * power + off
        return tail, jnp.sqrt(off) * EPS**0.5, jnp.sqrt(jnp.abs(power) + tail)
    values, features = _values(function, mu, q), jnp.asarray(_rule()[1])
    fine, coarse = values @ features, 2 * values[..., ::2] @ features[::2]
    power, rough = values**2 @ features[:, 0], 2 * values[..., ::2] ** 2 @ features[::2, 0]
    tail = jnp.abs(power - jnp.sum(fine**2, axis=-1)) + 2 * jnp.abs(power - rough)
    tail = tail + 64 * EPS * power
    return tail, 2 * jnp.linalg.norm(fine - coarse, axis=-1), jnp.sqrt(power + tail)
