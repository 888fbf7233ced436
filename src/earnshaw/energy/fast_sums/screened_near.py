"""The near part of a screened Coulomb potential: a closed form minus a polynomial in r^2.

Outside the core Phi is a exp(-s r) on the line (up to factors), a exp(-s r)/r in space, and in the
plane a K_0(s r), by its power series,

    K_0(z) = sum_j (z^2/4)^j/(j!)^2 (H_j - gamma - log(z/2)),    H_j = 1 + 1/2 + ... + 1/j,

as z is at most 6. Inside it is a polynomial in r of degree at most 3. The far part is an even
entire function of r, so a polynomial in u = r^2 < rho^2, from integrals of its transform at
Chebyshev nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.polynomial import chebyshev
from scipy import special

from earnshaw.energy.fast_sums.splitting import NearPart

TERMS = 22  # of the series of K_0 for z <= 6: (z/2)^(2j)/(j!)^2 < 1e-21 then
NODES = 72  # at which the far part is interpolated
SHARE, ROUNDING = 0.01, 3e-15  # of `tolerance`: where four Chebyshev coefficients are smaller,
LONGEST = 48  # they end; or here: powers of v lose 2.4^n of what the n-th one is rounded to
PANEL = 24  # points of a Gauss-Legendre rule


class ScreenedNear(NearPart):
    """Phi - far for u = r^2 <= rho^2, Phi in closed form; `far` in powers of v = 2 u/rho^2 - 1."""

    dim: int = eqx.field(static=True)
    rate: Array
    scale: Array
    radius: Array
    core: Array
    far: Array
    rho: Array
    series: Array

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """See `NearPart`."""
        apart = u > 0
        r = jnp.sqrt(jnp.where(apart, u, 1.0))
        inside = r < self.radius
        there = [
            jnp.where(inside, within, without)
            for within, without in zip(self._inside(r), self._outside(r), strict=True)
        ]
        at_zero = (self.core[0], jnp.zeros(()), jnp.zeros(()))
        whole = (jnp.where(apart, part, zero) for part, zero in zip(there, at_zero, strict=True))
        value, first, second = (a - b for a, b in zip(whole, self._far(u), strict=True))
        return value, first, second

    def _inside(self, r: Array) -> tuple[Array, Array, Array]:
        """sum_j p_j r^j, of degree 3."""
        p = self.core
        value = p[0] + r * (p[1] + r * (p[2] + r * p[3]))
        return value, p[1] / r + 2 * p[2] + 3 * p[3] * r, (3 * p[3] - p[1] / (r * r)) / r

    def _outside(self, r: Array) -> tuple[Array, Array, Array]:
        """In every dimension f'' = lambda f - (d - 1) f'/r."""
        s, square = self.rate, r * r
        if self.dim == 2:
            value, first = self._in_the_plane(r, square)
        else:
            value = self.scale * jnp.exp(-s * r)
            value = value / r if self.dim == 3 else value
            first = -(s + 1 / r if self.dim == 3 else s) * value / r
        return value, first, (s * s * value - self.dim * first) / square

    def _in_the_plane(self, r: Array, square: Array) -> tuple[Array, Array]:
        """K_0 and K_0'/r from I_0 = sum w^j/(j!)^2 and sum H_j w^j/(j!)^2, w = (s r/2)^2."""
        quarter = self.rate * self.rate / 4
        w = quarter * square
        grown, rest, grown_slope, rest_slope = (jnp.zeros_like(r) for _ in range(4))
        for j in reversed(range(TERMS)):
            grown_slope, rest_slope = grown_slope * w + grown, rest_slope * w + rest
            grown, rest = grown * w + self.series[0, j], rest * w + self.series[1, j]
        logs = -jnp.log(self.rate * r / 2) - np.euler_gamma
        value = logs * grown + rest
        first = 2 * quarter * (logs * grown_slope + rest_slope) - grown / square
        return self.scale * value, self.scale * first

    def _far(self, u: Array) -> tuple[Array, Array, Array]:
        """The polynomial with f'/r = 2 df/du and (f'' - f'/r)/r^2 = 4 d^2f/du^2."""
        rise = 2 / (self.rho * self.rho)
        v = rise * jnp.minimum(u, self.rho * self.rho) - 1
        w = v * v
        # Two polynomials of half the degree, P = E(w) + v O(w), keep a processor busier than one.
        even, even_1, even_2 = _horner(self.far[::2], w)
        odd, odd_1, odd_2 = _horner(self.far[1::2], w)
        value = even + v * odd
        first = odd + 2 * (v * even_1 + w * odd_1)
        second = 2 * even_1 + 6 * v * odd_1 + 8 * w * (even_2 + v * odd_2)
        return value, 2 * rise * first, 4 * rise * rise * second


def _horner(coefficients: Array, w: Array) -> tuple[Array, Array, Array]:
    """A polynomial, its derivative, and half of its second derivative."""
    value, first, half_second = (jnp.zeros_like(w) for _ in range(3))
    for j in reversed(range(len(coefficients))):
        half_second = half_second * w + first
        first = first * w + value
        value = value * w + coefficients[j]
    return value, first, half_second


def prepared(
    dim: int,
    lam: float,
    radius: float,
    core: tuple[float, ...],
    log_strength: float,
    far: Callable[[np.ndarray], np.ndarray],
    rho: float,
    cutoff: float,
    tolerance: float,
) -> ScreenedNear:
    """The near part with the far part of transform `far`(k), k < `cutoff`.

    `tolerance` is what the far part may be wrong by.
    """
    s = math.sqrt(lam)
    # k_n(s r) is sqrt(pi/2) exp(-s r) for d = 1, K_0(s r) for d = 2, sqrt(pi/2) exp(-s r)/(s r).
    log_factor = 0.0 if dim == 2 else 0.5 * math.log(math.pi / 2)
    log_factor -= math.log(s) if dim == 3 else 0.0
    factorials = special.gammaln(np.arange(TERMS) + 1.0)
    series = np.exp(-2 * factorials)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, TERMS))])
    return ScreenedNear(
        dim=dim,
        rate=jnp.asarray(s),
        scale=jnp.asarray(math.exp(log_strength + log_factor)),
        radius=jnp.asarray(radius),
        core=jnp.asarray([*core, *[0.0] * (4 - len(core))]),
        far=jnp.asarray(_in_powers(dim, far, rho, cutoff, s, tolerance)),
        rho=jnp.asarray(rho),
        series=jnp.asarray([series, harmonic * series]),
    )


def _in_powers(
    dim: int,
    far: Callable[[np.ndarray], np.ndarray],
    rho: float,
    cutoff: float,
    s: float,
    tolerance: float,
) -> np.ndarray:
    """The far part as a polynomial in v = 2 r^2/rho^2 - 1, its lowest coefficient first."""
    k, weights = rule(cutoff, s, 4 / rho)
    angle = (2 * np.arange(NODES) + 1) * math.pi / (2 * NODES)
    r = rho * np.sqrt((1 + np.cos(angle)) / 2)
    values = spherical_wave(np.outer(r, k), dim) @ (weights * far(k) * k ** (dim - 1))
    sphere = 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)
    coefficients = np.cos(np.outer(np.arange(NODES), angle)) @ values * 2 / NODES
    coefficients[0] /= 2
    coefficients *= sphere / (2 * math.pi) ** dim
    least = max(SHARE * tolerance, ROUNDING * np.max(np.abs(coefficients)))
    small = np.abs(coefficients) < least
    ends = np.flatnonzero(small[:-3] & small[1:-2] & small[2:-1] & small[3:])
    powers = chebyshev.cheb2poly(coefficients[: min([*ends[:1], LONGEST])])
    # The number of terms is part of what is compiled: a multiple of 4.
    return np.pad(powers, (0, -len(powers) % 4))


def spherical_wave(x: np.ndarray, dim: int) -> np.ndarray:
    """The mean of exp(i k.r) over directions, at x = |k| |r|: cos x, J_0(x), sin(x)/x."""
    if dim == 1:
        return np.cos(x)
    return special.j0(x) if dim == 2 else np.sinc(x / math.pi)


def rule(cutoff: float, s: float, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on (0, cutoff), in panels as long as k: there is a pole at k = i s.

    No panel is longer than `longest`, for the oscillations.
    """
    edges = [0.0, min(s / 2, longest, cutoff)]
    while edges[-1] < cutoff:
        edges.append(min(edges[-1] + min(edges[-1], longest), cutoff))
    low, high = np.asarray(edges[:-1])[:, None], np.asarray(edges[1:])[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(PANEL)
    half = (high - low) / 2
    return (low + half * (1 + nodes)).ravel(), (half * weights).ravel()
