"""NumPy functions that exported files carry with them, pasted as they stand here.

Each uses `np`, `math` and others of this file only. A profile h of a translation activation comes
with its gradient: displacements (..., d) to values (...) and gradients (..., d).
"""

from __future__ import annotations

import math

import numpy as np


def erf(x: np.ndarray) -> np.ndarray:
    """The error function, element by element."""
    return np.vectorize(math.erf, otypes=[float])(x)


def normal_cdf(x: np.ndarray) -> np.ndarray:
    """P(N(0, 1) <= x), also right relative to itself where it is tiny."""
    return 0.5 * np.vectorize(math.erfc, otypes=[float])(-x / math.sqrt(2))


def normal_density(x: np.ndarray) -> np.ndarray:
    """The density of N(0, 1)."""
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), which overflows for no x."""
    return np.exp(np.minimum(x, 0.0)) / (1 + np.exp(-np.abs(x)))


def hermite_sum(coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """sum_n coefficients_n he_n(x), he_n the Hermite polynomials orthonormal under N(0, 1)."""
    before, now, total = np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
    for n, coefficient in enumerate(coefficients):
        total = total + coefficient * now
        before, now = now, (x * now - math.sqrt(n) * before) / math.sqrt(n + 1)
    return total


def log_k0(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log K_0(z) and K_1(z) / K_0(z), modified Bessel functions, z >= 0; both infinite at 0.

    For z <= 1 by the power series, I_0 K_1 + I_1 K_0 = 1/z; above by the trapezoid rule for
    exp(z) K_n(z) = sqrt(2/z) integral_0^inf exp(-t^2) (1 + t^2/z)^n / sqrt(1 + t^2/(2z)) dt.
    """
    small, large = np.clip(z, 1e-300, 1.0), np.maximum(z, 1.0)
    i0, i1, rest = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
    for k in reversed(range(10)):
        term = 1 / math.factorial(k) ** 2
        i0 = i0 * small**2 / 4 + term
        i1 = i1 * small**2 / 4 + term / (k + 1)
        rest = rest * small**2 / 4 + term * sum(1 / j for j in range(1, k + 1))
    k0 = rest - (np.log(small / 2) + 0.5772156649015329) * i0
    k1 = (1 / small - small / 2 * i1 * k0) / i0

    sum0, sum1 = np.zeros_like(z), np.zeros_like(z)
    for j in range(28):
        square = (0.23 * j) ** 2
        term = (0.23 if j else 0.115) * math.exp(-square) / np.sqrt(1 + square / (2 * large))
        sum0 = sum0 + term
        sum1 = sum1 + term * (1 + square / large)

    logarithm = np.where(z <= 1, np.log(k0), np.log(np.sqrt(2 / large) * sum0) - large)
    ratio = np.where(z <= 1, k1 / k0, sum1 / sum0)
    return np.where(z == 0, np.inf, logarithm), np.where(z == 0, np.inf, ratio)


def log_spline(table: dict, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h(r) = r^(-exponent) exp(-decay r) S(log r) and its slope, for r >= 0.

    S is a cubic spline on equidistant knots, given by its B-spline coefficients; at `breaks` a new
    spline begins. Below the first knot S is linear in log r, beyond the last one h is 0.
    """
    spline, breaks, step = table["spline"], table["breaks"], table["step"]
    intervals = len(spline) - 3 * (len(breaks) + 1)
    positive = r > 0
    r = np.where(positive, r, 1.0)
    place = (np.log(r) - table["start"]) / step
    interval = np.clip(np.floor(place), 0, intervals - 1).astype(int)
    first = interval + 3 * np.searchsorted(breaks, interval, side="right")
    a, b, c, d = (spline[first + j] for j in range(4))
    x = np.clip(place - interval, 0.0, 1.0)
    s = ((1 - x) ** 3 * a + (4 - 6 * x**2 + 3 * x**3) * b) / 6
    s = s + ((1 + 3 * x + 3 * x**2 - 3 * x**3) * c + x**3 * d) / 6
    s_slope = ((1 - x) ** 2 * (b - a) + (1 + 2 * x - 2 * x**2) * (c - b) + x**2 * (d - c)) / 2

    below, beyond = np.minimum(place, 0.0), place > intervals
    s = s + table["slope_below"] * step * below
    s_slope = np.where(below < 0, table["slope_below"], s_slope / step)
    scale = r ** -table["exponent"] * np.exp(-table["decay"] * r)
    slope = (s_slope - (table["exponent"] + table["decay"] * r) * s) * scale / r
    value = np.where(positive, np.where(beyond, 0.0, s * scale), table["at_zero"])
    return value, np.where(positive & ~beyond, slope, 0.0)


def amplitude(x: np.ndarray, width: float) -> np.ndarray:
    """1 / sqrt(p(x)), p the density of N(0, width^2 I), for x of shape (..., d)."""
    log_density = -np.sum((x / width) ** 2, axis=-1) / 2
    log_density = log_density - x.shape[-1] * math.log(math.sqrt(2 * math.pi) * width)
    return np.exp(-log_density / 2)


def gaussian_profile(gap: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """h = (2 rate/pi)^(d/4) exp(-rate |gap|^2), and its gradient."""
    value = (2 * rate / math.pi) ** (gap.shape[-1] / 4) * np.exp(-rate * np.sum(gap**2, axis=-1))
    return value, -2 * rate * gap * value[..., None]


def bessel_profile(gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h = prod_i (sqrt(2)/pi) K_0(|gap_i|), and its gradient."""
    logarithm, ratio = log_k0(np.abs(gap))
    factor = (math.sqrt(2) / math.pi) ** gap.shape[-1]
    value = factor * np.exp(np.sum(logarithm, axis=-1))
    return value, np.where(gap < 0, ratio, -ratio) * value[..., None]


def radial_profile(gap: np.ndarray, table: dict) -> tuple[np.ndarray, np.ndarray]:
    """h(|gap|) from a table, and its gradient, which is 0 at gap = 0."""
    r = np.sqrt(np.sum(gap * gap, axis=-1))
    value, slope = log_spline(table, r)
    return value, gap * (slope / np.where(r > 0, r, 1.0))[..., None]


def product_profile(gap: np.ndarray, tables: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """h = prod_i h_i(|gap_i|) from a table for each coordinate, and its gradient."""
    factors = [log_spline(table, np.abs(gap[..., i])) for i, table in enumerate(tables)]
    values, slopes = (np.stack(part, axis=-1) for part in zip(*factors, strict=True))
    rest = [np.prod(np.delete(values, i, axis=-1), axis=-1) for i in range(len(tables))]
    others = np.where(slopes == 0, 1.0, np.stack(rest, axis=-1))  # which may be infinite
    return np.prod(values, axis=-1), np.where(gap < 0, -slopes, slopes) * others
