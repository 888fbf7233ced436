"""`check_error` at points that `realize` did not look at.

On the sphere both sides have 60 digits: f from its formula by mpmath, and the activation's own
potential sum_n a_n^2 rho^n from its floats a_n. On R^d the autocorrelation of the tabulated profile
is integrated anew: on the line directly, in R^3 as an iterated integral, with nodes of its own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from numpy.polynomial import legendre

import earnshaw as ew
from earnshaw.duality.activation import Scaled
from earnshaw.duality.families.arccosine import Sign
from earnshaw.duality.families.bessel import BesselPotential
from earnshaw.duality.families.exponentials import Exponential
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.numerics.jax_as_numpy import as_numpy

Function = Callable[[mpf], mpf]

# -- on the sphere -------------------------------------------------------------------------------


def fraction(rng: random.Random, high: float) -> tuple[str, mpf]:
    """A number in [0, high), as text and to 60 digits."""
    below = rng.choice((1, 2, 3, 7, 10, 100, 1000))
    above = rng.randint(0, max(0, math.ceil(high * below) - 1))
    return f"({above}/{below})", mpf(above) / below


def monotone_term(rng: random.Random) -> tuple[str, Function]:
    """A function with non-negative Taylor coefficients: its formula, and itself by mpmath."""
    (A, a), (B, b) = fraction(rng, 3), fraction(rng, 1)
    n = rng.choice((0, 1, 2, 3, 5, 8, 20, 77, 150))
    terms: tuple[tuple[str, Function], ...] = (
        (f"exp({A}*rho)", lambda r: mpmath.exp(a * r)),
        (f"cosh({A}*rho^2)", lambda r: mpmath.cosh(a * r * r)),
        (f"asin({B}*rho)", lambda r: mpmath.asin(b * r)),
        (f"1/(1-{B}*rho)^2", lambda r: 1 / (1 - b * r) ** 2),
        (f"1/sqrt(1-{B}*rho^2)", lambda r: 1 / mpmath.sqrt(1 - b * r * r)),
        (f"rho^{n}", lambda r: r**n),
        (f"(1+{A}*rho)^{n % 77}/(1+{A})^{n % 77}", lambda r: ((1 + a * r) / (1 + a)) ** (n % 77)),
        (f"-log(1-{B}*rho)", lambda r: -mpmath.log(1 - b * r)),
        (f"atanh({B}*rho)", lambda r: mpmath.atanh(b * r)),
        (f"tan({B}*rho)", lambda r: mpmath.tan(b * r)),
        (f"besseli(1,{A}*rho)", lambda r: mpmath.besseli(1, a * r)),
        ("asin(rho)", mpmath.asin),
        ("1-sqrt(1-rho)", lambda r: 1 - mpmath.sqrt(1 - r)),
        (f"exp(10*{A}*(rho-1))", lambda r: mpmath.exp(10 * a * (r - 1))),
    )
    return rng.choice(terms)


def monotone(rng: random.Random) -> tuple[str, Function]:
    """A positive combination or a product of one to three such terms."""
    parts = [monotone_term(rng) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    if rng.random() < 0.4:
        text = "*".join(f"({part})" for part, _ in parts)
        return text, lambda r: mpmath.fprod(f(r) for _, f in parts)
    weights = [fraction(rng, 4) for _ in parts]
    size = rng.choice((0, 0, 5, 20, -12))
    pairs = list(zip(weights, parts, strict=True))
    text = "+".join(f"{w}*1e{size}*({part})" for (w, _), (part, _) in pairs)
    return text, lambda r: mpf(10) ** size * sum(w * f(r) for (_, w), (_, f) in pairs)


def points_on_sphere(rng: random.Random, count: int) -> list[mpf]:
    near = [10 ** rng.uniform(-16, 0) for _ in range(count)]
    inside = [rng.choice((rng.uniform(-1, 1), 1 - gap, gap - 1)) for gap in near]
    return [mpf(1), mpf(-1), *map(mpf, inside)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_the_bound_holds_on_the_sphere(seed):
    rng = random.Random(f"sphere-{seed}")
    with mpmath.workdps(60):
        text, f = monotone(rng)
        result = ew.realize(text, seconds=600)
        assert (result.realizable, result.check_is_bound) == (True, True)
        own = own_potential(result.activation)
        rounding = f(mpf(1)) * mpf(10) ** -50  # of the 60 digits
        for rho in points_on_sphere(rng, 8):
            assert abs(own(rho) - f(rho)) <= result.check_error + rounding


def own_potential(activation) -> Function:
    """sum a_n^2 rho^n; or of those that are recognised, by formulas of our own.

    E exp(g u + h) exp(g v + h) = exp(2 h + g^2 (1 + rho)), E sgn(u) sgn(v) = (2/pi) asin(rho).
    """
    if isinstance(activation, Scaled) and isinstance(activation.base, Sign):
        factor = mpf(float(activation.factor))
        return lambda rho: factor**2 * 2 / mpmath.pi * mpmath.asin(rho)
    if isinstance(activation, Exponential):
        rate, shift = mpf(float(activation.rate)), mpf(float(activation.shift))
        return lambda rho: mpmath.exp(2 * shift + rate**2 * (1 + rho))
    powers = [mpf(float(a)) ** 2 for a in activation.coefficients][::-1]
    return lambda rho: mpmath.polyval(powers, rho)


def test_the_bound_is_not_loose():
    """What is cut off, and half a unit of the last place of each c_n = 3/7^n otherwise."""
    result = ew.realize("3/(1-rho/7)")
    assert result.check_error < 4 * 2.0**-53 * 3 * 7 / 6
    cut = ew.realize("1-sqrt(1-rho)")
    with mpmath.workdps(30):
        kept = mpmath.fsum(mpmath.taylor(lambda r: 1 - mpmath.sqrt(1 - r), 0, 60))
    assert cut.check_error < float(1 - kept)
    assert cut.check_error > 0.01


@pytest.mark.parametrize(("dim", "rate"), [(1, 1.0), (3, 0.37), (40, 17.0), (300, 1.6)])
def test_the_bound_of_gaussians_holds(dim, rate):
    """(h * h)(r) = A^2 (pi/2c)^(d/2) exp(-c r^2/2) with the float A = h(0)."""
    result = ew.realize(GaussianPotential(dim, rate))
    assert result.check_is_bound
    with mpmath.workdps(60):
        factor = mpf(float(result.activation.profile(np.zeros(dim))))
        back = factor**2 * (mpmath.pi / (2 * mpf(rate))) ** (mpf(dim) / 2)
        assert abs(back - 1) <= result.check_error < 1e-15 * (dim + 4)


def test_beyond_float64_there_is_no_activation_but_an_answer():
    for potential in (
        GaussianPotential(10**5),
        GaussianPotential(10**5, 50.0),
        BesselPotential(2000),
    ):
        result = ew.realize(potential)
        assert (result.realizable, result.activation) == (True, None)
        assert "beyond float64" in result.reason


# -- on R^d: an estimate that should hold --------------------------------------------------------

NODES, WEIGHTS = legendre.leggauss(16)


def rule(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    left, half = edges[:-1, None], np.diff(edges)[:, None] / 2
    return (left + half * (NODES + 1)).ravel(), (half * WEIGHTS).ravel()


def towards(points: list[float], low: float, high: float, finest: float) -> np.ndarray:
    """Edges from `low` to `high` that shrink geometrically towards each of `points`.

    And are narrow everywhere: a profile oscillates where its transform had to end.
    """
    steps = finest * 2.0 ** np.arange(60)
    edges = [np.array([p, *(p + steps), *(p - steps)]) for p in points]
    edges += [np.linspace(low, high, 1000), np.linspace(max(low, -1.0), min(high, 4.0), 500)]
    edges = np.unique(np.concatenate(edges))
    return edges[(edges >= low) & (edges <= high)]


def on_line(h, delta: float, reach: float, finest: float) -> float:
    """The integral of h(|x|) h(|x - delta|) over the line."""
    x, w = rule(towards([0.0, delta], -reach, reach + delta, finest))
    return float(np.sum(w * h(np.abs(x)) * h(np.abs(x - delta))))


def in_space(h, delta: float, reach: float, finest: float) -> float:
    """(2 pi/delta) int r h(r) (H(r+delta) - H(|r-delta|)) dr, H(x) = int_0^x s h(s) ds: R^3."""
    panels = towards([0.0], 0.0, reach, finest)
    panels = np.unique(np.linspace(panels[:-1], panels[1:], 5))
    s, w = rule(panels)
    sums = np.append(0.0, np.cumsum(np.sum((w * s * h(s)).reshape(-1, 16), axis=1)))

    def primitive(x: np.ndarray) -> np.ndarray:
        x = np.minimum(x, reach)
        panel = np.clip(np.searchsorted(panels, x, side="right") - 1, 0, len(panels) - 2)
        half = (x - panels[panel])[:, None] / 2
        s = panels[panel][:, None] + half * (NODES + 1)
        return sums[panel] + np.sum(half * WEIGHTS * s * h(s), axis=1)

    r, w = rule(towards([0.0, delta], 0.0, reach, finest))
    inner = primitive(r + delta) - primitive(np.abs(r - delta))
    return float(2 * math.pi / delta * np.sum(w * r * h(r) * inner))


def radial(rng: np.random.Generator) -> tuple[str, Callable[[float], float]]:
    a, c = (float(f"{10 ** rng.uniform(-1, 1):.3g}") for _ in range(2))
    s = float(f"{rng.uniform(0.6, 2):.3g}")
    shapes: tuple[tuple[str, Callable[[float], float]], ...] = (
        (f"exp(-{a}*r)", lambda r: math.exp(-a * r)),
        (f"exp(-{a}*r^2)", lambda r: math.exp(-a * r * r)),
        (f"(1+{a}*r)*exp(-{a}*r)", lambda r: (1 + a * r) * math.exp(-a * r)),
        (f"1/(1+{a}*r^2)^{1 + s:.3g}", lambda r: (1 + a * r * r) ** -float(f"{1 + s:.3g}")),
        (f"exp(-{a}*r)+{c}*exp(-2*r^2)", lambda r: math.exp(-a * r) + c * math.exp(-2 * r * r)),
        (f"exp(-({a}*r)^{s})", lambda r: math.exp(-((a * r) ** s))),
        (f"erfc({a}*r)", lambda r: math.erfc(a * r)),
    )
    return shapes[rng.integers(len(shapes))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_the_estimate_holds_on_the_line_and_in_space(seed):
    rng = np.random.default_rng(seed)
    dim, back = ((1, on_line), (3, in_space))[seed % 2]
    text, f = radial(rng)
    result = ew.realize(text, on="space", dim=dim, seconds=600)
    assert result.realizable is True
    half = next(r for r in np.geomspace(1e-3, 1e3, 2000) if f(r) < f(0) / 2)
    if result.check_is_bound:  # a Gaussian, which is recognised; the rest is the quadrature's
        assert text.endswith("*r^2)")
        axis = np.eye(dim)[0]
        h = lambda r: np.asarray(result.activation.profile(r[..., None] * axis))  # noqa: E731
        reach, finest, error = 10 * half, 1e-3 * half, result.check_error + 1e-12
    else:
        table, error = result.activation.shape.table, result.check_error
        h, reach, finest = as_numpy(table), table.highest, 1e-3 * table.lowest
    for delta in half * 10 ** rng.uniform(-1.2, 1.5, 8):
        own = back(h, float(delta), reach, finest)
        assert abs(own - f(float(delta))) <= error
