"""What an additive error tau on C does to the log ascent: how much it bears, and what hides all.

The oracle errs by tau on C, u tau on its gradient and u^2 tau on its Hessian, as it likes.

- With tau <= |C(x_0)| lambda^2/(3072 d^2 u^4 K^4) a step still gains half of what it gains without;
  |C| rises along the climb, so that its start is the worst place.
- With tau >= sum_j |q_j| Phi_j at all points that are asked, 0 is an allowed answer everywhere, for
  every teacher. For units of N(0, sigma^2 I) N points see any of k units with probability at most
  N k P(chi^2_d <= (r/sigma)^2), where Q Phi(r) = tau, whoever chooses the points.

Source: mathematics.md, "A theorem for the log ascent".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

from earnshaw.papers.claims.claim import Draw, Finding, Instance, Statement
from earnshaw.papers.claims.learning._log_potential import (
    Constants,
    Here,
    Seen,
    charges_of,
    jet,
    step,
)
from earnshaw.papers.claims.learning._screened_charges import potential

Asked = Callable[[np.ndarray], tuple[float, np.ndarray]]
RADIUS = 0.1
UNITS = 16
TEACHERS = 200


def paper_charges(rng: np.random.Generator, dim: int, units: int) -> dict[str, Any]:
    """Protons of N(0, d log d I), charges uniform on +-[0.1, 1]."""
    y = math.sqrt(dim * math.log(dim)) * rng.standard_normal((units, dim))
    q = rng.choice([-1.0, 1.0], units) * rng.uniform(0.1, 1.0, units)
    return {"y": y, "q": q, "lam": 1.0}


def adversary(here: Here, share: float, u: float) -> Seen:
    """The oracle's answers with tau = share |C|: against the gradient, and against the bend."""
    second = here.hessian + np.outer(here.gradient, here.gradient)
    v = np.linalg.eigh(here.hessian)[1][:, -1]
    slope = np.linalg.norm(here.gradient)
    back = here.gradient / slope if slope > 0 else v
    # Relative to C: C~ = C (1 + share), and the derivatives less what they may lose.
    gradient = (here.gradient - u * share * back) / (1 + share)
    second = second - u**2 * share * np.outer(v, v)
    return Seen(gradient, second / (1 + share) - np.outer(gradient, gradient))


def _near_saddle(rng: np.random.Generator, index: int) -> Instance:
    """Two equal charges and a point near their middle; every second one anywhere."""
    dim = (3, 5, 7)[index % 3]
    y = 3 / math.sqrt(dim) * rng.standard_normal((2, dim))
    x = y.mean(axis=0) + (0.05, 1.0)[index // 3 % 2] * rng.standard_normal(dim) / math.sqrt(dim)
    return {"y": y, "q": np.ones(2), "lam": 1.0, "x": x, "radius": 0.3}


def _gains_with_errors(instance: Instance) -> Finding:
    charges, x = charges_of(instance), np.asarray(instance["x"], dtype=float)
    here = charges.at(x)
    constants = Constants(charges.dim, instance["radius"], charges.lam, here.kappa)
    seen = adversary(here, constants.tolerated, constants.u)
    way, curved = step(constants, seen)
    ratio = charges.gain(x, x + way) / constants.gains(noisy=True)[curved]
    share = constants.tolerated
    numbers = {"gain/promised": ratio, "tau/|C|": share, "by curvature": float(curved)}
    return Finding(bool(ratio >= 1 and here.nearest >= 2 * constants.radius), numbers)


# The first unit of the papers' teacher, with random errors.


def _with_tau(powers: tuple[int, ...]) -> Draw:
    def draw(rng: np.random.Generator, index: int) -> Instance:
        tau = 10.0 ** powers[index % len(powers)]
        seed = int(rng.integers(2**31))
        return paper_charges(rng, 7, UNITS) | {"tau": tau, "seed": seed}

    return draw


def _finds_a_unit(instance: Instance) -> Finding:
    """The rule of node-wise: 8 of 256 starts climb, and the best end, as seen, is the unit."""
    y, q = (np.asarray(instance[name], dtype=float) for name in ("y", "q"))
    tau, dim, phi = instance["tau"], y.shape[1], potential(y.shape[1], RADIUS)
    rng = np.random.default_rng(instance["seed"])

    def asked(x: np.ndarray) -> tuple[float, np.ndarray]:
        away = x - y
        r = np.linalg.norm(away, axis=1)
        value, first, _ = phi(r)
        error = rng.standard_normal(dim)
        error *= rng.random() ** (1 / dim) / np.linalg.norm(error)
        return float(value @ q + tau * rng.uniform(-1, 1)), (q * first / r) @ away + tau * error

    points = math.sqrt(dim * math.log(dim)) * rng.standard_normal((256, dim))
    seen = [asked(x) for x in points]
    order = np.argsort([-abs(value) for value, _ in seen])[:8]
    ends = [_ascended(asked, points[i], *seen[i]) for i in order]
    x, _ = max(ends, key=lambda end: abs(end[1]))
    nearest = float(np.linalg.norm(x - y, axis=1).min())
    start = potential(dim, RADIUS)(np.linalg.norm(points[:, None] - y, axis=-1))[0] @ q
    numbers = {"nearest": nearest, "log10 |C| at the best start": math.log10(np.abs(start).max())}
    return Finding(nearest <= RADIUS, numbers | {"log10 tau": math.log10(tau)})


def _ascended(
    asked: Asked, x: np.ndarray, value: float, slope: np.ndarray
) -> tuple[np.ndarray, float]:
    """Steps along the gradient of |C| as seen, 1.5 times as long after a gain, else halved."""
    length = 0.7 * float(np.linalg.norm(x))
    for _ in range(400):
        tried = x + length * math.copysign(1, value) * slope / np.linalg.norm(slope)
        there, steep = asked(tried)
        if abs(there) > abs(value):
            x, value, slope, length = tried, there, steep, 1.5 * length
        else:
            length /= 2
        if length < 1e-12:
            break
    return x, value


def _hidden(rng: np.random.Generator, index: int) -> Instance:
    return {"dim": (7, 3, 15)[index % 3], "points": 256, "seed": int(rng.integers(2**31))}


def _nothing_is_seen(instance: Instance) -> Finding:
    """tau at which at most one teacher in ten shows anything to 256 points; counted."""
    dim, points = instance["dim"], instance["points"]
    rng, variance = np.random.default_rng(instance["seed"]), dim * math.log(dim)
    radius = math.sqrt(variance * float(chi2.ppf(0.1 / (points * UNITS), dim)))
    x = math.sqrt(variance) * rng.standard_normal((points, dim))
    seen = 0
    for _ in range(TEACHERS):
        charges = paper_charges(rng, dim, UNITS)
        r = np.linalg.norm(x[:, None] - charges["y"], axis=-1)
        # In units of Phi(radius): S = sum |q_j| Phi_j against tau = Q Phi(radius).
        phi = np.exp(jet(dim, 1.0, r).log - float(jet(dim, 1.0, radius).log))
        q = np.abs(charges["q"])
        seen += bool(np.any(phi @ q > q.sum()))
    below = (radius**2 / variance / dim) * math.exp(1 - radius**2 / variance / dim)
    depth = float(jet(dim, 1.0, max(radius, RADIUS)).log - jet(dim, 1.0, RADIUS).log)
    numbers = {
        "share of teachers": seen / TEACHERS,
        "r": radius,
        "log10 tau/(Q Phi(eps))": depth / math.log(10),
        "P/Chernoff's bound": 0.1 / (points * UNITS) / below ** (dim / 2),
    }
    # 0.1 and three standard errors of the count.
    allowed = 0.1 + 3 * math.sqrt(0.09 / TEACHERS)
    return Finding(seen / TEACHERS <= allowed and numbers["P/Chernoff's bound"] <= 1, numbers)


ERROR_STATEMENTS = (
    Statement(
        "bears-errors",
        "with tau <= |C| lambda^2/(3072 d^2 u^4 K^4), against it, a step gains half as much",
        _near_saddle,
        _gains_with_errors,
        quick=4,
        thorough=60,
    ),
    Statement(
        "first-unit-at-1e-12",
        "d = 7, k = 16: with errors of 1e-12 and less on C and its gradient a unit is found",
        _with_tau((-12, -13, -14)),
        _finds_a_unit,
        quick=2,
        thorough=60,
    ),
    Statement(
        "first-unit-at-1e-10",
        "the same with errors of 1e-10",
        _with_tau((-10,)),
        _finds_a_unit,
        role="beyond",
        quick=2,
        thorough=20,
    ),
    Statement(
        "first-unit-at-1e-8",
        "the same with errors of 1e-8 and more",
        _with_tau((-8, -7, -6)),
        _finds_a_unit,
        role="beyond",
        quick=1,
        thorough=60,
    ),
    Statement(
        "hidden-by-errors",
        "256 points, wherever they are, see any of 16 units of N(0, d log d I) with probability at "
        "most 256 16 P(chi^2_d <= r^2/(d log d)) once tau >= Q Phi(r)",
        _hidden,
        _nothing_is_seen,
        quick=1,
        thorough=9,
    ),
)
