"""K_nu in JAX against mpmath, from 1e-4 to 1e6 and up to order 100."""

import math

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from earnshaw.errors import EarnshawError
from earnshaw.numerics.bessel import k_ratio, log_k_and_ratio, log_reduced_k

ORDERS = (-0.5, 0, 0.5, 1, 2.5, 9, 24, 49.5, 50, 51.5, 100)
ARGUMENTS = np.concatenate([np.logspace(-4, 6, 41), [0.99999, 1.00001, 1.05, 1.3, 2.0, 3.0]])


@pytest.fixture(autouse=True)
def digits():
    """What the reference does to the precision of Arb is undone."""
    before = ctx.dps
    yield
    ctx.dps = before


def truth(order, z):
    """log(z^-nu K_nu(z)) and K_(nu+1)/K_nu, from Arb, with as many digits as that takes."""
    for ctx.dps in (50, 200, 800):
        nu, exact = arb(order), arb(float(z))
        k, above = exact.bessel_k(nu), exact.bessel_k(nu + 1)
        if min(k.rel_accuracy_bits(), above.rel_accuracy_bits()) > 100:
            return k.log() - nu * exact.log(), above / k
    raise AssertionError("no digits left")


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_logarithm_and_ratio_to_rounding(order):
    logs, ratios = log_k_and_ratio(order, ARGUMENTS)
    for z, ours, ratio in zip(ARGUMENTS, logs, ratios, strict=True):
        log_truth, ratio_truth = truth(order, z)
        # The terms that are added: an error below a few ulp of the largest is all one can ask.
        scale = 1 + z + (abs(order) + 1) * (abs(np.log(z)) + np.log(abs(order) + 2))
        assert abs(float(arb(float(ours)) - log_truth)) < 4e-16 * scale
        assert abs(float(arb(float(ratio)) / ratio_truth) - 1) < 3e-15


def test_the_reference_agrees_with_mpmath():
    with mp.workdps(40):
        for order, z in ((0, 1e-4), (24, 0.3), (51.5, 700.0)):
            expected = mp.log(mp.besselk(order, z)) - order * mp.log(z)
            assert float(truth(order, z)[0]) == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.floats(1e-3, 600.0))
def test_agrees_with_scipy(z):
    for order in (0, 1, 2.5, 6):
        ours = float(jnp.exp(log_reduced_k(order, z) + z))
        assert ours == pytest.approx(z**-order * special.kve(order, z), rel=1e-12)


def taylor(function, centre, order, reach=0.5, count=80):
    """Taylor coefficients by Cauchy's integral on a circle."""
    turns = [(acb(2 * k) / count).exp_pi_i() for k in range(count)]
    values = acb.dft([function(centre + reach * turn) for turn in turns])
    return [float((values[k] / count).real) / reach**k for k in range(order + 1)]


@pytest.mark.quick("1")
@pytest.mark.parametrize("order", [-0.5, 3, 10.5])
def test_derivatives_of_any_order(order):
    ctx.dps, nu = 80, acb(order)
    # z^nu K_nu hardly turns on the circle, so its logarithm stays on one branch.
    exact = taylor(lambda z: (z**nu * z.bessel_k(nu)).log() - 2 * nu * z.log(), 1.75, 3)
    derivative = log_reduced_k
    for k in range(1, 4):
        derivative = jax.grad(derivative, argnums=1)
        expected = exact[k] * math.factorial(k)
        assert float(derivative(order, 1.75)) == pytest.approx(expected, rel=1e-11, abs=1e-13)


@pytest.mark.slow
def test_derivative_of_the_reduced_function_raises_the_order():
    z = jnp.linspace(0.2, 9.0, 12)
    slope = jax.vmap(jax.grad(lambda x: jnp.exp(log_reduced_k(2, x))))(z)
    np.testing.assert_allclose(slope, -z * jnp.exp(log_reduced_k(3, z)), rtol=1e-13)


@pytest.mark.parametrize("order", [0, 0.5, 4, 150.5])
def test_ends_of_the_range(order):
    logs, ratios = log_k_and_ratio(order, jnp.array([0.0, 1e-250, 1e250, jnp.inf]))
    assert logs[0] == jnp.inf
    assert ratios[0] == jnp.inf
    assert logs[3] == -jnp.inf
    assert float(ratios[3]) == pytest.approx(1, rel=1e-15)
    expected = [float(t) for t in truth(order, 1e-250)]
    np.testing.assert_allclose([logs[1], ratios[1]], expected, rtol=1e-12)
    np.testing.assert_allclose([logs[2], ratios[2]], [-1e250, 1.0])


def test_order_minus_one_half_is_an_exponential():
    z = jnp.array([0.0, 1.0, 30.0])
    np.testing.assert_allclose(jnp.exp(log_reduced_k(-0.5, z)), np.sqrt(np.pi / 2) * np.exp(-z))
    np.testing.assert_array_equal(k_ratio(-0.5, z), 1.0)


@pytest.mark.slow
def test_under_vmap_and_reverse_mode():
    z = jnp.linspace(0.1, 40.0, 6).reshape(2, 3)
    plain = log_reduced_k(3, z)
    np.testing.assert_allclose(jax.vmap(lambda x: log_reduced_k(3, x))(z), plain, rtol=1e-15)
    gradient = jax.grad(lambda x: jnp.sum(log_reduced_k(3, x)))(z)
    np.testing.assert_allclose(gradient, -k_ratio(3, z), rtol=1e-15)


@pytest.mark.parametrize("order", [-1, 0.25, -1.5, float("nan")])
def test_orders_without_a_method_are_refused(order):
    with pytest.raises(EarnshawError, match="order of K"):
        log_reduced_k(order, 1.0)
