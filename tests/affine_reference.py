"""E[s(u) s'(v)] for two units with biases, in 60-digit arithmetic. Nothing here uses earnshaw.

The integral over u is by Gauss-Legendre panels, split at the kinks of s and refined around those of
s'. The mean of s'(v) given u is a textbook formula, whose cancellations 60 digits do not feel, or,
for functions that have none (tanh, ...), an integral of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from flint import arb, ctx

from reference import ACTIVATIONS, legendre

DIGITS = 60
REACH = 39.0  # exp(-39^2/2) is no number of float64
OFFSETS = (0.5, 1, 2, 3, 4.5, 6, 8, 11, 15, 20, 30, 50)
KINKED = ("sign", "step", "relu", "leaky-relu", "relu2", "relu3", "laplace", "elu", "softsign")
NO_FORMULA = ("tanh", "logistic", "softplus", "silu", "mish", "softsign")
CLOSED = tuple(name for name in ACTIVATIONS if name not in NO_FORMULA)


def kinks(name: str) -> list[float]:
    return [-1.0, 1.0] if name == "hard-tanh" else [0.0] if name in KINKED else []


def _cdf(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _half_line(n: int, m: arb, v: arb) -> arb:
    """E[X^n; X > 0] for X ~ N(m, v)."""
    s = v.sqrt()
    found = [_cdf(m / s), m * _cdf(m / s) + s * _density(m / s)]
    for k in range(2, n + 1):
        found.append(m * found[-1] + (k - 1) * v * found[-2])
    return found[n]


def _power(n: int, m: arb, v: arb) -> arb:
    found = [arb(1), m]
    for k in range(2, n + 1):
        found.append(m * found[-1] + (k - 1) * v * found[-2])
    return found[n]


def _falling(m: arb, v: arb) -> arb:
    """E[exp(X); X < 0]."""
    return (m + v / 2).exp() * _cdf(-(m + v) / v.sqrt())


def _hermite_8(m: arb, v: arb) -> arb:
    terms = ((8, 1), (6, -28), (4, 210), (2, -420), (0, 105))
    return sum((c * _power(n, m, v) for n, c in terms), start=arb(0)) / arb(40320).sqrt()


def _rbf(m: arb, v: arb) -> arb:
    return arb(2).sqrt() * (arb(2).sqrt() * m + arb.pi() / 4).sin() * (-v).exp()


def _gelu(m: arb, v: arb) -> arb:
    r = (1 + v).sqrt()
    return m * _cdf(m / r) + v / r * _density(m / r)


MEANS: dict[str, Callable[[arb, arb], arb]] = {  # E[s(X)] for X ~ N(m, v), v > 0
    "sign": lambda m, v: 2 * _cdf(m / v.sqrt()) - 1,
    "step": lambda m, v: _cdf(m / v.sqrt()),
    "relu": lambda m, v: _half_line(1, m, v),
    "leaky-relu": lambda m, v: arb("0.01") * m + arb("0.99") * _half_line(1, m, v),
    "relu2": lambda m, v: _half_line(2, m, v),
    "relu3": lambda m, v: _half_line(3, m, v),
    "erf": lambda m, v: (m / (1 + 2 * v).sqrt()).erf(),
    "normal-cdf": lambda m, v: _cdf(m / (1 + v).sqrt()),
    "sin": lambda m, v: m.sin() * (-v / 2).exp(),
    "cos": lambda m, v: m.cos() * (-v / 2).exp(),
    "rbf": _rbf,
    "exponential": lambda m, v: (m + v / 2).exp(),
    "gaussian-bump": lambda m, v: (-m * m / (2 * (1 + v))).exp() / (1 + v).sqrt(),
    "gelu": _gelu,
    "hermite-3": lambda m, v: (_power(3, m, v) - 3 * m) / arb(6).sqrt(),
    "hermite-8": _hermite_8,
    "laplace": lambda m, v: _falling(m, v) + _falling(-m, v),
    "elu": lambda m, v: _half_line(1, m, v) + _falling(m, v) - _cdf(-m / v.sqrt()),
    "hard-tanh": lambda m, v: ACTIVATIONS["hard-tanh"].mean(m, v.sqrt()),  # type: ignore[attr-defined]
}


def _nodes(places: list[tuple[arb, arb]], step: float, order: int, reach: float) -> list:
    count = math.ceil(2 * reach / step)
    edges = [arb(-reach) + arb(2 * reach) * i / count for i in range(count + 1)]
    for centre, width in places:
        for offset in (0, *OFFSETS):
            edges += [(centre + side * offset * width).mid() for side in (-1, 1)]
    inside = sorted((e for e in edges if abs(float(e)) <= reach), key=float)
    found = []
    for low, high in pairwise(inside):
        if high - low > arb("1e-40"):
            middle, half = (low + high) / 2, (high - low) / 2
            found += [((middle + half * x).mid(), (half * w).mid()) for x, w in legendre(order)]
    return found


def _given(name: str, mean: arb, variance: arb) -> arb:
    s = ACTIVATIONS[name]
    if not variance > 0:
        return s(mean)
    if name in MEANS:
        return MEANS[name](mean, variance)
    deviation = variance.sqrt().mid()
    width = 1 / deviation if deviation > 1 else arb(1)
    rule = _nodes([(-mean / deviation, width)], 2.0, 14, 10.0)
    total = arb(0)
    for y, w in rule:
        total += (w * _density(y) * s((mean + deviation * y).mid())).mid()
    return total


def mean(first: str, second: str, mu1: float, mu2: float, q1: float, q2: float, c: float) -> float:
    """E[s(u) s'(v)] to 1e-20 or better of sqrt(E[s^2] E[s'^2]); the six numbers are exact."""
    if first in MEANS and second not in MEANS:
        return mean(second, first, mu2, mu1, q2, q1, c)
    with ctx.workdps(DIGITS):
        nested = first not in MEANS and second not in MEANS
        order, step, reach = (14, 2.0, 10.0) if nested else (20, 1.5, REACH)
        m1, m2, v1, v2, cov = (arb(x) for x in (mu1, mu2, q1, q2, c))
        s1 = v1.sqrt()
        rest = (v2 - cov * cov / v1).mid()
        slope = (cov / s1).mid()
        places = []
        for kink in kinks(first) or [0.0]:
            centre = ((kink - m1) / s1).mid()
            places.append((centre, arb(min(1.0, 1 / float(s1), 1 / (1 + abs(float(centre)))))))
        if float(slope):
            for kink in kinks(second) or [0.0]:
                own = arb(0) if kinks(second) else arb(0.3)
                width = ((rest if rest > 0 else arb(0)) + own).sqrt() / abs(slope)
                places.append((((kink - m2) / slope).mid(), width if width < 3 else arb(3)))
        total, s = arb(0), ACTIVATIONS[first]
        for z, w in _nodes(places, step, order, reach):
            left = s((m1 + s1 * z).mid())
            if float(left):
                right = _given(second, (m2 + slope * z).mid(), rest)
                total += (w * _density(z) * left * right).mid()
        return float(total.mid())


def power(name: str, mu: float, q: float) -> float:
    """E[s(u)^2]."""
    return mean(name, name, mu, mu, q, q, q)
