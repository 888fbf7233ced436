"""Named activations are the plain functions that users know."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.duality import families
from earnshaw.duality._registry import Registry
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.named import ACTIVATIONS as REGISTERED
from reference import ACTIVATIONS, arb

# The names that DESIGN.md promises.
PROMISED = (
    *("sign", "step", "relu", "leaky-relu", "relu2", "relu3", "erf", "normal-cdf", "sin", "cos"),
    *("rbf", "exponential", "gaussian-bump", "gelu", "hermite-3", "polynomial", "laplace", "tanh"),
    *("logistic", "softplus", "silu", "mish", "elu"),
    *("gaussian", "bessel", "almost-harmonic", "sphere-synthetic"),
)


@pytest.mark.parametrize("name", PROMISED)
def test_every_promised_name_is_registered(name):
    assert name.startswith("hermite-") or name in REGISTERED


def test_a_name_is_registered_once():
    registry = Registry("activation")
    registry.register("relu")(dict)
    with pytest.raises(ValueError, match="two families call their activation 'relu'"):
        registry.register("relu")(list)


def test_no_family_imports_pytorch():
    for path in Path(families.__path__[0]).glob("*.py"):
        assert "import torch" not in path.read_text()


@pytest.mark.quick("relu", "tanh")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_against_50_digits(name):
    sigma = ew.activation(name)
    x = np.array([-30.0, -3.7, -0.4, -1e-9, 1e-9, 0.3, 2.2, 25.0])
    if name in ("exponential",):
        x = x[x < 20]
    exact = np.array([float(ACTIVATIONS[name](arb(float(v)))) for v in x])
    np.testing.assert_allclose(sigma(x), exact, rtol=5e-13, atol=1e-15)


@pytest.mark.quick("relu", "tanh")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_unit_is_the_function_of_the_dot_product(name):
    sigma = ew.activation(name)
    assert isinstance(sigma, DotProduct)
    generator = np.random.default_rng(3)
    x, w = generator.standard_normal((5, 4)), generator.standard_normal(4)
    np.testing.assert_allclose(sigma.unit(x, w), sigma(x @ w), rtol=1e-12, atol=1e-14)


def test_polynomial_is_the_plain_polynomial():
    coefficients = [1.0, -2.0, 0.0, 0.5, 3.0]
    sigma = ew.activation("polynomial", coefficients=coefficients)
    x = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(
        sigma(x), np.polynomial.polynomial.polyval(x, coefficients), rtol=1e-12
    )


def test_activations_differentiate():
    for name in ("relu2", "tanh", "hermite-3", "elu"):
        sigma, h = ew.activation(name), 1e-6
        slope = (sigma(0.7 + h) - sigma(0.7 - h)) / (2 * h)
        np.testing.assert_allclose(jax.grad(sigma)(0.7), slope, rtol=1e-8)


def test_user_functions_keep_their_kinks():
    sigma = ew.activation(np.abs, kinks=[2.0, -1.0])
    assert sigma.kinks == (-1.0, 2.0)
    np.testing.assert_allclose(sigma(-3.0), 3.0)
