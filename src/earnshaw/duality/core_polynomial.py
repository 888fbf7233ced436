"""The core of an almost lambda-harmonic potential in powers of x = r/eps, in ball arithmetic.

`potentials.cores` gives the same polynomials in the Bernstein basis, rounded to float64: all that
values need. Their transforms need more. Q(k) falls as k^(1-d) because of cancellations between
powers of x, which rounded coefficients do not keep: by d = 31 the transform is wrong by 1 percent.
So they are derived here once more, in Arb.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb, arb_poly, arb_series, ctx


class CorePolynomial(NamedTuple):
    """Coefficients in powers of x = r/eps, divided by Phi(0)."""

    value: list[arb]
    """Phi(r)."""
    charge: list[arb]
    """r q(r), q = lambda Phi - Laplacian Phi; the constant term is (d-1) cusp."""
    cusp: arb
    """-Phi'(0)."""


def core_polynomial(dim: int, radius: float, lam: float, core: str) -> CorePolynomial:
    """The core, at the working precision of `flint.ctx`."""
    eps, z = arb(radius), arb(radius) * arb(lam).sqrt()
    inner = (_paper if core == "paper" else _ball)(dim, z)
    value = [inner[i] / inner[0] for i in range(inner.degree() + 1)]
    # r q = lambda r Phi - r Phi'' - (d-1) Phi': x^i gives lambda eps x^(i+1) and -i(i+d-2)
    # x^(i-1)/eps.
    charge = [arb(0)] * (len(value) + 1)
    for i, c in enumerate(value):
        charge[i + 1] += arb(lam) * eps * c
        if i:
            charge[i - 1] -= i * (i + dim - 2) * c / eps
    return CorePolynomial(value, charge, -value[1] / eps)


def _reduced(order: arb, z: arb) -> arb:
    """k_nu(z) = z^(-nu) K_nu(z); its derivative by z^2 is -k_(nu+1)/2."""
    return z**-order * z.bessel_k(order)


def _ball(dim: int, z: arb) -> arb_poly:
    """Phi in x: -dPhi/dx is the Taylor polynomial of order m in x^2 at 1, m = ceil((d-1)/2)."""
    count = dim // 2 + 1
    nu = arb(dim) / 2 - 1
    # -dPhi/dx = z^2 x k_(nu+1)(z x), x = sqrt(1 + h), in powers of h = x^2 - 1.
    root = [arb(1)]
    for j in range(1, count):
        root.append(root[-1] * (arb(3) / 2 - j) / j)
    bessel = [_reduced(nu + 1 + j, z) * (-z * z / 2) ** j / math.factorial(j) for j in range(count)]
    product = arb_poly(root) * arb_poly(bessel)
    steepness = arb_poly([z * z * product[j] for j in range(count)])
    slope = -steepness(arb_poly([-1, 0, 1]))
    inner = slope.integral()
    return inner - inner(arb(1)) + _reduced(nu, z)


def _paper(dim: int, z: arb) -> arb_poly:
    """Phi in x: all derivatives below the (d-1)-th match at 1, and that one is linear through 0."""
    nu = arb(dim) / 2 - 1
    cap, ctx.cap = ctx.cap, dim + 1
    try:
        outer = arb_series(
            [_reduced(nu + j, z) * (-z * z / 2) ** j / math.factorial(j) for j in range(dim)]
        )
        # k_nu(z x) in powers of y = x - 1, where x^2 - 1 = 2 y + y^2.
        taylor = outer(arb_series([0, 2, 1]))
    finally:
        ctx.cap = cap
    coefficients = [taylor[j] for j in range(dim)]
    coefficients.append(coefficients[-1] / dim)
    return arb_poly(coefficients)(arb_poly([-1, 1]))
