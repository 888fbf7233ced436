"""The almost 1-harmonic potential on the sphere (EPD, Theorem 4.4) against exact algebra."""

from __future__ import annotations

from fractions import Fraction

import jax
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.duality.families.sphere_synthetic import (
    SphereSynthetic,
    sphere_synthetic_coefficients,
)
from earnshaw.errors import OutOfRange

X = sympy.Symbol("x")


def paper_polynomial(dim: int, degree: int) -> sympy.Poly:
    """The recurrence of the proof of Theorem 4.4, in SymPy; not normalised."""
    c = {0: sympy.Integer(1)}
    for n in range(0, degree - 1, 2):
        c[n + 2] = c[n] * (n * (n - 1) + (dim - 1) * n + 1) / ((n + 2) * (n + 1))
    return sympy.Poly(sum(value * X**n for n, value in c.items()), X)


def sphere_laplacian(f: sympy.Poly, dim: int) -> sympy.Poly:
    slope = f.diff(X)
    return sympy.Poly((1 - X**2) * slope.diff(X) - (dim - 1) * X * slope, X)


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "degree"), [(2, 2), (3, 4), (5, 10), (10, 20), (50, 60)])
def test_paper_error_7_the_residue_is_subtracted_not_added(dim, degree) -> None:
    """Delta f = f - c_N k_N x^N; the paper prints f + k_N x^N."""
    f = paper_polynomial(dim, degree)
    k = degree**2 + (dim - 2) * degree + 1
    term = sympy.Poly(k * X**degree, X)
    assert sphere_laplacian(f, dim) - f == -f.LC() * term
    assert sphere_laplacian(f, dim) - f != term
    # and so does the library's, normalised, everywhere
    potential = SphereSynthetic(dim, degree)
    rho = np.linspace(-1, 1, 21)
    left = np.asarray(potential.laplacian(rho)) - np.asarray(potential.value(rho))
    assert np.allclose(left, potential.defect(rho), rtol=0, atol=1e-13 * potential.residual)
    assert float(potential.defect(1.0)) < 0
    want = -Fraction(str(f.LC() / f.eval(1))) * k
    assert float(potential.defect(1.0)) == pytest.approx(float(want), rel=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 60), st.integers(1, 40).map(lambda half: 2 * half))
def test_coefficients_are_the_recurrence_normalised_by_its_sum(dim, degree) -> None:
    f = paper_polynomial(dim, degree)
    total = f.eval(1)
    got = sphere_synthetic_coefficients(dim, degree)
    want = [float(f.coeff_monomial(X**n) / total) for n in range(degree + 1)]
    assert np.allclose(got, want, rtol=1e-15, atol=0)
    assert np.all(got >= 0)
    assert np.sum(got) == pytest.approx(1, rel=1e-14)


def test_f_of_one_is_not_polynomial_in_the_dimension() -> None:
    """mathematics.md, error 16: about 5e12 at d = 50, N = 60, so c_0 = 1/f(1) is about 2e-13."""
    assert 1 / sphere_synthetic_coefficients(50, 60)[0] == pytest.approx(5e12, rel=0.05)


def test_values_and_derivatives_against_sympy() -> None:
    potential, f = SphereSynthetic(7, 12), paper_polynomial(7, 12)
    for rho in (-1.0, -0.3, 0.0, 0.8, 1.0):
        exact = sympy.Rational(rho)
        for order, method in enumerate((potential.value, potential.first, potential.second)):
            want = f.diff((X, order)).eval(exact) if order else f.eval(exact)
            assert float(method(rho)) == pytest.approx(float(want / f.eval(1)), rel=1e-14)
    assert float(jax.grad(jax.grad(potential.value))(0.4)) == pytest.approx(
        float(potential.second(0.4)), rel=1e-13
    )


def test_taylor_pads_and_cuts() -> None:
    potential = SphereSynthetic(4, 6)
    whole = sphere_synthetic_coefficients(4, 6)
    assert np.array_equal(potential.taylor(3), whole[:3])
    assert np.array_equal(potential.taylor(10), [*whole, 0, 0, 0])
    exact = sympy.Poly(potential.expr)
    assert [float(c) for c in reversed(exact.all_coeffs())] == list(whole)


@pytest.mark.parametrize(
    ("dim", "degree"), [(3, 0), (3, 3), (3, -2), (3, 2.0), (3, True), (3, 1002), (1, 4), (2.5, 4)]
)
def test_out_of_range(dim, degree) -> None:
    with pytest.raises(OutOfRange, match="allowed: ") as caught:
        SphereSynthetic(dim, degree)
    assert "\n" not in str(caught.value)
