"""The Bessel potential exp(-|theta - w|_1)."""

import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special

from earnshaw.duality.families.bessel import BesselPotential, Exponential1D
from earnshaw.errors import EarnshawError


def test_between_is_the_product_over_coordinates():
    theta, w = np.random.default_rng(0).normal(size=(2, 5, 4))
    phi = BesselPotential(4)
    expected = np.exp(-np.abs(theta - w)).prod(axis=-1)
    np.testing.assert_allclose(phi.between(theta, w), expected, rtol=1e-14)
    np.testing.assert_allclose(phi.log_between(theta, w), np.log(expected), rtol=1e-13)
    along_an_axis = phi.between(np.array([0.7, 0, 0, 0]), np.zeros(4))
    assert float(phi.value(0.7)) == pytest.approx(float(along_an_axis), rel=1e-15)


def test_lambda_harmonic_off_the_hyperplanes_with_lambda_the_dimension():
    phi = BesselPotential(3)
    theta, w = jnp.array([0.3, -1.2, 0.5]), jnp.array([1.0, 0.1, 0.2])
    trace = jnp.trace(jax.jit(jax.hessian(phi.between))(theta, w))
    assert phi.eigenvalue == 3
    assert float(trace) == pytest.approx(3 * float(phi.between(theta, w)), rel=1e-14)
    assert float(phi.laplacian_between(theta, w)) == pytest.approx(float(trace), rel=1e-14)


def test_the_factor_is_one_harmonic_with_a_cusp():
    phi, r = Exponential1D(), np.array([0.0, 0.5, 3.0])
    np.testing.assert_allclose(phi.laplacian(r), phi.value(r))
    assert float(phi.first(0.0)) == -1.0
    np.testing.assert_allclose(jax.vmap(jax.grad(phi.value))(r), phi.first(r))
    assert phi.regions() == (("lambda-harmonic", 0.0, math.inf, 1.0),)
    assert float(phi.log_value(1000.0)) == -1000.0


@pytest.mark.parametrize("k", [0.0, 0.7, 3.0])
def test_fourier_of_the_factor(k):
    half, _ = integrate.quad(lambda r: math.exp(-r) * math.cos(k * r), 0, 50, limit=200)
    assert Exponential1D().fourier(k) == pytest.approx(2 * half, rel=1e-10)


@pytest.mark.parametrize("gap", [0.0, 0.4, 1.5])
def test_table_1_k0_overlaps_give_the_factor(gap):
    """(2/pi^2) integral K_0(|x|) K_0(|x - gap|) dx = exp(-gap): Full, Appendix B.1."""

    def overlap(x):
        return special.k0(abs(x)) * special.k0(abs(x - gap))

    ends = sorted({-40.0, 0.0, gap, 40.0})
    pieces = [integrate.quad(overlap, a, b, limit=200)[0] for a, b in pairwise(ends)]
    expected = float(Exponential1D().value(gap))
    assert 2 / math.pi**2 * sum(pieces) == pytest.approx(expected, rel=1e-8)


def test_bad_dimension_is_refused():
    with pytest.raises(EarnshawError, match="dimension"):
        BesselPotential(0)
