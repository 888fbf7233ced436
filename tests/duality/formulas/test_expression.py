"""Formulas as potentials: what is read, what is refused, and that the numbers are right."""

from __future__ import annotations

import math
import time

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.special as sp
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.duality.formulas import _formula
from earnshaw.duality.formulas._formula import FUNCTIONS, parse_formula
from earnshaw.duality.formulas.expression import (
    RHO,
    CartesianExpression,
    RadialExpression,
    ZonalExpression,
    parse_potential,
)
from earnshaw.errors import BadExpression, EarnshawError

RELU = "(sqrt(1-rho^2) + rho*(pi - acos(rho)))/pi"

# name, formula in x (0 < x < 1), the same function by mpmath
FUNCTIONS_BY_MPMATH = [
    ("exp", "exp(rho)", mpmath.exp),
    ("log", "log(rho)", mpmath.log),
    ("sqrt", "sqrt(rho)", mpmath.sqrt),
    ("sin", "sin(rho)", mpmath.sin),
    ("cos", "cos(rho)", mpmath.cos),
    ("tan", "tan(rho)", mpmath.tan),
    ("asin", "asin(rho)", mpmath.asin),
    ("arcsin", "arcsin(rho)", mpmath.asin),
    ("acos", "acos(rho)", mpmath.acos),
    ("arccos", "arccos(rho)", mpmath.acos),
    ("atan", "atan(rho)", mpmath.atan),
    ("arctan", "arctan(rho)", mpmath.atan),
    ("sinh", "sinh(rho)", mpmath.sinh),
    ("cosh", "cosh(rho)", mpmath.cosh),
    ("tanh", "tanh(rho)", mpmath.tanh),
    ("asinh", "asinh(rho)", mpmath.asinh),
    ("acosh", "acosh(1 + rho)", lambda x: mpmath.acosh(1 + x)),
    ("atanh", "atanh(rho)", mpmath.atanh),
    ("erf", "erf(rho)", mpmath.erf),
    ("erfc", "erfc(rho)", mpmath.erfc),
    ("abs", "abs(rho - 0.6)", lambda x: abs(x - mpmath.mpf("0.6"))),
    ("max", "max(rho, 0.5, 0.1)", lambda x: max(x, mpmath.mpf("0.5"))),
    ("min", "min(rho, 0.5)", lambda x: min(x, mpmath.mpf("0.5"))),
    ("heaviside", "Heaviside(rho - 0.5)", lambda x: mpmath.mpf(x > 0.5)),
    ("sign", "sign(rho - 0.5)", lambda x: mpmath.sign(x - 0.5)),
    ("box", "box(2*rho)", lambda x: mpmath.mpf(2 * x < 1)),
    ("relu", "relu(rho - 0.5)", lambda x: max(x - 0.5, mpmath.mpf(0))),
    ("step", "step(rho - 0.5)*rho", lambda x: x * (x > 0.5)),
    ("sigmoid", "sigmoid(2*rho)", lambda x: 1 / (1 + mpmath.exp(-2 * x))),
    ("logistic", "logistic(-rho)", lambda x: 1 / (1 + mpmath.exp(x))),
    ("softplus", "softplus(rho)", lambda x: mpmath.log(1 + mpmath.exp(x))),
    ("silu", "silu(rho)", lambda x: x / (1 + mpmath.exp(-x))),
    ("swish", "swish(3*rho)", lambda x: 3 * x / (1 + mpmath.exp(-3 * x))),
    ("mish", "mish(rho)", lambda x: x * mpmath.tanh(mpmath.log(1 + mpmath.exp(x)))),
    ("gelu", "gelu(rho)", lambda x: x * mpmath.ncdf(x)),
    ("elu", "elu(rho - 0.5)", lambda x: x - 0.5 if x > 0.5 else mpmath.expm1(x - 0.5)),
    ("softsign", "softsign(rho - 0.5)", lambda x: (x - 0.5) / (1 + abs(x - 0.5))),
    ("besselj", "besselj(2, 3*rho)", lambda x: mpmath.besselj(2, 3 * x)),
    ("besseli", "besseli(1/2, rho)", lambda x: mpmath.besseli(0.5, x)),
    ("besselk", "besselk(1, rho)", lambda x: mpmath.besselk(1, x)),
    ("gamma", "gamma(1 + rho)", lambda x: mpmath.gamma(1 + x)),
]


def test_every_function_of_the_whitelist_has_a_reference() -> None:
    assert {name for name, _, _ in FUNCTIONS_BY_MPMATH} == set(FUNCTIONS)


@pytest.mark.quick("tanh-*", "*-erf")
@pytest.mark.parametrize(("name", "formula", "reference"), FUNCTIONS_BY_MPMATH)
def test_values_and_derivatives_against_mpmath(name, formula, reference) -> None:
    potential = ZonalExpression(formula)
    for x in (0.23, 0.77):
        got = potential.value(x), potential.first(x), potential.second(x)
        want = [float(mpmath.diff(reference, x, order)) for order in (0, 1, 2)]
        assert np.allclose(got, want, rtol=1e-8, atol=1e-8), name
        assert float(got[0]) == pytest.approx(want[0], rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*rho^2", 0.5),  # ^ is a power, and binds tighter than *
        ("-rho^2", -0.25),
        ("2^3^0.5", 2 ** (3**0.5)),
        ("rho**-1", 2.0),
        ("RHO + E - e + Pi/pi", 1.5),
        (".5 + 1. + 1e-3 + 2E2", 201.501),
        ("+rho - -rho", 1.0),
        ("6/2/3 - 1 - 1", -1.0),
    ],
)
def test_grammar(text, value) -> None:
    assert float(ZonalExpression(text).value(0.5)) == pytest.approx(value, rel=1e-15)


def test_decimals_are_exact_fractions() -> None:
    assert parse_formula("0.1*rho", (RHO,)) == sympy.Rational(1, 10) * RHO


ATTACKS = [
    "__import__('os').system('touch /tmp/earnshaw_was_here')",
    "exec('1')",
    "rho.__class__.__mro__",
    "().__class__.__bases__[0].__subclasses__()",
    "(lambda: 1)()",
    "lambda x: x",
    "[x for x in (1, 2)]",
    "{1: 2}[1]",
    "open('/etc/passwd')",
    "f'{rho}'",
    "'rho'",
    "b'rho'",
    "rho if rho else 1",
    "rho and 1",
    "rho < 1",
    "(y := 1)",
    "print(rho)",
    "exp(*rho)",
    "exp(x=rho)",
    "exp(rho)[0]",
    "rho; rho",
    "import os",
    "True",
    "None",
    "...",
    "1j",
    "0x10",
    "1_000",
    "~rho",
    "rho // 2",
    "rho % 2",
    "rho @ rho",
    "rho << 2",
    "rho & 1",
    "9**9**9**9",
    "9^1000",
    "(9^300)^1000",
    "((rho^1000)^1000)^1000",
    "10^299*10^299",
    "exp(exp(exp(exp(9))))",
    "gamma(10^6)",
    "gamma(gamma(9))",
    "1e9999999",
    "1e-9999999",
    "besselj(10^9, rho)",
    "besselj(rho, 1)",
    "(" * 1500,
    "-" * 1900 + "rho",
    "exp(" * 100 + "rho" + ")" * 100,
    "(" * 10**5 + "rho" + ")" * 10**5,
    "rho+" * 250_000 + "rho",
    "rho^99999999999",
    "rho^(10^9)",
    "10^400*rho",
    "rho+" * 1000 + "rho",
    "rho\nrho",
    "rho\x00",
    "ρ",
    "ｅｘｐ(rho)",
    "",
    "   ",
    "rho +",
    "rho)",
    "2rho",
    "2(rho)",
    "exp",
    "exp()",
    "exp(rho, 1)",
    "max(rho)",
    "rhoo",
    "foo(rho)",
    "x1",
    "r",
    "1/0",
    "rho/0",
    "0/0",
    "log(0)",
    "sqrt(-1)",
    "asin(2)",
    "rho^(1/0)",
]


@pytest.mark.parametrize("text", ATTACKS, ids=range(len(ATTACKS)))
def test_what_is_no_formula_is_refused_in_one_line_at_once(text) -> None:
    start = time.perf_counter()
    with pytest.raises(BadExpression) as caught:
        parse_potential(text, "sphere", 3)
    assert time.perf_counter() - start < 2
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    assert "allowed: " in message or "did you mean" in message


def test_messages_say_where_and_what_is_near() -> None:
    with pytest.raises(BadExpression, match=r"'rhoo' at character 11; did you mean rho\?"):
        parse_potential("rho^2 + 2*rhoo")
    with pytest.raises(BadExpression, match=r"unknown function 'tahn' .* did you mean tan or tanh"):
        parse_potential("tahn(rho)")
    with pytest.raises(BadExpression, match="given as text, not as int"):
        parse_potential(3)  # type: ignore[arg-type]
    for text, on, dim in [("rho", "space", 2), ("rho", "plane", 2), ("r", "space", None)]:
        with pytest.raises(EarnshawError, match=r"allowed: |did you mean"):
            parse_potential(text, on, dim)
    with pytest.raises(EarnshawError, match="dimension is 1"):
        parse_potential("rho", "sphere", 1)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="rho()+-*/^0123456789.,einxpa _'[]=:", max_size=40))
def test_random_text_is_read_or_refused_and_never_anything_else(text) -> None:
    message = ""
    try:
        potential = parse_potential(text)
        assert potential.expr.free_symbols <= {RHO}  # type: ignore[attr-defined]
    except BadExpression as error:
        message = str(error)
    assert "\n" not in message


# -- derivatives and singularities ---------------------------------------------------------------


def test_jax_differentiates_through_the_formula_to_third_order() -> None:
    potential = ZonalExpression("exp(rho/2)*besseli(0, rho)")
    third = jax.jit(jax.grad(jax.grad(jax.grad(potential.value))))(0.4)
    want = mpmath.diff(lambda x: mpmath.exp(x / 2) * mpmath.besseli(0, x), 0.4, 3)
    assert float(third) == pytest.approx(float(want), rel=1e-10)
    mapped = jax.vmap(jax.grad(potential.value))(jnp.array([0.1, 0.4]))
    assert np.allclose(mapped, potential.first(jnp.array([0.1, 0.4])), rtol=1e-15)


def test_removable_singularities_are_filled_with_all_derivatives() -> None:
    potential = ZonalExpression("sin(rho)/rho", 3)
    assert np.array_equal(potential.value([0.0]), [1.0])
    assert float(potential.first(0.0)) == 0.0
    assert float(potential.second(0.0)) == pytest.approx(-1 / 3, rel=1e-15)
    assert float(jax.grad(jax.grad(potential.value))(0.0)) == pytest.approx(-1 / 3, rel=1e-15)
    yukawa = RadialExpression("r*besselk(1, r)", 3)
    assert float(yukawa.value(0.0)) == pytest.approx(1.0, rel=1e-15)
    assert float(yukawa.first(0.0)) == 0.0
    assert float(yukawa.second(0.0)) == -math.inf
    assert float(RadialExpression("exp(-r)/r", 3).value(0.0)) == math.inf


def test_the_dual_of_relu_as_a_formula_reaches_the_ends() -> None:
    potential = ZonalExpression(RELU, 3)
    assert np.allclose(potential.value([-1.0, 0.0, 1.0]), [0, 1 / math.pi, 1], atol=1e-15)
    assert np.allclose(potential.first([-1.0, 1.0]), [0.0, 1.0], atol=1e-15)
    assert np.isinf(potential.second(1.0))
    assert np.allclose(potential.laplacian([-1.0, 1.0]), [0.0, -2.0], atol=1e-15)


# -- Taylor coefficients -------------------------------------------------------------------------

TAYLOR = [
    ("exp(rho-1)", lambda x: mpmath.exp(x - 1)),
    ("asin(2*rho/3)", lambda x: mpmath.asin(2 * x / 3)),
    ("cos(3*rho)", lambda x: mpmath.cos(3 * x)),
    ("1/(2-rho)", lambda x: 1 / (2 - x)),
    (RELU, lambda x: (mpmath.sqrt(1 - x * x) + x * (mpmath.pi - mpmath.acos(x))) / mpmath.pi),
    ("tan(rho/2)*tanh(rho)", lambda x: mpmath.tan(x / 2) * mpmath.tanh(x)),
    ("log(2+rho)^2", lambda x: mpmath.log(2 + x) ** 2),
    ("(2-rho)^(-1/3)", lambda x: (2 - x) ** (-mpmath.mpf(1) / 3)),
    ("atan(rho)+asinh(2*rho)", lambda x: mpmath.atan(x) + mpmath.asinh(2 * x)),
    ("acosh(2+rho)*atanh(rho/2)", lambda x: mpmath.acosh(2 + x) * mpmath.atanh(x / 2)),
    ("erf(rho)*erfc(1-rho)", lambda x: mpmath.erf(x) * mpmath.erfc(1 - x)),
    ("sinh(rho)^2-cosh(rho^2)", lambda x: mpmath.sinh(x) ** 2 - mpmath.cosh(x * x)),
    ("besselj(1, 1+rho)", lambda x: mpmath.besselj(1, 1 + x)),
    ("besseli(0, sin(rho))", lambda x: mpmath.besseli(0, mpmath.sin(x))),
    ("besselk(1/2, 2-rho)", lambda x: mpmath.sqrt(mpmath.pi / (4 - 2 * x)) * mpmath.exp(x - 2)),
    ("gamma(2+rho)", lambda x: mpmath.gamma(2 + x)),
    ("2^rho*(1+rho)^(1+rho)", lambda x: 2**x * (1 + x) ** (1 + x)),
    ("abs(rho-0.5)*max(rho,3)", lambda x: (mpmath.mpf("0.5") - x) * 3),
]


@pytest.mark.quick("tan(rho/2)?tanh(rho)")
@pytest.mark.parametrize(("formula", "function"), TAYLOR, ids=[formula for formula, _ in TAYLOR])
def test_taylor_coefficients_against_mpmath(formula, function) -> None:
    with mpmath.workdps(60):
        want = [float(c) for c in mpmath.taylor(function, 0, 11)]
    got = ZonalExpression(formula).taylor(12)
    assert np.allclose(got, want, rtol=1e-14, atol=1e-25)


@pytest.mark.parametrize("formula", [f for f, _ in TAYLOR[:8]])
def test_exact_coefficients_are_exact_and_quick(formula) -> None:
    potential = ZonalExpression(formula)
    start = time.perf_counter()
    exact = potential.taylor_exact(40)
    assert time.perf_counter() - start < 10
    floats = [float(sympy.N(c, 30)) for c in exact]
    assert np.allclose(floats, potential.taylor(40), rtol=1e-14, atol=1e-30)
    if formula.startswith("asin"):  # (2/3)^n binomial(2k, k) / (4^k n), n = 2k + 1
        k = 15
        want = sympy.Rational(2, 3) ** 31 * sympy.binomial(30, 15) / (sympy.Integer(4) ** k * 31)
        assert exact[31] == want


def test_hundreds_of_coefficients_and_removable_singularities() -> None:
    many = ZonalExpression("(1-cos(rho))/rho^2").taylor(400)
    assert many[2] == pytest.approx(-1 / 24, rel=1e-15)
    assert many[38] == pytest.approx((-1) ** 19 / math.factorial(40), rel=1e-13)
    arc = ZonalExpression("asin(rho)").taylor(400)
    log_term = math.lgamma(2 * 199 + 1) - 2 * math.lgamma(200) - 2 * 199 * math.log(2)
    assert arc[399] == pytest.approx(math.exp(log_term) / 399, rel=1e-11)


SINGULAR = ["log(rho)", "abs(rho)", "sqrt(rho)", "1/rho", "heaviside(rho)", "max(rho, 0)"]
SINGULAR += ["acos(1-rho)", "rho*log(abs(rho))", "besselk(0, rho)", "abs(sin(rho))", "1/sin(rho)"]


@pytest.mark.parametrize("formula", SINGULAR)
def test_singular_at_zero_has_no_taylor_series(formula) -> None:
    potential = ZonalExpression(formula)
    assert potential.taylor(5) is None
    with pytest.raises(EarnshawError, match="no Taylor series at 0"):
        potential.taylor_exact(5)


def test_a_polynomial_is_recognised_without_expanding_it() -> None:
    assert ZonalExpression("((1+rho)^500 + rho)^900").degree == 450_000
    assert ZonalExpression("rho^2*(1-rho)^3").degree == 5
    assert ZonalExpression("1/(1+rho)").degree is None


# -- on R^d --------------------------------------------------------------------------------------


def test_breakpoints_of_radial_formulas() -> None:
    assert RadialExpression("exp(-r)", 3).breakpoints == ()
    assert RadialExpression("max(0, 1-r)^2 + 0.3*box(r/2)", 3).breakpoints == (1.0, 2.0)
    assert RadialExpression("abs(r^2-2)", 3).breakpoints == pytest.approx((math.sqrt(2),))
    assert RadialExpression("heaviside(exp(-r)-0.5)", 3).breakpoints == pytest.approx(
        (math.log(2),)
    )


def test_radial_laplacian_and_logarithm() -> None:
    d = 5
    gaussian = RadialExpression("exp(-r^2/2)", d)
    r = np.array([0.0, 0.5, 2.0])
    assert np.allclose(gaussian.laplacian(r), (r**2 - d) * np.exp(-(r**2) / 2), rtol=1e-14)
    far = RadialExpression("3*exp(-r^2/2)*(1+r)", d).log_value(np.array([100.0]))
    assert np.allclose(far, -5000 + math.log(303), rtol=1e-15)


def test_cartesian_formula_value_gradient_laplacian() -> None:
    potential = parse_potential("exp(-x1^2 - x1*x2 - x2^2)", "space", 2)
    assert isinstance(potential, CartesianExpression)
    points = np.random.default_rng(0).normal(size=(7, 2))
    x, y = points.T
    value = np.exp(-(x**2) - x * y - y**2)
    assert np.allclose(potential.value(points), value, rtol=1e-14)
    assert np.allclose(
        potential.gradient(points), -np.stack([2 * x + y, 2 * y + x], -1) * value[:, None]
    )
    assert np.allclose(
        potential.laplacian(points), ((2 * x + y) ** 2 + (2 * y + x) ** 2 - 4) * value
    )
    theta, w = points[:3], points[3:6]
    assert np.allclose(potential.between(theta, w), potential.between(w, theta), rtol=1e-14)
    assert potential.factors() is None


@pytest.mark.parametrize("text", ["x1", "x1 + x2^2", "exp(-(x1-1)^2)", "heaviside(x1)*exp(-x2^2)"])
def test_a_potential_must_be_symmetric(text) -> None:
    with pytest.raises(BadExpression, match="must be symmetric"):
        parse_potential(text, "space", 2)


def test_products_split_into_factors() -> None:
    potential = parse_potential("3*exp(-(x1^2+2*x2^2)/2)*max(0, 1-abs(x3))", "space", 3)
    factors = potential.factors()  # type: ignore[attr-defined]
    assert [factor.dim for factor in factors] == [1, 1, 1]
    assert factors[2].breakpoints == (1.0,)
    points = np.random.default_rng(1).normal(size=(20, 3)) / 2
    product = np.prod([f.value(np.abs(points[:, i])) for i, f in enumerate(factors)], axis=0)
    assert np.allclose(product, potential.value(points), rtol=1e-13, atol=1e-16)
    assert parse_potential("1/(1+x1^2+x2^2)", "space", 2).factors() is None  # type: ignore
    one = parse_potential("exp(-abs(x1))", "space", 1).factors()  # type: ignore[attr-defined]
    assert [factor.formula for factor in one] == ["exp(-r)"]


@pytest.mark.slow
def test_only_the_coordinates_that_occur_cost_anything() -> None:
    """A formula in two of a million coordinates, and a product of a hundred."""
    potential = parse_potential("exp(-x3^2)/(1+x999999^2)", "space", 10**6)
    assert potential.axes == (2, 999_998)  # type: ignore[attr-defined]
    x = np.zeros(10**6)
    x[2], x[999_998] = 0.5, 2.0
    assert float(potential.value(x)) == pytest.approx(np.exp(-0.25) / 5, rel=1e-15)
    slope = np.asarray(potential.gradient(x))  # type: ignore[attr-defined]
    assert slope[2] == pytest.approx(-np.exp(-0.25) / 5, rel=1e-14)
    assert np.count_nonzero(slope) == 2
    many = parse_potential("*".join(f"exp(-x{i}^2)" for i in range(1, 101)), "space", 100)
    factors = many.factors()  # type: ignore[attr-defined]
    assert [factor.formula for factor in factors] == ["exp(-r**2)"] * 100


def test_a_formula_that_takes_too_long_to_read_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(_formula, "SECONDS", 0.02)
    text = "max(" + ",".join(f"sin({k}*rho)*exp(rho)" for k in range(1, 20)) + ")"
    with pytest.raises(BadExpression, match=r"did not end within 0\.02 s; allowed: a simpler"):
        parse_potential(text)


def test_kinds_by_variable() -> None:
    assert isinstance(parse_potential("exp(-r)", "space", 3), RadialExpression)
    assert isinstance(parse_potential("1", "space", 3), RadialExpression)
    assert isinstance(parse_potential("1", "sphere"), ZonalExpression)
    with pytest.raises(BadExpression, match="both r and x1"):
        parse_potential("r*x1^2", "space", 3)


def test_bessel_by_scipy_under_jit() -> None:
    potential = RadialExpression("besselk(0, 1+r)", 2)
    r = jnp.linspace(0.0, 3.0, 5)
    assert np.allclose(jax.jit(potential.value)(r), sp.kv(0, 1 + np.asarray(r)), rtol=1e-14)
    assert np.allclose(jax.jit(potential.first)(r), -sp.kv(1, 1 + np.asarray(r)), rtol=1e-13)
