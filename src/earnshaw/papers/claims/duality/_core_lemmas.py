"""What a core is made of: Full, Lemma B.7 and B.8, their instances and their tests.

Lemma B.7 wants a realizable Phi_t with Phi_t^(d-1) = t - r for eps < r < t and r (t - eps)/eps
inside. Its proof takes int_eps^t Phi_x(r)/x^2 dx, Phi_x the overlap of balls of diameter x, and
differentiates under the integral, where from d = 7 on there are jumps at r = x (mathematics.md,
error 11). Right, in every odd d, is ((t - r)_+^d - (t/eps) (eps - r)_+^d)/d!.

Lemma B.8 continues a Phi with derivatives of alternating signs into the core as
int_eps^inf Phi^(d+1)(x) Phi_x(r) dx.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np

from earnshaw.papers.claims.claim import Finding, Instance
from earnshaw.papers.claims.duality._core_references import inside
from earnshaw.papers.claims.duality._expectations import panels, sphere_area


def draw_b7(rng: np.random.Generator, index: int) -> Instance:
    return {"dim": (7, 5, 3, 11, 9, 13)[index % 6], "ratio": float(rng.uniform(0.1, 0.95))}


def lemma_b7(instance: Instance) -> Finding:
    """The transform is positive, and the (d-1)-th derivative the one that is wanted; t = 1."""
    dim, eps = int(instance["dim"]), float(instance["ratio"])
    proved, lowest = positive_transform(dim, dim, eps)
    numbers = {"smallest_scaled_transform": lowest}
    return Finding(proved and _b7_derivative(dim, Fraction(eps)), numbers)


def positive_transform(dim: int, power: int, eps: float) -> tuple[bool, float]:
    """Whether (1 - r)_+^p - (eps - r)_+^p/eps has a transform > 0 in R^dim, for k <= 80.

    int (1-r)^p r^(d-1) Lambda_d(k r) dr is a power series in k^2, summed in balls of 1000 bits.
    Also the smallest k^(d+1) F(k)/F(0) (k > 1), which has a limit for p = d: that of the cusp.
    """
    with flint.ctx.workprec(1000):
        half, factor, terms = flint.arb(dim) / 2, flint.arb(1), []
        for j in range(260):
            # B(d + 2j, p + 1) = (d + 2j - 1)! p!/(d + 2j + p)!
            beta = flint.arb(math.factorial(power)) / math.perm(dim + 2 * j + power, power + 1)
            terms.append(factor * beta)
            factor *= -flint.arb(1) / (4 * (j + 1) * (half + j))
        series, small = flint.arb_poly(terms), flint.arb(eps)
        proved, lowest = True, math.inf
        for k in np.linspace(0.1, 80, 200):
            square = flint.arb(float(k)) ** 2
            value = series(square) - small ** (power + dim - 1) * series(square * small**2)
            proved &= bool(value > 0)
            lowest = min(lowest, float(value) * max(float(k), 1.0) ** (dim + 1) / float(terms[0]))
    return proved, lowest


def _b7_derivative(dim: int, eps: Fraction) -> bool:
    """Whether the (d-1)-th derivative is d! (1 - r) beyond eps and d! r (1 - eps)/eps inside.

    (t - r)_+^d has the (d-1)-th derivative d! (t - r)_+, since d - 1 is even.
    """
    inner = [eps * Fraction(i, 7) for i in range(1, 7)]
    outer = [eps + (1 - eps) * Fraction(i, 7) for i in range(1, 7)]
    derivative = lambda r: max(1 - r, 0) - max(eps - r, 0) / eps  # noqa: E731  (over d!)
    within = all(derivative(r) == r * (1 - eps) / eps for r in inner)
    return dim % 2 == 1 and within and all(derivative(r) == 1 - r for r in outer)


def draw_b7_proof(rng: np.random.Generator, index: int) -> Instance:
    return {"dim": (7, 11, 15, 3)[index % 4]}


def lemma_b7_proof(instance: Instance) -> Finding:
    """The (d-1)-th derivative of int_r^t Phi_x(r)/x^2 dx is B - r/t, exactly; the proof has B = 1.

    Phi_x' = -(x^2 - r^2)^h/(d-1)!, h = (d-1)/2, is scaled so that Phi_x^(d-1) = r for r < x, as
    the proof does. Integrated over x, only the powers r^(d-1) and r^(d-2) of the sum survive d-2
    derivatives; the first gives -r/t.
    """
    dim = int(instance["dim"])
    half = (dim - 1) // 2
    total = Fraction((-1) ** half)
    for j in range(half):
        total -= Fraction(math.comb(half, j) * (-1) ** j, 2 * (half - j) - 1)
    constant = -total * math.factorial(dim - 2) / math.factorial(dim - 1)
    return Finding(constant == 1, {"constant": float(constant), "dim": dim})


# --- Lemma B.8 ------------------------------------------------------------------------------------


def draw_b8(rng: np.random.Generator, index: int) -> Instance:
    return {
        "dim": (3, 7, 5, 11)[index % 4],
        "radius": float(rng.uniform(0.1, 1.0)),
        "rates": rng.uniform(0.3, 3.0, 3),
        "weights": rng.uniform(0.1, 1.0, 3),
    }


def lemma_b8(instance: Instance) -> Finding:
    """Phi = sum w_i exp(-s_i r): the continuation, its integral form, its signs and its bounds."""
    dim, radius = int(instance["dim"]), float(instance["radius"])
    with mpmath.workdps(40):
        pairs = [
            (mpmath.mpf(float(w)), mpmath.mpf(float(s)))
            for w, s in zip(instance["weights"], instance["rates"], strict=True)
        ]
        eps = mpmath.mpf(radius)

        def phi(k: int, r: Any) -> Any:
            return (-1) ** k * mpmath.fsum(w * s**k * mpmath.exp(-s * r) for w, s in pairs)

        def block(x: Any, r: Any) -> Any:
            """Lemma B.7's potential for t = x, over d!."""
            outer = max(x - r, mpmath.mpf(0)) ** dim
            return (outer - x / eps * max(eps - r, mpmath.mpf(0)) ** dim) / mpmath.factorial(dim)

        def mixed(r: Any) -> Any:
            low = max(r, eps)
            weighed = lambda x: phi(dim + 1, x) * block(x, r)  # noqa: E731
            return mpmath.quad(
                weighed, [low, low + 1, low + 4, low + 16, low + 64, low + 256, low + 900]
            )

        edge = [phi(k, eps) for k in range(dim)]
        places = [eps * x / 8 for x in range(8)]
        off = [abs(mixed(r) - inside(edge, radius, 0, r)) for r in places[1::3]]
        off += [abs(mixed(r) - phi(0, r)) for r in (2 * eps, 3 * eps)]
        margin, ratio = mpmath.inf, mpmath.mpf(0)
        for r in places[1:]:
            for k in range(dim):
                here = inside(edge, radius, dim - 1 - k, r)
                margin = min(margin, (-1) ** (dim - 1 - k) * here / abs(edge[dim - 1 - k]))
                steps = (
                    (eps - r) ** (k - j + 1) / mpmath.factorial(k - j + 1) * abs(edge[dim - j])
                    for j in range(1, k + 1)
                )
                ratio = max(ratio, abs(here) / (abs(edge[dim - 1 - k]) + mpmath.fsum(steps)))
        numbers = {
            "mixture_error": float(max(off) / phi(0, 0)),
            "smallest_sign": float(margin),
            "largest_over_bound": float(ratio),
        }
    held = numbers["mixture_error"] < 1e-20 and margin > 0 and ratio <= 1
    return Finding(held, numbers)


def draw_slow(rng: np.random.Generator, index: int) -> Instance:
    dim = (3, 7, 11)[index % 3]
    return {"dim": dim, "power": float(rng.uniform(0.2, dim / 2))}


def slow_decay(instance: Instance) -> Finding:
    """Phi = r^-p: completely monotone with derivatives that vanish at infinity, but too slowly.

    Its squared norm between R and 10 R is proportional to R^(d-2p).
    """
    dim, p = int(instance["dim"]), float(instance["power"])
    shells = []
    for low in (1e2, 1e4):
        r, weights = panels(low * np.geomspace(1, 10, 9), 10)
        shells.append(float(sphere_area(dim) * np.sum(weights * r ** (dim - 1 - 2 * p))))
    growth = shells[1] / shells[0]
    return Finding(growth < 1, {"norm_of_a_later_decade_over_an_earlier": growth})
