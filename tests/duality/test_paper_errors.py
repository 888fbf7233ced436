"""Errors 4, 5, 9 and 11 of mathematics.md: the papers' formula is wrong, earnshaw's is right.

The others that concern potentials are beside what they are about: 6 and 10 in
tests/potentials/test_gaussian.py and test_harmonic.py, 7 in test_synthetic.py, 8 in
tests/duality/test_sphere.py. ``pytest -k paper_error`` runs them all.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from flint import arb, arb_poly, ctx

import earnshaw as ew
from earnshaw.duality.families.gaussian import GaussianTranslation
from reference import ACTIVATIONS, TWO, plane_mean


def test_paper_error_4_sign_has_no_factor_sqrt_2():
    """EPD, Table 1: sqrt(2) sgn is printed for 1 - (2/pi) arccos(rho); its potential is twice."""
    rho = 0.37
    stated = 1 - 2 / np.pi * np.arccos(rho)
    printed = plane_mean(lambda x: TWO.sqrt() * ACTIVATIONS["sign"](x), rho)
    np.testing.assert_allclose(float(printed), 2 * stated, rtol=1e-14)
    np.testing.assert_allclose(ew.potential("sign", normalize=False)(rho), stated, rtol=1e-14)


def test_paper_error_5_exponential_is_shifted_by_one_not_two():
    """EPD, Table 1: exp(x - 2) is printed for exp(rho - 1); its potential is exp(rho - 3)."""
    rho = -0.2
    printed = plane_mean(lambda x: (x - 2).exp(), rho)
    np.testing.assert_allclose(float(printed), np.exp(rho - 3), rtol=1e-13)
    ours = ew.potential("exponential", normalize=False, rate=1.0, shift=-1.0)
    np.testing.assert_allclose(ours(rho), np.exp(rho - 1), rtol=1e-14)
    exact = plane_mean(lambda x: (x - 1).exp(), rho)
    np.testing.assert_allclose(ours(rho), float(exact), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_paper_error_9_the_factor_in_theorem_2_1(dim):
    """E[sigma sigma] with the proof's (2 pi)^(1/4) is (2 pi)^((1-d)/2) Phi; with the unitary
    transform of Appendix B.1 it is (2 pi)^(d/2) Phi. Right are (2 pi)^(d/4) and no factor.
    """
    line = np.linspace(-8, 8, 65)
    x = np.stack(np.meshgrid(*[line] * dim, indexing="ij"), axis=-1)
    density = np.exp(-np.sum(x * x, axis=-1) / 2) / (2 * np.pi) ** (dim / 2)
    cell = (line[1] - line[0]) ** dim
    theta, w = np.zeros(dim), np.full(dim, 0.4)
    potential = np.exp(-np.sum((theta - w) ** 2) / 2)

    def mean(factor, h):
        units = [
            factor * np.exp(np.sum(x * x, axis=-1) / 4) * h(np.sum((x - c) ** 2, axis=-1))
            for c in (theta, w)
        ]
        return float(np.sum(units[0] * units[1] * density) * cell)

    def plain(square):  # F^-1 sqrt(F) for F = (2 pi)^(d/2) exp(-k^2/2)
        return (2 / np.pi) ** (dim / 4) * np.exp(-square)

    def unitary(square):  # U^-1 sqrt(U), U = exp(-k^2/2): the inverse of exp(-k^2/4)
        return 2 ** (dim / 2) * np.exp(-square)

    right = (2 * np.pi) ** (dim / 4)
    assert mean(right, plain) == pytest.approx(potential, rel=1e-10)
    printed = mean((2 * np.pi) ** 0.25, plain)
    assert printed == pytest.approx((2 * np.pi) ** ((1 - dim) / 2) * potential, rel=1e-10)
    assert mean(right, unitary) == pytest.approx((2 * np.pi) ** (dim / 2) * potential, rel=1e-10)
    sigma = GaussianTranslation(dim)  # ours is the right one
    ours = np.asarray(sigma.unit(x, theta) * sigma.unit(x, w))
    assert np.sum(ours * density) * cell == pytest.approx(potential, rel=1e-10)


@pytest.mark.parametrize("dim", [3, 5, 7, 9, 11])
@pytest.mark.parametrize("eps", [0.15, 0.6, 0.95])
def test_paper_error_11_the_statement_of_lemma_b7_holds_for_every_odd_d(dim, eps):
    """(t-r)_+^d - (t/eps)(eps-r)_+^d, t = 1, has a non-negative transform, to 1000 bits."""
    precision, ctx.prec = ctx.prec, 1000
    try:
        # int_0^t (t-r)^d r^(d-1) Lambda_d(k r) dr = t^(2d) sum_j (-(k t)^2/4)^j c_j
        half, coefficients, factor = arb(dim) / 2, [], arb(1)
        for j in range(300):
            coefficients.append(factor * _beta(dim + 2 * j, dim + 1))
            factor *= -arb(1) / (4 * (j + 1) * (half + j))
        series = arb_poly(coefficients)
        small = arb(str(eps))
        for k in np.linspace(0.05, 90, 700):
            square = arb(float(k)) ** 2
            value = series(square) - small ** (2 * dim - 1) * series(square * small**2)
            assert value > 0
    finally:
        ctx.prec = precision


def _beta(a, b):
    """B(a, b) = (a-1)! (b-1)! / (a+b-1)!."""
    return arb(math.factorial(a - 1)) * math.factorial(b - 1) / math.factorial(a + b - 1)


@pytest.mark.parametrize(("dim", "holds"), [(3, True), (7, False), (11, False)])
def test_paper_error_11_the_proof_of_lemma_b7_fails_from_d_7_on(dim, holds):
    """int_eps^t Phi_x(r)/x^2 dx, exactly: its (d-1)-th derivative is 1 - r/t for d = 3 alone.

    The proof differentiates under the integral as if Phi_x^(k) vanished at r = x for k <= d-2.
    """
    r, x, t = sympy.symbols("r x t", positive=True)
    half = (dim - 1) // 2
    slope = -((x**2 - r**2) ** half)  # Phi_x', of which r^(d-1) has the coefficient +1
    scale = sympy.diff(slope, r, dim - 2).coeff(r, 1) if dim > 3 else sympy.diff(slope, r) / r
    slope = sympy.expand(slope / sympy.simplify(scale))
    assert sympy.expand(sympy.diff(slope, r, dim - 2) - r) == 0  # Phi_x^(d-1) = r, as in the text
    jumps = [k for k in range(1, dim - 1) if sympy.expand(sympy.diff(slope, r, k - 1).subs(r, x))]
    assert jumps == list(range(half + 1, dim - 1))
    mixed = sympy.integrate(sympy.expand(slope / x**2), (x, r, t))
    derivative = sympy.expand(sympy.diff(mixed, r, dim - 2))
    assert (sympy.simplify(derivative - (1 - r / t)) == 0) is holds
