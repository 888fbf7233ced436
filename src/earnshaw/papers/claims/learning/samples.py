"""Samples instead of expectations: truncation, Rademacher complexity, uniform convergence.

The bounds are those of `papers/bounds`; here they are compared with what they bound. Truncated
expectations are integrated in 30 digits, complexities are known exactly (orthogonal inputs,
constants) or drawn with their error bars. `_sampled_networks.py` has the loss, gradient and Hessian
of a network.

Sources: EPD, Lemma B.1, Theorems B.2 to B.4; mathematics.md, error 17.
"""

from __future__ import annotations

import math

import jax
import numpy as np
from mpmath import mp, mpf
from scipy.special import binom, erf

from earnshaw.inputs import TruncatedGaussian
from earnshaw.papers.bounds import (
    linear_complexity,
    product_complexity,
    truncation_error,
    truncation_radius,
    uniform_deviation,
)
from earnshaw.papers.claims.claim import (
    NO_MINIMUM,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.learning._sampled_networks import (
    CONFIDENCE,
    COUNT,
    DIM,
    NETWORK_STATEMENTS,
    SIGMAS,
    STEEPEST,
)

# Lemma B.1.


def _tail(rng: np.random.Generator, index: int) -> Instance:
    dim = (DIM, 2, 30)[index % 3]
    power, error = float(rng.integers(0, min(dim, 6) + 1)), 10 ** rng.uniform(-8, -1)
    return {"dim": dim, "power": power, "error": error, "seed": index}


def _moments(dim: int, power: float, radius: float) -> tuple[float, float, float, float]:
    """P(|X| <= B), and E|X|^p inside, outside, by integration of the density of |X|."""
    with mp.workdps(30):
        weight = 1 / (2 ** (mpf(dim) / 2 - 1) * mp.gamma(mpf(dim) / 2))
        edge = mpf(radius)
        far = edge + 40

        def part(p: float, low: mpf, high: mpf) -> mpf:
            f = lambda r: weight * r ** (dim - 1 + mpf(p)) * mp.exp(-r * r / 2)  # noqa: E731
            return mp.quad(f, mp.linspace(low, high, 9))

        mass, lost = part(0, mpf(0), edge), part(0, edge, far)
        inside, outside = part(power, mpf(0), edge), part(power, edge, far)
        return float(mass), float(lost), float(inside), float(outside)


def _truncated(instance: Instance) -> Finding:
    """At B the worst f = +-|x|^p is off by the error allowed, and no f by more."""
    dim, power, error = (instance[name] for name in ("dim", "power", "error"))
    radius = truncation_radius(dim, power, error)
    mass, lost, inside, outside = _moments(dim, power, radius)
    worst = outside + lost / mass * inside
    shorter = truncation_error(dim, power, 0.9 * radius)
    scale = (
        math.sqrt(dim)
        + math.sqrt(power * math.log(dim + power))
        + math.sqrt(2 * math.log(1 / error))
    )
    log_mass = float(TruncatedGaussian(1.0, radius).log_mass(dim))
    numbers = {
        "difference/error": worst / error,
        "at 0.9 B": shorter / error,
        "B/(sqrt d + sqrt(p log(d + p)) + sqrt(2 log 1/eps))": radius / scale,
        "error of the mass": abs(math.exp(log_mass) - mass),
    }
    holds = worst <= error * (1 + 1e-9) and shorter > error and radius <= 2 * scale
    return Finding(bool(holds and numbers["error of the mass"] < 1e-12), numbers)


def _ball(rng: np.random.Generator, index: int) -> Instance:
    return {"radius": rng.uniform(1.0, 4.0), "power": float(index % 3 + 1), "seed": index}


def _drawn(instance: Instance) -> np.ndarray:
    """COUNT truncated inputs of the library."""
    key = jax.random.key(instance["seed"], impl="threefry2x32")
    return np.asarray(TruncatedGaussian(1.0, instance["radius"]).sample(key, COUNT, DIM))


def _samples_are_truncated(instance: Instance) -> Finding:
    lengths = np.linalg.norm(_drawn(instance), axis=1)
    powers = lengths ** instance["power"]
    mass, _, inside, _ = _moments(DIM, instance["power"], instance["radius"])
    deviation = float(powers.mean() - inside / mass) / float(powers.std() / math.sqrt(COUNT))
    longest = float(lengths.max()) / instance["radius"]
    holds = longest <= 1 + 1e-12 and abs(deviation) <= SIGMAS
    return Finding(bool(holds), {"longest/B": longest, "standard errors": deviation})


# Theorem B.3.


def _orthogonal(rng: np.random.Generator, index: int) -> Instance:
    """n orthogonal inputs of length B: |sum s_i x_i| = B sqrt(n) for all signs."""
    count = (50, 8, 200)[index % 3]
    return {"samples": count, "radius": rng.uniform(0.5, 3.0), "seed": index}


def _linear(instance: Instance) -> float:
    """R_n of the linear class on orthogonal inputs, by actual signs."""
    rng, count = np.random.default_rng(instance["seed"]), instance["samples"]
    inputs = instance["radius"] * np.linalg.qr(rng.standard_normal((count, count)))[0]
    signs = rng.choice([-1.0, 1.0], (20, count))
    return float(np.mean(2 / count * np.linalg.norm(signs @ inputs, axis=1)))


def _linear_bound(instance: Instance) -> Finding:
    found, bound = _linear(instance), linear_complexity(instance["radius"], instance["samples"])
    holds = found <= bound * (1 + 1e-12)
    return Finding(bool(holds), {"R_n/bound": found / bound, "R_n/B": found / instance["radius"]})


def _linear_printed(instance: Instance) -> Finding:
    found = _linear(instance)
    printed = instance["radius"] * math.sqrt(2 / instance["samples"])
    return Finding(bool(found <= printed), {"R_n": found, "B sqrt(2/n)": printed})


def _units(rng: np.random.Generator, index: int) -> Instance:
    """C erf(s x.theta + t): not 0 at 0, flat to steep."""
    return {
        "samples": 100,
        "dim": 2,
        "radius": 3.0,
        "size": rng.uniform(0.5, 2.0),
        "slope": (0.01, 1.0, 5.0)[index % 3],
        "shift": rng.uniform(-1.0, 1.0),
        "seed": index,
    }


def _products(instance: Instance) -> Finding:
    rng, count = np.random.default_rng(instance["seed"]), instance["samples"]
    x = rng.standard_normal((count, 2))
    x *= np.minimum(1.0, instance["radius"] / np.linalg.norm(x, axis=1, keepdims=True))
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    directions = np.stack([np.cos(angles), np.sin(angles)])
    values = instance["size"] * erf(instance["slope"] * x @ directions + instance["shift"])
    signs = rng.choice([-1.0, 1.0], (60, count))
    suprema = [2 / count * np.abs((values.T * s) @ values).max() for s in signs]
    found = float(np.mean(suprema) + SIGMAS * np.std(suprema) / math.sqrt(len(suprema)))
    lipschitz = instance["size"] * instance["slope"] * STEEPEST
    bound = product_complexity(instance["size"], lipschitz, instance["radius"], count)
    return Finding(bool(found <= bound), {"R_n/bound": found / bound})


def _constants(rng: np.random.Generator, index: int) -> Instance:
    """sigma = C, which is L-Lipschitz for every L."""
    return {"samples": 100, "size": rng.uniform(0.5, 2.0), "lipschitz": 1e-3, "radius": 1.0}


def _constant_class(instance: Instance) -> float:
    """C^2 (2/n) E|sum s_i|, exactly."""
    n = instance["samples"]
    return instance["size"] ** 2 * 2 * float(binom(n - 1, (n - 1) // 2)) / 2 ** (n - 1)


def _constants_bound(instance: Instance) -> Finding:
    found = _constant_class(instance)
    names = ("size", "lipschitz", "radius", "samples")
    bound = product_complexity(*(instance[name] for name in names))
    return Finding(bool(found <= bound), {"R_n/bound": found / bound})


def _constants_printed(instance: Instance) -> Finding:
    found, n = _constant_class(instance), instance["samples"]
    printed = 48 * instance["size"] * instance["lipschitz"] * instance["radius"] * math.sqrt(2 / n)
    return Finding(bool(found <= printed), {"R_n": found, "48 C L B sqrt(2/n)": printed})


# Theorem B.2.


def _covered(instance: Instance) -> Finding:
    """f = (1 + x.theta/B)/2 over all theta: the largest deviation is |mean x|/(2 B)."""
    size, radius = 200, instance["radius"]
    parts = _drawn(instance).reshape(-1, size, DIM)
    deviations = np.linalg.norm(parts.mean(axis=1), axis=1) / (2 * radius)
    # 1/2 adds E|sum s_i|/n to half of the linear class's complexity.
    complexity = linear_complexity(radius, size) / (2 * radius) + 1 / math.sqrt(size)
    bound = uniform_deviation(complexity, size, CONFIDENCE)
    beyond = float(np.mean(deviations > bound))
    numbers = {"beyond the bound": beyond, "largest/bound": float(deviations.max()) / bound}
    return Finding(beyond <= 1 - CONFIDENCE, numbers)


SAMPLES = Claim(
    id="samples",
    title="Samples give the loss and its derivatives, uniformly over all students",
    sources=Sources(epd="Lemma B.1, Theorems B.2, B.3, B.4"),
    oracle="samples",
    definition=NO_MINIMUM,
    hypotheses=(
        "inputs are Gaussian, cut off at a radius B",
        "activations are bounded by C and L-Lipschitz (erf, scaled and shifted; constants)",
        "units on the sphere for Theorem B.4, of erf, tanh and softplus, which is not bounded",
    ),
    statements=(
        Statement(
            "truncation",
            "|E f - E[f | |X| <= B]| <= eps for all |f| <= |x|^p, at the least such B (Lemma B.1)",
            _tail,
            _truncated,
            constants={
                "B/(sqrt d + sqrt(p log(d + p)) + sqrt(2 log 1/eps))": "poly(d, p, log(1/eps)), B.1"
            },
        ),
        Statement(
            "truncated-inputs",
            "the library's truncated inputs are in the ball, with the right moments",
            _ball,
            _samples_are_truncated,
        ),
        Statement(
            "linear-class",
            "R_n{x.theta} <= 2 B/sqrt(n), with equality for orthogonal inputs",
            _orthogonal,
            _linear_bound,
        ),
        Statement(
            "linear-class-as-printed",
            "R_n{x.theta} <= B sqrt(2/n) (proof of Theorem B.3)",
            _orthogonal,
            _linear_printed,
            role="printed",
            kind="proof-mended",
        ),
        Statement(
            "products",
            "R_n{s(x.theta) t(x.w)} <= (48 C L B + 24 C^2)/sqrt(n) (Theorem B.3, corrected)",
            _units,
            _products,
        ),
        Statement(
            "products-of-constants",
            "the same for constants",
            _constants,
            _constants_bound,
        ),
        Statement(
            "products-as-printed",
            "R_n <= 48 C L B sqrt(2/n) (Theorem B.3), for constants",
            _constants,
            _constants_printed,
            role="printed",
            kind="statement-refuted",
        ),
        Statement(
            "uniform-deviation",
            "with probability 1 - delta, |E f - mean f| <= R_n + sqrt(8 log(2/delta)/n) (B.2)",
            _ball,
            _covered,
        ),
        *NETWORK_STATEMENTS,
    ),
    remarks=(
        "Theorem B.3's linear class has R_n = 2 B/sqrt(n) on orthogonal inputs: .283 B for n = 50 "
        "where B sqrt(2/n) gives .200 B (mathematics.md, error 17).",
        "Its conclusion also fails for sigma(0) != 0: constants have L = 0 and R_n > 0. With the "
        "term 24 C^2 it holds; for sigma(0) = 0 the printed 48 C L B sqrt(2/n) is true, since the "
        "1/2 that the proof forgets makes up for the sqrt(2).",
        "Theorem B.4 prints its hypothesis as sigma, sigma'', sigma''', sigma''' = O(|x|^p). It "
        "needs sigma to sigma''', and bounded weights |c|_1, which Omega leaves open; p <= d and "
        "the union over pairs are not needed. `network_deviation` has its constants.",
        "Uniformity over students is tested at random ones; benchmarks/generalisation.py looks for "
        "the worst ones. For erf and tanh (d = 5, k = 2, n up to 10^5; d = 10, k = 5, n up to "
        "10^4) the bounds are 15 to 30 times what it finds for the loss, 100 to 170 for the "
        "gradient, 1000 to 1900 for the Hessian; for relu 45 to 90 and 210 to 330, and no bound "
        "for the Hessian.",
    ),
)
