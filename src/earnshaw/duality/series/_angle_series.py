"""Duals of functions with kinks: a Chebyshev series in the angle.

A kink makes the Hermite series of a function fall only algebraically, since its dual is singular in
rho at +-1, as (1 - rho)^(1/2) for a jump and (1 - rho)^(3/2) for a corner. In the angle
t = arccos(rho) the same dual is smooth on the whole of [0, pi], so some tens of Chebyshev
polynomials in t reach rounding. The values come from `correlated_mean`, which splits the plane
along the kinks.

Derivatives: d/drho = -(1/sin t) d/dt. Where the derivative is finite at rho = +-1 the quotient is
itself a smooth function of t; it is fitted once as a series of its own, which loses no digits at
the ends. Where the fit fails the derivative is infinite there (a jump: f'; a corner: f'').
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.fft import dct

from earnshaw.duality.pair import Moment, Pair
from earnshaw.duality.potential import elementwise_derivative
from earnshaw.numerics.autodiff import tangent
from earnshaw.numerics.fixed_order import one_blas_thread
from earnshaw.numerics.quadrature import correlated_mean
from earnshaw.numerics.series import chebyshev_sum


class AngleSeries(Moment):
    """sum_n c_n T_n(2 t/pi - 1) on the sphere; elsewhere `general`, mostly a Hermite series.

    `levels` holds the coefficients of the value, then of f', then of f'' as far as they are finite.
    """

    levels: tuple[Array, ...]
    error: float
    general: Moment

    @property
    def method(self) -> str:
        """Split quadrature, with the length of the series."""
        return f"split quadrature, Chebyshev in the angle ({len(self.levels[0])} terms)"

    def bound(self, variance: float) -> float | None:
        """None: a black box has no bound."""
        return None

    def estimate(self, variance: float) -> float | None:
        """The last coefficients, and how much a coarser quadrature differs."""
        return self.error

    def __call__(self, pair: Pair) -> Array:
        """`general` at any norms; see `error_at`."""
        return self.general(pair)

    def error_at(self, q1: Array, q2: Array) -> Array:
        """That of `general`: a kink makes a Hermite series slow."""
        return self.general.error_at(q1, q2)

    @property
    def scratch(self) -> int:
        """That of `general`."""
        return self.general.scratch

    def on_sphere(self, rho: Array, variance: float) -> Array:
        """The Chebyshev series in t."""
        return _level(self.levels, rho)

    def on_cap(self, pair: Pair, variance: float) -> Array:
        """`on_sphere`."""
        return self.on_sphere(pair.c / variance, variance)


@jax.custom_jvp
def _level(levels: tuple[Array, ...], rho: Array) -> Array:
    """The first of `levels` as a function of rho; its derivative is the next, or the quotient."""
    return chebyshev_sum(levels[0], _chebyshev_argument(rho))


def _level_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    levels, rho = primals
    value = _level(levels, rho)

    def slope() -> Array:
        if len(levels) > 1:
            return _level(levels[1:], rho)
        x = _chebyshev_argument(rho)
        by_angle = (2 / jnp.pi) * elementwise_derivative(partial(chebyshev_sum, levels[0]), x)
        return -by_angle / jnp.sqrt((1 - rho) * (1 + rho))

    return value, tangent(value, (slope, tangents[1]))


_level.defjvp(_level_jvp, symbolic_zeros=True)


def _chebyshev_argument(rho: Array) -> Array:
    return 2 * jnp.arctan2(jnp.sqrt((1 - rho) * (1 + rho)), rho) / jnp.pi - 1


@one_blas_thread()
def _derivative_in_rho(series: np.ndarray) -> np.ndarray | None:
    """The Chebyshev series g of -f_t / sin t, from sin(t) g = -f_t by least squares; or None."""
    count = 2 * len(series)
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    basis = np.polynomial.chebyshev.chebvander(nodes, len(series) - 1)
    sine = np.sin((nodes + 1) * np.pi / 2)[:, None]
    target = -(2 / np.pi) * np.polynomial.chebyshev.chebval(
        nodes, np.polynomial.chebyshev.chebder(series)
    )
    solution = np.linalg.lstsq(sine * basis, target, rcond=None)[0]
    misfit = np.max(np.abs(sine * basis @ solution - target))
    return solution if misfit <= 1e-8 * max(np.max(np.abs(target)), 1e-300) else None


def angle_series(
    function: Callable[[Any], Any],
    kinks: Sequence[float],
    general: Moment,
    variance: float = 1.0,
    half_width: float = 12.0,
) -> AngleSeries:
    """The series of a `function` that is smooth but for `kinks`."""

    def scaled(x: np.ndarray) -> np.ndarray:
        return np.asarray(function(np.sqrt(variance) * x), dtype=float)

    cuts = np.asarray(kinks) / np.sqrt(variance)
    for count in (32, 64, 128):
        nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
        angles = (nodes + 1) * np.pi / 2
        values = np.array([correlated_mean(scaled, cuts, t, half_width) for t in angles])
        series = dct(values, type=2) / count
        series[0] /= 2
        tail = float(np.max(np.abs(series[-4:])))
        if tail <= 1e-14 * np.max(np.abs(series)):
            break
    probes = range(0, count, count // 8)
    coarse = [correlated_mean(scaled, cuts, angles[i], half_width, order=14) for i in probes]
    rough = float(np.max(np.abs(values[list(probes)] - coarse)))
    keep = np.nonzero(np.abs(series) > 1e-16 * np.max(np.abs(series)))[0][-1] + 1
    levels = [series[:keep]]
    while len(levels) < 3 and (following := _derivative_in_rho(levels[-1])) is not None:
        levels.append(following)
    return AngleSeries(
        levels=tuple(jnp.asarray(level) for level in levels),
        error=rough + count * tail + 1e-15 * float(np.max(np.abs(values))),
        general=general,
    )
