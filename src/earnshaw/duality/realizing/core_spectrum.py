"""The transform of the almost lambda-harmonic potential, from its charge density alone.

Outside the core (Laplacian - lambda) Phi = 0, and Phi is continuously differentiable, so by Green's
identity

    F(k) = Q(k) / (k^2 + lambda),    Q = the transform of q = lambda Phi - Laplacian Phi,

and q lives in r < eps, where r q(r) is a polynomial. F itself never has to be integrated over the
far field, against which its high frequencies would cancel. Q falls as k^(1-d), 20 orders of
magnitude over the range that is needed in d = 11, so quadrature in double precision would not do
either. With x = k eps, to a few units of the last place *relative to Q* everywhere:

- x up to about 40 + 3d: the power series of Q in x^2, in high precision (Arb), at the nodes of
  Chebyshev panels;
- beyond: Q = N(k) + Re(exp(i x) M(k)). N is exact and finite: the transforms of the odd powers of r
  in q (see `spectrum`). M comes from the edge r = eps: minus the integral of the continued q over
  r > eps, turned into the complex plane (r = eps + i t/k), where it decays as exp(-t); M times a
  power of x is a smooth function of 1/x, interpolated.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
from flint import arb, arb_poly, ctx
from numpy.polynomial import chebyshev, laguerre, polynomial
from scipy import special

from earnshaw.duality.families.cores import contact_order, exact_core
from earnshaw.duality.realizing._spectrum import Spectrum, power_transform
from earnshaw.numerics.hankel import ORDER
from earnshaw.numerics.piecewise import fit_panels
from earnshaw.numerics.quadrature import graded, panel_rule

CUTOFF = 2000.0
"""Largest k eps used: the oscillations dropped beyond it change the potential by about 1e-7."""
_FAR = 20.0
"""From this many core radii on, the profile is integrated along the branch cut of sqrt(F)."""


class ChargeTransform:
    """Q(k), and N's coefficients, for one core. See the module's text."""

    def __init__(self, dim: int, radius: float, lam: float, core: str) -> None:
        self.dim, self.radius = dim, radius
        self.border = 40.0 + 3 * dim
        # The core meets the outside so smoothly that q vanishes at the edge with this power.
        self.contact = contact_order(dim, core)
        self.wave_power = (dim + 1) / 2 + self.contact
        bits = 400 + 40 * dim
        with ctx.workprec(bits), mpmath.workprec(bits):
            *_, slope, _, charge = exact_core(dim, radius, lam, core)
            terms, cusp = _in_powers_of_x(charge), arb(slope[0])
            series = self._series(terms, cusp)
            self.taylor = np.array([float(c) for c in series])
            exact = arb_poly(series)
            fitted = fit_panels(
                lambda x: np.array([float(exact(arb(float(t)) ** 2)) for t in x]),
                np.concatenate(
                    [[0.0, 1.0, 2.0, 4.0], np.arange(8.0, self.border, 6.0), [self.border]]
                ),
            )
            at_edge = arb_poly(terms)(arb_poly([1, 1]))
            edge = np.array([float(at_edge[i]) for i in range(len(terms))])
            edge[: self.contact] = 0.0
            self.odd = self._odd_part(terms, cusp)
        self._near = fitted
        self._edge = self._edge_part(edge)

    def __call__(self, k: np.ndarray) -> np.ndarray:
        """Q(k) for k >= 0."""
        x = np.asarray(k, dtype=float) * self.radius
        near = x < self.border
        out = np.empty_like(x)
        out[near] = self._near(x[near])
        far = x[~near]
        wave = chebyshev.chebval(2 * self.border / far - 1, self._edge) * far**-self.wave_power
        smooth = polynomial.polyval(far**-2, self.odd) * far ** (1.0 - self.dim)
        out[~near] = smooth + (wave * np.exp(1j * far)).real
        return out

    def root_kink(self) -> float:
        """The part of the leading oscillation of sqrt(F) that has the phase of Lambda_d(k eps)/k^2.

        It is there for odd d = 3, 7, 11, ... with a ball core: then h has a kink at r = eps. In the
        other dimensions the oscillation is weaker, or out of phase and h as smooth as y log|y|.
        """
        if self.wave_power != self.dim:
            return 0.0
        in_phase = chebyshev.chebval(-1.0, self._edge) * np.exp(0.25j * math.pi * (self.dim - 1))
        order = self.dim / 2 - 1
        # Lambda_d(x) ~ size x^(-(d-1)/2) cos(x - (d-1) pi/4)
        size = math.gamma(self.dim / 2) * 2**order * math.sqrt(2 / math.pi)
        return float(in_phase.real) / (2 * math.sqrt(self.odd[0]) * size * self.radius)

    def imaginary(self, t: np.ndarray) -> np.ndarray:
        """Q(i t): all terms of the series are positive."""
        return polynomial.polyval(-((t * self.radius) ** 2), self.taylor)

    def _series(self, terms: list[arb], cusp: arb) -> list[arb]:
        """Coefficients of Q in powers of (k eps)^2.

        The kernel is sum_j (-1)^j (k r/2)^(2j) / (j! (d/2)_j); a power r^n integrates to
        eps^(n+d+2j) / (n+d+2j). For d = 1 the cusp is a point charge of 2 cusp: the limit d -> 1.
        """
        dim, half = self.dim, arb(self.dim) / 2
        area = 2 * arb.pi() ** half / half.gamma()
        volume = area * arb(self.radius) ** (dim - 1)
        count = int(2.2 * self.border) + 40
        out, factor = [], arb(1)
        for j in range(count):
            total = sum((c / (n + dim - 1 + 2 * j) for n, c in enumerate(terms) if n), arb(0))
            singular = cusp if dim + j == 1 else cusp * (dim - 1) / (dim - 1 + 2 * j)
            out.append(volume * factor * (total + singular))
            factor *= -arb(1) / (4 * (j + 1) * (half + j))
        return out

    def _odd_part(self, terms: list[arb], cusp: arb) -> np.ndarray:
        """Coefficients of N in x^(1-d), x^(-1-d), x^(-3-d), ...

        r q = sum_n c_n (r/eps)^n contributes its even n, that is r^(n-1) to q.
        """
        point = 2.0**self.dim * math.pi ** ((self.dim - 1) / 2) * math.gamma((self.dim + 1) / 2)
        scale = self.radius ** (self.dim - 1)
        odd = [scale * point * float(cusp)]
        for n in range(2, len(terms), 2):
            odd.append(scale * float(terms[n]) * power_transform(self.dim, n - 1))
        return np.array(odd)

    def _edge_part(self, edge: np.ndarray) -> np.ndarray:
        """Chebyshev coefficients of x^p M in 1/x on (0, 1/border), p = `wave_power`."""
        count, order = 40, self.dim / 2 - 1
        t, weights = laguerre.laggauss(40)
        angle = (2 * np.arange(count) + 1) * math.pi / (2 * count)
        x = 2 * self.border / (1 + np.cos(angle))
        offset = 1j * t[None, :] / x[:, None]
        density = polynomial.polyval(offset, edge) / (1 + offset)
        hankel = special.hankel1e(order, x[:, None] * (1 + offset))
        integral = (density * (1 + offset) ** (self.dim / 2) * hankel) @ weights * 1j
        wave = -((2 * math.pi) ** (self.dim / 2)) * self.radius ** (self.dim - 1) * integral
        scaled = wave * x ** (self.wave_power - self.dim / 2)
        nodes = chebyshev.chebvander(np.cos(angle), count - 1)
        return np.linalg.solve(nodes, scaled)


def _in_powers_of_x(terms: list[Any]) -> list[arb]:
    """The coefficients of sum_l t_l x^l (1-x)^(n-l) in powers of x."""
    total, below = arb_poly([0]), arb_poly([1])  # below = (1-x)^(n-l)
    for low in reversed(range(len(terms))):
        total += arb_poly([*[0] * low, arb(terms[low])]) * below
        below *= arb_poly([1, -1])
    return [total[i] for i in range(len(terms))]


@lru_cache(maxsize=64)
def core_spectrum(dim: int, radius: float, lam: float, core: str) -> Spectrum:
    """The spectrum of `AlmostHarmonic(dim, radius, lam, core)`."""
    charge = ChargeTransform(dim, radius, lam, core)
    decay, order = math.sqrt(lam), dim / 2 - 1

    def value(k: np.ndarray) -> np.ndarray:
        return charge(k) / (k * k + lam)

    def far(r: np.ndarray) -> np.ndarray:
        """h(r), relative to itself, by turning the inversion integral onto the cut k = i t, t > s.

        h(r) = (2 pi)^(-d/2) r^(1-d/2) (2/pi)
               integral_s^inf t^(d/2) K_(d/2-1)(t r) sqrt(Q(i t) / (t^2 - lam)) dt;

        t^2 = lam + v^2 removes the root. The zeros of Q, a few units of 1/eps off the axis, add
        terms that have decayed by then.
        """
        out = np.empty_like(r)
        for i, radius_i in enumerate(r):
            top = math.sqrt((decay + 50 / radius_i) ** 2 - lam)
            v, w = panel_rule(graded(1e-3 * top, top), ORDER)
            t = np.sqrt(v * v + lam)
            log_bessel = np.log(special.kve(order, t * radius_i)) - t * radius_i
            integrand = np.sqrt(charge.imaginary(t)) * np.exp(log_bessel + order * np.log(t))
            out[i] = 2 / math.pi * np.sum(w * integrand) * (2 * math.pi) ** (-dim / 2)
        return out * r ** (1 - dim / 2)

    # N(k)/(k^2 + lam) in powers of 1/k^2.
    lead, *rest = charge.odd * radius ** (1.0 - dim - 2 * np.arange(len(charge.odd)))
    second = (rest[0] if rest else 0.0) - lam * lead
    grid = np.concatenate([np.geomspace(1e-4, 1.0, 60), np.arange(1.05, 4 * charge.border, 0.1)])
    extent = 40 / decay + 4 * radius
    reaches_far = extent > 1.5 * _FAR * radius
    return Spectrum(
        dim=dim,
        value=value,
        error=1e-14 * float(value(np.array([1e-9 / radius]))[0]),
        cutoff=CUTOFF / radius,
        samples=grid / radius,
        power=dim + 1.0,
        tail=(lead, second),
        kinks=(radius,),
        scale=radius,
        extent=extent,
        decay=decay if reaches_far else 0.0,
        far=far if reaches_far else None,
        far_from=_FAR * radius if reaches_far else math.inf,
        root_kink=charge.root_kink(),
    )
