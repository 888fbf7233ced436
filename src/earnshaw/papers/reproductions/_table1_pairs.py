"""The pairs of both Tables 1, and E[sigma(X, theta) sigma(X, w)] of each, found three ways.

- `closed`      the library's potential, `ew.potential`;
- `quadrature`  the expectation as an integral: over the plane of (x.theta, x.w) split at the kinks
                for dot products, over each coordinate for products, and for the radial profile h of
                the almost lambda-harmonic activation in R^3, where the density cancels,

                    Phi(t) = (2 pi/t) int_0^inf r h(r) (G(r + t) - G(|r - t|)) dr,  G' = s h(s);

- `sampled`     the expectation as a mean over random inputs, with its standard error. On R^d
                (sigma sigma)^2 may have no mean under N(0, I): for Bessel's and the almost
                lambda-harmonic activation h is infinite at the units and falls too slowly. Inputs
                are drawn around the two units instead, at a distance with the exponential law of
                mean s, and weighted by p/q, q their density

                    q(x) = mean over c = theta, w of exp(-|x - c|/s) / (s |S^(d-1)| |x - c|^(d-1)).

The activations are plain NumPy, as the texts print them or as corrected; only the almost
lambda-harmonic one, which no text gives as a formula, is the library's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate, interpolate, special

from earnshaw.duality.named import activation, potential
from earnshaw.numerics.jax_as_numpy import as_numpy
from earnshaw.numerics.quadrature import correlated_mean, graded, panel_rule
from earnshaw.papers._printed_activations import hermite, synthetic

Function = Callable[[np.ndarray], np.ndarray]

ANGLES = np.linspace(0.15, math.pi - 0.15, 9)  # between theta and w on the sphere
DEGREE = 3  # m of the Hermite and polynomial pairs
SYNTHETIC_DEGREE = 4  # N, where the series of EPD, Theorem 4.4, is cut
RADIUS = 0.5  # eps of the almost lambda-harmonic pair
SPHERE, SPACE = "S^(d-1)", "R^d"
NOISE = 1e-12  # of a difference of numbers of size one
REACH = 30.0  # h is negligible beyond


@dataclass(frozen=True)
class Means:
    """E[sigma sigma] at some points: by quadrature, and by sampling with its standard error."""

    quadrature: np.ndarray
    sampled: np.ndarray
    error: np.ndarray


@dataclass(frozen=True)
class DotProductPair:
    """sigma = s(x.w) on the sphere; `at` is rho = theta.w.

    Attributes:
        s: the activation.
        closed: the library's potential.
        printed: the activation as printed, where that is another.
        dim: of the inputs that are drawn.
        kink: whether s is not smooth at 0.
    """

    s: Function
    closed: Callable[[Any], Any]
    printed: Function | None = None
    dim: int = 3
    kink: bool = False
    variable = "theta.w"

    @property
    def at(self) -> np.ndarray:
        return np.cos(ANGLES)[::-1]

    @property
    def curve(self) -> np.ndarray:
        return np.cos(np.linspace(math.pi, 0, 201))

    @property
    def profile(self) -> tuple[np.ndarray, np.ndarray]:
        """The activation, to be drawn: x and s(x)."""
        x = np.linspace(-3, 3, 241)
        return x, self.s(x)

    def mean(self, s: Function, rho: float) -> float:
        """E[s(x.theta) s(x.w)] at rho = theta.w, by quadrature over the plane split at the kink."""
        return correlated_mean(s, (0.0,) if self.kink else (), math.acos(rho))

    def means(self, samples: int, rng: np.random.Generator) -> Means:
        """At the points `at`, each with its own inputs."""
        exact = [self.mean(self.s, rho) for rho in self.at]
        drawn = []
        for rho in self.at:
            x = rng.standard_normal((samples, self.dim))
            w = np.array([rho, math.sqrt(1 - rho * rho), *[0.0] * (self.dim - 2)])
            drawn.append(_estimate(self.s(x[:, 0]) * self.s(x @ w)))
        return Means(np.array(exact), *np.array(drawn).T)

    def as_printed(self) -> np.ndarray | None:
        """E[sigma sigma] of the activation as printed, where that is another."""
        if self.printed is None:
            return None
        return np.array([self.mean(self.printed, rho) for rho in self.at])


@dataclass(frozen=True)
class SpacePair:
    """sigma on R^d with units at -+delta/2; `at` is the length of delta, or its sum.

    Attributes:
        sigma: of inputs (n, d) and a unit (d,).
        closed: the library's potential as a function of `at`.
        between: the displacement delta that belongs to a value of `at`, (d,).
        integral: E[sigma sigma] by quadrature, given delta.
        scale: s, the mean distance of the inputs that are drawn.
        far: as far as the curve is drawn.
    """

    sigma: Callable[[np.ndarray, np.ndarray], np.ndarray]
    closed: Callable[[Any], Any]
    between: Callable[[float], np.ndarray]
    integral: Callable[[np.ndarray], float]
    variable: str
    scale: float = 1.0
    far: float = 3.0

    @property
    def at(self) -> np.ndarray:
        return np.linspace(0.05, 0.95, 9) * self.far

    @property
    def curve(self) -> np.ndarray:
        return np.linspace(0, self.far, 201)

    @property
    def profile(self) -> tuple[np.ndarray, np.ndarray]:
        """sigma(x, 0) sqrt(p(x)) = h(x), to be drawn along the line of the displacements."""
        x = np.linspace(-3, 3, 240)
        inputs = np.array([self.between(value) for value in x])
        return x, self.sigma(inputs, 0 * inputs[0]) * np.sqrt(_normal_density(inputs))

    def means(self, samples: int, rng: np.random.Generator) -> Means:
        """At the points `at`, each with its own inputs."""
        exact, drawn = [], []
        for value in self.at:
            delta = self.between(value)
            exact.append(self.integral(delta))
            x, density = _around(np.array([-delta / 2, delta / 2]), self.scale, samples, rng)
            terms = self.sigma(x, -delta / 2) * self.sigma(x, delta / 2)
            drawn.append(_estimate(terms * _normal_density(x) / density))
        return Means(np.array(exact), *np.array(drawn).T)

    def as_printed(self) -> None:
        """On R^d what is printed is what is used."""


Pair = DotProductPair | SpacePair


def _estimate(terms: np.ndarray) -> tuple[float, float]:
    return float(np.mean(terms)), float(np.std(terms, ddof=1) / math.sqrt(len(terms)))


def _normal_density(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.sum(x * x, axis=1) / 2) / (2 * math.pi) ** (x.shape[1] / 2)


def _around(
    centres: np.ndarray, scale: float, samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs around the centres, and their density q."""
    dim = centres.shape[1]
    direction = rng.standard_normal((samples, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    x = centres[rng.integers(len(centres), size=samples)]
    x = x + rng.exponential(scale, (samples, 1)) * direction
    r = np.linalg.norm(x[:, None] - centres, axis=2)
    area = 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)
    return x, np.mean(np.exp(-r / scale) / (scale * area * r ** (dim - 1)), axis=1)


def _product(factor: float, profile: Function) -> tuple[Callable, Callable]:
    """sigma = prod_i factor exp(x_i^2/4) profile(|x_i - theta_i|), and its E[sigma sigma]."""

    def one(x: np.ndarray, theta: Any) -> np.ndarray:
        return factor * np.exp(x * x / 4) * profile(np.abs(x - theta))

    def sigma(x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return np.prod(one(x, theta), axis=1)

    def along(delta: float) -> float:
        def integrand(x: Any) -> Any:
            density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
            return one(x, -delta / 2) * one(x, delta / 2) * density

        edges = [-REACH / 2, -delta / 2, 0, delta / 2, REACH / 2]  # infinite at some of them
        parts = [integrate.quad(integrand, *ends) for ends in pairwise(edges)]
        return sum(value for value, _ in parts)

    return sigma, lambda delta: math.prod(along(float(t)) for t in delta)


def _overlap(h: Function) -> Callable[[np.ndarray], float]:
    """The integral of h(|x|) h(|x - delta|) over R^3, h r bounded at 0."""
    t = np.linspace(math.log(1e-9), math.log(2 * REACH), 6000)
    inner = interpolate.CubicSpline(t, np.exp(2 * t) * h(np.exp(t))).antiderivative()

    def total(s: np.ndarray) -> np.ndarray:
        return inner(np.log(np.clip(s, 1e-9, 2 * REACH)))

    def integral(delta: np.ndarray) -> float:
        gap = float(np.linalg.norm(delta))
        steps = graded(1e-7, REACH)
        marks = [p + side * steps for p in (0, gap, RADIUS) for side in (1, -1)]
        edges = np.unique(np.clip(np.concatenate([*marks, [abs(gap - RADIUS)]]), 0, REACH))
        r, weights = panel_rule(edges)
        shell = total(r + gap) - total(np.abs(r - gap))
        return float(2 * math.pi / gap * np.sum(weights * r * h(r) * shell))

    return integral


def _along(*direction: float) -> Callable[[float], np.ndarray]:
    return lambda t: t * np.array(direction)


def pair_named(name: str) -> Pair:
    """The pair of that line of Table 1."""
    return PAIRS[name]()


def _sign() -> Pair:
    return DotProductPair(np.sign, potential("sign"), lambda x: math.sqrt(2) * np.sign(x), 3, True)


def _relu() -> Pair:
    return DotProductPair(lambda x: math.sqrt(2) * np.maximum(x, 0), potential("relu"), kink=True)


def _hermite() -> Pair:
    return DotProductPair(lambda x: hermite(DEGREE, x), potential(f"hermite-{DEGREE}"))


def _polynomial() -> Pair:
    powers = np.polynomial.hermite_e.herme2poly([0] * DEGREE + [1])
    powers = powers / math.sqrt(math.factorial(DEGREE))
    closed = potential("polynomial", coefficients=powers)
    return DotProductPair(lambda x: np.polynomial.polynomial.polyval(x, powers), closed)


def _exponential() -> Pair:
    closed = potential("exponential", shift=-1.0, normalize=False)
    return DotProductPair(lambda x: np.exp(x - 1), closed, lambda x: np.exp(x - 2))


def _synthetic() -> Pair:
    closed = potential("sphere-synthetic", 3, degree=SYNTHETIC_DEGREE)
    return DotProductPair(synthetic(3, SYNTHETIC_DEGREE), closed)


def _gaussian() -> Pair:
    sigma, integral = _product(math.sqrt(2), lambda r: np.exp(-r * r))
    closed = potential("gaussian", 2).value
    return SpacePair(sigma, closed, _along(0.6, 0.8), integral, "|theta - w|")


def _bessel() -> Pair:
    sigma, integral = _product((2 / math.pi) ** 0.75, special.k0)
    phi = potential("bessel", 2)
    between = _along(0.5, 0.5)
    closed = np.vectorize(lambda t: float(phi.between(between(t), np.zeros(2))))
    return SpacePair(sigma, closed, between, integral, "|theta - w|_1")


def _almost_harmonic() -> Pair:
    unit: Any = activation("almost-harmonic", dim=3, radius=RADIUS)
    h = as_numpy(lambda r: unit.profile(r[..., None] * np.eye(1, 3)[0]))

    def sigma(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return h(np.linalg.norm(x - w, axis=1)) / np.sqrt(_normal_density(x))

    closed = potential("almost-harmonic", 3, radius=RADIUS).value
    return SpacePair(
        sigma, closed, _along(1.0, 0.0, 0.0), _overlap(h), "|theta - w|", scale=0.5, far=2.0
    )


PAIRS: dict[str, Callable[[], Pair]] = {
    "sign": _sign,
    "relu": _relu,
    "hermite": _hermite,
    "exponential": _exponential,
    "synthetic": _synthetic,
    "gaussian": _gaussian,
    "bessel": _bessel,
    "almost-harmonic": _almost_harmonic,
    "polynomial": _polynomial,
}
