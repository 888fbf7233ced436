"""Hermite polynomials, orthonormal under N(0, 1): E[he_m(X) he_n(X)] = [m == n].

he_0 = 1, he_1 = x, he_(n+1) = (x he_n - sqrt(n) he_(n-1)) / sqrt(n+1). All of earnshaw uses this
normalisation, the one in which the papers' Theorem B.2 is true (mathematics.md, error 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.numerics.quadrature import panel_rule, split_edges


@jax.jit
def hermite_sum(coefficients: Array, x: Array, gamma: ArrayLike = 1.0) -> Array:
    """sum_n coefficients_n he_n(x), elementwise in `x`, by the forward recurrence.

    Forward, not Clenshaw's backward one: derivatives of any order then come from the same loop.
    With another `gamma`, of gamma^(n/2) he_n(x / sqrt(gamma)), which gamma <= 0 has too: 1 - v
    gives the means E[he_n(x + sqrt(v) Z)], -v those of x^n / sqrt(n!).
    """
    roots = jnp.sqrt(jnp.arange(1.0, len(coefficients) + 1))

    State = tuple[Array, Array, Array]

    def step(state: State, row: State) -> tuple[State, None]:
        (before, now, total), (coefficient, root, previous_root) = state, row
        total = total + coefficient * now
        return (now, (x * now - gamma * previous_root * before) / root, total), None

    previous = jnp.concatenate([jnp.zeros(1), roots[:-1]])
    start = (jnp.zeros_like(x), jnp.ones_like(x), jnp.zeros_like(x))
    (_, _, total), _ = jax.lax.scan(step, start, (coefficients, roots, previous))
    return total


def weighted_hermite(count: int, x: np.ndarray) -> np.ndarray:
    """he_n(x) sqrt(phi(x)) for n < count, phi the N(0,1) density; shape (count, len(x)).

    These Hermite functions are bounded, so nothing overflows however large n and x are.
    """
    x = np.asarray(x, dtype=float)
    rows = np.empty((count, len(x)))
    rows[0] = np.exp(-x * x / 4) / (2 * math.pi) ** 0.25
    if count > 1:
        rows[1] = x * rows[0]
    for n in range(1, count - 1):
        rows[n + 1] = (x * rows[n] - math.sqrt(n) * rows[n - 1]) / math.sqrt(n + 1)
    return rows


def hermite_coefficients(
    function: Callable[[np.ndarray], np.ndarray],
    count: int,
    kinks: np.ndarray,
    half_width: float = 16.0,
) -> np.ndarray:
    """E[s(X) he_n(X)] for n < count, on panels split at `kinks` and finer than he_n oscillates."""
    edges = split_edges(half_width, kinks, width=min(1.0, 8 / math.sqrt(count)))
    nodes, weights = panel_rule(edges)
    rows = weighted_hermite(count, nodes)
    return (rows * rows[0]) @ (weights * function(nodes))


@lru_cache(maxsize=64)
def monomials_in_hermite(degree: int) -> np.ndarray:
    """The matrix T with x^m = sum_n T[m, n] he_n(x) for m, n <= degree <= 100.

    T[m, n] = m! / (2^i i! sqrt(n!)) with i = (m - n)/2 a non-negative integer, else 0.
    """
    table = np.zeros((degree + 1, degree + 1))
    for m in range(degree + 1):
        for n in range(m % 2, m + 1, 2):
            i = (m - n) // 2
            pairings = math.factorial(m) // (2**i * math.factorial(i))
            table[m, n] = pairings / math.sqrt(math.factorial(n))
    return table
