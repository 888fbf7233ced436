"""What realizable potentials have in common: positive semidefinite, and closed under mixing.

    sum v_i v_j Phi(x_i, x_j) = E[(sum v_i sigma(X, x_i))^2] >= 0          (Full, Lemma B.4)
    F(integral w(x) Phi_x dx) = integral w(x) F(Phi_x) dx >= 0             (Full, Lemma B.6)

The second lemma asks for a bounded integral of w, and concludes that the mixture is
square-integrable with an integrable transform. That needs integral w(x) (||Phi_x|| + Phi_x(0)) dx
to be finite: with w = 1 on (0, 1) and Phi_x = exp(-x^2 r^2/2), each normalised and realizable, the
mixture falls as 1/r and is not square-integrable in the plane or above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from earnshaw.duality.activation import Translation
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.duality.named import activation, potential
from earnshaw.duality.potential import Radial
from earnshaw.duality.realizing.realize import realize
from earnshaw.numerics.jax_as_numpy import as_numpy
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
    panels,
    radial_profile,
    sphere_area,
    towards,
)

CLOSED_FORM = 1e-9  # of quadratures of closed forms
INVERTED = 1e-6  # of profiles that the library finds by numerical inversion

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

    def network(x: Any) -> Any:
        return sum(c * sigma.unit(x[:, None], p) for c, p in zip(v, points, strict=True))

    response = as_numpy(network)
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
    points, weights = np.asarray(why.points), np.asarray(why.weights)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    form = weights @ NOT_PSD[formula](distances) @ weights / (weights @ weights)
    return Finding(bool(form < -1e-9), {"quadratic_form": float(form)})


def _draw_lattice(rng: np.random.Generator, index: int) -> Instance:
    return {"spacing": float(rng.uniform(0.44, 0.5)), "side": 14}


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
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
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
    if not result.realizable or not isinstance(result.activation, Translation):
        return Finding(False, {"refused": 1.0})
    profile = radial_profile(result.activation)
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
    growth = [b - a for a, b in pairwise(norms)]
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
    return Finding(lowest >= 0, numbers)


MIXTURES = Claim(
    id="mixtures",
    title="a mixture of realizable potentials is realizable",
    sources=Sources(full="Lemma B.6"),
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
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
            kind="hypothesis-missing",
            quick=2,
            thorough=2,
        ),
        Statement(
            "negative-weights",
            "a weight may be negative: a mixture of three Gaussians with the narrowest subtracted",
            _draw_negative_weight,
            _test_negative_weight,
            role="beyond",
            quick=1,
            thorough=9,
        ),
    ),
    remarks=(
        "corrected: a bounded integral of w does not make the mixture F-integrable; the norms of "
        "Phi_x must be integrable against w too. With F(Phi_x) >= 0 and Phi_x(0) = 1 the mixture "
        "is still realizable, and where the lemma is used (B.7, B.8) the norms are integrable",
    ),
)
