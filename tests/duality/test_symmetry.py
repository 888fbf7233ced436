"""Declared symmetries are true, and nothing true is left undeclared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import earnshaw as ew
from earnshaw.duality.activation import Scaled
from earnshaw.duality.families.hermite import HermiteSum
from earnshaw.duality.named import ACTIVATIONS
from earnshaw.duality.symmetry import EVEN, NONE, ODD, Symmetries

# Every registered dot-product activation, with parameters that change what it is.
CASES = [
    *((name, {}) for name, made in ACTIVATIONS.items() if isinstance(made, type)),
    *((f"hermite-{degree}", {}) for degree in (*range(5), 8)),
    ("sphere-synthetic", {"dim": 4, "degree": 6}),
    ("leaky-relu", {"negative_slope": 0.3, "positive_slope": -2.0}),
    ("leaky-relu", {"negative_slope": -1.0, "positive_slope": 1.0}),
    ("leaky-relu", {"negative_slope": 0.5, "positive_slope": 0.5}),
    ("leaky-relu", {"negative_slope": 0.0, "positive_slope": 0.0}),
    ("elu", {"alpha": 0.0}),
    ("elu", {"alpha": -0.7}),
    ("exponential", {"rate": 0.0, "shift": 0.4}),
    ("gaussian-bump", {"curvature": -2.0}),
    *(
        ("polynomial", {"coefficients": coefficients})
        for coefficients in (
            [0.0],
            [2.0],
            [0.0, 3.0],
            [1.0, 3.0],
            [0.0, 0.0, 0.7],
            [1.0, 0.0, 0.7],
            [0.1, -2.0, 0.7],
            [0.0, 0.0, 0.0, 0.3],
            [1.5, 0.0, 0.0, 0.3],
            [0.0, 1.0, 0.0, 0.3],
            [0.0, 0.0, 1.0, 0.3],
            [0.0, 1.0, 0.0, 0.0, 0.3],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.1],
            [1.0, 1.0, 1.0, 1.0, 1.0],
        )
    ),
]
X = np.linspace(0.037, 2.9, 60)  # x > 0; kinks of library activations are at 0


def residual(values, *basis):
    """How far `values` are from the span of `basis`, relative to the basis and themselves."""
    if not basis:
        return np.max(np.abs(values))
    matrix = np.stack(basis, axis=-1)
    return np.max(np.abs(values - matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0]))


def measured(function):
    """The identities that hold on the grid, found without what earnshaw uses."""
    right, left = np.asarray(function(X)), np.asarray(function(-X))
    size = max(np.max(np.abs(right)), np.max(np.abs(left)), 1e-300)
    near = lambda value: value < 1e-12 * size  # noqa: E731
    far = lambda value: value > 1e-4 * size  # noqa: E731
    one, found = np.ones_like(X), {}
    for key, value in {
        "even": residual(left - right),
        "odd": residual(left + right),
        "odd+constant": residual(left + right, one),
        "even+linear": residual(left - right, X),
        "quadratic": residual(np.r_[left, right], *(np.r_[-X, X] ** n for n in range(3))),
        **{
            f"degree {n}": np.max(
                np.abs(np.r_[function(1.7 * X), function(-1.7 * X)] - 1.7**n * np.r_[right, left])
            )
            for n in range(9)
        },
    }.items():
        assert near(value) or far(value), (key, value, size)  # the grid decides
        found[key] = near(value)
    return found


@pytest.mark.quick("relu-*", "tanh-*")
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_declared_is_what_holds(name, parameters):
    sigma = ew.activation(name, **parameters)
    declared, found = sigma.symmetries, measured(sigma)
    assert (declared.flip == -1) == (found["odd+constant"] and not found["even"])
    assert (declared.flip == 1) == (
        found["even"] or (found["even+linear"] and not found["odd+constant"])
    )
    if declared.flip is not None:
        np.testing.assert_allclose(
            sigma(-X),
            declared.flip * sigma(X) + declared.constant - declared.linear * X,
            rtol=0,
            atol=1e-12 * np.max(np.abs(sigma(X)) + np.abs(sigma(-X))),
        )
        assert (declared.constant == 0 and declared.linear == 0) == (found["even"] or found["odd"])
    holding = [n for n in range(9) if found[f"degree {n}"]]
    assert (declared.degree is not None) == bool(holding)
    assert declared.degree is None or declared.degree in holding
    assert (declared.quadratic is not None) == found["quadratic"]
    assert declared.identifiable == (not found["quadratic"])
    if declared.quadratic is not None:
        a = declared.quadratic
        x = np.r_[-X, X]
        np.testing.assert_allclose(sigma(x), a[0] + a[1] * x + a[2] * x**2, atol=1e-12)


def test_every_registered_activation_is_tested():
    covered = {name for name, _ in CASES}
    special = {"hermite", "gaussian", "bessel", "almost-harmonic"}
    assert set(ACTIVATIONS) - special <= covered


def test_translations_have_none():
    for name in ("gaussian", "bessel"):
        sigma = ew.activation(name, dim=2)
        assert sigma.symmetries == NONE
        x, w = np.array([[0.3, -0.2], [1.0, 0.5]]), np.array([0.4, 0.7])
        assert np.ptp(sigma.unit(x, -w) / sigma.unit(x, w)) > 0.1
        assert np.ptp(sigma.unit(x, 2 * w) / sigma.unit(x, w)) > 0.1


@pytest.mark.quick("relu-*", "tanh-*")
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_a_black_box_shows_the_symmetries_of_the_named_activation(name, parameters):
    sigma = ew.activation(name, **parameters)
    function = lambda x: sigma(x)  # noqa: E731
    if name == "polynomial":  # in powers, not in Hermite polynomials, which cancel near 0
        function = np.polynomial.Polynomial(parameters["coefficients"])
    declared, found = sigma.symmetries, ew.activation(function).symmetries
    assert (found.flip, found.degree) == (declared.flip, declared.degree)
    np.testing.assert_allclose(
        [found.constant, found.linear], [declared.constant, declared.linear], atol=1e-11
    )
    assert found.identifiable == declared.identifiable
    if found.quadratic is not None:
        np.testing.assert_allclose(found.quadratic, declared.quadratic, rtol=1e-11)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (np.abs, Symmetries(flip=1, degree=1)),
        (np.arctan, ODD),
        (np.cosh, EVEN),  # infinite beyond |x| = 710
        (lambda x: np.sqrt(np.abs(x)), Symmetries(flip=1, degree=0.5)),
        (lambda x: np.where(np.abs(x) < 400, np.sin(x), np.cos(x)), NONE),
        (lambda x: np.tanh(x) + 1e-9 * np.exp(-x * x), NONE),
        (lambda x: np.maximum(0.0, x - 1), NONE),
        (lambda x: np.sign(x) * np.abs(x) ** 3 + 1, Symmetries(flip=-1, constant=2.0)),
        (lambda x: np.full_like(x, np.nan), NONE),
    ],
)
def test_black_boxes(function, expected):
    found = ew.activation(function).symmetries
    assert (found.flip, found.degree) == (expected.flip, expected.degree)
    assert found.constant == pytest.approx(expected.constant, abs=1e-12)
    assert found.linear == pytest.approx(expected.linear, abs=1e-12)


def test_a_black_box_is_probed_around_its_kinks():
    kinked = lambda x: np.maximum(0.0, x - 5e3)  # noqa: E731
    assert ew.activation(kinked).symmetries.flip == 1  # zero wherever it was probed
    assert ew.activation(kinked, kinks=[5e3]).symmetries.flip is None


@pytest.mark.parametrize("factor", [-2.5, 0.3, 0.0])
@pytest.mark.parametrize("name", ["relu", "logistic", "tanh", "hermite-2", "mish"])
def test_multiples_inherit(name, factor):
    sigma = Scaled(ew.activation(name), factor)
    declared = sigma.symmetries
    if name == "mish" and factor:
        assert declared == NONE
        return
    np.testing.assert_allclose(
        sigma(-X), declared.flip * sigma(X) + declared.constant - declared.linear * X, atol=1e-12
    )
    assert (declared.quadratic is not None) == (factor == 0 or name == "hermite-2")


@pytest.mark.slow
@given(st.lists(st.sampled_from([0.0, 0.0, 1.0, -0.6, 2.3]), min_size=1, max_size=7))
@settings(max_examples=60, deadline=None)
def test_hermite_sums_of_any_pattern(coefficients):
    sigma = HermiteSum(np.asarray(coefficients))
    declared = sigma.symmetries
    even, odd = (np.flatnonzero(coefficients[r::2]) for r in (0, 1))
    possible = set(even) <= {0} or set(odd) <= {0}
    assert (declared.flip is not None) == possible
    if possible:
        np.testing.assert_allclose(
            sigma(-X),
            declared.flip * sigma(X) + declared.constant - declared.linear * X,
            atol=1e-12 * (1 + np.max(np.abs(sigma(X)))),
        )


@pytest.mark.parametrize("degree", [2, 3, 17, 60, 100])
def test_pure_powers_are_homogeneous_of_any_degree(degree):
    sigma = ew.activation("polynomial", coefficients=[0.0] * degree + [-0.37])
    assert sigma.symmetries.degree == degree
    mixed = ew.activation("polynomial", coefficients=[0.0, 1.0, *[0.0] * (degree - 2), 1.0])
    assert mixed.symmetries.degree is None
    assert (mixed.symmetries.linear == 2.0) == (degree % 2 == 0)
