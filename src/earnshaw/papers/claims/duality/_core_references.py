"""The almost lambda-harmonic potential twice more, without the library's formulas.

- `PaperCore` (odd d) follows Full, Lemma B.9 to the letter, in exact fractions and 60 digits:
  Phi = p(r) exp(-s r) r^(2-d) with p's recurrence, Phi^(k) = (-1)^k q_k(r) exp(-s r) r^(2-d-k) with
  q_(k+1) = (d - 2 + k + s r) q_k - r q_k', and inside the core Taylor's polynomial at eps whose
  (d-1)-th derivative is Phi^(d-1)(eps) r/eps.
- `BallCore` (any d) is the positive mixture of overlaps of balls of diameter x >= eps,

      -Phi'(r) = integral_(x > max(r, eps)) W(x) (x^2 - r^2)^m dx,    m = ceil((d - 1)/2),
      W(x) = (2x/m!) (-d/du)^(m+1) g at u = x^2,    g(u) = -Phi'(sqrt u) = s z k_(nu+1)(z),

  where k_mu(z) = z^(-mu) K_mu(z) has -dk_mu/d(z^2) = k_(mu+1)/2, and z = s sqrt(u).

Neither is normalised: both are lambda-harmonic outside, and `origin` is the value at r = 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from scipy import special

from earnshaw.papers.claims.duality._expectations import panels

DIGITS = 60
Polynomial = list[Fraction]


def derivative_polynomials(dim: int, s: float, count: int) -> list[Polynomial]:
    """q_0 = p, q_1, ..., q_(count-1) of Full, Lemma B.9, exactly; odd `dim`."""
    rate, last = Fraction(s), (dim - 3) // 2
    p = [Fraction(1)]
    for i in range(last):
        step = Fraction(2 * i - (dim - 3), (i + 1) * (i - (dim - 3)))
        p.append(p[-1] * rate * step)
    found = [p]
    for k in range(count - 1):
        q = found[-1]
        power = dim - 2 + k
        raised = [(power - i) * c for i, c in enumerate(q)] + [Fraction(0)]
        found.append([c + (rate * q[i - 1] if i else 0) for i, c in enumerate(raised)])
    return found


def _at(polynomial: Polynomial, r: Any) -> Any:
    coefficients = (mpmath.mpf(c.numerator) / c.denominator for c in polynomial)
    return mpmath.fsum(c * r**i for i, c in enumerate(coefficients))


class PaperCore:
    """Phi_eps of Full, Lemma B.9, and all its derivatives up to the (d-1)-th."""

    def __init__(self, dim: int, radius: float, rate: float) -> None:
        """`rate` is s = sqrt(lambda)."""
        self.dim, self.radius, self.rate = dim, radius, rate
        self.polynomials = derivative_polynomials(dim, rate, dim + 1)
        self.edge = [self.outside(k, radius) for k in range(dim)]
        self.origin = self.derivative(0, 0.0)

    def outside(self, k: int, r: float) -> Any:
        """Phi^(k)(r) for r >= eps."""
        with mpmath.workdps(DIGITS):
            x = mpmath.mpf(r)
            size = mpmath.exp(-mpmath.mpf(self.rate) * x) * x ** (2 - self.dim - k)
            return (-1) ** k * _at(self.polynomials[k], x) * size

    def derivative(self, k: int, r: float) -> Any:
        """Phi_eps^(k)(r), k < d, r >= 0."""
        if r >= self.radius:
            return self.outside(k, r)
        with mpmath.workdps(DIGITS):
            return inside(self.edge, self.radius, k, r)


def inside(edge: list[Any], radius: float, k: int, r: Any) -> Any:
    """The k-th derivative at r < eps of the continuation of Full, Lemma B.8; `edge`: at eps."""
    eps, dim = mpmath.mpf(radius), len(edge)
    step = mpmath.mpf(r) - eps
    last = edge[-1] * step ** (dim - k) / (mpmath.factorial(dim - k) * eps)
    terms = (edge[n] * step ** (n - k) / mpmath.factorial(n - k) for n in range(k, dim))
    return mpmath.fsum(terms) + last


class BallCore:
    """Phi_eps with the ball core, its first two derivatives, and the weights of the mixture."""

    def __init__(self, dim: int, radius: float, rate: float) -> None:
        """`rate` is s = sqrt(lambda)."""
        self.dim, self.radius, self.rate = dim, radius, rate
        self.order = dim // 2

    @cached_property
    def origin(self) -> float:
        """Phi_eps(0), by which the potential is normalised."""
        return self.jet(0.0)[0]

    def weight(self, x: np.ndarray) -> np.ndarray:
        """W(x) >= 0 at diameters x (n,): the density of balls in the mixture; shape (n,)."""
        n, nu = self.order + 1, self.dim / 2 - 1
        y = (self.rate * x) ** 2  # z^2
        total = np.zeros_like(x)
        for j in range(n + 1):
            # (-d/dy)^j sqrt(y), times (-d/dy)^(n-j) k_(nu+1)
            root = (-1) ** j * float(mpmath.ff(0.5, j)) * y ** (0.5 - j)
            mu = nu + 1 + n - j
            reduced = y ** (-mu / 2) * special.kv(mu, np.sqrt(y)) / 2 ** (n - j)
            total += math.comb(n, j) * root * reduced
        return 2 * x / math.factorial(self.order) * self.rate ** (2 * n + 1) * total

    def jet(self, r: float) -> tuple[float, float, float]:
        """Phi, Phi' and Phi'' at r >= 0."""
        low, m = max(r, self.radius), self.order
        edges = low + np.append(0.0, low * 2.0 ** np.arange(-3, 30))
        x, weights = panels(edges[edges < low + 80 / self.rate], 24)
        mixed = weights * self.weight(x)
        t, dt = panels([0.0, 1.0], m + 1)
        y = r + (x - r)[:, None] * t
        volume = (x - r) * ((x[:, None] ** 2 - y**2) ** m @ dt)
        slope = (x * x - r * r) ** m
        if m == 0:  # d = 1: overlaps of intervals are linear
            bend = float(self.weight(np.array([r]))[0]) if r >= self.radius else 0.0
        else:
            bend = float(mixed @ (2 * r * m * (x * x - r * r) ** (m - 1)))
        return float(mixed @ volume), -float(mixed @ slope), bend
