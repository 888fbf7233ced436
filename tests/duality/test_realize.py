"""`ew.realize` as the front door: potentials of the library, mixtures, and the way back."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from reference import ACTIVATIONS, line_mean


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "sign", "erf", "tanh", "elu", "hermite-3"])
def test_a_dual_is_realized_by_its_own_activation(name):
    """The normalised potential belongs to the activation divided by sqrt(E[s^2])."""
    phi = ew.potential(name, dim=4)
    result = ew.realize(phi)
    assert result.realizable is True
    assert result.check_error < 1e-12
    sigma, plain = result.activation, ew.activation(name)
    factor = float(sigma(1.7) / plain(1.7))
    np.testing.assert_allclose(factor**2 * float(line_mean(ACTIVATIONS[name])), 1.0, rtol=1e-12)
    there_and_back = ew.potential(sigma, normalize=False)
    rho = jnp.linspace(-1, 1, 11)
    np.testing.assert_allclose(there_and_back(rho), phi(rho), atol=1e-12)


def test_taylor_coefficients_of_closed_forms():
    """c_n of (2/pi) arcsin(2 rho/3), of exp(rho - 1), and of relu's dual, from their formulas."""
    import mpmath

    cases = {
        "erf": lambda r: mpmath.asin(2 * r / 3) / mpmath.asin(mpmath.mpf(2) / 3),
        "exponential": lambda r: mpmath.exp(r - 1),
        "relu": lambda r: (mpmath.sqrt(1 - r**2) + r * (mpmath.pi - mpmath.acos(r))) / mpmath.pi,
    }
    for name, formula in cases.items():
        exact = [float(c) for c in mpmath.taylor(formula, 0, 12)]
        np.testing.assert_allclose(ew.potential(name).taylor(13), exact, atol=1e-13)


@pytest.mark.slow
def test_mixtures_of_duals_are_realizable():
    mixed = 0.5 * ew.potential("relu", dim=3) + 2.0 * ew.potential("erf", dim=3)
    result = ew.realize(mixed)
    assert result.realizable is True
    assert "Lemma B.6" in result.reason
    dual = ew.potential(result.activation, normalize=False)
    rho = jnp.linspace(-1, 1, 11)
    assert np.max(np.abs(np.asarray(dual(rho) - mixed(rho)))) <= 1.1 * result.check_error


def test_a_difference_of_duals_can_fail():
    mixed = ew.potential("exponential", dim=3) + (-1.0) * ew.potential("hermite-2", dim=3)
    result = ew.realize(mixed)
    assert result.realizable is False
    assert result.obstruction.location == 2
    points, weights = result.obstruction.points, result.obstruction.weights
    rho = np.clip(points @ points.T, -1, 1)
    assert weights @ (np.exp(rho - 1) - rho**2) @ weights < 0


def test_translation_activations_remember_their_potential():
    sigma = ew.realize("exp(-r^2)", on="space", dim=2).activation
    phi = ew.potential(sigma)
    np.testing.assert_allclose(phi(0.7), np.exp(-0.49), rtol=1e-12)
    for name in ("gaussian", "bessel"):
        assert ew.potential(ew.activation(name, dim=2)).dim == 2


def test_wider_inputs_give_the_same_potential():
    """sigma = h / sqrt(p): another width changes the activation, not what its units feel."""
    narrow, wide = (
        ew.realize("exp(-r^2)", on="space", dim=1, width=w).activation for w in (1.0, 2.0)
    )
    x, w = jnp.array([[0.3], [1.1]]), jnp.array([0.2])
    ratio = np.asarray(wide.unit(x, w) / narrow.unit(x, w))
    density = lambda s: np.exp(-(np.array([0.3, 1.1]) ** 2) / (2 * s**2)) / s  # noqa: E731
    np.testing.assert_allclose(ratio, np.sqrt(density(1.0) / density(2.0)), rtol=1e-12)


def test_nothing_realises_an_unbounded_potential():
    for name in ("harmonic", "lambda-harmonic"):
        result = ew.realize(ew.potential(name, dim=3))
        assert result.realizable is False
        assert result.obstruction.kind == "unbounded"
