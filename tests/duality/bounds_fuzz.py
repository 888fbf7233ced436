"""Every public error bound of a potential, at random over the whole allowed range.

    PYTHONPATH=tests python -m duality.bounds_fuzz --points 10000 --seed 1

prints, for each family, how many values were compared with `moments_reference.py`, how many lay
outside the stated bound, and the largest error over bound. A point is one value of a potential:
`value` (normalised or raw) beside `error_bound`, or `moment` at two norms beside `moment_error`.
Widths, norms and parameters are drawn log-uniformly over what the library accepts, correlations
uniformly and log-uniformly close to -1, 0 and 1.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from flint import arb, ctx

import earnshaw as ew
from duality import moments_reference as exact
from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs._almost_harmonic import AlmostHarmonicKernel

Draw = np.random.Generator


class Family(NamedTuple):
    """How parameters are drawn, and the moment in 60 digits as a function of q1, q2, c and them."""

    reference: Callable[..., Any]
    parameters: Callable[[Draw], dict[str, Any]] = lambda rng: {}
    widths: tuple[float, float] = (1e-30, 1e30)
    together: int = 60  # points a potential, half of them on the sphere


class Point(NamedTuple):
    """One value beside its bound."""

    family: str
    where: str
    error: float
    bound: float

    @property
    def ratio(self) -> float:
        """Above 1 the bound does not hold; also where the value is NaN."""
        if self.error == 0 or self.bound == math.inf:
            return 0.0
        return self.error / self.bound if self.bound > 0 and self.error >= 0 else math.inf


def spread(rng: Draw, low: float, high: float) -> float:
    """Log-uniform."""
    return float(10 ** rng.uniform(math.log10(low), math.log10(high)))


def signed(rng: Draw, low: float, high: float) -> float:
    """Log-uniform, of either sign."""
    return float(rng.choice([-1, 1])) * spread(rng, low, high)


def _rectified(n: int) -> Family:
    return Family(lambda q1, q2, c: exact._rectified(n, q1, q2, c))


def _plane(name: str, widths: tuple[float, float], **drawn: Any) -> Family:
    return Family(
        lambda *pair, **given: exact.plane(name, *pair, **given), widths=widths, together=6, **drawn
    )


FAMILIES: dict[str, Family] = {
    "sign": Family(exact.sign),
    "step": _rectified(0),
    "relu": _rectified(1),
    "relu2": _rectified(2),
    "relu3": _rectified(3),
    "leaky-relu": Family(
        exact.leaky_relu,
        lambda rng: {
            "negative_slope": signed(rng, 1e-6, 1e6),
            "positive_slope": signed(rng, 1e-6, 1e6),
        },
    ),
    "erf": Family(exact.erf),
    "normal-cdf": Family(exact.normal_cdf),
    "gelu": Family(exact.gelu),
    "sin": Family(exact.sin, widths=(1e-30, 1e6)),
    "cos": Family(exact.cos, widths=(1e-30, 1e6)),
    "rbf": Family(exact.rbf, lambda rng: {"gamma": spread(rng, 1e-6, 1e6)}, widths=(1e-30, 1e6)),
    "exponential": Family(
        exact.exponential,
        lambda rng: {"rate": signed(rng, 1e-6, 1e3), "shift": signed(rng, 1e-6, 1e2)},
    ),
    "gaussian-bump": Family(
        exact.gaussian_bump, lambda rng: {"curvature": -spread(rng, 1e-20, 1e20)}
    ),
    "hermite": Family(exact.hermite, lambda rng: {"degree": int(spread(rng, 1, 1000))}),
    "polynomial": Family(
        exact.polynomial,
        lambda rng: {
            "coefficients": [signed(rng, 1e-6, 1e6) for _ in range(int(spread(rng, 1, 40)))]
        },
    ),
    "hard-tanh": Family(exact.hard_tanh, widths=(1e-6, 1e6), together=6),
    "laplace": _plane("laplace", (1e-6, 1e6)),
    "elu": _plane("elu", (1e-6, 1e6), parameters=lambda rng: {"alpha": signed(rng, 1e-3, 1e3)}),
    "softsign": _plane("softsign", (1e-6, 1e6)),
    "tanh": _plane("tanh", (1e-6, 1e6)),
    "logistic": _plane("logistic", (1e-6, 1e6)),
    "softplus": _plane("softplus", (1e-6, 1e6)),
    "silu": _plane("silu", (1e-6, 1e6)),
    "mish": _plane("mish", (1e-6, 1e6)),
}


def correlation(rng: Draw) -> float:
    """Anywhere in [-1, 1], and often next to -1, 0 and 1."""
    side = float(rng.choice([-1, 1]))
    match rng.integers(5):
        case 0:
            return side * float(rng.choice([0.0, 1.0]))
        case 1:
            return side * spread(rng, 1e-12, 1.0)
        case 2 | 3:
            return side * (1 - spread(rng, 1e-16, 1e-3))
    return float(rng.uniform(-1, 1))


def squares(rng: Draw, low: float, high: float) -> tuple[float, float]:
    """Two squared norms: unrelated, equal, or nearly equal."""
    first = spread(rng, low, high) ** 2
    match rng.integers(4):
        case 0:
            return first, first
        case 1:
            return first, first * (1 + signed(rng, 1e-16, 1e-3))
    return first, spread(rng, low, high) ** 2


def covariance(q1: float, q2: float, rho: float) -> float:
    """The float next to rho sqrt(q1 q2) with c^2 <= q1 q2."""
    c = float(arb(rho) * (arb(q1) * arb(q2)).sqrt())
    while not arb(c) * arb(c) <= arb(q1) * arb(q2):
        c = math.nextafter(c, 0.0)
    return c


def compare(name: str, rng: Draw) -> Iterator[Point]:
    """Some points of one family, all of one potential."""
    family = FAMILIES[name]
    low, high = family.widths
    while True:
        parameters = family.parameters(rng)
        width = 1.0 if rng.integers(3) == 0 else spread(rng, low, high)
        normalize = bool(rng.integers(2))
        try:
            phi: Any = ew.potential(name, normalize=normalize, width=width, **parameters)
            break
        except EarnshawError:  # E[s^2] leaves the range of float64: not allowed
            continue
    moment = lambda *pair: family.reference(*pair, **parameters)  # noqa: E731
    at = f"{name} {parameters if len(str(parameters)) < 99 else '...'} width={width!r}"
    v = arb(width) ** 2
    scale = 1 / moment(v, v, v) if normalize else 1
    rhos = [correlation(rng) for _ in range(family.together // 2)]
    for rho, value in zip(rhos, np.asarray(phi.value(jnp.array(rhos))), strict=True):
        truth = moment(v, v, v * arb(rho)) * scale
        where = f"{at} rho={rho!r} {'normalised' if normalize else 'raw'}"
        yield Point(name, where, gap(truth, value), float(phi.error_bound))
    lengths = (max(low / width, 1e-6), min(high / width, 1e6))
    if lengths[0] > lengths[1]:
        return
    for _ in range(family.together - len(rhos)):
        q1, q2 = squares(rng, *lengths)
        c = covariance(q1, q2, correlation(rng))
        value = phi.moment(q1, q2, c)
        bound = float(phi.moment_error(q1, q2))
        truth = moment(v * arb(q1), v * arb(q2), v * arb(c))
        yield Point(name, f"{at} q1={q1!r} q2={q2!r} c={c!r}", gap(truth, value), bound)


class OnSpace(NamedTuple):
    """A potential on R^d, or on the sphere by its own formula: parameters, and its value."""

    parameters: Callable[[Draw], dict[str, Any]]
    reference: Callable[..., arb]
    together: int = 20


def _rate(rng: Draw) -> float:
    return spread(rng, 1e-59, 1e59) if rng.integers(4) == 0 else spread(rng, 1e-3, 1e3)


def _almost_harmonic(rng: Draw) -> dict[str, Any]:
    core = str(rng.choice(["ball", "paper"]))
    dim = int(spread(rng, 1, 301)) if rng.integers(4) == 0 else int(rng.integers(1, 12))
    dim = 2 * (dim // 2) + 3 if core == "paper" else dim
    radius = spread(rng, 1e-29, 1.0) if rng.integers(4) == 0 else spread(rng, 1e-3, 1.0)
    return {"dim": min(dim, 301), "radius": radius, "lam": _rate(rng), "core": core}


@lru_cache(maxsize=4)
def _kernel(**parameters: Any) -> AlmostHarmonicKernel:
    return AlmostHarmonicKernel(**parameters)


def _synthetic(rho: arb, dim: int, degree: int) -> arb:
    """f/f(1), f = sum c_n rho^n with c_(n+2) (n + 2)(n + 1) = c_n (n^2 + (d - 2) n + 1)."""
    term, total, top = arb(1), arb(0), arb(0)
    for n in range(0, degree + 1, 2):
        total, top = total + term * rho**n, top + term
        term *= arb(n * n + (dim - 2) * n + 1) / ((n + 2) * (n + 1))
    return total / top


ON_SPACE: dict[str, OnSpace] = {
    "gaussian": OnSpace(
        lambda rng: {"dim": int(spread(rng, 1, 1e6)), "rate": _rate(rng)},
        lambda r, dim, rate: (-arb(rate) * r * r / 2).exp(),
    ),
    "bessel": OnSpace(lambda rng: {"dim": int(spread(rng, 1, 1e6))}, lambda r, dim: (-r).exp()),
    "lambda-harmonic": OnSpace(
        lambda rng: {"dim": 1, "lam": _rate(rng)},
        lambda r, dim, lam: (arb.pi() / 2).sqrt() * (-arb(lam).sqrt() * r).exp(),
    ),
    "harmonic": OnSpace(lambda rng: {"dim": 1}, lambda r, dim: -r),
    "distance": OnSpace(
        lambda rng: {"dim": int(spread(rng, 1, 1e6)), "sign": int(rng.choice([-1, 1]))},
        lambda r, dim, sign: sign * r,
    ),
    # Compared with the balls of the proofs, which test_kernels.py compares with its definition.
    "almost-harmonic": OnSpace(
        _almost_harmonic, lambda r, **given: _kernel(**given).radial(r * r, 0)[0], together=6
    ),
    "sphere-synthetic": OnSpace(
        lambda rng: {
            "dim": int(spread(rng, 2, 1e6)),
            "degree": 2 * int(spread(rng, 1, 200)),
        },
        _synthetic,
    ),
}


def compare_on_space(name: str, rng: Draw) -> Iterator[Point]:
    """Some values of one potential beside its `error_bound`."""
    family = ON_SPACE[name]
    parameters = family.parameters(rng)
    phi: Any = ew.potential(name, **parameters)
    if phi.variable == "rho":
        places = [correlation(rng) for _ in range(family.together)]
    else:
        scale = parameters.get("radius", 1.0) if rng.integers(2) else 1.0
        places = [0.0, *(scale * spread(rng, 1e-6, 1e6) for _ in range(family.together - 1))]
    for place, value in zip(places, np.asarray(phi.value(jnp.array(places))), strict=True):
        truth = family.reference(arb(place), **parameters)
        yield Point(name, f"{name} {parameters} at {place!r}", gap(truth, value), phi.error_bound)


def gap(truth: Any, value: Any) -> float:
    """|truth - value|."""
    if isinstance(truth, arb):
        if not math.isfinite(float(value)):
            return math.nan
        difference = abs(truth - arb(float(value)))
        return float(difference.upper()) if difference.is_finite() else math.inf
    return float(abs(truth - np.longdouble(float(value))))


NAMES = (*FAMILIES, *ON_SPACE)


def points(seed: int, count: int, names: Sequence[str] = NAMES) -> Iterator[Point]:
    """At least `count` points, the families in turn."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < count:
        for name in names:
            with ctx.workprec(exact.BITS):
                for point in (compare if name in FAMILIES else compare_on_space)(name, rng):
                    done += 1
                    yield point


def main() -> None:
    """The command of the module's docstring."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=NAMES)
    given = parser.parse_args()
    worst: dict[str, Point] = {}
    counts: dict[str, list[int]] = {}
    start = time.time()
    for point in points(given.seed, given.points, given.only):
        tally = counts.setdefault(point.family, [0, 0, 0])
        tally[0] += 1
        tally[1] += not point.ratio <= 1
        tally[2] += point.bound == math.inf
        if point.family not in worst or not point.ratio <= worst[point.family].ratio:
            worst[point.family] = point
    print(f"{'family':16s} points outside infinite   worst error/bound")
    for name, (total, outside, infinite) in counts.items():
        at = worst[name]
        most = f"{at.ratio:8.2g}  {at.error:.2g}/{at.bound:.2g} {at.where}"
        print(f"{name:16s} {total:6d} {outside:7d} {infinite:8d}   {most}")
    print(f"{sum(t[0] for t in counts.values())} points in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
