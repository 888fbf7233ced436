"""A theorem for the log ascent, ours: off the cores log|C| has no maximum, and a climb is short.

Off the cores of an almost lambda-harmonic potential C = sum_j q_j Phi(|x - y_j|) is
lambda-harmonic:

    Laplacian log|C| = lambda - |grad log|C||^2    wherever C != 0,

so that every critical point has an upward curvature of at least lambda/d. With kappa = sum |q_j|
Phi_j/|C| <= K at its points, an ascent by the gradient where that is at least sqrt(lambda)/2, else
along the largest curvature, gains a fixed amount a step (`_log_potential.Constants`) and therefore
arrives within 2 eps of a charge after range/gain steps at most (`_log_ascent_climbs.py`). What an
additive error tau on C does is in `_log_ascent_errors.py`.

Tests: 60-digit differences of log|C| by mpmath's Bessel functions, and SciPy's in `_log_potential`.

Source: mathematics.md, "A theorem for the log ascent".
"""

from __future__ import annotations

import math

import numpy as np
from mpmath import mp, mpf
from scipy.optimize import root

from earnshaw.papers.claims.claim import Claim, Finding, Instance, Sources, Statement
from earnshaw.papers.claims.learning._log_ascent_climbs import CLIMB_STATEMENTS
from earnshaw.papers.claims.learning._log_ascent_errors import ERROR_STATEMENTS
from earnshaw.papers.claims.learning._log_potential import (
    DIGITS,
    Charges,
    Constants,
    Seen,
    charges_of,
    jet,
    step,
)

DIMS = (3, 2, 5, 7)
LAMBDAS = (1.0, 0.25, 4.0)
RADIUS = 0.3
H = mpf("1e-15")  # of 60-digit differences: what they leave out is of order 1e-30


def _random(rng: np.random.Generator, index: int, one_sign: bool = False) -> Instance:
    """2 to 5 charges at distances of order 1, in all dimensions and for all lambda."""
    dim, count = DIMS[index % 4], 2 + index % 4
    signs = np.ones(count) if one_sign else rng.choice([-1.0, 1.0], count)
    y = 3 / math.sqrt(dim) * rng.standard_normal((count, dim))
    return {"y": y, "q": signs * rng.uniform(0.1, 1.0, count), "lam": LAMBDAS[index % 3]}


def _point(rng: np.random.Generator, index: int) -> Instance:
    """A point off the cores, from the edge of one on, where C is not all but cancelled."""
    while True:
        instance = _random(rng, index)
        charges = charges_of(instance)
        way = rng.standard_normal(charges.dim)
        reach = RADIUS * (2 + 8 * rng.random() * (index % 2))
        x = charges.y[0] + reach * way / np.linalg.norm(way)
        here = charges.at(x)
        if here.nearest >= 2 * RADIUS and here.kappa <= 20:
            return instance | {"x": x}


def _differences(charges: Charges, x: np.ndarray, v: np.ndarray) -> tuple[mpf, mpf, mpf]:
    """The first three derivatives of log|C| along v, by differences of 60 digits."""
    with mp.workdps(DIGITS):
        place, way = ([mpf(float(part)) for part in vector] for vector in (x, v))
        f = {
            n: charges.exact_log([a + n * H * b for a, b in zip(place, way, strict=True)])
            for n in (-2, -1, 0, 1, 2)
        }
        first = (f[1] - f[-1]) / (2 * H)
        second = (f[1] - 2 * f[0] + f[-1]) / H**2
        third = (f[2] - 2 * f[1] + 2 * f[-1] - f[-2]) / (2 * H**3)
        return first, second, third


def _identity(instance: Instance) -> Finding:
    charges, x = charges_of(instance), np.asarray(instance["x"], dtype=float)
    with mp.workdps(DIGITS):
        parts = [_differences(charges, x, axis) for axis in np.eye(charges.dim)]
        laplacian = sum(second for _, second, _ in parts)
        right = mpf(charges.lam) - sum(first**2 for first, _, _ in parts)
        scale = charges.lam + sum(abs(second) for _, second, _ in parts)
        error = float(abs(laplacian - right) / scale)
    here = charges.at(x)
    apart = abs(float(laplacian) - np.trace(here.hessian)) / float(scale)
    return Finding(error < 1e-20 and apart < 1e-9, {"error": error, "error of SciPy's": apart})


# Critical points.


def _critical(rng: np.random.Generator, index: int) -> Instance:
    """Where Newton's method leads from between two charges; or amid 2 d equal ones, a minimum."""
    if index % 5 == 4:
        dim = DIMS[index // 5 % 4]
        y = rng.uniform(1.0, 3.0) * np.concatenate([np.eye(dim), -np.eye(dim)])
        return {"y": y, "q": np.ones(2 * dim), "lam": 1.0, "x": np.zeros(dim)}
    while True:
        instance = _random(rng, index)
        charges = charges_of(instance)
        share = rng.uniform(-1.0, 2.0)  # also behind a charge, where those of other signs balance
        start = share * charges.y[0] + (1 - share) * charges.y[1]
        found = _newton(charges, start + 0.05 * rng.standard_normal(charges.dim))
        if found is not None:
            return instance | {"x": found}


def _newton(charges: Charges, start: np.ndarray) -> np.ndarray | None:
    def derivatives(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = charges.at(x)
        return here.gradient, here.hessian

    x = root(derivatives, start, jac=True, options={"maxfev": 100}).x
    here = charges.at(x)
    off = here.nearest > RADIUS and np.linalg.norm(x) < 10 and here.kappa < 1e3
    return x if off and np.linalg.norm(here.gradient) < 1e-10 else None


def _bends_upwards(instance: Instance) -> Finding:
    charges, x = charges_of(instance), np.asarray(instance["x"], dtype=float)
    here = charges.at(x)
    values, vectors = np.linalg.eigh(here.hessian)
    exact = float(_differences(charges, x, vectors[:, -1])[1])
    least = charges.lam / charges.dim
    numbers = {
        "curvature d/lambda": exact / least,
        "gradient": float(np.linalg.norm(here.gradient)),
        "least eigenvalue": float(values[0]),
    }
    return Finding(bool(exact >= least * (1 - 1e-9)), numbers)


# Constants: u, u^2 and 2 u^3; kappa along a step; what a step gains.


def _derivatives_are_bounded(instance: Instance) -> Finding:
    """Of Phi over all r >= eps; of log|C| at a point, in its worst direction and a random one."""
    charges, x = charges_of(instance), np.asarray(instance["x"], dtype=float)
    here, dim = charges.at(x), charges.dim
    radius = min(RADIUS, here.nearest)
    u = Constants(dim, radius, charges.lam, 1.0).u
    phi = jet(dim, charges.lam, radius * np.geomspace(1, 1e3, 400))
    k = here.kappa
    limits = (u * k, u**2 * k * (1 + k), u**3 * (2 * k + 3 * k**2 + 2 * k**3))
    away = (x - charges.y[0]) / np.linalg.norm(x - charges.y[0])
    along = [abs(float(part)) for part in _differences(charges, x, away)]
    norms = (
        float(np.linalg.norm(here.gradient)),
        float(np.abs(np.linalg.eigvalsh(here.hessian)).max()),
        along[2],
    )
    numbers = {
        "|Phi'|/(u Phi)": float(phi.first.max()) / u,
        "Phi''/(u^2 Phi)": float(phi.second.max()) / u**2,
        "|Phi'''|/(2 u^3 Phi)": float(phi.third.max()) / (2 * u**3),
        "gradient/bound": norms[0] / limits[0],
        "Hessian/bound": norms[1] / limits[1],
        "third/bound": norms[2] / limits[2],
    }
    falls = all(np.all(np.diff(part) <= 0) for part in (phi.first, phi.second, phi.third))
    agrees = along[0] <= norms[0] * (1 + 1e-9) and along[1] <= norms[1] * (1 + 1e-9)
    return Finding(bool(max(numbers.values()) <= 1 and falls and agrees), numbers)


def _nearly_cancelled(rng: np.random.Generator, index: int) -> Instance:
    """A point where charges of both signs leave little of C: kappa from 2 to 20."""
    while True:
        instance = _point(rng, index)
        charges = charges_of(instance)
        x = charges.y.mean(axis=0) + rng.standard_normal(charges.dim)
        here = charges.at(x)
        if here.nearest >= 2 * RADIUS and 2 <= here.kappa <= 20:
            return instance | {"x": x}


def _kappa_doubles_at_most(instance: Instance) -> Finding:
    """Against the gradient, where |C| falls fastest."""
    charges, x = charges_of(instance), np.asarray(instance["x"], dtype=float)
    here = charges.at(x)
    length = Constants(charges.dim, RADIUS, charges.lam, here.kappa).longest
    way = here.gradient / np.linalg.norm(here.gradient)
    steps = length * np.linspace(0, 1, 20)
    most = max(charges.at(x - t * way).kappa for t in steps)
    numbers = {"kappa": here.kappa, "most/kappa": most / here.kappa}
    return Finding(bool(most <= 2 * here.kappa), numbers)


def _near_saddle(rng: np.random.Generator, index: int) -> Instance:
    """A point off the cores; every second one where the gradient is small."""
    if index % 2:
        return _point(rng, index // 2)
    while True:
        instance = _critical(rng, index // 2)
        charges = charges_of(instance)
        x = instance["x"] + 0.1 * rng.random() * rng.standard_normal(charges.dim)
        here = charges.at(x)
        small = np.linalg.norm(here.gradient) < math.sqrt(charges.lam) / 2
        if here.nearest >= 2 * RADIUS and here.kappa < 20 and small:
            return instance | {"x": x}


def _gains(instance: Instance) -> Finding:
    charges, x = charges_of(instance), np.asarray(instance["x"], dtype=float)
    here = charges.at(x)
    constants = Constants(charges.dim, RADIUS, charges.lam, here.kappa)
    way, curved = step(constants, Seen(here.gradient, here.hessian))
    ratio = charges.gain(x, x + way) / constants.gains()[curved]
    short = float(np.linalg.norm(way)) / constants.longest
    numbers = {"gain/promised": ratio, "step u K": short / 4, "by curvature": float(curved)}
    return Finding(bool(ratio >= 1 - 1e-9 and short <= 1), numbers)


LOG_ASCENT = Claim(
    id="log-ascent",
    title="Off the cores log|C| has no maximum, and a climb of it is short",
    sources=Sources(full="not in the texts: ours, beside Theorem 4.6"),
    oracle="exact C in the log domain, with derivatives; with errors tau where a statement says",
    definition="of maxima of log|C|: no larger value nearby",
    hypotheses=(
        "C = sum_j q_j Phi(|x - y_j|), Phi lambda-harmonic for r >= eps, d >= 2",
        "kappa = sum_j |q_j| Phi_j/|C| <= K at every iterate; for charges of one sign K = 1",
    ),
    statements=(
        Statement(
            "laplacian",
            "Laplacian log|C| = lambda - |grad log|C||^2",
            _point,
            _identity,
            quick=4,
            thorough=40,
        ),
        Statement(
            "bends-upwards",
            "every critical point of log|C| off the cores has an upward curvature >= lambda/d",
            _critical,
            _bends_upwards,
            quick=5,
            thorough=60,
        ),
        Statement(
            "derivatives-are-bounded",
            "|grad Phi| <= u Phi, |Hessian| <= u^2 Phi, |third| <= 2 u^3 Phi for r >= eps, "
            "u = sqrt(lambda) + (d - 1)/eps; of log|C| by u k, u^2 k (1 + k), "
            "u^3 (2 k + 3 k^2 + 2 k^3), k = kappa",
            _point,
            _derivatives_are_bounded,
            quick=4,
            thorough=60,
        ),
        Statement(
            "kappa-at-most-doubles",
            "on a step of length 1/(4 u K) from kappa = K",
            _nearly_cancelled,
            _kappa_doubles_at_most,
            quick=4,
            thorough=60,
        ),
        Statement(
            "a-step-gains",
            "a gradient step lambda/(48 u^2 K^2), a curvature step lambda^3/(12288 d^3 u^6 K^6)",
            _near_saddle,
            _gains,
            quick=6,
            thorough=60,
        ),
        *CLIMB_STATEMENTS,
        *ERROR_STATEMENTS,
    ),
    remarks=(
        "Not proved: that kappa stays bounded along a climb of charges of both signs; that starts "
        "see every unit; anything inside the cores; later rounds, in which placed units have "
        "errors and C is what is left of nearly cancelled pairs.",
        "The bound is polynomial in d, 1/eps, 1/lambda and K, and far above what climbs take: its "
        "steps are those of the worst place, the edge of a core.",
    ),
)
