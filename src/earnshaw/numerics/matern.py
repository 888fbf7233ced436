"""Matern functions: what is subtracted from a transform with an algebraic tail before inverting it.

On R^d, with mu > 0 and p > 0,

    m(r) = 2^(1-p) / ((2 pi)^(d/2) Gamma(p)) (mu/r)^(d/2-p) K_(d/2-p)(mu r)

has the transform (k^2 + mu^2)^(-p) (`hankel` conventions, no unitary factor). For p < d/2 it is
singular at 0 as r^(2p-d), for p = d/2 logarithmically; above it is bounded there. All of it is
NumPy.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from earnshaw.numerics.hankel import kernel


class Matern(NamedTuple):
    """amplitude * m(r) on R^dim, of exponent p and rate mu."""

    dim: int
    exponent: float
    rate: float
    amplitude: float = 1.0

    def value(self, r: np.ndarray) -> np.ndarray:
        """The function at radii r > 0."""
        r = np.asarray(r, dtype=float)
        order = self.dim / 2 - self.exponent
        factor = 2 ** (1 - self.exponent) / math.gamma(self.exponent)
        # The scaled kve and a logarithm keep every factor finite down to r = 1e-100.
        with np.errstate(divide="ignore"):
            bessel = np.log(special.kve(order, self.rate * r))
        power = order * np.log(self.rate / r) + bessel - self.rate * r
        return self.amplitude * factor / (2 * math.pi) ** (self.dim / 2) * np.exp(power)

    def transform(self, k: np.ndarray) -> np.ndarray:
        """amplitude * (k^2 + mu^2)^(-p)."""
        k = np.asarray(k, dtype=float)
        return self.amplitude * (k * k + self.rate**2) ** -self.exponent


class Shell(NamedTuple):
    """amplitude * the Matern function of exponent 1, averaged over a sphere of radius b.

    Its transform is amplitude * Lambda_d(k b) / (k^2 + mu^2); itself it is the screened potential
    of a charged sphere, with a kink at r = b:

        (2 pi)^(-d/2) (mu/s)^nu K_nu(mu s) Gamma(nu+1) (2/(mu t))^nu I_nu(mu t),    nu = d/2 - 1,

    s = max(r, b), t = min(r, b).
    """

    dim: int
    radius: float
    rate: float
    amplitude: float

    def value(self, r: np.ndarray) -> np.ndarray:
        """The function at radii r > 0."""
        r = np.asarray(r, dtype=float)
        order = self.dim / 2 - 1
        outer = Matern(self.dim, 1.0, self.rate).value(np.maximum(r, self.radius))
        x = self.rate * np.minimum(r, self.radius)
        # Where x is tiny, I_nu(x) (2/x)^nu Gamma(nu+1) is 1 to rounding and its factors overflow.
        safe = np.maximum(x, 1e-8)
        inner = special.iv(order, safe) * (2 / safe) ** order * math.gamma(order + 1)
        return self.amplitude * outer * np.where(x > 1e-8, inner, 1.0)

    def transform(self, k: np.ndarray) -> np.ndarray:
        """amplitude * Lambda_d(k b) / (k^2 + mu^2)."""
        return self.amplitude * kernel(self.dim, k * self.radius) / (k * k + self.rate**2)


def matern_tail(
    dim: int, rate: float, power: float, coefficients: tuple[float, ...]
) -> tuple[Matern, ...]:
    """Matern functions whose transforms add up to k^(-power) (c_0 + c_1/k^2 + c_2/k^4 + ...).

    The sum agrees with that series up to the last coefficient given: the j-th function has the
    exponent p + j, p = power/2, and since

        (k^2 + mu^2)^(-q) = k^(-2q) sum_i binom(-q, i) (mu/k)^(2i),

    its amplitude is what the ones before it leave of c_j.
    """
    amplitudes: list[float] = []
    for j, coefficient in enumerate(coefficients):
        taken = sum(
            amplitude * _binomial(-(power / 2 + i), j - i) * rate ** (2 * (j - i))
            for i, amplitude in enumerate(amplitudes)
        )
        amplitudes.append(coefficient - taken)
    return tuple(
        Matern(dim, power / 2 + j, rate, amplitude) for j, amplitude in enumerate(amplitudes)
    )


def _binomial(top: float, count: int) -> float:
    """binom(top, count) for any real top; SciPy's is not defined at negative integers."""
    return math.prod((top - i) / (i + 1) for i in range(count))
