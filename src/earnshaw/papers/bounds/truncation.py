"""Where to cut off a Gaussian: X ~ N(0, I_d) at |X| <= B, so that activations are bounded.

B is the least radius at which that changes no expectation of |f| <= c |x|^p by more than a given
error (EPD, Lemma B.1).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc, gammaln

from earnshaw.limits import check_integer, check_real
from earnshaw.papers.bounds.checks import not_negative

SMALLEST = 1e-280  # what cannot be divided by
SHORTEST = 1e-6  # radius at which there is nothing left to truncate


def truncation_error(dim: int, power: float, radius: float, constant: float = 1.0) -> float:
    """The largest |E f(X) - E[f(X) | |X| <= B]| over all |f(x)| <= c |x|^p.

    It is c (E[|X|^p; |X| > B] + (1/P - 1) E[|X|^p; |X| <= B]) with P = P(|X| <= B), reached by an f
    that changes sign at B.
    """
    half = check_integer("dimension", dim, 1) / 2
    power, constant = not_negative("power", power), check_real("constant", constant, 0.0)
    radius = check_real("radius", radius, 0.0)
    t = radius**2 / 2
    moment = math.exp(power / 2 * math.log(2) + gammaln(half + power / 2) - gammaln(half))
    mass = gammainc(half, t)
    # In a ball so small that it has no mass to speak of, X is uniform.
    within = radius**power * half / (half + power / 2)
    if mass > SMALLEST:
        within = moment * gammainc(half + power / 2, t) / mass
    outside = moment * gammaincc(half + power / 2, t)
    return float(constant * (outside + gammaincc(half, t) * within))


def truncation_radius(dim: int, power: float, error: float, constant: float = 1.0) -> float:
    """The least B from which on no such expectation changes by more than `error`; 0 if every B."""
    error = check_real("error", error, 0.0)

    def excess(radius: float) -> float:
        found = truncation_error(dim, power, radius, constant)
        return math.log(max(found, SMALLEST)) - math.log(error)

    high = 2 * math.sqrt(dim + power)
    while excess(high) > 0:
        high *= 2
    low = high  # by small steps: the error may rise with B at first
    while excess(low) <= 0:
        high, low = low, 0.97 * low
        if low < SHORTEST:
            return 0.0
    return float(brentq(excess, low, high, xtol=1e-12))
