"""The almost lambda-harmonic potential of R^d, in any dimension and with both cores.

As a function F of u = r^2/2, off the core (r >= eps) with k_mu(z) = z^(-mu) K_mu(z), nu = d/2 - 1,
s = sqrt(lambda) and N the value at 0 of what follows,

    F = k_nu(s r)/N,    F' = -s^2 k_(nu+1)(s r)/N,    F'' = s^4 k_(nu+2)(s r)/N,

and inside, with x = r/eps (see `potentials/cores.py`; here every coefficient is a ball),

    ball    -eps dPhi/dr = sum_(j <= m) G_j (1 - x^2)^j,  m = floor(d/2);
    paper   -eps dPhi/dr = the derivative of sum_(k <= d-2) P_k y^k + P_(d-1) y^(d-1) (1 - y/d),
            y = 1 - x.

F, -F' and F'' are positive and fall with r on all of r > 0, for d >= 2: off the core since k_mu
does; in a ball core since -F' = g(u) (2u)^(-1/2) is a product of functions whose derivatives
alternate in sign; in a paper core since F'' = Phi''/r^2 - Phi'/r^3 with Phi'' falling (d >= 5; for
d = 3 the cores are the same); and they are continuous at eps. So over an interval of r each lies
between its values at the two ends, which are computed as points, with as much precision as that
takes: nothing is lost to the width of the box or to cancellation in high dimension, and a box may
cross the edge of the core. For d = 1 F'' jumps there: NaN on an interval that contains the edge.

    grad_x = F' (x - y),    H_xx = H_yy = -H_xy = F' I + F'' (x - y)(x - y)^T.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import flint
from flint import arb, arb_mat, arb_poly

from earnshaw.landscape.rigorous.balls import dot, identity, outer, root, workprec
from earnshaw.landscape.rigorous.kernel import Kernel, PairJet, SelfJet

MOST_BITS = 1 << 14


class _Core(NamedTuple):
    """The inside before normalisation, as polynomials in x = r/eps."""

    value: arb_poly  # Phi
    slope: arb_poly  # -eps dPhi/dr
    bend: arb_poly  # eps^2 d2Phi/dr2


class AlmostHarmonicKernel(Kernel):
    """Phi of the module's docstring, with Phi(0) = 1; parameters as of `AlmostHarmonic`."""

    cusped = True

    def __init__(self, dim: int, radius: float = 0.1, lam: float = 1.0, core: str = "ball") -> None:
        self.dim, self.radius, self.lam, self.core = dim, radius, lam, core

    def value(self, x: arb_mat, y: arb_mat) -> arb:
        """F(u); 1 where x and y are the same exact numbers."""
        away = x - y
        return self.radial(dot(away, away), 0)

    def jet(self, x: arb_mat, y: arb_mat) -> PairJet:
        """The last line of the module's docstring."""
        away = x - y
        square = dot(away, away)
        value, slope, bend = (self.radial(square, order) for order in range(3))
        force = away * slope
        block = identity(self.dim) * slope + outer(away, away) * bend
        return PairJet(value, force, -force, block, -block, block)

    def alone(self, x: arb_mat) -> SelfJet:
        """1."""
        return SelfJet(arb(1), arb_mat(self.dim, 1), arb_mat(self.dim, self.dim))

    def cusp(self) -> arb:
        """-dPhi/dr at 0."""
        return self._exact(arb(0), 3)

    def radial(self, square: arb, order: int) -> arb:
        """The derivative of F of the given order over all r^2 in `square`."""
        if not square.is_finite():
            return arb.nan()
        near, far = square.lower(), square.upper()
        if not near > 0:
            if order or not far >= 0:
                return arb.nan()
            near = arb(0)
        if self.dim == 1 and order == 2 and square.overlaps(arb(self.radius) ** 2):
            return arb.nan()
        most = self._exact(near, order)
        return most if near == far else most.union(self._exact(far, order))

    def _exact(self, square: arb, order: int) -> arb:
        """At one r^2, with as many bits as it takes to have those in force; order 3: -dPhi/dr."""
        bits = flint.ctx.prec
        working = bits + 64 + 8 * self.dim
        while working < MOST_BITS:
            with workprec(working):
                found = self._at(square, order)
            if found.is_finite() and found.rel_accuracy_bits() >= bits:
                return found
            working *= 2
        return arb.nan()

    def _at(self, square: arb, order: int) -> arb:
        r, eps, lam = root(square), arb(self.radius), arb(self.lam)
        core = _core(self.dim, self.radius, self.lam, self.core, flint.ctx.prec)
        origin = core.value(arb(0))
        if square < eps * eps:  # exact numbers both
            x = r / eps
            if order == 0:
                return core.value(x) / origin
            slope = core.slope(x) / (eps * origin)
            if order == 3:
                return slope
            if order == 1:
                return -slope / r
            return (core.bend(x) / (eps**2 * origin) + slope / r) / square
        sign = -1 if order == 1 else 1
        z = lam.sqrt() * r
        return sign * lam**order * _reduced(arb(self.dim) / 2 - 1 + order, z) / origin


def _reduced(order: arb, z: arb) -> arb:
    """k_mu(z) = z^(-mu) K_mu(z)."""
    return z.bessel_k(order) / z**order


@lru_cache(maxsize=64)
def _core(dim: int, radius: float, lam: float, kind: str, bits: int) -> _Core:
    """The core at `bits` of precision (which must be those in force)."""
    eps, lambda_ = arb(radius), arb(lam)
    z = lambda_.sqrt() * eps
    nu = arb(dim) / 2 - 1
    edge = _reduced(nu, z)
    x = arb_poly([0, 1])
    if kind == "paper":
        # (-eps d/dr)^k Phi at eps, from eps^2 Phi'' + (d-1) eps Phi' = z^2 Phi and its derivatives.
        signed = [edge, z * z * _reduced(nu + 1, z)]
        for k in range(dim - 2):
            before = k * signed[k - 1] if k else arb(0)
            signed.append(z * z * (signed[k] - before) + (k + dim - 1) * signed[k + 1])
        powers = [signed[k] / math.factorial(k) for k in range(dim)]
        in_y = arb_poly([*powers, -powers[-1] / dim])
        value = in_y(1 - x)
        return _Core(value, -value.derivative(), value.derivative().derivative())
    order = dim // 2
    # -eps dPhi/dr = z^2 x k_(nu+1)(z x), and d k_mu / d(z^2) = -k_(mu+1)/2: Taylor in w = 1 - x^2.
    roots = [(-1) ** i * _half_choose(i) for i in range(order + 1)]
    series = [
        (z * z / 2) ** j / math.factorial(j) * _reduced(nu + 1 + j, z) for j in range(order + 1)
    ]
    taylor = [
        z * z * sum((roots[i] * series[j - i] for i in range(j + 1)), arb(0))
        for j in range(order + 1)
    ]
    slope = arb_poly(taylor)(1 - x * x)
    whole = slope.integral()
    return _Core(edge + whole(arb(1)) - whole, slope, -slope.derivative())


def _half_choose(i: int) -> arb:
    """The binomial coefficient (1/2 choose i)."""
    product = arb(1)
    for j in range(i):
        product *= (arb(0.5) - j) / (j + 1)
    return product
