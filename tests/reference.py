"""Independent references: activations and their duals in 50-digit ball arithmetic.

Nothing here uses earnshaw. The dual is the plane integral of its definition, in polar coordinates
and split where either factor changes sign, by Gauss-Legendre panels fine enough for 1e-30.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb, ctx

DIGITS = 50
ctx.dps = DIGITS

ZERO, ONE, TWO = arb(0), arb(1), arb(2)
Function = Callable[[arb], arb]


def _normal_cdf(x: arb) -> arb:
    return (-x / TWO.sqrt()).erfc() / 2


def _positive(x: arb) -> arb:
    return x if x > 0 else ZERO


def _elu(alpha: float) -> Function:
    return lambda x: x if x > 0 else arb(alpha) * x.expm1()


ACTIVATIONS: dict[str, Function] = {
    "sign": lambda x: ONE if x > 0 else -ONE,
    "step": lambda x: ONE if x > 0 else ZERO,
    "relu": _positive,
    "leaky-relu": lambda x: x if x > 0 else arb("0.01") * x,
    "relu2": lambda x: _positive(x) ** 2,
    "relu3": lambda x: _positive(x) ** 3,
    "erf": lambda x: x.erf(),
    "normal-cdf": _normal_cdf,
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "rbf": lambda x: TWO.sqrt() * (TWO.sqrt() * x + arb.pi() / 4).sin(),
    "exponential": lambda x: x.exp(),
    "gaussian-bump": lambda x: (-x * x / 2).exp(),
    "gelu": lambda x: x * _normal_cdf(x),
    "hermite-3": lambda x: (x**3 - 3 * x) / arb(6).sqrt(),
    "hermite-8": lambda x: (x**8 - 28 * x**6 + 210 * x**4 - 420 * x**2 + 105) / arb(40320).sqrt(),
    "laplace": lambda x: (-abs(x)).exp(),
    "tanh": lambda x: x.tanh(),
    "logistic": lambda x: 1 / (1 + (-x).exp()),
    "softplus": lambda x: x.exp().log1p() if x < 40 else x + (-x).exp().log1p(),
    "silu": lambda x: x / (1 + (-x).exp()),
    "mish": lambda x: x * x.exp().log1p().tanh(),
    "elu": _elu(1.0),
}
SMOOTH_NUMERIC = ("tanh", "logistic", "softplus", "silu", "mish")


@lru_cache(maxsize=8)
def legendre(order: int) -> list[tuple[arb, arb]]:
    """Nodes and weights on [-1, 1]."""
    return [arb.legendre_p_root(order, i, weight=True) for i in range(order)]


def _panel(low: arb, high: arb, order: int) -> list[tuple[arb, arb]]:
    middle, half = (low + high) / 2, (high - low) / 2
    return [((middle + half * x), half * w) for x, w in legendre(order)]


@lru_cache(maxsize=4)
def _radii(reach: int = 18, panels: int = 9, order: int = 30) -> list[tuple[arb, arb]]:
    step = arb(reach) / panels
    nodes = [n for i in range(panels) for n in _panel(step * i, step * (i + 1), order)]
    return [(r, w * r * (-r * r / 2).exp()) for r, w in nodes]


def plane_mean(s: Function, rho: arb | float, q1: float = 1.0, q2: float = 1.0) -> arb:
    """E[s(u) s(v)], u and v centred Gaussians of variances q1, q2 and correlation rho."""
    s1, s2, t = arb(q1).sqrt(), arb(q2).sqrt(), arb(rho).acos()
    half_turn = arb.pi()
    # cos(phi) and cos(phi - t) change sign at these angles.
    edges = [-half_turn / 2, t - half_turn / 2, half_turn / 2, t + half_turn / 2, 3 * half_turn / 2]
    total = ZERO
    for low, high in pairwise(edges):
        if not high - low > arb("1e-45"):
            continue
        for phi, weight in _panel(low, high, 40):
            c1, c2 = s1 * phi.cos(), s2 * (phi - t).cos()
            ray = ZERO
            for r, radial_weight in _radii():
                ray += radial_weight * (s((r * c1).mid()) * s((r * c2).mid())).mid()
            total += weight * ray.mid()
    return (total / (2 * half_turn)).mid()


def line_mean(s: Function, sign: int = 1) -> arb:
    """E[s(X) s(sign X)]: the dual at rho = +-1."""
    total = ZERO
    for side in (-1, 1):
        for i in range(12):
            for x, w in _panel(arb(i) * 3 / 2, arb(i + 1) * 3 / 2, 40):
                point = side * x
                total += w * (-x * x / 2).exp() * s(point) * s(sign * point)
    return (total / (2 * arb.pi()).sqrt()).mid()


def dual_derivatives(s: Function, rho: float, step: str) -> tuple[float, float, float]:
    """f, f' and f'' at rho by central differences of the 50-digit dual."""
    h = arb(step)
    low, middle, high = (plane_mean(s, arb(rho) + k * h) for k in (-1, 0, 1))
    return (
        float(middle),
        float((high - low) / (2 * h)),
        float((high - 2 * middle + low) / (h * h)),
    )


def monte_carlo(s: Callable[[np.ndarray], np.ndarray], rho: float, count: int = 400_000) -> tuple:
    """Mean and standard error of s(u) s(v) over samples."""
    generator = np.random.default_rng(20261115)
    u, z = generator.standard_normal((2, count))
    v = rho * u + np.sqrt(1 - rho**2) * z
    products = np.asarray(s(u)) * np.asarray(s(v))
    return float(np.mean(products)), float(np.std(products) / np.sqrt(count))
