"""T_n(m) = integral_0^inf r^n exp(-r^2/2 - m r) dr for m >= 0, and means of powers over half-lines.

T_1 = 1 - m T_0 with T_0 an erfcx would lose m^2 roundings, T_3 m^6 of them; a Chebyshev series
loses none. With Z a standard normal,

    E[max(0, Z - m)^n] = phi(m) T_n(m),

the repeated integrals of erfc, which neither JAX nor SciPy has.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtr

from earnshaw.numerics.series import chebyshev_sum

KNEE, TERMS = 5.0, 28  # of the series: the next term is 1e-17


@lru_cache(maxsize=8)
def tail_series(n: int) -> np.ndarray:
    """The Chebyshev coefficients of (1 + m)^(n+1) T_n(m) in y = (m - knee)/(m + knee).

    T_n(m) = n! 2^(-(n+1)/2) U((n+1)/2, 1/2, m^2/2), smooth in y up to m = infinity.
    """
    from flint import arb, ctx

    count = 2 * TERMS
    with ctx.workprec(200):
        angles = [arb.pi() * (2 * i + 1) / (2 * count) for i in range(count)]
        places = [KNEE * (1 + t.cos()) / (1 - t.cos()) for t in angles]
        factor = math.factorial(n) * arb(2) ** (-arb(n + 1) / 2)
        values = [
            factor * (1 + m) ** (n + 1) * (m * m / 2).hypgeom_u(arb(n + 1) / 2, arb(0.5))
            for m in places
        ]
        sums = (
            sum((v * (k * t).cos() for v, t in zip(values, angles, strict=True)), arb(0))
            for k in range(TERMS)
        )
        return np.array([float(total * (2 if k else 1) / count) for k, total in enumerate(sums)])


def place(m: Array) -> Array:
    """Where m is on [-1, 1]."""
    return (m - KNEE) / (m + KNEE)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def tail_moment(n: int, m: Array) -> Array:
    """T_n(m) for m >= 0 and n >= 1."""
    return chebyshev_sum(jnp.asarray(tail_series(n)), place(m)) / (1 + m) ** (n + 1)


@tail_moment.defjvp
def _tail_moment_jvp(n: int, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    return tail_moment(n, *primals), -tail_moment(n + 1, *primals) * tangents[0]


def half_line_mean(n: int, x: Array, deviation: Array) -> Array:
    """E[max(0, x + deviation Z)^n], Z a standard normal; for n = 0, P(x + deviation Z > 0).

    Right relative to itself also where it is tiny: nothing cancels, since for x > 0 it is the mean
    of the whole power and, with a sign, what is beyond 0.
    """
    spread = deviation > 0
    y = jnp.clip(x / jnp.where(spread, deviation, 1.0), -40.0, 40.0)
    if n == 0:
        return jnp.where(spread, ndtr(y), jnp.heaviside(x, 0.5))
    density = jnp.exp(-y * y / 2) / math.sqrt(2 * math.pi)
    beyond = jnp.where(spread, deviation**n * density * tail_moment(n, jnp.abs(y)), 0.0)
    before, whole = jnp.ones_like(x), x
    for k in range(1, n):
        before, whole = whole, x * whole + k * deviation**2 * before
    return jnp.where(x < 0, beyond, whole - (-1) ** n * beyond)
