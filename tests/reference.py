"""Independent references: activations and their duals in 50-digit ball arithmetic.

Nothing here uses earnshaw. The dual is the plane integral of its definition, in polar coordinates
and split where either factor changes sign, by Gauss-Legendre panels fine enough for 1e-30.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key, lru_cache
from itertools import chain, pairwise

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


class Corners:
    """The continuous function of slope 0 at -infinity that turns by `turn` at each (place, turn).

    Its `start` is its value at -infinity. Averages of it have closed forms in one variable, so its
    dual is a single integral.
    """

    def __init__(self, start: float, *turns: tuple[float, float]) -> None:
        self.start, self.turns = arb(start), [(arb(place), arb(turn)) for place, turn in turns]

    def __call__(self, x: arb) -> arb:
        return sum((turn * _positive(x - place) for place, turn in self.turns), start=self.start)

    def mean(self, centre: arb, deviation: arb) -> arb:
        """E[s(X)] for X ~ N(centre, deviation^2): the sum of E[max(0, X - place)]."""
        total = self.start
        for place, turn in self.turns:
            z = (centre - place) / deviation
            density = (-z * z / 2).exp() / (2 * arb.pi()).sqrt()
            total += turn * deviation * (z * _normal_cdf(z) + density)
        return total.mid()

    def plane_mean(self, rho: arb, s1: arb, s2: arb) -> arb:
        """E[s(u) E[s(v) | u]], on panels split at the places of u and around those of v.

        The inner mean turns there within a few deviations of v given u.
        """
        spread = (1 - rho * rho).sqrt()
        edges = [arb(i) * 3 / 2 for i in range(-12, 13)]
        for place, _ in self.turns:
            edges.append(place / s1)
            if not abs(rho) < arb("1e-9"):
                edges += [(place / s2 + spread * i) / rho for i in range(-16, 17, 2)]
        return _line(lambda x: self(s1 * x) * self.mean(s2 * rho * x, s2 * spread), edges)


def kinks_of(s: Function) -> list[float]:
    """Where a function of the table below is not smooth, if anywhere."""
    return [float(place) for place, _ in s.turns] if isinstance(s, Corners) else [0.0]


def roughness(s: Function) -> str:
    """Whether a function jumps or has a corner, from its values beside its kinks."""
    h, worst = arb("1e-20"), "smooth"
    for kink in map(arb, kinks_of(s)):
        further, left, near, far = (s(kink + k * h) for k in (-2, -1, 1, 2))
        if abs(near - left) > arb("1e-10"):
            return "jump"
        if abs((far - near) - (left - further)) / h > arb("1e-10"):
            worst = "corner"
    return worst


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
    "hard-tanh": Corners(-1, (-1, 1), (1, -1)),
    "softsign": lambda x: x / (1 + abs(x)),
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
    if isinstance(s, Corners):
        return s.plane_mean(arb(rho), s1, s2)
    half_turn = arb.pi()
    # cos(phi) and cos(phi - t) change sign at these angles.
    edges = [-half_turn / 2, t - half_turn / 2, half_turn / 2, t + half_turn / 2, 3 * half_turn / 2]
    rays = [_panel(low, high, 40) for low, high in pairwise(edges) if high - low > arb("1e-45")]
    if same := s1 == s2 and len(rays) == 4:
        # Turned about t/2 the plane is the same, with u and v exchanged: half of it is enough.
        rays = [rays[0], rays[1][:20], rays[3][:20]]
    total = ZERO
    for phi, weight in chain.from_iterable(rays):
        c1, c2 = s1 * phi.cos(), s2 * (phi - t).cos()
        ray = ZERO
        for r, radial_weight in _radii():
            ray += radial_weight * (s((r * c1).mid()) * s((r * c2).mid())).mid()
        total += weight * ray.mid()
    return ((2 if same else 1) * total / (2 * half_turn)).mid()


def line_mean(s: Function, sign: int = 1) -> arb:
    """E[s(X) s(sign X)]: the dual at rho = +-1."""
    edges = [arb(i) * 3 / 2 for i in range(-12, 13)]
    edges += [side * arb(kink) for kink in kinks_of(s) for side in (-1, 1)]
    return _line(lambda x: s(x) * s(sign * x), edges)


def _line(function: Function, edges: Sequence[arb]) -> arb:
    """E[function(X)], X ~ N(0, 1), on panels between the `edges` of [-18, 18]."""
    inside = [edge.mid() for edge in edges if abs(edge.mid()) <= 18]
    inside.sort(key=cmp_to_key(lambda a, b: -1 if a < b else int(a > b)))
    total = ZERO
    for low, high in pairwise(inside):
        if high - low > arb("1e-45"):
            for x, w in _panel(low, high, 40):
                total += (w * (-x * x / 2).exp() * function(x.mid())).mid()
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
