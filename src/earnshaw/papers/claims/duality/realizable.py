"""Which potentials are those of an activation: the characterisations, and what they need.

With F the transform without a factor, F(f)(k) = integral f(x) exp(-i k.x) dx, and X ~ N(0, I):

- R^d: if F(Phi) >= 0 is integrable, sigma(x, w) = (2 pi)^(d/4) exp(|x|^2/4) h(x - w) with
  h = F^-1 sqrt(F(Phi)) has E[sigma sigma] = Phi (Full, Theorem 2.1). The proof's (2 pi)^(1/4) gives
  (2 pi)^((1-d)/2) Phi, and a unitary transform (2 pi)^(d/2) Phi (mathematics.md, error 9).
- the sphere: if all c_n >= 0, s = sum_(n >= 0) sqrt(c_n) he_n, he_n orthonormal, has
  f(rho) = sum c_n rho^n (Full, Theorem B.2; printed from n = 1, mathematics.md, error 8).
- Lemmas B.4 and B.6, on what realizable potentials have in common, are in `semidefinite`.

Closed forms that need no library: the Matern family has F = A (s^2 + k^2)^(-a), so that h is a
Matern function with a/2, both known:

    F^-1 (s^2 + k^2)^(-a) = 2^(1-a) / ((2 pi)^(d/2) Gamma(a)) (r/s)^(a-d/2) K_(a-d/2)(s r).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from earnshaw.duality.activation import Activation, Translation
from earnshaw.duality.named import activation
from earnshaw.duality.realizing.realize import realize
from earnshaw.papers.claims.claim import (
    NO_MINIMUM,
    NOTHING_ASKED,
    Claim,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.duality._expectations import (
    autocorrelation,
    dot_product_mean,
    panels,
    radial_profile,
    sphere_area,
    towards,
)

CLOSED_FORM, SINGULAR = 1e-9, 1e-8  # of quadratures of closed forms; with singularities
INVERTED = 1e-6  # of potentials of profiles that the library finds by numerical inversion
PROFILE = 1e-5  # of such a profile itself, in norm: errors at small r weigh little

# --- fourier-realizable ---------------------------------------------------------------------------

# F = A (s^2 + k^2)^(-(d + 1)/2 - n) for these, n = 0, 1, 2.
MATERN = ("exp(-{s}*r)", "(1 + {s}*r)*exp(-{s}*r)", "(1 + {s}*r + ({s}*r)**2/3)*exp(-{s}*r)")


def matern(dim: int, a: float, s: float, r: np.ndarray) -> np.ndarray:
    """F^-1 of (s^2 + k^2)^(-a) on R^dim."""
    order = a - dim / 2
    factor = 2 ** (1 - a) / ((2 * math.pi) ** (dim / 2) * math.gamma(a))
    return factor * (r / s) ** order * special.kv(order, s * r)


def _draw_matern(rng: np.random.Generator, index: int) -> Instance:
    return {
        "dim": (1, 2, 3, 5)[index % 4],
        "order": int(rng.integers(3)),
        "rate": float(round(rng.uniform(0.6, 2.0), 3)),
        "r": sorted(rng.uniform(0.05, 3.0, 3)),
    }


def _test_matern(instance: Instance) -> Finding:
    dim, order, s = int(instance["dim"]), int(instance["order"]), float(instance["rate"])
    a = (dim + 1) / 2 + order
    r = np.asarray(instance["r"], float)
    exact = np.polynomial.polynomial.polyval(s * r, [1, 1, 1 / 3][: order + 1]) * np.exp(-s * r)
    amplitude = float(exact[0] / matern(dim, a, s, r[:1])[0])

    def h(x: np.ndarray) -> np.ndarray:
        return math.sqrt(amplitude) * matern(dim, a / 2, s, x)

    realised = [autocorrelation(h, dim, x, 50.0 / s) for x in r]
    result = realize(MATERN[order].format(s=s), on="space", dim=dim)
    if not result.realizable or not isinstance(result.activation, Translation):
        return Finding(False, {"refused": 1.0})
    # sigma over h, at inputs on a ray through w = 0; and E[(sigma - sigma_exact)^2], which is the
    # squared norm of the difference of the profiles.
    ours = radial_profile(result.activation)
    unit = np.asarray(result.activation.unit(r[:, None] * np.eye(1, dim), np.zeros(dim)))
    factor = unit / ours(r) / ((2 * math.pi) ** (dim / 4) * np.exp(r * r / 4))
    x, weights = panels(towards([0.0], 0.0, 20 / s), 10)
    square = sphere_area(dim) * np.sum(weights * x ** (dim - 1) * (ours(x) - h(x)) ** 2)
    numbers = {
        "pair_error": float(np.max(np.abs(np.asarray(realised) - exact))),
        "factor_error": float(np.max(np.abs(factor - 1))),
        "activation_error": float(math.sqrt(square)),
        "library_check_error": float(result.check_error or 0.0),
    }
    held = numbers["pair_error"] < SINGULAR and numbers["factor_error"] < 1e-12
    held &= numbers["activation_error"] < PROFILE and numbers["library_check_error"] < INVERTED
    return Finding(held, numbers)


def _draw_gaussian(rng: np.random.Generator, index: int) -> Instance:
    theta, w = rng.normal(size=(2, 2 + index % 5))
    return {"theta": theta, "w": w, "rate": float(rng.uniform(0.5, 2.0))}


def _ratio(instance: Instance, factor: float, scale: float) -> float:
    """E[sigma(X, theta) sigma(X, w)]/Phi, Phi = exp(-c r^2/2), for this factor before exp(x^2/4).

    `scale` multiplies h = (2c/pi)^(d/4) exp(-c r^2). X is N(0, I): each coordinate by itself.
    """
    theta, w = (np.asarray(instance[name], float) for name in ("theta", "w"))
    c, dim = float(instance["rate"]), len(theta)
    x, weights = panels(np.linspace(-12, 12, 25), 20)
    total = factor**2 * scale**2 * (2 * c / math.pi) ** (dim / 2)
    for a, b in zip(theta, w, strict=True):
        profiles = np.exp(-c * (x - a) ** 2 - c * (x - b) ** 2)
        density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        total *= float(np.sum(weights * np.exp(x * x / 2) * profiles * density))
    return total / math.exp(-c * float(np.sum((theta - w) ** 2)) / 2)


def _test_factor(instance: Instance) -> Finding:
    dim = len(instance["theta"])
    ratio = _ratio(instance, (2 * math.pi) ** (dim / 4), 1.0)
    sigma = activation("gaussian", dim=dim, rate=float(instance["rate"]))
    theta, w = (np.asarray(instance[name], float) for name in ("theta", "w"))
    c = float(instance["rate"])
    unit = (4 * c) ** (dim / 4) * math.exp(w @ w / 4 - c * float(np.sum((w - theta) ** 2)))
    numbers = {
        "error": abs(ratio - 1),
        "library_error": abs(float(sigma.unit(w, theta)) / unit - 1),
    }
    return Finding(max(numbers.values()) < 1e-12, numbers)


def _test_fourth_root(instance: Instance) -> Finding:
    ratio = _ratio(instance, (2 * math.pi) ** 0.25, 1.0)
    return Finding(abs(ratio - 1) < CLOSED_FORM, {"ratio": ratio})


def _test_unitary(instance: Instance) -> Finding:
    """U = (2 pi)^(-d/2) F: U^-1 sqrt(U) is F^-1 sqrt(F) times (2 pi)^(d/4)."""
    root = (2 * math.pi) ** (len(instance["theta"]) / 4)
    ratio = _ratio(instance, root, root)
    return Finding(abs(ratio - 1) < CLOSED_FORM, {"ratio": ratio})


def _draw_negative(rng: np.random.Generator, index: int) -> Instance:
    return {"dip": float(rng.uniform(1.5, 4.0))}


def _test_negative(instance: Instance) -> Finding:
    """Phi = (1 - b x^2) exp(-x^2/2) on R: F = sqrt(2 pi) exp(-k^2/2) (1 - b + b k^2), < 0 at 0."""
    b = float(instance["dip"])
    edge = math.sqrt((b - 1) / b)
    k, weights = panels(np.array([0.0, edge, 2, 5, 12]), 40)
    f = math.sqrt(2 * math.pi) * np.exp(-k * k / 2) * (1 - b + b * k * k)
    # F^-1 sqrt|F| has the autocorrelation F^-1 |F|.
    realised = float(np.sum(weights * np.abs(f))) / math.pi
    refused = realize(f"(1 - {b!r}*r**2)*exp(-r**2/2)", on="space", dim=1).realizable is False
    numbers = {"realised_at_0": realised, "library_refuses": float(refused)}
    return Finding(abs(realised - 1) < CLOSED_FORM or not refused, numbers)


FOURIER = Claim(
    id="fourier-realizable",
    title="a potential on R^d with a non-negative transform is that of an activation",
    sources=Sources("Theorem 2.4", "Theorem 2.1", "Theorem 3"),
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
    hypotheses=(
        "Phi is square-integrable, F(Phi) integrable and >= 0: Matern potentials exp(-s r), "
        "(1 + s r) exp(-s r), ... in d = 1, 2, 3, 5, Gaussians in d = 2 to 6",
        "X ~ N(0, I_d); F without a factor in front",
    ),
    statements=(
        Statement(
            "activation",
            "sigma = (2 pi)^(d/4) exp(|x|^2/4) h(x - w), h = F^-1 sqrt(F(Phi)), has Phi: closed "
            "forms by quadrature, and the library's activation against them",
            _draw_matern,
            _test_matern,
            thorough=12,
        ),
        Statement(
            "factor",
            "E[sigma sigma]/Phi = 1 with the factor (2 pi)^(d/4), integrated over X ~ N(0, I_d)",
            _draw_gaussian,
            _test_factor,
        ),
        Statement(
            "fourth-root-of-two-pi",
            "the same with (2 pi)^(1/4) (proofs of Full, Theorem 2.1, and EPD, Theorem 2.4)",
            _draw_gaussian,
            _test_fourth_root,
            role="printed",
            kind="misprint",
        ),
        Statement(
            "unitary-transform",
            "the same with (2 pi)^(d/4) and the unitary transform (that of Full, Appendix B.1)",
            _draw_gaussian,
            _test_unitary,
            role="printed",
            kind="proof-mended",
        ),
        Statement(
            "negative-transform",
            "h = F^-1 sqrt|F(Phi)| has Phi where F(Phi) < 0 somewhere: (1 - b x^2) exp(-x^2/2) on "
            "the line, b > 1",
            _draw_negative,
            _test_negative,
            role="beyond",
            quick=2,
            thorough=6,
        ),
    ),
    remarks=(
        "corrected: the proofs' (2 pi)^(1/4) gives (2 pi)^((1-d)/2) Phi, a unitary transform "
        "(2 pi)^(d/2) Phi (mathematics.md, error 9)",
        "EPD asks for h bounded almost everywhere; h of exp(-s r) is not, and has it all the same",
    ),
)

# --- hermite-realizable ---------------------------------------------------------------------------

SERIES = ("exp(rho - 1)", "1/(2 - rho)", "cosh(rho)", "1/(3 - rho)**2")
_VALUES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp(rho - 1)": lambda rho: np.exp(rho - 1),
    "1/(2 - rho)": lambda rho: 1 / (2 - rho),
    "cosh(rho)": np.cosh,
    "1/(3 - rho)**2": lambda rho: (3 - rho) ** -2.0,
}


def _draw_coefficients(rng: np.random.Generator, index: int) -> Instance:
    """c_0 > 0 and a few others >= 0, in six digits, which a formula keeps."""
    c = np.round(rng.exponential(size=4 + index % 4) * rng.integers(0, 2, 4 + index % 4), 6)
    c[0], c[-1] = np.round(rng.uniform(0.2, 1.0, 2), 6)
    return {"coefficients": c, "rho": np.append(rng.uniform(-1, 1, 3), 1.0)}


def _draw_signed(rng: np.random.Generator, index: int) -> Instance:
    drawn = _draw_coefficients(rng, index)
    negative = 1 + int(rng.integers(len(drawn["coefficients"]) - 1))
    drawn["coefficients"][negative] = -round(float(rng.uniform(0.1, 0.5)), 6)
    return {**drawn, "negative": negative, "dim": 3 + index % 3}


def _formula(coefficients: np.ndarray) -> str:
    return " + ".join(f"({float(c)!r})*rho**{n}" for n, c in enumerate(coefficients))


def _hermite_sum(amplitudes: np.ndarray, x: np.ndarray, orthonormal: bool = True) -> np.ndarray:
    total = np.zeros_like(x)
    for n, amplitude in enumerate(amplitudes):
        size = math.sqrt(math.factorial(n)) if orthonormal else 1.0
        total = total + amplitude / size * special.eval_hermitenorm(n, x)
    return total


def _dual_of(s: Callable[[np.ndarray], Any], rho: np.ndarray) -> np.ndarray:
    return np.array([dot_product_mean(lambda x: np.asarray(s(x)), r) for r in rho])


def _elementwise(sigma: Activation) -> Callable[[np.ndarray], Any]:
    """s(x) of a dot-product activation s(x.w)."""
    return lambda x: sigma.unit(x[..., None], np.ones(1))


def _test_hermite(instance: Instance) -> Finding:
    c, rho = (np.asarray(instance[name], float) for name in ("coefficients", "rho"))
    exact = np.polynomial.polynomial.polyval(rho, c)
    result = realize(_formula(c), on="sphere")
    if not result.realizable or result.activation is None:
        return Finding(False, {"refused": 1.0})
    by_theorem = _dual_of(lambda x: _hermite_sum(np.sqrt(c), x), rho)
    by_library = _dual_of(_elementwise(result.activation), rho)
    numbers = {
        "theorem_error": float(np.max(np.abs(by_theorem - exact)) / exact[-1]),
        "library_error": float(np.max(np.abs(by_library - exact)) / exact[-1]),
    }
    return Finding(max(numbers.values()) < 1e-12, numbers)


def _draw_series(rng: np.random.Generator, index: int) -> Instance:
    rho = np.append(rng.uniform(-1, 1, 3), 1.0)
    return {"formula": SERIES[index % len(SERIES)], "rho": rho}


def _test_series(instance: Instance) -> Finding:
    formula, rho = instance["formula"], np.asarray(instance["rho"], float)
    result = realize(formula, on="sphere")
    if not result.realizable or result.activation is None:
        return Finding(False, {"refused": 1.0})
    off = float(
        np.max(np.abs(_dual_of(_elementwise(result.activation), rho) - _VALUES[formula](rho)))
    )
    return Finding(off < 1e-9, {"library_error": off})


def _test_necessary(instance: Instance) -> Finding:
    c, negative = np.asarray(instance["coefficients"], float), int(instance["negative"])
    result = realize(_formula(c), on="sphere", dim=int(instance["dim"]))
    why = result.obstruction
    if result.realizable is not False or why is None:
        return Finding(False, {"accepted": 1.0})
    named = why.kind != "negative-coefficient" or int(why.location) == negative
    if why.points is None or why.weights is None:
        # The coefficient itself is the proof: those of a dual are squares.
        return Finding(named and bool(c[negative] < 0), {"points": 0.0})
    inner = np.clip(why.points @ why.points.T, -1, 1)
    form = why.weights @ np.polynomial.polynomial.polyval(inner, c) @ why.weights
    form /= why.weights @ why.weights
    off = float(np.max(np.abs(np.linalg.norm(why.points, axis=1) - 1)))
    numbers = {"quadratic_form": float(form), "points": float(len(why.weights))}
    return Finding(bool(form < -1e-12 and off < 1e-12 and named), numbers)


def _draw_pole(rng: np.random.Generator, index: int) -> Instance:
    return {"power": 1 + index % 2}


def _test_pole(instance: Instance) -> Finding:
    """1/(1 - rho)^p: the partial sums of s have the mean squares sum c_n, c_n = 1 or n + 1."""
    power = int(instance["power"])
    squares = [float(math.comb(count + power - 1, power)) for count in (100, 10_000)]
    result = realize(f"1/(1 - rho)**{power}", on="sphere")
    numbers = {
        "mean_square_of_100_terms": squares[0],
        "of_10000_terms": squares[1],
        "library_refuses": float(result.realizable is False),
    }
    return Finding(squares[1] < 1.1 * squares[0], numbers)


def _test_from_one(instance: Instance) -> Finding:
    return _printed_hermite(instance, first=1, orthonormal=True)


def _test_not_orthonormal(instance: Instance) -> Finding:
    return _printed_hermite(instance, first=0, orthonormal=False)


def _printed_hermite(instance: Instance, first: int, orthonormal: bool) -> Finding:
    c, rho = (np.asarray(instance[name], float) for name in ("coefficients", "rho"))
    amplitudes = np.where(np.arange(len(c)) >= first, np.sqrt(c), 0.0)
    realised = _dual_of(lambda x: _hermite_sum(amplitudes, x, orthonormal), rho)
    off = np.max(np.abs(realised - np.polynomial.polynomial.polyval(rho, c)))
    return Finding(bool(off < CLOSED_FORM), {"error": float(off), "c_0": float(c[0])})


HERMITE = Claim(
    id="hermite-realizable",
    title="a potential on the sphere with Taylor coefficients >= 0 is that of an activation",
    sources=Sources("Theorem 2.5", "Theorem B.2"),
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
    hypotheses=(
        "f has Taylor coefficients c_n >= 0 and f(1) finite: random polynomials of degree 3 to 6, "
        "and four series",
        "X ~ N(0, I_d), theta and w unit vectors; he_n orthonormal under N(0, 1)",
    ),
    statements=(
        Statement(
            "activation",
            "s = sum_(n >= 0) sqrt(c_n) he_n has f: by the plane integral, for SciPy's Hermite "
            "polynomials and for the library's activation",
            _draw_coefficients,
            _test_hermite,
        ),
        Statement(
            "series",
            "the same for infinite series: exp(rho - 1), 1/(2 - rho), cosh(rho), 1/(3 - rho)^2",
            _draw_series,
            _test_series,
            thorough=8,
        ),
        Statement(
            "necessary",
            "with a negative coefficient there is no activation: points and weights with "
            "sum v_i v_j f(x_i.x_j) < 0, in some dimension",
            _draw_signed,
            _test_necessary,
        ),
        Statement(
            "from-one",
            "s = sum_(n >= 1) sqrt(c_n) he_n has f (as printed in both texts)",
            _draw_coefficients,
            _test_from_one,
            role="printed",
            kind="statement-refuted",
        ),
        Statement(
            "not-orthonormal",
            "s = sum_(n >= 0) sqrt(c_n) He_n has f, He_n with leading coefficient 1",
            _draw_coefficients,
            _test_not_orthonormal,
            role="beyond",
        ),
        Statement(
            "infinite-at-1",
            "coefficients >= 0 are enough where the series of s does not converge: 1/(1 - rho)^p",
            _draw_pole,
            _test_pole,
            role="beyond",
            quick=1,
            thorough=2,
        ),
    ),
    remarks=(
        "corrected: the sum starts at n = 0, and he_n are orthonormal (mathematics.md, error 8)",
    ),
)
