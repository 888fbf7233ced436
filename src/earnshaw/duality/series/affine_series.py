"""Two units with biases, of which one is smooth and has no closed form: the Hermite series.

With a_n(mu, q) = E[s(mu + sqrt(q) Z) he_n(Z)],

    E[s(u) s'(v)] = sum_n a_n(mu1, q1) a'_n(mu2, q2) rho^n:

coefficients per unit, then a series per pair. For tanh, logistic, softplus, silu and mish, analytic
in a strip, a_n falls as exp(-const sqrt(n/q)): one such activation is enough, the other may be made
of half-lines (`half_lines.py`), whose coefficients are known. The bound has the three parts of
`_hermite_series.py`: Cauchy-Schwarz and Parseval for what is cut off, twice the difference to twice
as many nodes for the quadrature, and rounding.

Derivatives of coefficients are coefficients: by Stein's identity, with r = sqrt(q),

    d a_n/d mu = sqrt(n+1) a_(n+1)/r,    d a_n/d q = (n a_n + sqrt((n+1)(n+2)) a_(n+2))/(2q).

Units with next to no weight (r below `FAINT`) are a constant, and so are their slopes.
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
HIGHEST = DEGREE + 6  # three derivatives need two coefficients more each
STEP = 1 / 16  # resolves he_517, and units of norm 4 to rounding
HALF_WIDTH = 46.0  # beyond the last turning point, 2 sqrt(512)
FAINT = 1e-6  # sqrt(q) below which a_(n+1)/sqrt(q) has lost its digits, and is as good as 0


@lru_cache(maxsize=2)
def rule(step: float = STEP) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (M,), symmetric, and features (M, N): a_n = sum_i s(nodes_i) features_in."""
    nodes, weights = trapezoid_rule(HALF_WIDTH, step)
    rows = weighted_hermite(HIGHEST, nodes)
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


def coefficients(
    function: DotProduct | HalfLines, mu: Array, q: Array, degree: int = DEGREE
) -> Array:
    """a_n(mu, q) for n < N = degree; shape (..., N)."""
    if isinstance(function, HalfLines):
        return hermite_coefficients(function, mu, q, degree)
    return _by_quadrature(function, mu, q, degree=degree)


def mean_of(function: DotProduct | HalfLines, mu: Array, q: Array) -> Array:
    """E[s(u)], elementwise."""
    return coefficients(function, mu, q, degree=2)[..., 0]


@eqx.filter_custom_jvp
def _by_quadrature(function: DotProduct, mu: Array, q: Array, *, degree: int) -> Array:
    """a_n for n < degree: even and odd parts of s by themselves, each on half of the nodes."""
    nodes, features = rule()
    values, half = _values(function, mu, q, nodes), len(nodes) // 2
    right, left = values[..., half:], values[..., half::-1]
    count = -(-degree // 2)
    even = jnp.asarray(features[half:, 0 : 2 * count : 2]).at[0].divide(2)
    odd = jnp.asarray(features[half:, 1 : 2 * count : 2])
    both = jnp.stack([(right + left) @ even, (right - left) @ odd], axis=-1)
    return both.reshape(*both.shape[:-2], 2 * count)[..., :degree]


@_by_quadrature.def_jvp
def _by_quadrature_jvp(primals: tuple, tangents: tuple, *, degree: int) -> tuple[Array, Array]:
    (function, mu, q), (_, mu_moved, q_moved) = primals, tangents
    more = _by_quadrature(function, mu, q, degree=degree + 2)
    n = np.arange(degree)
    found, total = more[..., :degree], jnp.zeros((*mu.shape, degree))
    clear = q > FAINT**2
    safe = jnp.where(clear, q, 1.0)[..., None]
    slope, bend = _slopes(function, mu)
    if mu_moved is not None:
        by_mu = np.sqrt(n + 1) * more[..., 1 : degree + 1] / jnp.sqrt(safe)
        by_mu = jnp.where(clear[..., None], by_mu, slope[..., None] * (n == 0))
        total = total + by_mu * mu_moved[..., None]
    if q_moved is not None:
        by_q = (n * found + np.sqrt((n + 1) * (n + 2)) * more[..., 2:]) / (2 * safe)
        by_q = jnp.where(clear[..., None], by_q, bend[..., None] / 2 * (n == 0))
        total = total + by_q * q_moved[..., None]
    return found, total


def _slopes(function: DotProduct, x: Array) -> tuple[Array, Array]:
    """s'(x) and s''(x)."""
    slope = lambda x: value_and_slope(function, x)[1]  # noqa: E731
    return value_and_slope(slope, x)


def _values(function: DotProduct, mu: Array, q: Array, nodes: np.ndarray) -> Array:
    size = jnp.sqrt(jnp.where(q > 0, q, 1.0)) * (q > 0)
    return function(mu[..., None] + size[..., None] * nodes)


def _parts(function: DotProduct | HalfLines, mu: Array, q: Array) -> tuple[Array, Array, Array]:
    """What the coefficients leave of E[s^2], how far off they are as a vector, and its length."""
    used = coefficients(function, mu, q)
    if isinstance(function, HalfLines):
        one = Affine.of_one(mu, q)
        pair = HalfLinePair(function, function)
        power, off = pair(one), pair.error_at(one)
        tail = jnp.abs(power - jnp.sum(used**2, axis=-1)) + 64 * EPS * power + off
        return tail, jnp.sqrt(off) * EPS**0.5, jnp.sqrt(jnp.abs(power) + tail)
    (nodes, features), coarse = rule(STEP / 2), rule()[1]
    values = _values(function, mu, q, nodes)
    fine, seldom = values @ features[:, :DEGREE], values[..., _every_second(nodes)]
    power, rough = values**2 @ features[:, 0], seldom**2 @ coarse[:, 0]
    tail = jnp.abs(power - jnp.sum(fine**2, axis=-1)) + 2 * jnp.abs(power - rough)
    tail = tail + 64 * EPS * power
    return tail, 2 * jnp.linalg.norm(fine - used, axis=-1), jnp.sqrt(power + tail)


def _every_second(nodes: np.ndarray) -> np.ndarray:
    """Which of the finer rule's nodes are the rule's own."""
    return np.flatnonzero(np.isin(nodes, rule()[0]))
