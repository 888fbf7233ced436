"""Polynomials on [0, 1] in Bernstein form, evaluated without cancellation.

    p(x) = sum_l terms_l x^l (1 - x)^(n - l),    n = len(terms) - 1

(the binomials are inside the terms). Where all terms are positive, so is every number that arises,
and p is right to about 2n roundings relative to itself, however small it is. In powers of x the
cores of the almost lambda-harmonic potentials lose all digits by degree 51; in this form they lose
none.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax


def bernstein(terms: Array, x: Array, y: Array) -> Array:
    """sum_l terms_l x^l y^(n-l) for `terms` of shape (n + 1,) and `x`, `y` of one shape, x + y = 1.

    `y` is an argument because the caller often knows 1 - x better than a subtraction here would.
    """
    # Horner's scheme in the smaller over the larger of x and y, so that no power overflows.
    # Selected by `where`, not by `minimum`, whose derivative at x = y would be an average.
    low = x <= y
    larger = jnp.where(low, y, x)
    ratio = jnp.where(low, x, y) / larger

    def step(total: Array, pair: tuple[Array, Array]) -> tuple[Array, None]:
        return total * ratio + jnp.where(low, *pair), None

    total, _ = lax.scan(step, jnp.zeros_like(ratio), (terms[::-1], terms))
    return larger ** (len(terms) - 1) * total
