"""The potentials of mathematics.md's table in 80 digits, as functions of two positions.

Nothing here uses earnshaw. Each is typed from the closed form; those without one are the plane
integral of `reference.py`. Positions are tuples of mpmath numbers of the context `mp` below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import mpmath
from flint import arb, ctx

import reference

DIGITS = 80
mp = mpmath.MPContext()  # one of our own: the precision of other tests is theirs
mp.dps = DIGITS

Vector = tuple[Any, ...]
Pair = Callable[[Vector, Vector], Any]


def dot(x: Vector, y: Vector) -> Any:
    return mp.fsum(a * b for a, b in zip(x, y, strict=True))


def distance(x: Vector, y: Vector) -> Any:
    return mp.sqrt(mp.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def wedge(x: Vector, y: Vector) -> Any:
    """sqrt(|x|^2 |y|^2 - (x.y)^2) by Lagrange's identity, which does not cancel."""
    areas = (x[i] * y[j] - x[j] * y[i] for i in range(len(x)) for j in range(i))
    return mp.sqrt(mp.fsum(a * a for a in areas))


# -- dot-product activations: functions of q1 = |x|^2, q2 = |y|^2, c = x.y, D and t ----------------


def angular(form: Callable[..., Any]) -> Pair:
    def phi(x: Vector, y: Vector) -> Any:
        c, D = dot(x, y), wedge(x, y)
        return form(q1=dot(x, x), q2=dot(y, y), c=c, D=D, t=mp.atan2(D, c))

    return phi


def moments(form: Callable[..., Any]) -> Pair:
    return lambda x, y: form(dot(x, x), dot(y, y), dot(x, y))


def leaky(a: Any, b: Any) -> Pair:
    def form(c: Any, D: Any, t: Any, **_: Any) -> Any:
        turned = (a - b) ** 2
        return turned * D / (2 * mp.pi) + c * ((a * a + b * b) / 2 - turned * t / (2 * mp.pi))

    return angular(form)


def relu2(q1: Any, q2: Any, t: Any, **_: Any) -> Any:
    sine, cosine = mp.sin(t), mp.cos(t)
    return q1 * q2 / (2 * mp.pi) * (3 * sine * cosine + (mp.pi - t) * (1 + 2 * cosine**2))


def relu3(q1: Any, q2: Any, t: Any, **_: Any) -> Any:
    sine, cosine = mp.sin(t), mp.cos(t)
    odd = (mp.pi - t) * (9 * cosine + 6 * cosine**3)
    return (q1 * q2) ** 1.5 / (2 * mp.pi) * (odd + sine * (4 + 11 * cosine**2))


def erf(q1: Any, q2: Any, c: Any) -> Any:
    return 2 / mp.pi * mp.asin(2 * c / mp.sqrt((1 + 2 * q1) * (1 + 2 * q2)))


def normal_cdf(q1: Any, q2: Any, c: Any) -> Any:
    return mp.mpf(1) / 4 + mp.asin(c / mp.sqrt((1 + q1) * (1 + q2))) / (2 * mp.pi)


def gelu(q1: Any, q2: Any, c: Any) -> Any:
    grown = (1 + q1) * (1 + q2)
    E = mp.sqrt(grown - c * c)
    return c / 4 + ((c * c + q1 * q2 * E * E) / (grown * E) + c * mp.atan(c / E)) / (2 * mp.pi)


def bump(b: Any) -> Pair:
    def form(q1: Any, q2: Any, c: Any) -> Any:
        return ((1 - 2 * b * q1) * (1 - 2 * b * q2) - 4 * b * b * c * c) ** mp.mpf("-0.5")

    return moments(form)


def polynomial(coefficients: Sequence[Any]) -> Pair:
    """sum_l R_l(q1) R_l(q2) c^l with mathematics.md's r_l(q) = R_l(q) q^(l/2)."""
    count = len(coefficients)

    def factor(order: int, q: Any) -> Any:
        total = mp.mpf(0)
        for i in range((count - 1 - order) // 2 + 1):
            n = 2 * i + order
            total += coefficients[n] * mp.factorial(n) / (2**i * mp.factorial(i)) * q**i
        return total / mp.sqrt(mp.factorial(order))

    return moments(
        lambda q1, q2, c: mp.fsum(
            factor(order, q1) * factor(order, q2) * c**order for order in range(count)
        )
    )


def hermite(degree: int) -> Pair:
    """He_n / sqrt(n!) in monomials."""
    monomials = [mp.mpf(0)] * (degree + 1)
    for k in range(degree // 2 + 1):
        term = mp.factorial(degree) / (mp.factorial(k) * mp.factorial(degree - 2 * k) * 2**k)
        monomials[degree - 2 * k] = (-1) ** k * term / mp.sqrt(mp.factorial(degree))
    return polynomial(monomials)


# -- potentials on R^d ----------------------------------------------------------------------------


def radial(f: Callable[[Any], Any]) -> Pair:
    return lambda x, y: f(distance(x, y))


def lambda_harmonic(dim: int, lam: Any = 1.0) -> Callable[[Any], Any]:
    """(s r)^(-nu) K_nu(s r); for odd d by the finite sum, which is fast."""
    order, s = mp.mpf(dim) / 2 - 1, mp.sqrt(mp.mpf(lam))

    def f(r: Any) -> Any:
        z = s * r
        if dim % 2 == 0:
            return z**-order * mp.besselk(order, z)
        n = max((dim - 3) // 2, 0)
        series = mp.fsum(
            mp.factorial(n + j) / (mp.factorial(j) * mp.factorial(n - j) * (2 * z) ** j)
            for j in range(n + 1)
        )
        return z**-order * mp.sqrt(mp.pi / (2 * z)) * mp.exp(-z) * series

    return f


@lru_cache
def core_terms(dim: int, radius: float, lam: float) -> tuple[Any, Any, list[Any]]:
    """Phi(eps), Phi(0) and the Taylor coefficients of -Phi' in u = r^2 at the edge (ball core)."""
    outside, edge = lambda_harmonic(dim, lam), mp.mpf(radius)
    # d/dz (z^-nu K_nu) = -z^-nu K_(nu+1) = -z times the lambda-harmonic function of R^(d+2).
    beyond = lambda_harmonic(dim + 2, lam)
    with mp.workdps(2 * DIGITS):
        slope = lambda u: mp.mpf(lam) * mp.sqrt(u) * beyond(mp.sqrt(u))  # noqa: E731
        terms = mp.taylor(slope, edge**2, math.ceil((dim - 1) / 2))
    at_edge = outside(edge)
    return at_edge, at_edge + core_rise(terms, edge, mp.mpf(0)), terms


def core_rise(terms: list[Any], edge: Any, r: Any) -> Any:
    """The integral of sum_k terms_k (x^2 - eps^2)^k from r to eps, expanded in powers of x."""
    total = mp.mpf(0)
    for k, term in enumerate(terms):
        for i in range(k + 1):
            power = 2 * i + 1
            rise = (edge**power - r**power) / power
            total += term * math.comb(k, i) * (-(edge**2)) ** (k - i) * rise
    return total


def almost_harmonic(dim: int, radius: float = 0.1, lam: float = 1.0) -> Pair:
    """The ball core inside `radius`, the lambda-harmonic function outside, 1 at coincidence."""
    edge, outside = mp.mpf(radius), lambda_harmonic(dim, lam)

    def f(r: Any) -> Any:
        at_edge, origin, terms = core_terms(dim, radius, lam)
        return (outside(r) if r >= edge else at_edge + core_rise(terms, edge, r)) / origin

    return radial(f)


def harmonic(dim: int) -> Pair:
    return radial(lambda r: -r if dim == 1 else -mp.log(r) if dim == 2 else r ** (2 - dim))


def sphere_synthetic(dim: int, degree: int = 20) -> Pair:
    """f(rho)/f(1) with the recurrence of EPD, Theorem 4.4."""
    terms = [mp.mpf(1)]
    for n in range(0, degree, 2):
        terms.append(terms[-1] * (n * (n - 1) + (dim - 1) * n + 1) / ((n + 2) * (n + 1)))

    def phi(x: Vector, y: Vector) -> Any:
        return mp.polyval(terms[::-1], dot(x, y) ** 2) / mp.fsum(terms)

    return phi


def bessel(x: Vector, y: Vector) -> Any:
    return mp.exp(-mp.fsum(abs(a - b) for a, b in zip(x, y, strict=True)))


def by_quadrature(name: str) -> Pair:
    """E[s(u) s(v)] by the plane integral, right to 1e-30; use with a step of 1e-8."""
    s = reference.ACTIVATIONS[name]

    def phi(x: Vector, y: Vector) -> Any:
        q1, q2, c = (as_ball(a) for a in (dot(x, x), dot(y, y), dot(x, y)))
        rho = arb(1) if x == y else c / (q1 * q2).sqrt()
        before, ctx.dps = ctx.dps, reference.DIGITS
        try:
            mean = reference.plane_mean(s, rho, q1, q2)
        finally:
            ctx.dps = before
        return mp.mpf(mean.str(45, radius=False))

    return phi


def as_ball(number: Any) -> arb:
    return arb(mp.nstr(number, DIGITS))


POTENTIALS: dict[str, Callable[..., Pair]] = {
    "sign": lambda **_: angular(lambda t, **_: 1 - 2 * t / mp.pi),
    "step": lambda **_: angular(lambda t, **_: (mp.pi - t) / (2 * mp.pi)),
    "relu": lambda **_: leaky(mp.mpf(0), mp.mpf(1)),
    "leaky-relu": lambda **_: leaky(mp.mpf(0.01), mp.mpf(1)),
    "relu2": lambda **_: angular(relu2),
    "relu3": lambda **_: angular(relu3),
    "erf": lambda **_: moments(erf),
    "normal-cdf": lambda **_: moments(normal_cdf),
    "sin": lambda **_: moments(lambda q1, q2, c: mp.exp(-(q1 + q2) / 2) * mp.sinh(c)),
    "cos": lambda **_: moments(lambda q1, q2, c: mp.exp(-(q1 + q2) / 2) * mp.cosh(c)),
    "rbf": lambda **_: moments(lambda q1, q2, c: mp.exp(-(q1 + q2 - 2 * c))),
    "exponential": lambda **_: moments(lambda q1, q2, c: mp.exp((q1 + q2) / 2 + c)),
    "gaussian-bump": lambda **_: bump(mp.mpf(-0.5)),
    "gelu": lambda **_: moments(gelu),
    "hermite-3": lambda **_: hermite(3),
    "hermite-4": lambda **_: hermite(4),
    "polynomial": lambda coefficients, **_: polynomial([mp.mpf(a) for a in coefficients]),
    "gaussian": lambda rate=1.0, **_: radial(lambda r: mp.exp(-mp.mpf(rate) * r * r / 2)),
    "bessel": lambda **_: bessel,
    "almost-harmonic": almost_harmonic,
    "harmonic": harmonic,
    "lambda-harmonic": lambda dim, lam=1.0: radial(lambda_harmonic(dim, lam)),
    "distance": lambda **_: radial(lambda r: -r),
    "sphere-synthetic": sphere_synthetic,
}


def potential(name: str, dim: int, **parameters: Any) -> Pair:
    """The raw potential of a library name, from mathematics.md."""
    return POTENTIALS[name](dim=dim, **parameters)
