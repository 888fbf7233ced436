"""The modified Bessel function K in JAX, in the form that lambda-harmonic potentials need.

The radial solution of Laplacian Phi = Phi in R^d that vanishes at infinity is the reduced function

    k_nu(z) = z^(-nu) K_nu(z),    nu = d/2 - 1,    k_nu'(z) = -z k_(nu+1)(z).

It runs from 1e300 to 1e-300 over the distances of interest, so this module offers its logarithm,
and the ratio R_nu = K_(nu+1)/K_nu, which is also -(log k_nu)':

- `log_reduced_k(order, z)` = log k_nu(z);
- `k_ratio(order, z)` = R_nu(z), with R_nu' = R_nu^2 - 1 - (2 nu + 1) R_nu / z;
- `log_k_and_ratio(order, z)`, both.

They are elementwise, with a static order: an integer >= 0 or a half-integer >= -1/2. Their
derivatives are written in terms of R itself, so autodiff of any order works and never meets a loop.

The computation starts from two neighbouring orders and climbs by
K_(nu+1) = (2 nu / z) K_nu + K_(nu-1), in which every term is positive: nothing cancels, and the
relative error grows only as nu times rounding. For half-integers (odd d) the start is elementary;
for integers it is K_0 and K_1: see `_scaled_k0_k1`.

Compared with others by `python benchmarks/numerics.py --only bessel`: log K_nu and its slope for
nu = 0 to 99.5, z = 1e-4 to 1e6; the largest errors, relative to the largest of |log K|, z and 1,
and to the slope; microseconds a value at nu = 9, 10,000 at once, on 2 busy cores.

    peer                                  log K    slope    microseconds
    here                                  8e-16    2e-15             0.8
    SciPy's kve (no JAX, no gradients)    8e-16    2e-13               5
    TFP's nightly 0.26, log_bessel_kve    1e-15    9e-13              18
    logbesselk 3.4                        5e-3     9e-2              823

SciPy's is infinite at 12 of the 45 z for nu = 99.5. TFP's release 0.25 cannot be imported with JAX
0.10. Derivatives of every order are written here in the ratio of neighbouring orders, which of
these only logbesselk offers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.errors import OutOfRange

_EULER_GAMMA = 0.57721566490153286
_SERIES_TERMS = 10  # (1/4)^k / (k!)^2 < 1e-17 from k = 9 on
_SPACING = 0.23  # of the trapezoid nodes; the error is about exp(2 - 2 pi sqrt(2) / spacing)
_NODES = 28  # up to x = 6.2, beyond which exp(-x^2) < 2e-17
_BLOCK = 64  # steps of the recurrence between rescalings: (2 nu + 1)^64 stays finite up to nu = 3e4


def log_reduced_k(order: float, z: ArrayLike) -> Array:
    """log(z^(-nu) K_nu(z)) for z >= 0, elementwise; +inf at z = 0 unless nu = -1/2.

    The absolute error is a few ulp of the largest of z, nu |log z| and nu log nu.
    """
    return log_k_and_ratio(order, z)[0]


def k_ratio(order: float, z: ArrayLike) -> Array:
    """K_(nu+1)(z) / K_nu(z) for z >= 0, elementwise; +inf at z = 0 unless nu = -1/2, then 1."""
    return log_k_and_ratio(order, z)[1]


def log_k_and_ratio(order: float, z: ArrayLike) -> tuple[Array, Array]:
    """Both of the above, for the price of one."""
    if not (np.ndim(order) == 0 and order >= -0.5 and float(2 * order).is_integer()):
        raise OutOfRange("order of K", order, "an integer >= 0 or a half-integer >= -1/2")
    return _compiled(float(order), jnp.asarray(z, dtype=float))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _log_k_and_ratio(order: float, z: Array) -> tuple[Array, Array]:
    if order == -0.5:
        return 0.5 * math.log(math.pi / 2) - z, jnp.ones_like(z)
    safe = jnp.clip(z, 1e-300, 1e300)
    log_scale, below, above = _climb(order, safe)
    logarithm = log_scale + jnp.log(below) - z
    ratio = (above / below) * (jnp.maximum(safe, 1.0) / safe)
    at_zero = jnp.where(z == 0, jnp.inf, jnp.nan)
    return jnp.where(z > 0, logarithm, at_zero), jnp.where(z > 0, ratio, at_zero)


@_log_k_and_ratio.defjvp
def _log_k_and_ratio_jvp(order: float, primals: tuple, tangents: tuple) -> tuple:
    (z,), (z_dot,) = primals, tangents
    logarithm, ratio = _log_k_and_ratio(order, z)
    slope = jnp.zeros_like(z) if order == -0.5 else _ratio_slope(order, z, ratio)
    return (logarithm, ratio), (-ratio * z_dot, slope * z_dot)


_compiled = jax.jit(_log_k_and_ratio, static_argnums=0)


def _ratio_slope(order: float, z: Array, ratio: Array) -> Array:
    """R' by its Riccati equation; the absolute error is a few ulp of R^2."""
    return (ratio - 1) * (ratio + 1) - (2 * order + 1) * ratio / z


def _climb(order: float, z: Array) -> tuple[Array, Array, Array]:
    """The recurrence, from the lowest order up to `order`.

    With m = max(z, 1), the numbers Y_nu = exp(z) k_nu(z) z^(2 nu) / m^nu (times a constant) obey

        Y_(nu+1) = (2 nu / m) Y_nu + (z / m)^2 Y_(nu-1)

    and neither overflow nor underflow for any z. Returns L, Y_nu, Y_(nu+1) with
    log k_nu = L + log Y_nu - z.
    """
    larger = jnp.maximum(z, 1.0)
    squared = jnp.minimum(z, 1.0) ** 2
    log_z = jnp.log(z)
    if order == round(order):
        start = 0.0
        below, above = _scaled_k0_k1(z)
        above = above / larger
        log_scale = jnp.zeros_like(z)
    else:
        start = 0.5
        below = jnp.ones_like(z)
        above = (1 + z) / larger
        log_scale = 0.5 * math.log(math.pi / 2) - log_z
    steps = round(order - start)
    # k_nu = Y_nu (m / z^2)^nu: one factor of 1/z a step for z > 1, two below.
    log_scale = log_scale - steps * (log_z + jnp.minimum(log_z, 0.0))

    def step(index: Array, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        lower, upper = pair
        return upper, (2 * (index + start) / larger) * upper + squared * lower

    for first in range(0, steps, _BLOCK):
        last = min(first + _BLOCK, steps)
        below, above = lax.fori_loop(first + 1, last + 1, step, (below, above))
        if last < steps:
            log_scale = log_scale + jnp.log(below)
            below, above = jnp.ones_like(below), above / below
    return log_scale, below, above


def _scaled_k0_k1(z: Array) -> tuple[Array, Array]:
    """exp(z) K_0(z) and exp(z) z K_1(z) to a few ulp, for z > 0.

    For z <= 1 by the power series of K_0, all terms positive there, and the Wronskian
    z (I_0 K_1 + I_1 K_0) = 1. Above, the substitution cosh t = 1 + x^2/z turns
    exp(z) K_nu(z) = integral_0^inf exp(-z (cosh t - 1)) cosh(nu t) dt into

        sqrt(2/z) integral_0^inf exp(-x^2) (1 + x^2/z)^nu / sqrt(1 + x^2/(2z)) dx,    nu = 0, 1,

    which the trapezoid rule sums to rounding, with nodes that do not depend on z.
    """
    small = jnp.where(z <= 1, z, 1.0)
    quarter = small * small / 4
    i0, i1, tail = (jnp.zeros_like(z) for _ in range(3))
    for k in reversed(range(_SERIES_TERMS)):
        term = 1 / math.factorial(k) ** 2
        i0 = i0 * quarter + term
        i1 = i1 * quarter + term / (k + 1)
        tail = tail * quarter + term * sum(1 / j for j in range(1, k + 1))
    k0_series = -(jnp.log(small / 2) + _EULER_GAMMA) * i0 + tail
    k1_series = (1 - 2 * quarter * i1 * k0_series) / i0

    large = jnp.where(z > 1, z, 1.0)

    def add_node(sums: Any, node: Any) -> tuple[Any, None]:
        square, weight = node
        term = weight / jnp.sqrt(1 + square / (2 * large))
        return (sums[0] + term, sums[1] + term * (1 + square / large)), None

    squares = (np.arange(_NODES)[::-1] * _SPACING) ** 2
    weights = _SPACING * np.exp(-squares) * np.where(squares == 0, 0.5, 1.0)
    zeros = jnp.zeros_like(z)
    (k0_sum, k1_sum), _ = lax.scan(add_node, (zeros, zeros), (squares, weights))
    root = jnp.sqrt(2 / large)
    growth = jnp.exp(small)
    return (
        jnp.where(z <= 1, growth * k0_series, root * k0_sum),
        jnp.where(z <= 1, growth * k1_series, root * large * k1_sum),
    )
