"""Duals of polynomials, from their Hermite coefficients: exact for every norm.

If s(x) = sum_n a_n he_n(x), he_n orthonormal under N(0, 1), then at unit norms

    E[s(u) s(v)] = sum_n a_n^2 rho^n                    (Full, Theorem B.2, with the sum from 0),

and at any norms sum_l R_l(q1) R_l(q2) c^l with the polynomials

    R_l(q) = sum_k a_(l+2k) sqrt((l+2k)!/l!) / (2^k k!) (q - 1)^k,

because He_n(g x) = sum_k n!/(2^k k! (n-2k)!) g^(n-2k) (g^2 - 1)^k He_(n-2k)(x).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.numerics.series import power_sum, product_power_sum
from earnshaw.potentials.dual import Moment
from earnshaw.potentials.pair import Pair


class HermitePolynomial(Moment):
    """The moment of sum_n a_n he_n(x); `mixing[k, l]` is the coefficient of (q - 1)^k in R_l."""

    coefficients: Array
    mixing: Array

    def __init__(self, coefficients: Array) -> None:
        self.coefficients = jnp.asarray(coefficients, dtype=float)
        self.mixing = jnp.asarray(_mixing(np.asarray(coefficients)))

    def __call__(self, pair: Pair) -> Array:
        """sum_l R_l(q1) R_l(q2) c^l."""
        return product_power_sum(self._radial(pair.q1), self._radial(pair.q2), pair.c)

    def on_sphere(self, rho: Array, variance: float) -> Array:
        """sum_l R_l(variance)^2 variance^l rho^l."""
        return power_sum(self._powers(variance), rho)

    def on_cap(self, pair: Pair, variance: float) -> Array:
        """`on_sphere`."""
        return self.on_sphere(pair.c / variance, variance)

    def taylor(self, count: int, variance: float) -> Any:
        """Those same coefficients, padded with zeros."""
        known = np.asarray(self._powers(variance))[:count]
        return np.concatenate([known, np.zeros(max(0, count - len(known)))])

    def _radial(self, q: Array) -> Array:
        """R_l(q) for all l, shape (..., degree + 1), by Horner's rule: smooth at q = 1 too."""

        def step(total: Array, row: Array) -> tuple[Array, None]:
            return total * (q[..., None] - 1) + row, None

        start = jnp.zeros((*q.shape, self.mixing.shape[1]))
        return jax.lax.scan(step, start, self.mixing, reverse=True)[0]

    def _powers(self, variance: float) -> Array:
        degrees = jnp.arange(self.mixing.shape[1])
        shifts = (variance - 1.0) ** jnp.arange(self.mixing.shape[0])
        return (shifts @ self.mixing) ** 2 * variance**degrees


def _mixing(coefficients: np.ndarray) -> np.ndarray:
    degree = len(coefficients) - 1
    table = np.zeros((degree // 2 + 1, degree + 1))
    for low in range(degree + 1):
        for k in range((degree - low) // 2 + 1):
            high = low + 2 * k
            log_weight = 0.5 * (math.lgamma(high + 1) - math.lgamma(low + 1))
            log_weight -= k * math.log(2) + math.lgamma(k + 1)
            table[k, low] = coefficients[high] * (math.exp(log_weight) if k else 1.0)
    return table
