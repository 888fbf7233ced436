"""The almost lambda-harmonic potential (Full, Lemma 4.2, B.7 to B.9), and Lemma B.10.

Outside a core of radius eps it is Phi(r) = p(r) exp(-s r) r^(2-d), s = sqrt(lambda), which has
Laplacian lambda Phi; inside it is bounded, so that a network can have it. What is tested:

- the construction, with the paper's core and with ours, against `core_references`;
- Lemma B.9's signs of derivatives and its bounds, normalised to Phi(0) = 1,

      |Phi^(k)| <= 3 (2d + s)^(2d) eps^(-2d) exp(s),    k <= d - 1,
      exp(-s r) r^(2-d) (2d + s)^(-2d) eps^(2d)/3 <= Phi <= (1 + s r)^d exp(s (1 - r)) r^(2-d),
      exp(-s r) r^(1-d) (2d + s)^(-2d) eps^(2d)/3 <= |Phi'|
                                                  <= (d + s r) (1 + s r)^d exp(s (1 - r)) r^(1-d),

  the last two for r >= eps, and the constants that make Lemma 4.2's O() and Omega() true;
- that it is realizable: its transform is positive, in every odd d with the paper's core and in
  every d with ours. It is what Lemma B.7 is for, whose statement is true and whose proof is not:
  integral_eps^t Phi_x(r)/x^2 dx has the (d-1)-th derivative B - r/t with B = 1 for d = 3 alone
  (mathematics.md, error 11). The function (t - r)_+^d - (t/eps) (eps - r)_+^d has the one that is
  wanted;
- Lemma B.8 for mixtures of exponentials.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from scipy import special

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.duality.families.cores import exact_core
from earnshaw.duality.realizing.core_spectrum import core_spectrum
from earnshaw.papers.claims.claim import (
    NO_MINIMUM,
    NOTHING_ASKED,
    Claim,
    Draw,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.duality._ball_core import ball_bounds, ball_signs, draw_ball
from earnshaw.papers.claims.duality._core_lemmas import (
    draw_b7,
    draw_b7_proof,
    draw_b8,
    draw_slow,
    lemma_b7,
    lemma_b7_proof,
    lemma_b8,
    slow_decay,
)
from earnshaw.papers.claims.duality._core_references import DIGITS, BallCore, PaperCore
from earnshaw.papers.claims.duality._expectations import panels, sphere_area

ERROR = 1e-11  # relative, of values, derivatives and transforms

# --- the construction -----------------------------------------------------------------------------

PAPER_DIMS = (
    3,
    7,
    5,
    11,
    9,
    15,
    19,
    31,
)  # the lemma's 3 mod 4, and the odd dimensions it leaves out
BALL_DIMS = (4, 7, 2, 5, 6, 1, 10, 16)


def _draw_core(core: str) -> Draw:
    def draw(rng: np.random.Generator, index: int) -> Instance:
        radius = float(rng.uniform(0.05, 0.9))
        near, far = radius * rng.uniform(0.001, 1, 4), radius + rng.exponential(2.0, 4)
        return {
            "core": core,
            "dim": (PAPER_DIMS if core == "paper" else BALL_DIMS)[index % 8],
            "radius": radius,
            "lam": float(rng.uniform(0.3, 4.0)),
            "r": [*sorted(near), *sorted(far)],
        }

    return draw


def _both_cores(rng: np.random.Generator, index: int) -> Instance:
    return _draw_core(("paper", "ball")[index % 2])(rng, index // 2)


def _library(instance: Instance) -> AlmostHarmonic:
    keys = (int(instance["dim"]), float(instance["radius"]), float(instance["lam"]))
    return AlmostHarmonic(*keys, core=instance["core"])


def _reference(instance: Instance, r: np.ndarray) -> np.ndarray:
    """Phi, Phi', Phi'' over Phi(0) at each r, shape (n, 3)."""
    keys = (int(instance["dim"]), float(instance["radius"]), math.sqrt(float(instance["lam"])))
    if instance["core"] == "paper":
        paper = PaperCore(*keys)
        jets = [[paper.derivative(k, float(x)) / paper.origin for k in range(3)] for x in r]
        return np.array(jets, dtype=float)
    ball = BallCore(*keys)
    return np.array([ball.jet(float(x)) for x in r]) / ball.origin


def _test_construction(instance: Instance) -> Finding:
    phi, r = _library(instance), np.asarray(instance["r"], float)
    ours = np.stack([np.asarray(f(r)) for f in (phi.value, phi.first, phi.second)], axis=1)
    exact = _reference(instance, r)
    # In d = 1 the core is linear: compare with 1, not with a curvature of 0.
    errors = np.max(np.abs(ours - exact) / np.where(exact == 0, 1.0, np.abs(exact)), axis=0)
    names = ("value_error", "slope_error", "curvature_error")
    numbers = dict(zip(names, errors.tolist(), strict=True))
    if instance["core"] == "ball":
        ball = BallCore(phi.dim, float(phi.radius), math.sqrt(float(phi.lam)))
        x = float(phi.radius) * np.geomspace(1, 40, 60)
        numbers["smallest_relative_weight"] = float(np.min(ball.weight(x)) / ball.weight(x)[0])
        if numbers["smallest_relative_weight"] < 0:
            return Finding(False, numbers)
    return Finding(bool(np.max(errors) < ERROR), numbers)


def _test_outside(instance: Instance) -> Finding:
    phi, r = _library(instance), np.asarray(instance["r"], float)
    outer = r[r >= float(phi.radius)]
    value, slope, bend = (np.asarray(f(r))[r >= float(phi.radius)] for f in (
        phi.value, phi.first, phi.second,
    ))  # fmt: skip
    terms = bend, (phi.dim - 1) / outer * slope, -float(phi.lam) * value
    off = np.abs(sum(terms)) / sum(np.abs(term) for term in terms)
    laplacian = np.asarray(phi.laplacian(r))[r >= float(phi.radius)]
    numbers = {
        "equation_error": float(np.max(off)),
        "laplacian_error": float(np.max(np.abs(laplacian / (float(phi.lam) * value) - 1))),
    }
    return Finding(max(numbers.values()) < ERROR, numbers)


# --- signs of derivatives -------------------------------------------------------------------------


def _signed_differences(dim: int, radius: float, lam: float, core: str) -> list[list[Any]]:
    """(-1)^k times the k-th differences of the library's Bernstein coefficients, k < dim.

    (-1)^k Phi^(k) on the core is a positive multiple of the Bernstein polynomial with these
    coefficients, so it is non-negative where they are; the first of them is its value at r = 0.
    """
    with mpmath.workdps(DIGITS + dim):
        _, value, *_ = exact_core(dim, radius, lam, core)
        degree = len(value) - 1
        row = [term / math.comb(degree, i) for i, term in enumerate(value)]
        found = [row]
        for _ in range(dim - 1):
            row = [a - b for a, b in pairwise(row)]
            found.append(row)
        return found


def _test_signs(instance: Instance) -> Finding:
    dim, radius, lam = int(instance["dim"]), float(instance["radius"]), float(instance["lam"])
    core = PaperCore(dim, radius, math.sqrt(lam))
    # Outside: every polynomial q_k has coefficients >= 0, exactly.
    outside = all(c >= 0 for q in core.polynomials for c in q)
    grid = [radius * x for x in (0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)]
    inner = min(
        (-1) ** k * core.derivative(k, r) * mpmath.mpf(radius) ** k / core.origin
        for k in range(dim)
        for r in grid
    )
    ours = min(min(row) for row in _signed_differences(dim, radius, lam, "paper"))
    numbers = {"smallest_inside": float(inner), "smallest_coefficient": float(ours)}
    # The (d-1)-th derivative C r vanishes at 0, to the precision of the arithmetic.
    return Finding(outside and inner > 0 and ours > -(mpmath.mpf(10) ** -DIGITS), numbers)


def _test_ball_signs(instance: Instance) -> Finding:
    dim, radius, lam = int(instance["dim"]), float(instance["radius"]), float(instance["lam"])
    rows = _signed_differences(dim, radius, lam, "ball")
    at_zero = [float(row[0]) for row in rows[: dim - 1]]
    return Finding(min(at_zero) > -1e-30, {"most_negative_at_0": min(at_zero)})


def _draw_ball_signs(rng: np.random.Generator, index: int) -> Instance:
    return {**_draw_core("ball")(rng, 0), "dim": (7, 11, 15)[index % 3]}


# --- realizable -----------------------------------------------------------------------------------

FREQUENCIES = np.concatenate([np.geomspace(1e-3, 1, 20), np.arange(1.2, 300.0, 0.2)])  # k eps
CHECKED = np.array([1e-3, 0.5, 2.0, 5.0, 11.0, 23.0])


def _charge_transform(instance: Instance, k: np.ndarray) -> np.ndarray:
    """The transform of lambda Phi - Laplacian Phi, integrated over the core, over its value at 0.

    Lambda_d(x) = Gamma(d/2) (2/x)^(d/2-1) J_(d/2-1)(x) is the mean of exp(i k.x) over a sphere.
    """
    dim, radius, lam = int(instance["dim"]), float(instance["radius"]), float(instance["lam"])
    r, weights = panels(np.linspace(0, radius, 9), 12)
    value, slope, bend = _reference(instance, r).T
    charge = lam * value - bend - (dim - 1) * slope / r
    if dim == 1:  # the cusp is a point charge
        cusp = -2 * _reference(instance, np.zeros(1))[0, 1]
        return cusp + 2 * np.cos(np.outer(k, r)) @ (weights * charge)
    x, order = np.outer(k, r), dim / 2 - 1
    mean = math.gamma(dim / 2) * (2 / x) ** order * special.jv(order, x)
    return sphere_area(dim) * mean @ (weights * charge * r ** (dim - 1))


def _test_transform(instance: Instance) -> Finding:
    dim, radius, lam = int(instance["dim"]), float(instance["radius"]), float(instance["lam"])
    spectrum = core_spectrum(dim, radius, lam, instance["core"])
    k = FREQUENCIES / radius
    # F falls as k^(-d-1): multiplied by that it has a limit, which is the cusp's.
    scaled = spectrum.value(k) * (k * k + lam) * np.maximum(FREQUENCIES, 1.0) ** (dim - 1)
    at = CHECKED / radius
    direct = _charge_transform(instance, at)
    ours = spectrum.value(at) * (at * at + lam)
    numbers = {
        "smallest_scaled_transform": float(np.min(scaled) / scaled[0]),
        "transform_error": float(np.max(np.abs(ours - direct)) / direct[0]),
    }
    return Finding(
        numbers["smallest_scaled_transform"] > 0 and numbers["transform_error"] < ERROR, numbers
    )


# --- Lemma B.9's bounds, and Lemma 4.2's ----------------------------------------------------------


def _draw_bounds(rng: np.random.Generator, index: int) -> Instance:
    radius = float(rng.uniform(0.05, 0.9))
    far = radius * np.append(1.0, np.geomspace(1.05, 20 / radius, 7))
    drawn = {"core": "paper", "dim": PAPER_DIMS[index % 8], "radius": radius, "r": far}
    return {**drawn, "lam": float(rng.uniform(0.3, 4.0))}


def _draw_unit_bounds(rng: np.random.Generator, index: int) -> Instance:
    return {**_draw_bounds(rng, index), "lam": 1.0}


def _extremes(instance: Instance) -> tuple[float, np.ndarray, np.ndarray]:
    """The largest log|Phi^(k)|, k < d; and log Phi and log|Phi'| at r, both from the library."""
    phi, r = _library(instance), np.asarray(instance["r"], float)
    core = PaperCore(phi.dim, float(phi.radius), math.sqrt(float(phi.lam)))
    # |Phi^(k)| is largest at 0 for k <= d-2, and at eps for k = d-1; 0, eps/2, eps and r cover it.
    places = [0.0, float(phi.radius) / 2, *r.tolist()]
    largest = max(abs(core.derivative(k, x)) for k in range(phi.dim) for x in places)
    value, rate = np.asarray(phi.log_value(r)), np.asarray(phi.log_first(r))
    return float(mpmath.log(largest / core.origin)), value, value + np.log(-rate)


def _test_bounds(instance: Instance) -> Finding:
    dim, eps, s = int(instance["dim"]), float(instance["radius"]), math.sqrt(float(instance["lam"]))
    r = np.asarray(instance["r"], float)
    derivatives, value, slope = _extremes(instance)
    power = 2 * dim * math.log((2 * dim + s) / eps) + math.log(3)
    tail = -s * r + (2 - dim) * np.log(r)
    upper = dim * np.log1p(s * r) + s + tail
    logs = {
        "derivatives_over_bound": derivatives - power - s,
        "lower_bound_over_value": float(np.max(tail - power - value)),
        "value_over_upper_bound": float(np.max(value - upper)),
        "lower_bound_over_slope": float(np.max(tail - np.log(r) - power - slope)),
        "slope_over_upper_bound": float(np.max(slope - upper - np.log(dim + s * r) + np.log(r))),
    }
    held = max(logs.values()) <= 0
    return Finding(held, {name: math.exp(value) for name, value in logs.items()})


def _test_constants(instance: Instance) -> Finding:
    dim, eps = int(instance["dim"]), float(instance["radius"])
    r = np.asarray(instance["r"], float)
    derivatives, value, slope = _extremes(instance)
    power = 2 * dim * math.log(dim / eps)
    tail = -r + (2 - dim) * np.log(r)
    upper = dim * np.log1p(r) + 1 + tail
    numbers = {
        "C_derivatives": math.exp(derivatives - power),
        "c_value": math.exp(float(np.min(value - tail + power))),
        "C_value": math.exp(float(np.max(value - upper))),
        "c_slope": math.exp(float(np.min(slope - tail + np.log(r) + power))),
        "C_slope": math.exp(float(np.max(slope - upper - np.log(dim + r) + np.log(r)))),
    }
    held = max(numbers[name] for name in ("C_derivatives", "C_value", "C_slope")) <= 1
    return Finding(held and min(numbers["c_value"], numbers["c_slope"]) >= 1, numbers)


ALMOST_HARMONIC = Claim(
    id="almost-harmonic",
    title="the almost lambda-harmonic potential: construction, signs, bounds, realizability",
    sources=Sources(full="Lemma 4.2, B.7, B.8, B.9", itcs="Lemma 13"),
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
    hypotheses=(
        "eps in (0.05, 0.9), lambda in (0.3, 4)",
        "paper core: odd d = 3 to 31, more than the lemma's d = 3 mod 4; ball core: d = 1 to 16",
    ),
    statements=(
        Statement(
            "paper-core",
            "inside the core Phi^(d-1) = C r with all lower derivatives matched at eps, outside "
            "p(r) exp(-s r) r^(2-d): Phi, Phi', Phi'' in 60 digits",
            _draw_core("paper"),
            _test_construction,
            thorough=16,
        ),
        Statement(
            "ball-core",
            "-Phi' is a mixture of (x^2 - r^2)_+^m over x >= eps with weights W(x) >= 0",
            _draw_core("ball"),
            _test_construction,
            thorough=16,
        ),
        Statement(
            "lambda-harmonic",
            "Phi'' + (d - 1) Phi'/r = lambda Phi for r >= eps",
            _both_cores,
            _test_outside,
            quick=4,
            thorough=24,
        ),
        Statement(
            "signs",
            "(-1)^k Phi^(k) >= 0 for all k <= d - 1 and r > 0, with the paper's core",
            _draw_core("paper"),
            _test_signs,
            thorough=12,
        ),
        Statement(
            "realizable",
            "F(Phi) > 0: paper core in odd d, ball core in every d; (k^2 + lambda) F(Phi) against "
            "the transform of the charge inside the core",
            _both_cores,
            _test_transform,
            quick=6,
            thorough=24,
        ),
        Statement(
            "lemma-b7",
            "(t - r)_+^d - (t/eps) (eps - r)_+^d has a positive transform and, over d!, the "
            "(d-1)-th derivative t - r beyond eps and r (t - eps)/eps inside, in every odd d",
            draw_b7,
            lemma_b7,
            thorough=12,
        ),
        Statement(
            "lemma-b8",
            "for mixtures of exponentials the continuation is the positive mixture of Lemma B.7's "
            "potentials, equals Phi for r >= eps, has the signs and obeys the bounds",
            draw_b8,
            lemma_b8,
            thorough=12,
        ),
        Statement(
            "lemma-b9-bounds",
            "the five bounds of Lemma B.9 on Phi, Phi' and all derivatives up to the (d-1)-th",
            _draw_bounds,
            _test_bounds,
            thorough=16,
        ),
        Statement(
            "lemma-4-2-constants",
            "lambda = 1: |Phi^(k)| <= C (d/eps)^(2d), Phi and |Phi'| between c and C times the "
            "lemma's functions, all with c = C = 1",
            _draw_unit_bounds,
            _test_constants,
            thorough=16,
            constants={
                "C_derivatives": "O((d/eps)^(2d)) of Lemma 4.2",
                "c_value": "Omega(exp(-r) r^(2-d) (d/eps)^(-2d)) of Lemma 4.2",
                "C_value": "O((1+r)^d exp(1-r) r^(2-d)) of Lemma 4.2",
                "c_slope": "Omega(exp(-r) r^(1-d) (d/eps)^(-2d)) of Lemma 4.2",
                "C_slope": "O((d+r) (1+r)^d exp(1-r) r^(1-d)) of Lemma 4.2",
            },
        ),
        Statement(
            "ball-core-signs",
            "with the ball core Phi > 0, Phi' < 0, Phi'' >= 0, and (-d/du)^j (-Phi') >= 0 for u = "
            "r^2 and all j <= m; the third derivative by r is positive up to some r_3 < eps",
            draw_ball,
            ball_signs,
            quick=2,
            thorough=14,
        ),
        Statement(
            "ball-core-bounds",
            "with the ball core Lemma B.9's bounds hold for all k <= d - 1 and r >= eps, with the "
            "lemma's own constants; Phi(0) is not above that of the paper's core",
            draw_ball,
            ball_bounds,
            quick=2,
            thorough=14,
        ),
        Statement(
            "lemma-b7-proof",
            "int_eps^t Phi_x(r)/x^2 dx has the (d-1)-th derivative 1 - r/t, Phi_x the overlap of "
            "balls (Full, proof of Lemma B.7)",
            draw_b7_proof,
            lemma_b7_proof,
            role="printed",
            kind="proof-mended",
            thorough=4,
        ),
        Statement(
            "lemma-b8-slow-decay",
            "derivatives of alternating signs that vanish at infinity make the continuation "
            "square-integrable (Full, Lemma B.8): r^-p, p <= d/2",
            draw_slow,
            slow_decay,
            role="printed",
            kind="hypothesis-missing",
            quick=2,
            thorough=6,
        ),
        Statement(
            "signs-of-the-ball-core",
            "the same signs with the ball core: d = 7, 11, 15",
            _draw_ball_signs,
            _test_ball_signs,
            role="beyond",
            quick=2,
            thorough=3,
        ),
    ),
    remarks=(
        "corrected: Lemma B.7's proof holds for d = 3 only, its statement in every odd d "
        "(mathematics.md, error 11); Lemma B.8 needs Phi square-integrable at infinity, which the "
        "lambda-harmonic one is",
        "the bound on derivatives is that of the proof: the copy of Lemma B.9 that we have has a "
        "further factor r, with which it would fail at r = 0",
        "learning uses the ball core, for which the signs of Lemma 4.2 end at the second "
        "derivative; the proofs of Theorems 4.1 and 4.6 use Phi' < 0 and the bounds, which hold",
        "that the activation gives the potential back is in table-1",
    ),
)
