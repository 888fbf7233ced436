"""The almost lambda-harmonic potential of R^d, in any dimension and with both cores.

As a function F of u = r^2/2, off the core (r >= eps) with k_mu(z) = z^(-mu) K_mu(z), nu = d/2 - 1,
s = sqrt(lambda) and N the value at 0 of what follows,

    F = k_nu(s r)/N,    F' = -s^2 k_(nu+1)(s r)/N,    F'' = s^4 k_(nu+2)(s r)/N,

and inside, with x = r/eps (see `duality/families/cores.py`; here every coefficient is a ball),

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
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import flint
from flint import arb, arb_poly

from earnshaw.landscape.proofs._balls import root, workprec
from earnshaw.landscape.proofs._radial import RadialKernel

MOST_BITS = 1 << 14
DOUBLE = 53  # bits of a float
MORE_BITS = 8  # per dimension, for what cancels in polynomials of r/eps


class _Core(NamedTuple):
    """The inside before normalisation, as polynomials in x = r/eps."""

    value: arb_poly  # Phi
    slope: arb_poly  # -eps dPhi/dr
    bend: arb_poly  # eps^2 d2Phi/dr2


class AlmostHarmonicKernel(RadialKernel):
    """Phi of the module's docstring, with Phi(0) = 1; parameters as of `AlmostHarmonic`."""

    def __init__(self, dim: int, radius: float = 0.1, lam: float = 1.0, core: str = "ball") -> None:
        super().__init__(dim)
        self.radius, self.lam, self.core = radius, lam, core

    def cusp(self) -> arb:
        """-dPhi/dr at 0."""
        bits = flint.ctx.prec
        with workprec(bits + MORE_BITS * self.dim):
            core = self._core()
            return core.slope(arb(0)) / (arb(self.radius) * core.value(arb(0)))

    def radial(self, square: arb, orders: int) -> list[arb]:
        """Between the values at the two ends of the interval."""
        near, far = square.lower(), square.upper()
        if not (square.is_finite() and far >= 0):
            return [arb.nan()] * (orders + 1)
        if not near > 0:
            # Only the value is finite at r = 0.
            value = self._exact(arb(0), 0)[0].union(self._exact(far, 0)[0])
            return [value, *[arb.nan()] * orders]
        ends = self._exact(near, orders), self._exact(far, orders)
        found = [one.union(other) for one, other in zip(*ends, strict=True)]
        if self.dim == 1 and orders == 2 and square.overlaps(arb(self.radius) ** 2):
            found[2] = arb.nan()
        return found

    def _exact(self, square: arb, orders: int) -> list[arb]:
        """At one r^2, an exact number, with as many bits as it takes to have those in force."""
        bits = flint.ctx.prec
        with workprec(2 * DOUBLE):
            inside = square < arb(self.radius) ** 2  # exact numbers both
        working = bits + 32 + (MORE_BITS * self.dim if inside else 0)
        while working < MOST_BITS:
            with workprec(working):
                found = self._inside(square, orders) if inside else self._outside(square, orders)
            if all(one.rel_accuracy_bits() >= bits for one in found):
                return found
            working *= 2
        return [arb.nan()] * (orders + 1)

    def _inside(self, square: arb, orders: int) -> list[arb]:
        core, eps, r = self._core(), arb(self.radius), root(square)
        x, origin = r / eps, core.value(arb(0))
        if not orders:
            return [core.value(x) / origin]
        slope = core.slope(x) / (r * eps * origin)
        bend = (core.bend(x) / (eps**2 * origin) + slope) / square
        return [core.value(x) / origin, -slope, bend][: orders + 1]

    def _outside(self, square: arb, orders: int) -> list[arb]:
        lam, origin = arb(self.lam), self._core().value(arb(0))
        found = reduced_bessel(self.dim, (lam * square).sqrt(), orders + 1)
        return [(-lam) ** order * value / origin for order, value in enumerate(found)]

    def _core(self) -> _Core:
        return _core(self.dim, self.radius, self.lam, self.core, flint.ctx.prec)


def reduced_bessel(dim: int, z: arb, count: int) -> list[arb]:
    """k_mu(z) for `count` orders mu = d/2 - 1, d/2, ..., upwards from where K is known.

    k_(mu+1) = (2 mu k_mu + k_(mu-1))/z^2, all terms positive; k_(-1/2) and k_(1/2) are elementary.
    """
    if dim % 2:
        decay = (arb.pi() / 2).sqrt() * (-z).exp()
        found, order = [decay, decay / z], arb(-0.5)
    else:
        found, order = [z.bessel_k(arb(0)), z.bessel_k(arb(1)) / z], arb(0)
    skipped = (dim - 1) // 2
    square = z * z
    for j in range(skipped + count - 2):
        found.append((2 * (order + 1 + j) * found[-1] + found[-2]) / square)
    return found[skipped : skipped + count]


@lru_cache(maxsize=64)
def _core(dim: int, radius: float, lam: float, kind: str, bits: int) -> _Core:
    """The core at `bits` of precision (which must be those in force)."""
    eps, lambda_ = arb(radius), arb(lam)
    z = lambda_.sqrt() * eps
    edge, *higher = reduced_bessel(dim, z, dim // 2 + 2)
    x = arb_poly([0, 1])
    if kind == "paper":
        # (-eps d/dr)^k Phi at eps, from eps^2 Phi'' + (d-1) eps Phi' = z^2 Phi and its derivatives.
        signed = [edge, z * z * higher[0]]
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
    series = [(z * z / 2) ** j / math.factorial(j) * higher[j] for j in range(order + 1)]
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
