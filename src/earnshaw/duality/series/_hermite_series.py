"""Duals without a closed form: the Hermite series, with an error bound.

Any s with E[s^2] finite has coefficients a_n(q) = E[s(sqrt(q) X) he_n(X)], and

    E[s(u) s(v)] = sum_n a_n(q1) a_n(q2) rho^n.

For tanh, logistic, softplus, silu and mish, analytic in a strip, a_n falls as exp(-const sqrt(n)):
about a hundred terms reach rounding at unit norms, and const shrinks as 1/sqrt(q). Coefficients
come from the trapezoid rule, which is exponentially accurate for such functions. The bound has
three parts:

- truncation: |sum_(n>N) a_n(q1) a_n(q2) rho^n| <= sqrt(tail(q1) tail(q2)) by Cauchy-Schwarz, with
  tail(q) = E[s^2] - sum_(n<=N) a_n^2 (Parseval);
- quadrature: twice the difference between the rules of step 2h and h, in the coefficients and in
  E[s^2]. The error of the finer rule is about the square of the coarser one's where s is resolved,
  and half of it or less where s(sqrt(q) x) is steeper than a step can see;
- rounding: 4 eps E[s^2] per term of the sum.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.pair import EPS, UNDERFLOW, Moment, Pair, root
from earnshaw.duality.series._coefficient_table import CoefficientTable, coefficient_table
from earnshaw.numerics.hermite import weighted_hermite
from earnshaw.numerics.quadrature import trapezoid_rule
from earnshaw.numerics.series import power_sum, product_power_sum

TARGET = 1e-13  # of the truncation, relative to E[s^2]
MAX_DEGREE = 2048


class MadeFor(NamedTuple):
    """What a series was made for: see `hermite_series`."""

    variance: float
    max_norm: float
    half_width: float
    proven: bool

    @property
    def largest(self) -> float:
        """The largest norm, times the inputs' width."""
        return math.sqrt(self.variance) * max(1.0, self.max_norm)


class HermiteSeries(Moment):
    """sum_n a_n(q1) a_n(q2) rho^n for one function s.

    `nodes` (M,) and `features` (M, N) turn the values of s into coefficients,
    a_n(q) = sum_i s(sqrt(q) nodes_i) features_in; `even` and `odd` are the series in rho^2 for two
    vectors of the one squared norm that it was built for. With a `table`, coefficients come from
    there (`for_many_pairs`), and the millions of numbers of `features` are left behind.
    """

    function: Callable[[Array], Array]
    nodes: Any  # Array, or None with a table
    features: Any
    even: Array
    odd: Array
    error: float
    made_for: MadeFor = eqx.field(static=True)
    table: CoefficientTable | None = None

    @property
    def method(self) -> str:
        """Hermite series, with its length at unit norms."""
        return f"hermite series ({2 * max(len(self.even), len(self.odd))} terms)"

    def bound(self, variance: float) -> float | None:
        """The bound of the module's docstring, for library activations."""
        return self.error if self.made_for.proven else None

    def estimate(self, variance: float) -> float | None:
        """The same number; for a black box it is only an estimate."""
        return self.error

    def coefficients(self, q: Array) -> Array:
        """a_n(q) for n < N; shape (..., N)."""
        return self.function(root(q)[..., None] * self.nodes) @ self.features

    def __call__(self, pair: Pair) -> Array:
        """The series at any norms, by Horner's rule in rho."""
        positive = (pair.q1 > 0) & (pair.q2 > 0)
        rho = jnp.where(
            positive, pair.c / jnp.sqrt(jnp.where(positive, pair.q1 * pair.q2, 1.0)), 0.0
        )
        if self.table is not None:
            return self.table.product_sum(root(pair.q1), root(pair.q2), rho)
        return product_power_sum(self.coefficients(pair.q1), self.coefficients(pair.q2), rho)

    def for_many_pairs(self) -> HermiteSeries:
        """The same with a table of coefficients, if that resolves them."""
        return _made(self.function, self.made_for, with_table=True)

    def error_at(self, q1: Array, q2: Array) -> Array:
        """The three parts of the module's docstring: the bound at any norms, at every rho."""
        plain = self if self.table is None else _made(self.function, self.made_for)
        (tail1, off1, size1), (tail2, off2, size2) = plain._parts(q1), plain._parts(q2)
        if self.table is not None:
            off1 = off1 + self.table.error(jnp.sqrt(q1)) * size1
            off2 = off2 + self.table.error(jnp.sqrt(q2)) * size2
        quadrature = off1 * (size2 + off2) + off2 * size1
        rounding = 4 * EPS * plain.features.shape[1] * size1 * size2
        total = jnp.sqrt(tail1) * jnp.sqrt(tail2) + quadrature + rounding + UNDERFLOW
        return jnp.where(jnp.isnan(total), jnp.inf, total)

    def _parts(self, q: Array) -> tuple[Array, Array, Array]:
        """tail(q), and how far off (a_n) is as a vector, and its length."""
        values = self.function(jnp.sqrt(q)[..., None] * self.nodes)
        fine, coarse = values @ self.features, 2 * values[..., ::2] @ self.features[::2]
        # features[:, 0] are the weights of the mean, since he_0 = 1.
        power = values**2 @ self.features[:, 0]
        rough = 2 * values[..., ::2] ** 2 @ self.features[::2, 0]
        kept = jnp.sum(fine**2, axis=-1)
        tail = jnp.abs(power - kept) + 2 * jnp.abs(power - rough) + 64 * EPS * power
        return tail, 2 * jnp.linalg.norm(fine - coarse, axis=-1), jnp.sqrt(power + tail)

    def on_sphere(self, rho: Array, variance: float) -> Array:
        """The even and odd parts, polynomials in rho^2; `variance` must be the one built for."""
        square = rho * rho
        return power_sum(self.even, square) + rho * power_sum(self.odd, square)

    def on_cap(self, pair: Pair, variance: float) -> Array:
        """`on_sphere`."""
        return self.on_sphere(pair.c / variance, variance)

    def taylor(self, count: int, variance: float) -> Any:
        """a_n^2: all non-negative."""
        series = np.zeros(max(2 * len(self.even), 2 * len(self.odd), count))
        series[0 : 2 * len(self.even) : 2] = self.even
        series[1 : 2 * len(self.odd) : 2] = self.odd
        return series[:count]


def hermite_series(
    function: Callable[[Any], Any],
    variance: float = 1.0,
    max_norm: float = 4.0,
    half_width: float = 14.0,
    proven: bool = True,
) -> HermiteSeries:
    """The series of `function`, long enough for norms up to `max_norm` (times sqrt(variance)).

    `half_width` is where s(x)^2 exp(-x^2/2) has become negligible.
    """
    return _made(function, MadeFor(variance, max_norm, half_width, proven))


def _made(
    function: Callable[[Any], Any], made_for: MadeFor, with_table: bool = False
) -> HermiteSeries:
    """Remembered, since it takes a second; an activation with arrays in it cannot be."""
    try:
        hash(function)
    except TypeError:
        return _series.__wrapped__(function, made_for, with_table)
    return _series(function, made_for, with_table)


@lru_cache(maxsize=8)
def _series(function: Callable[[Any], Any], made_for: MadeFor, with_table: bool) -> HermiteSeries:
    with jax.ensure_compile_time_eval():  # what is remembered must not be part of a trace
        if with_table:
            plain = _made(function, made_for)
            table = _table(plain)
            if table is None:
                return plain
            return dataclasses.replace(plain, table=table, nodes=None, features=None)
        return _computed(function, made_for)


def _computed(function: Callable[[Any], Any], made_for: MadeFor) -> HermiteSeries:
    variance, largest, half_width = made_for.variance, made_for.largest, made_for.half_width
    for degree in (256, 512, 1024, MAX_DEGREE):
        # he_n oscillates with wave number sqrt(n), s(largest x) with up to ~24 largest; beyond 20
        # memory forbids a finer rule, and the bound says what that costs.
        step = np.pi / (np.sqrt(degree) + 8 + 24 * min(largest, 20.0))
        nodes, features = _features(degree, half_width, step)
        values = _evaluate(function, largest * nodes)
        power = float(values**2 @ features[:, 0])
        if power - np.sum((values @ features) ** 2) <= TARGET * power:
            break
    values = _evaluate(function, np.sqrt(variance) * nodes)
    fine = values @ features
    coarse = 2 * values[::2] @ features[::2]
    power = float(values**2 @ features[:, 0])
    squares = np.where(np.abs(fine) > 4 * EPS * np.sqrt(power), fine**2, 0.0)
    even, odd = _trim(squares[0::2]), _trim(squares[1::2])
    kept = float(np.sum(even) + np.sum(odd))
    differences = 2 * np.abs(fine - coarse)
    rough = float(2 * values[::2] ** 2 @ features[::2, 0])
    error = (
        abs(power - kept)
        + 2 * abs(power - rough)
        + 64 * EPS * power
        + float(np.sum(differences * (2 * np.abs(fine) + differences)))
        + 4 * EPS * power * (len(even) + len(odd))
    )
    return HermiteSeries(
        function=function,
        nodes=jnp.asarray(nodes),
        features=jnp.asarray(features),
        even=jnp.asarray(even),
        odd=jnp.asarray(odd),
        error=error,
        made_for=made_for,
    )


def _table(series: HermiteSeries) -> CoefficientTable | None:
    nodes, features = np.asarray(series.nodes), np.asarray(series.features)
    stride, offset = _parity(series)
    kept = features[:, offset::stride]
    return coefficient_table(
        lambda sizes: _evaluate(series.function, sizes[:, None] * nodes) @ kept,
        series.made_for.largest,
        stride,
        offset,
    )


def _parity(series: HermiteSeries) -> tuple[int, int]:
    """Which a_n there are, n = offset + stride j: (2, 1) of an odd s, (2, 0) of an even one."""
    x = series.made_for.largest * np.asarray(series.nodes)
    right, left = _evaluate(series.function, x), _evaluate(series.function, -x)
    if np.array_equal(right, -left):
        return 2, 1
    return (2, 0) if np.array_equal(right, left) else (1, 0)


def _features(degree: int, half_width: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = trapezoid_rule(half_width, step)
    if len(nodes) % 4 != 1:  # so that every second node is a rule too, through 0 and both ends
        nodes, weights = trapezoid_rule(step * 2 * np.ceil((len(nodes) - 1) / 4), step)
    rows = weighted_hermite(degree, nodes)
    return nodes, (rows * rows[0] * weights).T


def _evaluate(function: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    return np.asarray(function(x), dtype=float)


def _trim(series: np.ndarray) -> np.ndarray:
    """Drop the trailing terms that change neither the sum nor its second derivative."""
    n = np.arange(len(series))
    tails = np.cumsum((series * (1 + 2 * n) ** 2)[::-1])[::-1]
    keep = np.nonzero(tails > 1e-14 * float(np.sum(series)))[0]
    return series[: (keep[-1] + 1 if len(keep) else 1)]
