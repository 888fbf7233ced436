"""`realize` says what it found: names, formulas, leading coefficients; callables and SymPy too."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

import earnshaw as ew
from earnshaw.duality.closed_forms import ON_SPHERE
from earnshaw.duality.formulas.expression import ZonalExpression
from earnshaw.duality.realizing.description import describe
from earnshaw.errors import EarnshawError, OutOfRange


@pytest.mark.slow
def test_the_closed_forms_are_the_duals_of_their_activations():
    """Two ways to write each: a formula of rho, and the moment at any norms."""
    rho = np.array([-1.0, -0.6, 0.0, 0.3, 0.9, 1.0])
    for name, formula in ON_SPHERE.items():
        own = ew.potential(name, normalize=False).value(rho)
        np.testing.assert_allclose(ZonalExpression(formula).value(rho), own, atol=3e-14)


@pytest.mark.parametrize(
    ("formula", "name", "factor"),
    [
        ("arcsin(rho)*2/pi", "sign", 1.0),
        ("1 - 2*acos(rho)/pi", "sign", 1.0),
        ("4*asin(2*rho/3)/pi", "erf", math.sqrt(2)),
        ("cosh(rho)", "cos", math.exp(0.5)),
        ("(sqrt(1-rho^2) + rho*(pi-acos(rho)))/pi", "relu", math.sqrt(2)),
        ("1/sqrt(4-rho^2)", "gaussian-bump", 1.0),
    ],
)
def test_potentials_of_named_activations_are_recognised(formula, name, factor):
    result = ew.realize(formula)
    base, times = result.activation.unscaled()
    assert result.realizable
    assert base.name == name
    np.testing.assert_allclose(times, factor, rtol=1e-14)
    assert result.check_is_bound
    assert result.check_error < 1e-13
    assert result.warning is None


@pytest.mark.parametrize("rate", [1.0, 2.5])
def test_exponentials_of_any_rate_are_recognised(rate):
    """exp(b x + a) has the potential exp(2a + b^2 (1 + rho))."""
    result = ew.realize(f"exp({rate}*rho - 1)")
    found = result.activation
    assert found.name == "exponential"
    np.testing.assert_allclose(float(found.rate) ** 2, rate, rtol=1e-14)
    np.testing.assert_allclose(2 * float(found.shift) + rate, -1, rtol=1e-13)
    assert result.check_is_bound


def test_what_is_near_a_known_potential_is_not_taken_for_it():
    result = ew.realize("asin(rho)*2/pi + 0.0001*rho^3")
    assert result.activation.name == "hermite-sum"
    assert "slow series" in result.warning


def test_a_gaussian_formula_is_the_gaussian():
    result = ew.realize("exp(-3*r^2)", on="space", dim=2)
    assert result.check_is_bound
    # h = (2c/pi)^(d/4) exp(-c |x|^2) with c = 6: its value at 0.
    np.testing.assert_allclose(float(result.activation.profile(np.zeros(2))), (12 / np.pi) ** 0.5)
    assert "exp(-rate |x|^2), rate = 6" in describe(result.activation).formula


def test_a_multiple_of_a_dual_keeps_its_activation():
    result = ew.realize(2 * ew.potential("sign"))
    assert result.activation.unscaled()[0].name == "sign"
    np.testing.assert_allclose(result.activation.unscaled()[1], math.sqrt(2), rtol=1e-15)


def test_descriptions():
    # 1/(2 - rho) = sum 2^-(n+1) rho^n: a_n = 2^-((n+1)/2), each 0.7071 of the one before.
    found = describe(ew.realize("1/(2-rho)").activation)
    assert found.formula is None
    np.testing.assert_allclose([a for _, a in found.leading], 2 ** (-np.arange(1, 7) / 2))
    assert "factor 0.707" in found.falls
    # 1 - sqrt(1 - rho): c_n ~ n^-3/2, a_n ~ n^-3/4.
    assert "n^-0.75" in describe(ew.realize("1-sqrt(1-rho)").activation).falls
    short = describe(ew.realize("rho^3/4 + rho").activation)
    assert short.formula == "s(x) = he_1(x) + 0.5 he_3(x)"


def test_sympy_expressions_are_read_as_text():
    t = sympy.Symbol("t")
    assert ew.realize(2 * sympy.asin(t) / sympy.pi).activation.name == "sign"
    r = sympy.Symbol("r")
    assert ew.realize(sympy.exp(-(r**2) / 2), on="space", dim=3).check_is_bound


def test_functions_of_python_are_realized():
    result = ew.realize(lambda rho: 2 * np.arcsin(rho) / np.pi)
    assert result.realizable is not False
    assert result.activation.name == "sign"
    assert not result.check_is_bound
    # 1/(2 - rho), of which nothing is known but values, has a_n = 2^-((n+1)/2).
    series = np.asarray(ew.realize(lambda rho: 1 / (2 - rho)).activation.coefficients)
    np.testing.assert_allclose(series[:12], 2 ** (-np.arange(1, 13) / 2), rtol=1e-10)
    refused = ew.realize(lambda rho: rho - rho**2)
    assert refused.realizable is False
    assert refused.obstruction.location == 2


def test_functions_that_are_no_potentials_are_refused_in_one_line():
    for function in (lambda rho: np.ones(7), lambda rho: 1 / None):
        with pytest.raises(EarnshawError, match="elementwise") as caught:
            ew.realize(function)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("phi", "outside"),
    [
        (lambda: ew.potential("relu"), 2.0),
        (lambda: ew.potential("relu"), [0.0, -1.1]),
        (lambda: ew.potential("gaussian", dim=2), -0.5),
        (lambda: ew.potential("bessel", dim=2), -0.5),
    ],
)
def test_arguments_outside_the_domain_are_refused(phi, outside):
    with pytest.raises(OutOfRange, match="allowed: a number"):
        phi()(outside)


def test_rounding_beside_the_domain_is_not_refused():
    np.testing.assert_allclose(float(ew.potential("relu")(1 + 4e-16)), 1.0)
