"""E[s(u) s(v)] for u, v of variances q1, q2 and covariance c, to 60 digits at any norms.

Nothing here uses earnshaw. Three ways:

- closed forms in ball arithmetic, written otherwise than the library's (arc sines, powers), with as
  many bits as it takes; `test_bounds.py` compares each with the plane integral of its definition;
- hard-tanh: E[s(u) E[s(v) | u]], whose inner mean is closed, on panels graded towards its corners;
- functions without a closed form: the plane in polar coordinates, on panels graded towards the
  edges of each sector and towards 0. That is 10^5 numbers a point, so it is done with 64-bit
  mantissas: right to 1e-17 of the largest sector, where the smallest bound is 1e-14. It is
  compared with 50 digits, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

BITS = 500
Real = Any  # arb, or an array of long doubles or of arbs
LONG = np.longdouble


def _arcs(q1: arb, q2: arb, c: arb) -> tuple[arb, arb, arb]:
    """P = q1 q2, the area and the angle of the two vectors."""
    product = q1 * q2
    if not product > 0:
        return product, arb(0), arb.pi() / 2
    wedge = _root(product - c * c)
    return product, wedge, arb.atan2(wedge, c)


def _root(x: arb) -> arb:
    return (
        x.sqrt() if x.lower() >= 0 else arb(0).union(x.upper().sqrt()) if x.upper() > 0 else arb(0)
    )


def _rectified(n: int, q1: arb, q2: arb, c: arb) -> arb:
    """E[u_+^n v_+^n] (Cho and Saul 2009, with their angle t)."""
    product, wedge, t = _arcs(q1, q2, c)
    open_, size = arb.pi() - t, product.sqrt()
    cos, sin = (c / size, wedge / size) if size > 0 else (arb(0), arb(1))
    shapes = [
        open_,
        sin + open_ * cos,
        3 * sin * cos + open_ * (1 + 2 * cos**2),
        4 * sin + 11 * sin * cos**2 + open_ * (9 * cos + 6 * cos**3),
    ]
    return size**n * shapes[n] / (2 * arb.pi())


def sign(q1: arb, q2: arb, c: arb) -> arb:
    return 1 - 2 * _arcs(q1, q2, c)[2] / arb.pi()


def leaky_relu(q1: arb, q2: arb, c: arb, negative_slope: float, positive_slope: float) -> arb:
    """Both signs, one, the other: E[u_+ v_+] and E[u_+ v_-] = E[u_+ v_+ at -c]."""
    a, b = arb(negative_slope), arb(positive_slope)
    return (a * a + b * b) * _rectified(1, q1, q2, c) - 2 * a * b * _rectified(1, q1, q2, -c)


def _arcsine(square: arb, c: arb) -> arb:
    return arb.atan2(c, (square - c * c).sqrt())


def erf(q1: arb, q2: arb, c: arb) -> arb:
    return 2 / arb.pi() * _arcsine((1 + 2 * q1) * (1 + 2 * q2), 2 * c)


def normal_cdf(q1: arb, q2: arb, c: arb) -> arb:
    return arb(1) / 4 + _arcsine((1 + q1) * (1 + q2), c) / (2 * arb.pi())


def gelu(q1: arb, q2: arb, c: arb) -> arb:
    """u v E[Phi(u) Phi(v)] by two integrations by parts."""
    e = (1 + q1) * (1 + q2) - c * c
    first = c * normal_cdf(q1, q2, c)
    rest = q1 * q2 * e + c * c
    return first + rest / ((1 + q1) * (1 + q2) * e.sqrt()) / (2 * arb.pi())


def sin(q1: arb, q2: arb, c: arb) -> arb:
    return (-(q1 + q2) / 2).exp() * c.sinh()


def cos(q1: arb, q2: arb, c: arb) -> arb:
    return (-(q1 + q2) / 2).exp() * c.cosh()


def rbf(q1: arb, q2: arb, c: arb, gamma: float) -> arb:
    return (-arb(gamma) * (q1 + q2 - 2 * c)).exp()


def exponential(q1: arb, q2: arb, c: arb, rate: float, shift: float) -> arb:
    return (2 * arb(shift) + arb(rate) ** 2 * (q1 + q2 + 2 * c) / 2).exp()


def gaussian_bump(q1: arb, q2: arb, c: arb, curvature: float) -> arb:
    b = 2 * arb(curvature)
    return ((1 - b * q1) * (1 - b * q2) - (b * c) ** 2).rsqrt()


def polynomial(q1: arb, q2: arb, c: arb, coefficients: list) -> arb:
    """Isserlis: pair l of the u's with l of the v's, the rest among themselves."""
    powers = [arb(x) for x in coefficients]
    total = arb(0)
    for low in range(len(powers)):
        sides = []
        for q in (q1, q2):
            sides.append(
                sum(
                    (
                        powers[m] * _pairings(m, low) * q ** ((m - low) // 2)
                        for m in range(low, len(powers), 2)
                    ),
                    arb(0),
                )
            )
        total += sides[0] * sides[1] * c**low / math.factorial(low)
    return total


@lru_cache(maxsize=100_000)
def _pairings(m: int, low: int) -> int:
    half = (m - low) // 2
    return math.factorial(m) // (2**half * math.factorial(half))


def hermite_powers(coefficients: list[arb]) -> list[arb]:
    """The powers of sum_n a_n he_n(x), he_n orthonormal."""
    powers = [arb(0)] * len(coefficients)
    for n, a in enumerate(coefficients):
        scaled = a / arb(math.factorial(n)).sqrt()
        for m in range(n // 2 + 1):
            count = math.factorial(n) // (math.factorial(m) * math.factorial(n - 2 * m) * 2**m)
            powers[n - 2 * m] += (-1) ** m * count * scaled
    return powers


def hermite(q1: arb, q2: arb, c: arb, degree: int) -> arb:
    """he_n(x) = E[(x + i Z)^n]/sqrt(n!): pairs among u's weigh q1 - 1, among v's q2 - 1."""
    off = (q1 - 1) * (q2 - 1)
    terms = (
        c ** (degree - 2 * k)
        * off**k
        * arb(math.factorial(degree))
        / math.factorial(degree - 2 * k)
        / (2**k * math.factorial(k)) ** 2
        for k in range(degree // 2 + 1)
    )
    return sum(terms, arb(0))


# -- hard-tanh ------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def legendre(order: int) -> list[tuple[arb, arb]]:
    """Nodes and weights on [-1, 1]."""
    return [arb.legendre_p_root(order, i, weight=True) for i in range(order)]


def hard_tanh(q1: arb, q2: arb, c: arb) -> arb:
    """2 E[s(u) E[s(v) | u]; u > 0], the inner mean a difference of E[max(0, v - place)]."""
    s1, s2 = q1.sqrt(), q2.sqrt()
    rho, wedge = c / (s1 * s2), _arcs(q1, q2, c)[1] / (s1 * s2)
    spread = (s2 * wedge).mid()

    def ramp(z: arb) -> arb:
        if not spread > arb("1e-60") * s2:
            return z if z > 0 else arb(0)
        x = z / spread
        return (
            z * (-x / arb(2).sqrt()).erfc() / 2
            + spread * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
        )

    def product(x: arb) -> arb:
        u, mean = s1 * x, s2 * rho * x
        return (u if u < 1 else arb(1)) * (ramp(mean + 1) - ramp(mean - 1) - 1) * (-x * x / 2).exp()

    kinks, reach = [float(1 / s1)], 18.0
    if abs(float(rho)) > 1e-12:
        kinks.append(abs(float(1 / (s2 * rho))))
    width = max(float(wedge) / max(abs(float(rho)), 1e-300), 1e-24)
    edges = {0.0, reach, *(k for k in kinks if k < reach)}
    for kink in (0.0, *kinks):
        for step in np.geomspace(
            min(width, 0.1), reach, 3 + int(2 * math.log10(reach / min(width, 0.1)))
        ):
            edges |= {x for x in (kink - step, kink + step) if 0 < x < reach}
    cuts = sorted(edges)
    total = arb(0)
    for low, high in pairwise(cuts):
        middle, half = (arb(low) + arb(high)) / 2, (arb(high) - arb(low)) / 2
        for x, w in legendre(30):
            total += half * w * product((middle + half * x).mid()).mid()
    return (2 * total / (2 * arb.pi()).sqrt()).mid()


# -- no closed form -------------------------------------------------------------------------------


def _elu(x: Real, alpha: float = 1.0) -> Real:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _softplus(x: Real) -> Real:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


FUNCTIONS: dict[str, Callable[..., Real]] = {
    "laplace": lambda x: np.exp(-np.abs(x)),
    "elu": _elu,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
    "logistic": lambda x: np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x))),
    "softplus": _softplus,
    "silu": lambda x: x * np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x))),
    "mish": lambda x: x * np.tanh(_softplus(x)),
}


def _graded(low: float, high: float, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Long-double Gauss nodes and weights on [0, high], on panels that shrink towards 0."""
    x, w = _long_legendre(order)
    count = max(1, math.ceil(math.log(high / low) / math.log(3.0)))
    edges = np.concatenate([[LONG(0)], LONG(high) / LONG(3) ** np.arange(count, -1, -1)])
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


@lru_cache(maxsize=4)
def _long_legendre(order: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = [[to_long(value) for value in pair] for pair in legendre(order)]
    nodes, weights = (np.array(part, dtype=LONG) for part in zip(*pairs, strict=True))
    return nodes, weights


def to_long(x: arb) -> Any:
    """The long double next to a ball."""
    high = float(x.mid())
    return LONG(high) + LONG(float((x - arb(high)).mid())) if math.isfinite(high) else LONG(high)


def plane(name: str, q1: arb, q2: arb, c: arb, **parameters: float) -> Any:
    """E[s(u) s(v)] over the four sectors where u and v keep their signs; a long double."""
    function = FUNCTIONS[name]
    s1, s2 = to_long(q1.sqrt()), to_long(q2.sqrt())
    t = _arcs(q1, q2, c)[2]
    largest = float(max(s1, s2, LONG(1)))
    r, r_weights = _graded(0.1 / largest, 20.0, 20)
    r_weights = r_weights * r * np.exp(-r * r / 2)
    half, half_weights = _graded(0.1 / largest / 10, 0.5, 20)
    part = np.concatenate([half, (1 - half)[::-1]])
    rest = np.concatenate([1 - half, half[::-1]])
    weights = np.concatenate([half_weights, half_weights[::-1]])
    total = LONG(0)
    for side in (1, -1):
        for other, opening in ((side, to_long(arb.pi() - t)), (-side, to_long(t))):
            if opening == 0:
                continue
            left, right = s1 * np.sin(opening * part), s2 * np.sin(opening * rest)
            rows = function(side * left[:, None] * r, **parameters)
            rows = rows * function(other * right[:, None] * r, **parameters)
            total += opening * (weights @ (rows @ r_weights))
    return total / (2 * to_long(arb.pi()))
