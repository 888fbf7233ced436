"""Lemma 4.2 and B.9 for the ball core, with which the library learns: what holds there.

Inside r < eps, with u = r^2 and g(u) = -Phi'(r), the ball core has

    g(u) = sum_(j <= m) g_j (eps^2 - u)^j,   g_j = (-1)^j g^(j)(eps^2)/j! > 0,   m = floor(d/2),

g completely monotone outside. So the signs that Lemma 4.2 gives the derivatives by r hold for those
of -Phi' by r^2, all of them: (-d/du)^j g >= 0. By r three are left,

    Phi > 0,    Phi' = -g < 0,    Phi'' = -2 r g' >= 0,

and the fourth fails: Phi''' = -2 g' - 4 u g'' is -2 g'(0) > 0 at r = 0 wherever m >= 1. It is
positive up to some r_3 < eps (where 2 u g'' = -g') and negative beyond. What the proofs of Theorems
4.1 and 4.6 take from the lemma is Phi' < 0, bounds on three derivatives, and bounds on Phi and
Phi' for r >= eps. These hold with the lemma's own constants, and the bounds for all k <= d - 1: the
ball core is below the paper's (Phi(0) is smaller before it is normalised), and Bernstein
coefficients bound its derivatives inside. (At r = eps those beyond the (m+1)-th jump;
both sides are bounded.)
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.duality.families.cores import exact_core
from earnshaw.papers.claims.claim import Finding, Instance
from earnshaw.papers.claims.duality._core_references import DIGITS, PaperCore

DIMS = (7, 3, 11, 5, 15, 9, 19)


def draw_ball(rng: np.random.Generator, index: int) -> Instance:
    """A ball core and places outside it."""
    radius = float(rng.uniform(0.05, 0.9))
    return {
        "dim": DIMS[index % len(DIMS)],
        "radius": radius,
        "lam": float(rng.uniform(0.3, 4.0)),
        "r": radius * np.append(1.0, np.geomspace(1.05, 20 / radius, 7)),
    }


def edge_terms(dim: int, radius: float, lam: float) -> list[Any]:
    """g_0, ..., g_m, from differences of g = -Phi' in many digits: no recurrence of the library's.

    Phi = k_nu(s r), so g(u) = s z k_(nu+1)(z), z = s sqrt(u), k_mu(z) = z^(-mu) K_mu(z); for odd d
    K has a half-integer order, which mpmath evaluates fast.
    """
    s, order = mpmath.sqrt(mpmath.mpf(lam)), dim // 2
    nu = mpmath.mpf(dim) / 2

    def g(u: Any) -> Any:
        z = s * mpmath.sqrt(u)
        return s * z ** (1 - nu) * mpmath.besselk(nu, z)

    series = mpmath.taylor(g, mpmath.mpf(radius) ** 2, order)
    return [(-1) ** j * term for j, term in enumerate(series)]


def ball_signs(instance: Instance) -> Finding:
    """Signs by u from our g_j and by r from the library's coefficients, and where Phi''' turns."""
    dim, radius, lam = int(instance["dim"]), float(instance["radius"]), float(instance["lam"])
    with mpmath.workdps(DIGITS + 2 * dim):
        terms = edge_terms(dim, radius, lam)
        eps = mpmath.mpf(radius)
        _, value, _, slope, curvature, _ = exact_core(dim, radius, lam, "ball")
        # Phi'''/2 = -g' - 2 u g'' as a polynomial in w = eps^2 - u.
        falls = [j * term for j, term in enumerate(terms)][1:]
        bends = [j * (j - 1) * term for j, term in enumerate(terms)][2:]
        third = lambda w: (  # noqa: E731
            mpmath.polyval(falls[::-1], w)
            - 2 * (eps**2 - w) * (mpmath.polyval(bends[::-1], w) if bends else 0)
        )
        at_0, at_edge = third(eps**2), third(mpmath.mpf(0))
        turn = mpmath.mpf(1)
        if at_edge < 0:
            turn = mpmath.sqrt(1 - mpmath.findroot(third, (0, eps**2), solver="anderson") / eps**2)
        # The library's slope at 0 is g(0) over Phi(0), Phi(0) the integral of g and Phi(eps).
        inner = [term * eps ** (2 * j) for j, term in enumerate(terms)]
        spread = [t * mpmath.beta(mpmath.mpf(1) / 2, j + 1) / 2 for j, t in enumerate(inner)]
        s, nu = mpmath.sqrt(mpmath.mpf(lam)), mpmath.mpf(dim) / 2 - 1
        origin = eps * mpmath.fsum(spread) + (s * eps) ** -nu * mpmath.besselk(nu, s * eps)
        numbers = {
            "smallest_term": float(min(inner) / inner[0]),
            "smallest_coefficient": float(min(min(p) for p in (value, slope, curvature))),
            "slope_error": float(abs(slope[0] / (mpmath.fsum(inner) / origin) - 1)),
            "third_at_0": float(2 * at_0 * eps**3 / origin),
            "third_turns_at_over_eps": float(turn),
        }
    signs = numbers["smallest_term"] > 0 and numbers["smallest_coefficient"] >= 0
    good = signs and numbers["slope_error"] < 1e-30 and numbers["third_at_0"] > 0
    return Finding(bool(good and (dim == 3) == (numbers["third_turns_at_over_eps"] == 1)), numbers)


def ball_bounds(instance: Instance) -> Finding:
    """B.9's five bounds, as for the paper's core; inside by the largest Bernstein coefficient."""
    dim, eps = int(instance["dim"]), float(instance["radius"])
    lam, r = float(instance["lam"]), np.asarray(instance["r"], float)
    s, phi = math.sqrt(lam), AlmostHarmonic(dim, eps, lam)
    with mpmath.workdps(DIGITS + 2 * dim):
        _, value, *_ = exact_core(dim, eps, lam, "ball")
        degree = len(value) - 1
        row = [term / math.comb(degree, i) for i, term in enumerate(value)]
        paper = PaperCore(dim, eps, s)
        # Both cores are the same outside: what the ball's is there, over its value at 0.
        scale = value[-1] / paper.outside(0, eps)
        largest = mpmath.mpf(0)
        for k in range(dim):
            size = mpmath.ff(degree, k) / mpmath.mpf(eps) ** k
            largest = max(largest, size * max(abs(term) for term in row))
            largest = max(largest, abs(scale * paper.outside(k, eps)))
            row = [b - a for a, b in pairwise(row)] or [mpmath.mpf(0)]
        derivatives = float(mpmath.log(largest))
        below = float(1 / (scale * paper.origin))
    log_value, rate = np.asarray(phi.log_value(r)), np.asarray(phi.log_first(r))
    log_slope = log_value + np.log(-rate)
    power = 2 * dim * math.log((2 * dim + s) / eps) + math.log(3)
    tail = -s * r + (2 - dim) * np.log(r)
    upper = dim * np.log1p(s * r) + s + tail
    logs = {
        "derivatives_over_bound": derivatives - power - s,
        "lower_bound_over_value": float(np.max(tail - power - log_value)),
        "value_over_upper_bound": float(np.max(log_value - upper)),
        "lower_bound_over_slope": float(np.max(tail - np.log(r) - power - log_slope)),
        "slope_over_upper_bound": float(
            np.max(log_slope - upper - np.log(dim + s * r) + np.log(r))
        ),
    }
    numbers = {name: math.exp(one) for name, one in logs.items()}
    numbers["origin_over_the_papers"] = below
    return Finding(max(logs.values()) <= 0 and below <= 1 + 1e-12, numbers)
