"""Radial transforms against closed-form pairs, SciPy's quadrature and mpmath."""

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, special

from earnshaw.errors import NotSquareIntegrable
from earnshaw.numerics.hankel import ForwardTransform, inverse_transform, kernel, sphere_area
from earnshaw.numerics.matern import Matern, Shell, matern_tail
from earnshaw.numerics.piecewise import fit_panels
from earnshaw.numerics.quadrature import graded, panel_rule, subdivide

FREQUENCIES = np.geomspace(1e-3, 200, 41)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 8, 11, 31])
def test_kernel_is_the_mean_of_a_wave_over_the_sphere(dim):
    x = np.array([0.0, 1e-6, 0.3, 0.999, 1.001, 2.0, dim - 0.01, dim + 0.01, 40.0, 211.0])
    order = mpmath.mpf(dim) / 2 - 1
    exact = [
        1.0
        if t == 0
        else float(
            mpmath.gamma(order + 1) * (2 / mpmath.mpf(t)) ** order * mpmath.besselj(order, t)
        )
        for t in x
    ]
    np.testing.assert_allclose(kernel(dim, x), exact, atol=2e-14)


def closed_pairs(dim):
    """F and F of a Gaussian, an exponential, a Matern function and an algebraic one."""
    k = FREQUENCIES
    area_factor = math.gamma((dim + 1) / 2)
    yield (
        "gaussian",
        lambda r: np.exp(-r * r / 2),
        (2 * np.pi) ** (dim / 2) * np.exp(-k * k / 2),
    )
    yield (
        "exponential",
        lambda r: np.exp(-r),
        2**dim * np.pi ** ((dim - 1) / 2) * area_factor * (1 + k * k) ** (-(dim + 1) / 2),
    )
    p = dim / 2 + 0.75  # bounded at 0, with the broken power r^1.5
    yield (
        "matern",
        lambda r: special.kv(0.75, r) * r**0.75,
        2 ** (p - 1) * (2 * np.pi) ** (dim / 2) * math.gamma(p) * (1 + k * k) ** -p,
    )
    yield (
        "algebraic",
        lambda r: (1 + r * r) ** (-(dim + 1) / 2),
        np.pi ** ((dim + 1) / 2) / area_factor * np.exp(-k),
    )


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 3, 5, 8])
def test_forward_transforms_of_known_pairs(dim):
    for name, function, exact in closed_pairs(dim):
        values, errors = ForwardTransform(function, dim)(FREQUENCIES)
        off = np.abs(values - exact)
        assert np.max(off) < 2e-14 * exact[0] * dim, name
        # The estimate is honest, and not idle.
        assert np.all(off < 4 * errors + 1e-15 * exact[0]), name
        assert np.max(errors) < 1e-12 * exact[0], name


def test_transform_of_a_function_that_is_not_integrable():
    k = np.array([0.01, 0.3, 1.0, 10.0])
    values, _ = ForwardTransform(lambda r: 1 / (1 + r), 1)(k)
    sine, cosine = special.sici(k)
    np.testing.assert_allclose(
        values, 2 * (np.sin(k) * (np.pi / 2 - sine) - np.cos(k) * cosine), rtol=1e-12
    )


@pytest.mark.parametrize("declared", [(), (0.7,)])
def test_kinks_are_found_if_not_declared(declared):
    def function(r):
        return np.maximum(0.7 - r, 0.0) ** 1.5

    k = np.array([0.5, 3.0, 17.0, 60.0])
    values, errors = ForwardTransform(function, 2, declared)(k)
    for frequency, value, error in zip(k, values, errors, strict=True):
        exact, _ = integrate.quad(
            lambda r, w=frequency: 2 * np.pi * r * function(r) * special.j0(w * r),
            0,
            0.7,
            epsabs=1e-13,
            limit=400,
        )
        assert abs(value - exact) < 1e-11
        assert error < 1e-11


@pytest.mark.parametrize(
    ("function", "dim"),
    [
        (lambda r: np.ones_like(r), 1),
        (lambda r: np.cos(r), 2),
        (lambda r: 1 / (1 + r), 3),
        (lambda r: np.where(r < 1, np.exp(-r), np.nan), 1),
    ],
)
def test_functions_without_a_transform_are_refused(function, dim):
    with pytest.raises(NotSquareIntegrable):
        ForwardTransform(function, dim)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 7])
def test_matern_and_shell_have_the_transforms_they_claim(dim):
    k = np.geomspace(0.1, 30, 12)
    # p > d/2, so that the function is finite at 0 and the forward transform applies.
    matern = Matern(dim, dim / 2 + 0.7, 1.3, 2.0)
    values, _ = ForwardTransform(matern.value, dim)(k)
    np.testing.assert_allclose(values, matern.transform(k), atol=1e-12 * values[0])
    shell = Shell(dim, 0.8, 1.3, -0.5)
    values, _ = ForwardTransform(shell.value, dim, (0.8,))(k)
    np.testing.assert_allclose(values, shell.transform(k), atol=1e-12 * abs(values[0]))


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_inverse_of_a_transform_with_an_algebraic_tail(dim):
    """(k^2+1)^-p + 3 (k^2+4)^(-p-1), p = (d+1)/4, back to the sum of two Matern functions."""
    p = (dim + 1) / 4
    parts = (Matern(dim, p, 1.0), Matern(dim, p + 1, 2.0, 3.0))
    tail = (1.0, 3 - p, p * (p + 1) / 2 - 3 * 4 * (p + 1))
    subtracted = matern_tail(dim, 1.7, 2 * p, tail)
    k, w = panel_rule(subdivide(graded(0.01, 600.0), 2.0), 16)
    rest = sum(part.transform(k) for part in parts) - sum(m.transform(k) for m in subtracted)
    assert abs(rest[-1]) < 1e-10 * parts[0].transform(k[-1])  # the tail really is gone
    r = np.array([1e-6, 0.01, 0.3, 1.0, 4.0])
    values = inverse_transform(dim, r, k, w, rest) + sum(m.value(r) for m in subtracted)
    np.testing.assert_allclose(values, sum(part.value(r) for part in parts), rtol=1e-9)


def test_matern_against_mpmath():
    for dim, p, rate, r in [(1, 0.5, 1.0, 1e-9), (2, 0.75, 3.0, 0.2), (5, 1.5, 2.0, 7.0)]:
        order = mpmath.mpf(dim) / 2 - p
        exact = 2 ** (1 - p) / ((2 * mpmath.pi) ** (mpmath.mpf(dim) / 2) * mpmath.gamma(p))
        exact *= (mpmath.mpf(rate) / r) ** order * mpmath.besselk(order, rate * r)
        assert Matern(dim, p, rate).value(np.array([r]))[0] == pytest.approx(
            float(exact), rel=1e-13
        )


def test_piecewise_fit_splits_where_it_must():
    fit = fit_panels(lambda x: np.abs(x - 0.3) + np.sin(40 * x), np.array([0.0, 2.0]), depth=30)
    x = np.linspace(0, 2, 1001)
    np.testing.assert_allclose(fit(x), np.abs(x - 0.3) + np.sin(40 * x), atol=1e-8)
    assert len(fit.edges) > 20


def test_sphere_area():
    for dim, area in [(1, 2.0), (2, 2 * np.pi), (3, 4 * np.pi), (4, 2 * np.pi**2)]:
        assert sphere_area(dim) == pytest.approx(area, rel=1e-15)
