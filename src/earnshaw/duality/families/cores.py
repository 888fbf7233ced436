"""The inside of an almost lambda-harmonic potential: two polynomials that bound it.

Outside a ball of radius eps the potential is Phi(r) = k_nu(s r), nu = d/2 - 1, s = sqrt(lambda),
with k_nu the reduced Bessel function of `numerics.bessel`; it is infinite at 0 for d >= 2. Inside,
it is replaced by a polynomial in x = r/eps that meets it smoothly at x = 1:

- **paper** (odd d >= 3; Full, Lemma B.9): Phi^(d-1) is continued linearly to 0 and integrated back.
  In powers of y = 1 - x, with P_k = (-1)^k Phi^(k)(eps) eps^k / k! > 0,

      Phi = sum_(k <= d-2) P_k y^k + P_(d-1) y^(d-1) (1 - y/d).

- **ball** (any d): g = -Phi', as a function of u = r^2, is replaced by its Taylor polynomial at
  u = eps^2 of order m = ceil((d-1)/2) and integrated back. In powers of w = 1 - x^2, with
  G_j = (-1)^j g^(j)(eps^2) eps^(2j) / j! > 0,

      -Phi' = sum_(j <= m) G_j w^j.

  It is realizable for every d: g is completely monotone in u, so the polynomial is what remains of
  a positive mixture of overlaps of balls when those of diameter below eps are left out.

For d = 3 they are the same. Both have positive coefficients in the Bernstein basis x^l (1-x)^(n-l),
and so have -Phi' and Phi''. The coefficients are prepared here once, in high precision; floating
point only ever adds positive numbers (`numerics.bernstein`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import flint
import mpmath
import numpy as np

Terms = list[Any]  # of mpmath numbers t_l: the polynomial sum_l t_l x^l y^(n-l), y = 1 - x


class Core(NamedTuple):
    """Bernstein terms in x = r/eps on [0, 1], for the potential divided by its value at 0."""

    log_origin: float  # log of the value at 0 before that division
    value: np.ndarray  # Phi
    drop: np.ndarray  # 1 - Phi
    slope: np.ndarray  # -Phi'
    curvature: np.ndarray  # Phi''
    charge: np.ndarray  # r (lambda Phi - Laplacian Phi)


@lru_cache(maxsize=256)
def build_core(dim: int, radius: float, lam: float, kind: str) -> Core:
    """The core of the given kind, "ball" or "paper", for the lambda-harmonic potential of R^dim."""
    with mpmath.workdps(60 + dim):
        log_origin, *polynomials = exact_core(dim, radius, lam, kind)
        return Core(float(log_origin), *(np.array([float(t) for t in p]) for p in polynomials))


def exact_core(dim: int, radius: float, lam: float, kind: str) -> tuple[Any, ...]:
    """The fields of `Core` as mpmath numbers, at the precision in force.

    Transforms need more of it than float64 has: they fall as k^(1-d) because of cancellations that
    rounded coefficients do not keep.
    """
    eps, eigenvalue = mpmath.mpf(radius), mpmath.mpf(lam)
    contact = contact_order(dim, kind)
    value, slope, curvature = (_paper if kind == "paper" else _ball)(dim, eps, eigenvalue)
    terms = zip(
        *(_raised(p, len(value)) for p in (_by_x(value), slope, _by_x(curvature))), strict=True
    )
    charge = [eigenvalue * eps * a + (dim - 1) * b - eps * c for a, b, c in terms]
    # Zeros at the edge instead of 1e-60 keep the relative accuracy of the charge.
    charge[len(charge) - contact :] = [mpmath.mpf(0)] * contact
    origin = value[0]
    drop = [origin * math.comb(len(value) - 1, i) - term for i, term in enumerate(value)]
    return (
        mpmath.log(origin),
        *([term / origin for term in p] for p in (value, drop, slope, curvature, charge)),
    )


def contact_order(dim: int, kind: str) -> int:
    """The two pieces meet so smoothly that the charge vanishes as (1-x)^contact at the edge."""
    return dim - 2 if kind == "paper" else dim // 2


def _ball(dim: int, eps: Any, lam: Any) -> tuple[Terms, Terms, Terms]:
    """Phi, -Phi' and Phi'' of the ball core, of degrees 2m+1, 2m and 2m-1."""
    order = dim // 2
    z = mpmath.sqrt(lam) * eps
    nu = mpmath.mpf(dim) / 2 - 1
    reduced = [z**-mu * _bessel_k(mu, z) for mu in (nu, nu + 1)]
    for j in range(1, order + 1):
        reduced.append((2 * (nu + j) * reduced[j] + reduced[j - 1]) / z**2)
    # g = s z k_(nu+1)(z). At z^2 (1 - w) the factor z is a binomial series in w, and k_(nu+1) one
    # whose terms are known, since the derivative of k_mu by z^2 is -k_(mu+1)/2.
    roots = [(-1) ** i * mpmath.binomial(0.5, i) for i in range(order + 1)]
    series = [(z**2 / 2) ** j / mpmath.factorial(j) * reduced[1 + j] for j in range(order + 1)]
    taylor = [lam * eps * mpmath.fdot(roots[: j + 1], series[j::-1]) for j in range(order + 1)]

    slope = _from_powers_of_w(taylor)
    steeper = [2 * j / eps * taylor[j] for j in range(1, order + 1)]
    curvature = _by_x(_from_powers_of_w(steeper)) if order else [mpmath.mpf(0)]
    # Integrated from x to 1, the l-th basis polynomial of degree n is the mean over those of
    # degree n+1 up to the l-th: the coefficients of Phi are sums over the tail of those of g.
    degree = 2 * order
    coefficient = reduced[0]
    coefficients = [coefficient]
    for i in reversed(range(degree + 1)):
        coefficient += eps / (degree + 1) * slope[i] / math.comb(degree, i)
        coefficients.append(coefficient)
    value = [math.comb(degree + 1, i) * c for i, c in enumerate(reversed(coefficients))]
    return value, slope, curvature


def _paper(dim: int, eps: Any, lam: Any) -> tuple[Terms, Terms, Terms]:
    """Phi, -Phi' and Phi'' of the paper core, of degrees d, d-1 and d-2."""
    z = mpmath.sqrt(lam) * eps
    nu = mpmath.mpf(dim) / 2 - 1
    # (-eps d/dr)^k Phi at eps, from the equation eps^2 Phi'' + (d-1) eps Phi' = z^2 Phi and its
    # derivatives.
    signed = [z**-nu * _bessel_k(nu, z), z ** (1 - nu) * _bessel_k(nu + 1, z)]
    for k in range(dim - 2):
        signed.append(
            z**2 * (signed[k] - (k * signed[k - 1] if k else 0)) + (k + dim - 1) * signed[k + 1]
        )
    return tuple(  # type: ignore[return-value]
        _from_powers_of_y([signed[k] / mpmath.factorial(k - i) for k in range(i, dim)], eps**-i)
        for i in range(3)
    )


def _bessel_k(order: Any, z: Any) -> Any:
    """K at mpmath's precision, from Arb: mpmath takes seconds for integer orders."""
    bits = extra = mpmath.mp.prec
    while True:
        with flint.ctx.workprec(bits + extra):
            ball = flint.arb(z).bessel_k(flint.arb(order))
            if ball.rel_accuracy_bits() >= bits:
                return mpmath.mpf(ball.mid())
        extra *= 2


def _from_powers_of_w(coefficients: Terms) -> Terms:
    """sum_j c_j (1 - x^2)^j, where 1 - x^2 = y (y + 2x)."""
    total, power = coefficients[:1], [mpmath.mpf(1)]
    for coefficient in coefficients[1:]:
        power = _by(power, 1, 2)
        total = _raised(total, len(total) + 1)
        power_term = power + [mpmath.mpf(0)] * (len(total) - len(power))
        total = [a + coefficient * b for a, b in zip(total, power_term, strict=True)]
    return total


def _from_powers_of_y(coefficients: Terms, factor: Any) -> Terms:
    """`factor` (sum_(k < n) c_k y^k + c_n y^n (1 - y/(n+1))), of degree n + 1."""
    *lower, last = coefficients
    degree = len(coefficients)
    # y^n (1 - y/(n+1)) = y^n x + y^(n+1) n/(n+1), since 1 = x + y.
    total = [last * (degree - 1) / degree, last] + [mpmath.mpf(0)] * (degree - 1)
    for k, coefficient in enumerate(lower):
        for i in range(degree - k + 1):
            total[i] += coefficient * math.comb(degree - k, i)
    return [factor * term for term in total]


def _by(terms: Terms, a: int, b: int) -> Terms:
    """The product with a y + b x."""
    zero = [mpmath.mpf(0)]
    return [a * s + b * t for s, t in zip(terms + zero, zero + terms, strict=True)]


def _by_x(terms: Terms) -> Terms:
    """The product with x."""
    return _by(terms, 0, 1)


def _raised(terms: Terms, degree: int) -> Terms:
    """The same polynomial as terms of a higher degree: times (y + x) as often as needed."""
    while len(terms) <= degree:
        terms = _by(terms, 1, 1)
    return terms
