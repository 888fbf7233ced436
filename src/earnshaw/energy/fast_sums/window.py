"""The Kaiser-Bessel window: what a singular potential is smeared with to make its far part.

With rho the radius of its support, alpha its shape and m its order, the radial function

    chi(r) = (1 - (r/rho)^2)^(m/2) I_m(alpha sqrt(1 - (r/rho)^2)),    0 for r > rho,

has in R^d, up to a factor, the transform

    chi^(k) = S(k^2 rho^2 - alpha^2),    S(z^2) = z^(-n) J_n(z),    n = d/2 + m,

(Lewitt, Multidimensional digital image representations using generalized Kaiser-Bessel window
functions, 1990). For z^2 < 0 it is w^(-n) I_n(w), w = sqrt(-z^2): the transform is large up to
k = alpha/rho, and beyond it about exp(-alpha) of that. A Gaussian with as small a tail needs about
twice as many wave numbers in each dimension (Shamshirgar et al. and Liang et al. say the same of
windows in Ewald sums).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

ORDER = 2  # m: the tail of the transform is summable with its gradient in d <= 3
BEYOND = 2.0  # the spectrum ends at k rho = alpha + 2, where the first lobe of its tail is over
TAIL, POINTS = 10.0, 4001  # how many of these the sum of the tail goes on for, and its points
LARGEST_SHAPE = 44.0


def log_transform(square: np.ndarray, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """The sign and the logarithm of |S| at z^2 = `square`, which may be negative."""
    order = dim / 2 + ORDER
    square = np.asarray(square, dtype=float)
    size = np.sqrt(np.abs(square))
    small = size < 1e-2
    safe = np.where(small, 1.0, size)
    # The first terms of the series: S(z^2) = 2^-n/n! (1 - z^2/(4 (n+1)) + z^4/(32 (n+1)(n+2))).
    near = 1 - square / (4 * (order + 1)) * (1 - square / (8 * (order + 2)))
    near = near / (2**order * math.gamma(order + 1))
    wave = special.jv(order, safe)
    grown = np.log(special.ive(order, safe)) + safe
    with np.errstate(divide="ignore"):
        logs = np.where(square > 0, np.log(np.abs(wave)), grown) - order * np.log(safe)
    signs = np.where(square > 0, np.sign(wave), 1.0)
    return np.where(small, 1.0, signs), np.where(small, np.log(near), logs)


def smearing(k: np.ndarray, rho: float, alpha: float, lam: float, dim: int) -> np.ndarray:
    """chi^(k)/chi^(i sqrt(lam)): what a lambda-harmonic transform is multiplied with.

    A lambda-harmonic function convolved with a radial one of radius rho is itself again, times a
    factor, wherever the ball of radius rho is free of charges: the mean value property. The
    denominator is this factor.
    """
    sign, logs = log_transform(np.square(k * rho) - alpha * alpha, dim)
    _, own = log_transform(np.asarray(-lam * rho * rho - alpha * alpha), dim)
    return sign * np.exp(logs - own)


@lru_cache(maxsize=256)
def tail(alpha: float, dim: int, power: int) -> float:
    """(2 pi)^(-d) times the integral of |chi^(k)/chi^(0)| |k|^(power - 2) over |k| > alpha + 2.

    For rho = 1. Times rho^(2 - d - power), a bound of what the far part loses at that wave number:
    of the potential for power 0, of its gradient for power 1.
    """
    low = alpha + BEYOND
    k = np.linspace(low, TAIL * low, POINTS)
    size = np.abs(smearing(k, 1.0, alpha, 0.0, dim)) * k ** (power + dim - 3)
    integral = float(np.trapezoid(size, k))
    # Beyond, |J_n(z)| < sqrt(2/(pi z)): the integrand falls as a power of k.
    fall = dim / 2 + ORDER + 0.5 - (power + dim - 3)
    own = float(log_transform(np.asarray(-alpha * alpha), dim)[1])
    last = math.log(k[-1]) * (1 - fall) - own + 0.5 * math.log(2 / math.pi)
    sphere = 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)
    return sphere / (2 * math.pi) ** dim * (integral + math.exp(last) / (fall - 1))


def shape_for(dim: int, value: float, gradient: float) -> float:
    """The least alpha whose tails are at most `value` and `gradient`, in steps of a half."""
    low, high = 8, int(2 * LARGEST_SHAPE)
    while low < high:
        middle = (low + high) // 2
        fits = tail(middle / 2, dim, 0) <= value and tail(middle / 2, dim, 1) <= gradient
        low, high = (low, middle) if fits else (middle + 1, high)
    return low / 2
