"""Which potentials are those of an activation: the characterisations, and what they need.

With F the transform without a factor, F(f)(k) = integral f(x) exp(-i k.x) dx, and X ~ N(0, I):

- R^d: if F(Phi) >= 0 is integrable, sigma(x, w) = (2 pi)^(d/4) exp(|x|^2/4) h(x - w) with
  h = F^-1 sqrt(F(Phi)) has E[sigma sigma] = Phi (Full, Theorem 2.1). The proof's (2 pi)^(1/4) gives
  (2 pi)^((1-d)/2) Phi, and a unitary transform (2 pi)^(d/2) Phi (MATH, error 9).
- the sphere: if all c_n >= 0, s = sum_(n >= 0) sqrt(c_n) he_n, he_n orthonormal, has
  f(rho) = sum c_n rho^n (Full, Theorem B.2; printed from n = 1, MATH, error 8).
- a realizable Phi is positive semidefinite: sum v_i v_j Phi(x_i, x_j) = E[(sum v_i sigma)^2]
  (Lemma B.4), and mixtures of realizable potentials are realizable (Lemma B.6).

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

from earnshaw.claims.claim import Claim, Finding, Instance, Sources, Statement
from earnshaw.claims.expectations import (
    autocorrelation,
    dot_product_mean,
    panels,
    sphere_area,
    towards,
)
from earnshaw.duality.activation import activation
from earnshaw.duality.potential import potential
from earnshaw.duality.realize import realize
from earnshaw.numerics.padding import as_numpy
from earnshaw.potentials.base import Radial
from earnshaw.potentials.gaussian import GaussianPotential

CLOSED_FORM = 1e-9  # of quadratures of closed forms with singularities
INVERTED = 1e-6  # of profiles that the library finds by numerical inversion

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
    if not result.realizable or result.activation is None:
        return Finding(False, {"refused": 1.0})
    # The whole sigma(x, w), at inputs on a ray through w = 0.
    x = r[:, None] * np.eye(1, dim)
    ours = np.asarray(result.activation.unit(x, np.zeros(dim)))
    sigma = (2 * math.pi) ** (dim / 4) * np.exp(r * r / 4) * h(r)
    numbers = {
        "pair_error": float(np.max(np.abs(np.asarray(realised) - exact))),
        "activation_error": float(np.max(np.abs(ours - sigma)) / np.max(sigma)),
        "library_check_error": float(result.check_error or 0.0),
    }
    held = numbers["pair_error"] < CLOSED_FORM and numbers["activation_error"] < INVERTED
    return Finding(held and numbers["library_check_error"] < INVERTED, numbers)


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
        ),
        Statement(
            "unitary-transform",
            "the same with (2 pi)^(d/4) and the unitary transform (that of Full, Appendix B.1)",
            _draw_gaussian,
            _test_unitary,
            role="printed",
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
        "(2 pi)^(d/2) Phi (MATH, error 9)",
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


def _test_hermite(instance: Instance) -> Finding:
    c, rho = (np.asarray(instance[name], float) for name in ("coefficients", "rho"))
    exact = np.polynomial.polynomial.polyval(rho, c)
    result = realize(_formula(c), on="sphere")
    if not result.realizable or result.activation is None:
        return Finding(False, {"refused": 1.0})
    by_theorem = _dual_of(lambda x: _hermite_sum(np.sqrt(c), x), rho)
    by_library = _dual_of(result.activation, rho)
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
    off = float(np.max(np.abs(_dual_of(result.activation, rho) - _VALUES[formula](rho))))
    return Finding(off < 1e-9, {"library_error": off})


def _test_necessary(instance: Instance) -> Finding:
    c, negative = np.asarray(instance["coefficients"], float), int(instance["negative"])
    result = realize(_formula(c), on="sphere", dim=int(instance["dim"]))
    why = result.obstruction
    if result.realizable is not False or why is None:
        return Finding(False, {"accepted": 1.0})
    if why.points is None or why.weights is None:
        return Finding(None, {}, "no finite witness of moderate size")
    inner = np.clip(why.points @ why.points.T, -1, 1)
    form = why.weights @ np.polynomial.polynomial.polyval(inner, c) @ why.weights
    form /= why.weights @ why.weights
    off = float(np.max(np.abs(np.linalg.norm(why.points, axis=1) - 1)))
    numbers = {"quadratic_form": float(form), "points": float(len(why.weights))}
    named = why.kind != "negative-coefficient" or int(why.location) == negative
    return Finding(bool(form < -1e-12 and off < 1e-12 and named), numbers)


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
    title="a potential on the sphere with non-negative Taylor coefficients is that of an activation",
    sources=Sources("Theorem 2.5", "Theorem B.2"),
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
        ),
        Statement(
            "not-orthonormal",
            "s = sum_(n >= 0) sqrt(c_n) He_n has f, He_n with leading coefficient 1",
            _draw_coefficients,
            _test_not_orthonormal,
            role="beyond",
        ),
    ),
    remarks=("corrected: the sum starts at n = 0, and he_n are orthonormal (MATH, error 8)",),
)

# --- psd-necessary --------------------------------------------------------------------------------

# With a name, parameters; the points of one instance are of one dimension.
REALIZABLE: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("almost-harmonic", 5, {"core": "paper", "radius": 0.3}),
    ("almost-harmonic", 4, {"core": "ball", "radius": 0.3}),
    ("bessel", 3, {}),
    ("gaussian", 4, {}),
    ("almost-harmonic", 7, {"core": "paper", "radius": 0.2}),
    ("almost-harmonic", 2, {"core": "ball", "radius": 0.5}),
)
NOT_PSD: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp(-r**4)": lambda r: np.exp(-(r**4)),
    "exp(-r**3)": lambda r: np.exp(-(r**3)),
    "1/(1 + r**4)": lambda r: 1 / (1 + r**4),
    "(1 - r**2)*exp(-r**2/2)": lambda r: (1 - r * r) * np.exp(-r * r / 2),
    "exp(-r)*cos(4*r)": lambda r: np.exp(-r) * np.cos(4 * r),
    "Max(1 - r, 0)": lambda r: np.maximum(1 - r, 0),
}
POINTS = 24


def _draw_points(rng: np.random.Generator, index: int) -> Instance:
    """Half of the points scattered, half of them close to those."""
    name, dim, parameters = REALIZABLE[index % len(REALIZABLE)]
    scattered = rng.normal(size=(POINTS // 2, dim))
    near = scattered + 10.0 ** rng.uniform(-3, 0, (POINTS // 2, 1)) * rng.normal(
        size=scattered.shape
    )
    points = np.concatenate([scattered, near])
    return {"name": name, "dim": dim, "parameters": dict(parameters), "points": points}


def _test_gram(instance: Instance) -> Finding:
    points = np.asarray(instance["points"], float)
    phi = potential(instance["name"], int(instance["dim"]), **instance["parameters"])
    gram = np.asarray(phi.between(points[:, None], points[None]))
    asymmetry = float(np.max(np.abs(gram - gram.T)))
    lowest = float(np.linalg.eigvalsh((gram + gram.T) / 2)[0])
    held = lowest > -1e-13 * len(points) and asymmetry < 1e-14
    return Finding(held, {"smallest_eigenvalue": lowest, "asymmetry": asymmetry})


def _draw_line(rng: np.random.Generator, index: int) -> Instance:
    name = ("bessel", "gaussian", "almost-harmonic")[index % 3]
    return {"name": name, "points": rng.normal(size=4), "weights": rng.normal(size=4)}


def _test_mean_square(instance: Instance) -> Finding:
    points, v = (np.asarray(instance[name], float) for name in ("points", "weights"))
    sigma, phi = activation(instance["name"], dim=1), potential(instance["name"], 1)
    # The core of the almost lambda-harmonic activation, radius 0.1, has kinks there.
    marks = sorted({float(p + k) for p in points for k in (-0.1, -0.05, 0.0, 0.05, 0.1)})
    x, weights = panels(towards(marks, -18.0, 18.0, 1e-8), 8)
    response = as_numpy(lambda x: sum(c * sigma.unit(x[:, None], p) for c, p in zip(v, points)))
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    mean = float(np.sum(weights * response(x) ** 2 * density))
    gram = np.asarray(phi.between(points[:, None, None], points[None, :, None]))
    form = float(v @ gram @ v)
    return Finding(abs(mean - form) < INVERTED and form > 0, {"error": abs(mean - form)})


def _draw_not_psd(rng: np.random.Generator, index: int) -> Instance:
    return {"formula": tuple(NOT_PSD)[index % len(NOT_PSD)], "dim": 2 + index % 2}


def _test_not_psd(instance: Instance) -> Finding:
    formula, dim = instance["formula"], int(instance["dim"])
    result = realize(formula, on="space", dim=dim)
    why = result.obstruction
    if result.realizable is not False or why is None or why.points is None:
        return Finding(False, {"accepted": 1.0})
    distances = np.linalg.norm(why.points[:, None] - why.points[None], axis=2)
    form = why.weights @ NOT_PSD[formula](distances) @ why.weights / (why.weights @ why.weights)
    return Finding(bool(form < -1e-9), {"quadratic_form": float(form)})


def _draw_lattice(rng: np.random.Generator, index: int) -> Instance:
    return {"spacing": float(rng.uniform(0.3, 0.5)), "side": 14}


def _test_hat(instance: Instance) -> Finding:
    side = np.arange(int(instance["side"]))
    points = float(instance["spacing"]) * np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    line = points[: len(side), :1]
    lowest = [
        float(np.linalg.eigvalsh(np.maximum(1 - np.linalg.norm(p[:, None] - p, axis=2), 0))[0])
        for p in (line, points)
    ]
    numbers = {"smallest_on_the_line": lowest[0], "smallest_in_the_plane": lowest[1]}
    return Finding(lowest[1] > -1e-12, numbers)


PSD = Claim(
    id="psd-necessary",
    title="a realizable potential is positive semidefinite",
    sources=Sources(full="Lemma B.4, Definition B.3"),
    hypotheses=(
        "Phi(theta, w) = f(theta - w) on R^d is realizable: Gaussian, Bessel, and almost "
        "lambda-harmonic with both cores, d = 2 to 7",
        "any points: half of the 24 are at distances 0.001 to 1 from the others",
    ),
    statements=(
        Statement(
            "gram",
            "the matrix Phi(x_i, x_j) has no negative eigenvalue, to rounding",
            _draw_points,
            _test_gram,
            quick=4,
        ),
        Statement(
            "mean-square",
            "sum v_i v_j Phi(x_i, x_j) = E[(sum v_i sigma(X, x_i))^2] > 0, on the line",
            _draw_line,
            _test_mean_square,
            thorough=12,
        ),
        Statement(
            "no-activation-otherwise",
            "a potential that is not positive semidefinite is refused, with points and weights at "
            "which the form is negative",
            _draw_not_psd,
            _test_not_psd,
            thorough=12,
        ),
        Statement(
            "in-another-dimension",
            "a function of r that is positive semidefinite on the line is so in the plane: "
            "max(1 - r, 0) on a lattice",
            _draw_lattice,
            _test_hat,
            role="beyond",
            quick=1,
            thorough=6,
        ),
    ),
)

# --- mixtures -------------------------------------------------------------------------------------


def _draw_mixture(rng: np.random.Generator, index: int) -> Instance:
    return {
        "dim": (2, 3, 1)[index % 3],
        "rates": rng.uniform(0.5, 5.0, 3),
        "weights": rng.uniform(0.1, 1.0, 3),
        "r": sorted(rng.uniform(0.05, 2.0, 3)),
    }


def _mixed(weights: np.ndarray, rates: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.sum(weights * np.exp(-rates * np.asarray(r)[..., None] ** 2 / 2), axis=-1)


def _library_mixture(instance: Instance) -> Radial:
    dim, rates = int(instance["dim"]), np.asarray(instance["rates"], float)
    parts = [GaussianPotential(dim, float(c)) for c in rates]
    first, *rest = (float(w) * part for w, part in zip(instance["weights"], parts, strict=True))
    for part in rest:
        first = first + part
    return first  # type: ignore[return-value]


def _test_mixture(instance: Instance) -> Finding:
    dim, r = int(instance["dim"]), np.asarray(instance["r"], float)
    weights, rates = (np.asarray(instance[name], float) for name in ("weights", "rates"))
    mixture = _library_mixture(instance)
    result = realize(mixture)
    if not result.realizable or result.activation is None:
        return Finding(False, {"refused": 1.0})
    shape = result.activation.shape
    profile = as_numpy(shape.radial_profile)
    exact = _mixed(weights, rates, r)
    realised = [autocorrelation(profile, dim, x, 15.0) for x in r]
    k = np.linspace(0, 8, 9)
    transforms = (2 * math.pi / rates) ** (dim / 2) * np.exp(-(k[:, None] ** 2) / (2 * rates))
    expected = np.sum(weights * transforms, axis=1)
    squares = sphere_area(dim) * math.gamma(dim / 2) / 2 * rates ** (-dim / 2)
    x, w = panels(np.linspace(0, 20, 41), 10)
    square = sphere_area(dim) * np.sum(w * x ** (dim - 1) * _mixed(weights, rates, x) ** 2)
    numbers = {
        "value_error": float(np.max(np.abs(np.asarray(mixture.value(r)) - exact))),
        "transform_error": float(np.max(np.abs(mixture.fourier(k) / expected - 1))),
        "realised_error": float(np.max(np.abs(np.asarray(realised) - exact))),
        "norm_over_mixed_norms": float(math.sqrt(square) / np.sum(weights * np.sqrt(squares))),
    }
    held = max(numbers["value_error"], numbers["transform_error"]) < 1e-12
    held &= numbers["realised_error"] < INVERTED and numbers["norm_over_mixed_norms"] < 1 + 1e-12
    return Finding(bool(held), numbers)


def _draw_subordinate(rng: np.random.Generator, index: int) -> Instance:
    return {
        "dim": (3, 2, 1, 4)[index % 4],
        "rate": float(round(rng.uniform(0.5, 2.0), 3)),
        "r": sorted(rng.uniform(0.05, 3.0, 3)),
        "k": sorted(rng.uniform(0.0, 6.0, 3)),
    }


def _test_subordinate(instance: Instance) -> Finding:
    """exp(-s r) = integral exp(-u)/sqrt(pi u) exp(-s^2 r^2/(4u)) du, Gaussians of rate s^2/(2u)."""
    dim, s = int(instance["dim"]), float(instance["rate"])
    r, k = (np.asarray(instance[name], float) for name in ("r", "k"))
    v, dv = panels(towards([0.0], 0.0, 7.0, 1e-4), 20)  # u = v^2
    weights = dv * 2 / math.sqrt(math.pi) * np.exp(-v * v)
    rates = s * s / (2 * v * v)
    mixed = _mixed(weights, rates, r)
    transform = np.sum(
        weights * (2 * math.pi / rates) ** (dim / 2) * np.exp(-(k[:, None] ** 2) / (2 * rates)), 1
    )
    constant = 2**dim * math.pi ** ((dim - 1) / 2) * math.gamma((dim + 1) / 2) * s
    exact = constant * (s * s + k * k) ** (-(dim + 1) / 2)
    result = realize(f"exp(-{s}*r)", on="space", dim=dim)
    numbers = {
        "value_error": float(np.max(np.abs(mixed - np.exp(-s * r)))),
        "transform_error": float(np.max(np.abs(transform / exact - 1))),
        "total_weight": float(np.sum(weights)),
        "library_check_error": float(
            math.inf if result.check_error is None else result.check_error
        ),
    }
    held = max(numbers["value_error"], numbers["transform_error"]) < CLOSED_FORM
    return Finding(held and numbers["library_check_error"] < INVERTED, numbers)


def _draw_slow(rng: np.random.Generator, index: int) -> Instance:
    return {"dim": 3 - index % 2}


def _test_bounded_weights(instance: Instance) -> Finding:
    """w = 1 on (0, 1) and Phi_x = exp(-x^2 r^2/2): Phi = sqrt(pi/2) erf(r/sqrt(2))/r.

    Each Phi_x is realizable and normalised; the squared norm of Phi up to radius R grows as
    R^(d-2), for d = 2 as log R.
    """
    dim = int(instance["dim"])
    norms = []
    for reach in (1e2, 1e4, 1e6):
        r, weights = panels(towards([0.0], 0.0, reach, 0.1), 10)
        phi = math.sqrt(math.pi / 2) * special.erf(r / math.sqrt(2)) / r
        norms.append(float(sphere_area(dim) * np.sum(weights * r ** (dim - 1) * phi**2)))
    growth = [b - a for a, b in zip(norms, norms[1:], strict=False)]
    converges = growth[1] < 0.1 * growth[0]
    numbers = {"squared_norm_to_100": norms[0], "to_10000": norms[1], "to_1000000": norms[2]}
    return Finding(converges, numbers)


def _draw_negative_weight(rng: np.random.Generator, index: int) -> Instance:
    drawn = _draw_mixture(rng, index)
    # The narrowest Gaussian has the widest transform: with a negative weight F < 0 far out.
    narrow = int(np.argmax(drawn["rates"]))
    drawn["weights"][narrow] *= -0.3
    return drawn


def _test_negative_weight(instance: Instance) -> Finding:
    dim = int(instance["dim"])
    weights, rates = (np.asarray(instance[name], float) for name in ("weights", "rates"))
    k = np.linspace(0, 30, 3001)
    terms = (2 * math.pi / rates) ** (dim / 2) * np.exp(-(k[:, None] ** 2) / (2 * rates))
    lowest = float(np.min(np.sum(weights * terms, axis=1)))
    result = realize(_library_mixture(instance))
    numbers = {"lowest_transform": lowest, "library_refuses": float(result.realizable is False)}
    return Finding(lowest >= 0 or result.realizable is True, numbers)


MIXTURES = Claim(
    id="mixtures",
    title="a mixture of realizable potentials is realizable",
    sources=Sources(full="Lemma B.6"),
    hypotheses=(
        "weights w(x) >= 0 with a bounded integral, Phi_x square-integrable with F(Phi_x) "
        "integrable, and integral w(x) (Phi_x(0) + ||Phi_x||) dx finite",
        "sums of three Gaussians, and exp(-s r) as an integral over Gaussians; d = 1 to 4",
    ),
    statements=(
        Statement(
            "sums",
            "sum w_i Phi_i has the transform sum w_i F(Phi_i) > 0, an activation that gives it "
            "back, and a norm of at most sum w_i ||Phi_i||",
            _draw_mixture,
            _test_mixture,
            quick=2,
            thorough=9,
        ),
        Statement(
            "integrals",
            "exp(-s r) = integral exp(-u)/sqrt(pi u) exp(-s^2 r^2/(4u)) du has the mixed transform "
            "and is realizable",
            _draw_subordinate,
            _test_subordinate,
            quick=2,
            thorough=12,
        ),
        Statement(
            "bounded-weights-are-enough",
            "a bounded integral of w(x) makes the mixture square-integrable, whatever the Phi_x: "
            "w = 1 on (0, 1), Phi_x = exp(-x^2 r^2/2), d = 2 and 3",
            _draw_slow,
            _test_bounded_weights,
            role="printed",
            quick=2,
            thorough=2,
        ),
        Statement(
            "negative-weights",
            "a weight may be negative: a mixture of three Gaussians with the narrowest subtracted",
            _draw_negative_weight,
            _test_negative_weight,
            role="beyond",
            quick=2,
            thorough=9,
        ),
    ),
    remarks=(
        "corrected: a bounded integral of w does not make the mixture F-integrable; the norms of "
        "Phi_x must be integrable against w too. With F(Phi_x) >= 0 and Phi_x(0) = 1 the mixture "
        "is still realizable, and where the lemma is used (B.7, B.8) the norms are integrable",
    ),
)

CLAIMS = (FOURIER, HERMITE, PSD, MIXTURES)
