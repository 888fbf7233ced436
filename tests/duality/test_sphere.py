"""Potentials on the sphere: activations that have them, and witnesses that none can.

Every claim is checked from outside: duals by NumPy's own Hermite polynomials and quadrature,
witnesses by NumPy linear algebra, Gegenbauer coefficients by SciPy and by theorems.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import flint
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import eval_gegenbauer, roots_hermitenorm

from earnshaw.duality.families.hermite import HermiteSum, hermite
from earnshaw.duality.families.sphere_synthetic import SphereSynthetic
from earnshaw.duality.formulas.expression import RHO, ZonalExpression
from earnshaw.duality.potential import Zonal
from earnshaw.duality.realizing._absolutely_monotone import (
    absolutely_monotone,
    proof_of_monotonicity,
)
from earnshaw.duality.realizing._gegenbauer import from_taylor, from_values, harmonics
from earnshaw.duality.realizing._sphere import realize_zonal
from earnshaw.duality.realizing._witness import find_witness
from earnshaw.errors import OutOfRange

RELU = "(sqrt(1-rho^2) + rho*(pi - acos(rho)))/pi"
GRID = np.linspace(-1, 1, 101)


def form_by_numpy(obstruction, function) -> float:
    """W' f(X X') w from plain NumPy, after checking that the points are on the sphere."""
    points, weights = np.asarray(obstruction.points), np.asarray(obstruction.weights)
    assert points.shape == (len(weights), obstruction.dim)
    assert np.allclose(np.linalg.norm(points, axis=1), 1, rtol=0, atol=1e-14)
    inner = points @ points.T
    np.fill_diagonal(inner, 1.0)
    return float(weights @ function(np.clip(inner, -1, 1)) @ weights)


def power_sum(coefficients):
    return lambda rho: np.polynomial.polynomial.polyval(rho, coefficients)


def dual_by_quadrature(activation, degree, rho) -> np.ndarray:
    """E[s(u) s(v)] at each correlation in `rho`, for s a polynomial of at most `degree`.

    u = x, v = rho x + sqrt(1 - rho^2) y: a Gauss rule of degree + 1 nodes a side is exact, and
    stable, since |s(u) s(v)| times the weights is of the order exp((u^2+v^2)/4 - (x^2+y^2)/2) <= 1.
    """
    nodes, weights = roots_hermitenorm(degree + 1)
    weights = weights / np.sum(weights)
    left = weights * np.asarray(activation(nodes))
    v = [r * nodes[:, None] + math.sqrt(max(0.0, 1 - r * r)) * nodes[None, :] for r in rho]
    return np.array([left @ (np.asarray(activation(at)) @ weights) for at in v])


def formula(coefficients) -> str:
    return " + ".join(f"({c})*rho^{n}" for n, c in enumerate(coefficients))


# -- Theorem B.2 ---------------------------------------------------------------------------------


def test_paper_error_8_the_sum_starts_at_zero_and_hermites_are_orthonormal() -> None:
    """f = 1/4 + rho + 3 rho^2 needs its constant, and he_2 = (x^2 - 1)/sqrt(2)."""
    result = realize_zonal(ZonalExpression("1/4 + rho + 3*rho^2"))
    assert result.realizable is True
    assert isinstance(result.activation, HermiteSum)
    x = np.linspace(-3, 3, 13)
    want = 0.5 + x + math.sqrt(3) * (x * x - 1) / math.sqrt(2)
    assert np.allclose(result.activation(x), want, rtol=1e-14)

    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / np.sum(weights)

    def dual(s, rho: float) -> float:
        v = rho * nodes[:, None] + math.sqrt(1 - rho * rho) * nodes
        return float(weights @ (s(nodes)[:, None] * s(v)) @ weights)

    rho = 0.6
    target = 0.25 + rho + 3 * rho**2
    assert dual(lambda x: np.asarray(result.activation(x)), rho) == pytest.approx(target, rel=1e-13)
    from_one = dual(lambda x: x + math.sqrt(3) * (x * x - 1) / math.sqrt(2), rho)
    assert from_one == pytest.approx(target - 0.25)  # as printed: the constant is lost
    not_normalised = dual(lambda x: 0.5 + x + math.sqrt(3) * (x * x - 1), rho)
    assert not_normalised == pytest.approx(target + 3 * rho**2)  # He_2: twice too much


@pytest.mark.quick("0")
@pytest.mark.parametrize("degree", [0, 1, 7, 60, 200])
def test_the_check_itself_is_stable(degree) -> None:
    """E[he_n(u) he_n(v)] = rho^n, by quadrature, at every degree in use."""
    rho = np.array([-1.0, -0.7, 0.0, 0.3, 0.99, 1.0])
    got = dual_by_quadrature(hermite(degree), degree, rho)
    assert np.allclose(got, rho**degree, rtol=0, atol=1e-12)


PROVED = {
    "exp(rho-1)": 1e-13,
    "rho^3": 1e-13,
    "asin(2*rho/3)*2/pi": 1e-13,
    RELU: 1e-4,
    "exp(-1)*sinh(rho)": 1e-13,
    "1/sqrt(9-4*rho^2)": 1e-13,
    "exp(40*(rho-1))": 1e-12,
    "((1+rho)/2)^40": 1e-12,
    "2*besseli(0, rho) + tan(rho)": 1e-12,
}


@pytest.mark.quick("rho^3")
@pytest.mark.parametrize("text", PROVED)
def test_realizable_by_structure_and_checked(text) -> None:
    potential = ZonalExpression(text, 3)
    result = realize_zonal(potential)
    assert result.realizable is True
    assert "coefficient" in result.reason
    assert "up to degree" not in result.reason
    assert result.check_error is not None
    assert result.check_error < PROVED[text]
    assert result.obstruction is None
    assert result.positive_semidefinite is True
    # The activation's own Hermite coefficients, by NumPy: their squares sum to f.
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    s = np.asarray(result.activation(nodes))
    he_2 = (nodes**2 - 1) / math.sqrt(2)
    a_2 = float(weights @ (s * he_2) / np.sum(weights))
    with mpmath.workdps(40):
        c_2 = sympy.diff(potential.expr, RHO, 2).subs(RHO, 0) / 2
    if len(result.activation.coefficients) < 80:
        assert a_2**2 == pytest.approx(float(c_2), rel=1e-9, abs=1e-12)


@pytest.mark.slow
def test_what_is_cut_off_is_in_the_check_error() -> None:
    """(2/pi) asin(rho) cut at degree 200 misses the rest of its coefficients, known exactly."""
    result = realize_zonal(ZonalExpression("2/pi*asin(rho)", 3))
    kept = sum(
        2 / math.pi * math.exp(math.lgamma(2 * k + 1) - 2 * math.lgamma(k + 1) - k * math.log(4))
        / (2 * k + 1)
        for k in range(100)
    )  # fmt: skip
    assert result.check_error == pytest.approx(1 - kept, rel=1e-9)
    assert f"{1 - kept:.1e}" in result.reason


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9))
def test_non_negative_polynomials_are_realizable(numerators) -> None:
    coefficients = [n / 1000 for n in numerators]
    result = realize_zonal(ZonalExpression(formula(Fraction(n, 1000) for n in numerators), 4))
    assert result.realizable is True
    assert result.check_error is not None
    assert result.check_error < 1e-10
    a = np.asarray(result.activation.coefficients)
    assert np.allclose(power_sum(a**2)(GRID), power_sum(coefficients)(GRID), rtol=0, atol=1e-13)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-100, 100), min_size=1, max_size=6),
    st.integers(2, 6),
)
def test_polynomials_with_a_negative_coefficient_have_a_witness(numerators, dim) -> None:
    assume(min(numerators) <= -5)
    coefficients = [n / 100 for n in numerators]
    potential = ZonalExpression(formula(Fraction(n, 100) for n in numerators), dim)
    result = realize_zonal(potential)
    assert result.realizable is False
    obstruction = result.obstruction
    assert obstruction is not None
    assert obstruction.kind == "negative-coefficient"
    first = next(n for n, c in enumerate(coefficients) if c < 0)
    assert (obstruction.location, obstruction.value) == (first, coefficients[first])
    assert result.activation is None
    assert (result.psd_obstruction is not None) == (result.positive_semidefinite is False)
    for witness in (obstruction, result.psd_obstruction):
        if witness is not None and witness.points is not None:
            assert form_by_numpy(witness, power_sum(coefficients)) < 0
            assert witness.quadratic_form(potential) < 0
            assert f"S^{witness.dim - 1}" in result.reason
    # A small coefficient under large ones of higher degree needs more points than are tried.
    assert obstruction.points is not None or min(coefficients) > -0.3
    if result.positive_semidefinite:
        assert obstruction.points is None or obstruction.dim > dim


# -- the two answers differ ----------------------------------------------------------------------


def test_legendre_2_is_a_kernel_on_the_2_sphere_but_no_dual() -> None:
    potential = ZonalExpression("(3*rho^2-1)/2", 3)
    result = realize_zonal(potential)
    assert (result.realizable, result.positive_semidefinite) == (False, True)
    obstruction = result.obstruction
    assert obstruction is not None
    assert (obstruction.location, obstruction.value, obstruction.dim) == (0, -0.5, 4)
    # Orthonormal vectors: 4 f(1) + 12 f(0) < 0, while 3 of them give exactly 0.
    inner = obstruction.points @ obstruction.points.T
    assert np.allclose(np.abs(inner), np.eye(4), atol=1e-12)
    assert form_by_numpy(obstruction, lambda x: (3 * x * x - 1) / 2) == pytest.approx(-0.5)
    assert realize_zonal(potential, dim=5).positive_semidefinite is False


@pytest.mark.quick("3-1")
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("dim", [3, 4, 6])
def test_gegenbauer_polynomials_are_kernels_exactly_up_to_their_dimension(degree, dim) -> None:
    """Schoenberg: P_k of S^(d-1) is a kernel on S^(d-1) and below, and no higher for k >= 2."""
    alpha = sympy.Rational(dim - 2, 2)
    coefficients = sympy.Poly(sympy.gegenbauer(degree, alpha, RHO), RHO).all_coeffs()[::-1]
    potential = ZonalExpression(formula(coefficients))
    assert realize_zonal(potential, dim).positive_semidefinite is True
    above = realize_zonal(potential, dim + 1)
    assert above.positive_semidefinite is (degree == 1)
    if degree > 1:
        function = power_sum([float(c) for c in coefficients])
        assert form_by_numpy(above.psd_obstruction, function) < 0


@pytest.mark.parametrize("dim", [2, 3, 4, 7])
def test_gegenbauer_coefficients_against_integrals(dim) -> None:
    alpha = (dim - 2) / 2
    powers = [flint.fmpq(1), flint.fmpq(-2), flint.fmpq(0), flint.fmpq(1), flint.fmpq(5)]
    exact = from_taylor(powers, dim)
    numeric = from_values(power_sum([1, -2, 0, 1, 5]), dim)
    assert np.allclose(exact.values, numeric.values[:5], atol=1e-12)

    def polynomial(k: int, t: float) -> float:
        if dim == 2:
            return math.cos(k * math.acos(t))
        return float(eval_gegenbauer(k, alpha, t) / eval_gegenbauer(k, alpha, 1.0))

    def mean(function) -> float:
        def weighted(angle: float) -> float:
            return function(math.cos(angle)) * math.sin(angle) ** (dim - 2)

        return quad(weighted, 0, math.pi)[0]

    for k in range(5):
        norm = mean(lambda t, k=k: polynomial(k, t) ** 2)
        assert norm / mean(lambda t: 1.0) == pytest.approx(1 / harmonics(dim, 6)[k], rel=1e-10)
        overlap = mean(lambda t, k=k: polynomial(k, t) * power_sum([1, -2, 0, 1, 5])(t))
        assert exact.values[k] == pytest.approx(overlap / norm, abs=1e-9)


# -- not realizable ------------------------------------------------------------------------------

REFUSED = [
    ("cos(3*rho)", lambda x: np.cos(3 * x), "negative-coefficient", 2, -4.5),
    ("tanh(rho)", np.tanh, "negative-coefficient", 3, -1 / 3),
    ("exp(-rho)", lambda x: np.exp(-x), "negative-coefficient", 1, -1.0),
    ("log(2+rho)", lambda x: np.log(2 + x), "negative-coefficient", 2, -0.125),
    ("sin(rho)/rho", lambda x: np.sinc(x / np.pi), "negative-coefficient", 2, -1 / 6),
    ("exp(rho)*(2-rho)", lambda x: np.exp(x) * (2 - x), "negative-coefficient", 3, -1 / 6),
    ("abs(rho)", np.abs, "not-analytic", 0, None),
    ("heaviside(rho)", lambda x: np.heaviside(x, 0.5), "not-analytic", 0, None),
    ("max(rho, 1/2)", lambda x: np.maximum(x, 0.5), "not-analytic", None, None),
    ("1/(1-2*rho)", lambda x: 1 / (1 - 2 * x), "not-analytic", None, None),
    ("-1", lambda x: -np.ones_like(x), "negative-coefficient", 0, -1.0),
]


@pytest.mark.quick("*-tanh-*")
@pytest.mark.parametrize("dim", [None, 2, 5])
@pytest.mark.parametrize(("text", "function", "kind", "location", "value"), REFUSED)
def test_refused_with_a_witness(text, function, kind, location, value, dim) -> None:
    result = realize_zonal(ZonalExpression(text), dim)
    assert result.realizable is False
    obstruction = result.obstruction
    assert obstruction is not None
    assert obstruction.kind == kind
    assert location is None or obstruction.location == location
    assert value is None or obstruction.value == pytest.approx(value, rel=1e-14)
    assert form_by_numpy(obstruction, function) < 0
    assert len(obstruction.points) <= 40
    assert "\n" not in result.reason


@pytest.mark.parametrize("text", ["log(rho)", "sqrt(rho)", "1/rho"])
def test_no_series_at_zero_is_the_reason(text) -> None:
    result = realize_zonal(ZonalExpression(text, 3))
    assert result.realizable is False
    assert "no Taylor series at 0" in result.reason
    assert result.obstruction is not None


@pytest.mark.parametrize(("text", "place"), [("1/(1-rho)", 1.0), ("log(1+rho)+2*rho^2", -1.0)])
def test_unbounded(text, place) -> None:
    result = realize_zonal(ZonalExpression(text, 3))
    assert result.realizable is False
    assert result.obstruction is not None
    if result.obstruction.kind == "unbounded":
        assert result.obstruction.location == place
        assert "not finite at rho" in result.reason


@pytest.mark.slow
def test_a_hidden_negative_coefficient_needs_a_high_dimension() -> None:
    """1 + rho - rho^3/10 + rho^5 is a kernel on S^2 and far above; blocks find where it fails."""
    potential = ZonalExpression("1 + rho - 0.1*rho^3 + rho^5", 3)
    result = realize_zonal(potential)
    assert (result.realizable, result.positive_semidefinite) == (False, True)
    obstruction = result.obstruction
    assert obstruction is not None
    assert form_by_numpy(obstruction, lambda x: 1 + x - 0.1 * x**3 + x**5) < 0
    assert result.obstruction.quadratic_form(potential) < 0
    # No witness can live where it is a kernel: exact Gegenbauer coefficients agree.
    powers = [flint.fmpq(1), flint.fmpq(1), flint.fmpq(0), flint.fmpq(-1, 10), flint.fmpq(0)]
    spectrum = from_taylor([*powers, flint.fmpq(1)], obstruction.dim)
    assert spectrum.first_negative is not None


def test_a_coefficient_without_a_moderate_witness_is_still_an_obstruction() -> None:
    result = realize_zonal(ZonalExpression("1 + rho + rho^2 - 0.3*rho^10 + rho^12", 3))
    assert result.realizable is False
    assert result.obstruction is not None
    assert (result.obstruction.location, result.obstruction.value) == (10, -0.3)


def test_no_witness_against_a_kernel() -> None:
    """Exp is a kernel on every sphere: whatever the search tries must fail."""
    assert find_witness(np.exp, 3) is None


# -- proofs of absolute monotonicity -------------------------------------------------------------

MONOTONE = [
    "exp(rho)", "exp(rho-7)", "rho", "1+rho^2", "sinh(rho)*cosh(rho)", "asin(rho)", "atanh(rho/2)",
    "tan(rho)", "1/cos(rho)", "1/(1-rho/2)^3", "1/sqrt(2-rho-rho^2)", "-log(1-rho/3)",
    "besseli(2, rho)", "-acos(rho) + pi", "1 - sqrt(1-rho)", "2^rho", "0.5^(-rho)",
    "exp(asin(rho)^2)", "log(1/(2-rho)) + 1", RELU, "1-2*acos(rho)/pi",
    "(3*sqrt(1-rho^2)*rho + (pi-acos(rho))*(1+2*rho^2))/(2*pi)", "exp(rho) - rho^2/2",
    "-log(1-rho/5)*exp(rho)", "log(1-rho/3)*log(1-rho/2)",
]  # fmt: skip
NOT_MONOTONE = [
    "exp(-rho)", "cos(rho)", "tanh(rho)", "sin(rho)", "atan(rho)", "sqrt(1+rho)", "rho-1",
    "asin(2*rho)", "1/(1-2*rho)", "1/(1+rho)", "log(1+rho)", "-1", "abs(rho)", "max(rho, 1/2)",
    "besselj(0, rho)", "erf(rho)", "(1+rho)*(2-rho)", "acos(rho)", "tan(2*rho)", "exp(rho)-rho",
    "exp(rho)-rho^2", "(2-rho)^(3/2)", "log(1-rho/3)*exp(rho)",
]  # fmt: skip


@pytest.mark.parametrize("text", MONOTONE)
def test_proofs(text) -> None:
    potential = ZonalExpression(text)
    assert absolutely_monotone(potential.expr), text
    assert np.all(potential.taylor(60) >= 0)


@pytest.mark.quick("max(rho, 1/2)")
@pytest.mark.parametrize("text", NOT_MONOTONE)
def test_no_proof_of_what_is_false(text) -> None:
    """Each has a negative coefficient, or is not analytic on (-1, 1), except two near misses."""
    if text in ("exp(rho)-rho",):  # c_1 = 0: true, and proved by the derivative rule
        assert absolutely_monotone(ZonalExpression(text).expr)
    else:
        assert not absolutely_monotone(ZonalExpression(text).expr)


GROWING = st.sampled_from(["rho", "rho^2", "1/3", "exp(rho)", "asin(rho/2)", "1/(3-rho)"])


@settings(max_examples=20, deadline=None)
@given(st.recursive(GROWING, lambda inner: st.one_of(
    st.tuples(inner, inner).map(lambda pair: f"({pair[0]}+{pair[1]})"),
    st.tuples(inner, inner).map(lambda pair: f"({pair[0]})*({pair[1]})"),
    inner.map(lambda g: f"exp(({g})/4)"),
), max_leaves=5))  # fmt: skip
def test_closure_rules_prove_only_what_the_coefficients_confirm(text) -> None:
    potential = ZonalExpression(text)
    assert proof_of_monotonicity(potential.expr) is not None
    assert np.all(potential.taylor(40) >= 0)


# -- other potentials ----------------------------------------------------------------------------


class Library(Zonal):
    """A potential that only knows values and float coefficients, as the library's do."""

    dim: int | None = 3
    name = "library"  # type: ignore[assignment]

    def value(self, rho):
        return 0.75 * rho**2 + 0.25 * rho**4

    def taylor(self, count):
        return np.array([0, 1e-17, 0.75, -1e-18, 0.25, *[0] * count])[:count]


class Unknown(Library):
    """The same without coefficients."""

    def taylor(self, count):
        return None


def test_potentials_without_a_formula() -> None:
    known = realize_zonal(Library())
    assert known.realizable is True
    assert "up to degree 200" in known.reason
    assert known.check_error is not None
    assert known.check_error < 1e-13
    unknown = realize_zonal(Unknown())
    assert unknown.realizable is None
    assert unknown.positive_semidefinite is True


@pytest.mark.slow
def test_inconclusive_is_said() -> None:
    """Slowly falling coefficients that no rule covers: not a yes, but the activation so far."""
    result = realize_zonal(ZonalExpression("asin(rho)*exp(rho) + 0.001*sin(rho)", 3))
    assert result.realizable is None
    assert "no proof" in result.reason
    assert result.activation is not None
    assert result.check_error is not None
    assert result.check_error > 1e-3


def test_mixtures() -> None:
    exponential, square = ZonalExpression("exp(rho)", 3), ZonalExpression("rho^2", 3)
    assert realize_zonal(0.5 * exponential + square).realizable is True
    assert realize_zonal(exponential + (-0.4) * square).realizable is True
    result = realize_zonal(exponential + (-0.7) * square)
    assert result.realizable is False
    assert result.obstruction is not None
    assert result.obstruction.value == pytest.approx(0.5 - 0.7)
    assert form_by_numpy(result.obstruction, lambda x: np.exp(x) - 0.7 * x * x) < 0
    zero = realize_zonal(exponential + (-0.5) * square)
    assert zero.realizable is True


def test_the_synthetic_potential_is_realizable_in_every_dimension() -> None:
    """EPD, Theorem 4.4: non-negative Taylor coefficients by construction."""
    result = realize_zonal(SphereSynthetic(50, 60))
    assert (result.realizable, result.positive_semidefinite) == (True, True)
    assert result.check_error is not None
    assert result.check_error < 1e-11


def test_constants_and_extremes() -> None:
    for text in ("0", "1", "1e-200", "1e200*rho"):
        result = realize_zonal(ZonalExpression(text, 3))
        assert result.realizable is True
        assert np.all(np.isfinite(result.activation(GRID)))
    high = realize_zonal(ZonalExpression("((1+rho)/2)^900", 3))
    assert high.realizable is True
    assert high.check_error is None or high.check_error < 1e-9


def test_bad_dimensions() -> None:
    for dim in (1, 0, 2.5):
        with pytest.raises(OutOfRange):
            realize_zonal(ZonalExpression("rho"), dim=dim)


def test_more_dimensions_never_help() -> None:
    """A kernel on S^d is one on S^(d-1): the answers along d can only turn from yes to no."""
    half, one, zero = flint.fmpq(-1, 2), flint.fmpq(1), flint.fmpq(0)
    series = [from_taylor([one, one, zero, half, zero, one], d) for d in range(2, 65)]
    answers = [spectrum.first_negative is None for spectrum in series]
    assert answers[0]
    assert not answers[-1]
    assert all(before or not after for before, after in pairwise(answers))
    potential = ZonalExpression("1 + rho - rho^3/2 + rho^5")
    last = answers.index(False) + 1  # the largest d with a yes
    assert realize_zonal(potential, last).positive_semidefinite is True
    assert realize_zonal(potential, last + 1).positive_semidefinite is False
