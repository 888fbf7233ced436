"""Activations taken away: NumPy and JAX against 250 digits, the library and each other."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.duality.activation import Scaled
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Gaussian
from earnshaw.learning.exports import jax_function, numpy_source
from earnshaw.numerics.log_table import fit_log_table
from learning.exports.cases import (
    CUT,
    DOT_PRODUCT,
    POINTS,
    RADII,
    exact,
    exact_unit,
    named,
    pairs,
    run,
    yukawa,
)


def in_jax(function, points):
    """Values and JAX's slopes, compiled."""
    return map(np.asarray, jax.jit(jax.vmap(jax.value_and_grad(function)))(points))


@pytest.mark.quick("relu", "tanh")
@pytest.mark.parametrize("name", DOT_PRODUCT)
def test_a_dot_product_activation_is_the_same_in_both(name):
    sigma = named(name)
    value, slope = exact(name, POINTS)
    file, function = run(numpy_source(sigma)), jax_function(sigma)
    # Relative to itself also in the tails; the library's slopes there are 1 - tanh^2 and the like.
    np.testing.assert_allclose(file["activation"](POINTS), value, rtol=2e-12, atol=1e-300)
    np.testing.assert_allclose(file["derivative"](POINTS), slope, rtol=2e-12, atol=1e-300)
    with_kink = np.append(POINTS, 0.0)  # where both must have chosen alike
    library, library_slope = in_jax(function, with_kink)
    np.testing.assert_allclose(library_slope[:-1], slope, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(file["activation"](with_kink), library, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(file["derivative"](0.0), library_slope[-1], rtol=1e-12)
    np.testing.assert_array_equal(file["activation"](0.5), file["activation"]([0.5])[0])
    assert file["activation"](np.zeros((0, 3))).shape == (0, 3)


def test_a_multiple_of_an_activation():
    sigma = Scaled(Scaled(named("mish"), 0.5), 3.0)
    value, slope = exact("mish", POINTS)
    file = run(numpy_source(sigma))
    np.testing.assert_allclose(file["activation"](POINTS), 1.5 * value, rtol=1e-12)
    np.testing.assert_allclose(file["derivative"](POINTS), 1.5 * slope, rtol=1e-12, atol=1e-15)


def test_a_realised_potential_of_the_sphere():
    answer = ew.realize("rho**3/4 + rho/2 + 0.09")
    powers = [0.3, np.sqrt(0.5), 0.0, 0.5]  # roots of the Taylor coefficients, times he_n
    want = powers[0] + powers[1] * POINTS + powers[3] * (POINTS**3 - 3 * POINTS) / np.sqrt(6)
    file = run(numpy_source(answer))
    np.testing.assert_allclose(file["activation"](POINTS), want, rtol=1e-12)
    assert "rho**3/4" in file["__doc__"]


# -- translations --------------------------------------------------------------------------------


def agree(sigma, x, w, rtol=1e-10):
    """NumPy against the library; what NumPy said."""
    file, unit = run(numpy_source(sigma)), jax_function(sigma)
    value, slope = map(np.asarray, jax.jit(jax.vmap(jax.value_and_grad(unit, argnums=1)))(x, w))
    got = file["unit"](x, w), file["gradient"](x, w)
    np.testing.assert_allclose(got[0], value, rtol=rtol)
    np.testing.assert_allclose(got[1], slope, rtol=rtol, atol=1e-14)
    return got


@pytest.mark.parametrize("name", ["gaussian", "bessel"])
def test_closed_forms_on_space(name):
    sigma = named(name)
    x, w = pairs(sigma.dim)
    for got, want in zip(agree(sigma, x, w), exact_unit(name, x, w), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bessel", "almost-harmonic"])
def test_where_a_profile_is_infinite_all_choose_alike(name):
    sigma = named(name)
    x = np.full((1, sigma.dim), 0.3)
    got = agree(sigma, x, x)
    assert got[0] == np.inf


def test_almost_harmonic():
    sigma = named("almost-harmonic")
    value, slope = agree(sigma, *pairs(3))
    x, w = pairs(3)
    step = 1e-4 * np.linalg.norm(x - w, axis=1)[:, None] * np.eye(3)[:, None]
    file = run(numpy_source(sigma))
    rise = (file["unit"](x, w + step) - file["unit"](x, w - step)) / (2 * step.sum(-1))
    scale = np.linalg.norm(slope, axis=1)
    assert np.all(np.abs(rise.T - slope) < 1e-6 * scale[:, None])
    assert np.all(value != 0)
    assert "radius = 0.1" in file["__doc__"]


def test_a_radial_table():
    x, w = pairs(3)
    value, slope = agree(RadialTranslation("yukawa", 3, yukawa(), Gaussian(1.3)), x, w)
    gap, r = x - w, np.linalg.norm(x - w, axis=1)
    amplitude = (2 * np.pi * 1.69) ** 0.75 * np.exp(np.sum(x**2, axis=1) / (4 * 1.69))
    h = np.exp(-r) / r
    np.testing.assert_allclose(value, amplitude * h, rtol=1e-12)  # S = 1: the spline is exact
    want = (amplitude * h * (1 + 1 / r) / r)[:, None] * gap
    np.testing.assert_allclose(slope, want, rtol=1e-10)
    assert run(numpy_source(RadialTranslation("q", 3, yukawa())))["unit"](x, w + 99)[0] == 0


def test_a_table_with_a_jump_and_a_kink():
    values = np.where(RADII[CUT] > RADII, 2.0 + RADII, np.exp(-RADII))
    for jumps in (False, True):
        table = fit_log_table(RADII, values, splits=(CUT,), jumps=jumps)
        x, w = pairs(2)
        agree(RadialTranslation("cut", 2, table), x[6:], w[6:])
    beside = RADII[CUT] * np.array([[1 - 1e-9], [1 + 1e-9]])
    file = run(numpy_source(RadialTranslation("cut", 1, table)))
    low, high = file["profile"](beside)[0]
    assert low == pytest.approx(2 + RADII[CUT], rel=0.01)
    assert high == pytest.approx(np.exp(-RADII[CUT]), rel=0.01)


def test_a_product_of_tables():
    log_table = yukawa(logarithmic=True)
    sigma = ProductTranslation("product", (yukawa(), log_table, log_table))
    x, w = pairs(3)
    value, _ = agree(sigma, x, w)
    r = np.abs(x - w)
    h = np.exp(-r[:, 0]) / r[:, 0] * np.log(r[:, 1] / 30) * np.log(r[:, 2] / 30)
    amplitude = (2 * np.pi) ** 0.75 * np.exp(np.sum(x**2, axis=1) / 4)
    np.testing.assert_allclose(value, amplitude * h, rtol=1e-11)
    assert numpy_source(sigma).count('breaks": ') == 2  # shared tables are written once


# -- what is refused -----------------------------------------------------------------------------


def test_a_function_of_ones_own_goes_to_jax_only():
    own = ew.activation(lambda x: jax.numpy.tanh(x) ** 3)
    for sigma in (own, Scaled(own, 2.0)):
        with pytest.raises(EarnshawError, match=r"function of your own.*exports\.jax_function"):
            numpy_source(sigma)
    slope = jax.grad(jax_function(own))(0.5)
    assert slope == pytest.approx(3 * np.tanh(0.5) ** 2 / np.cosh(0.5) ** 2, rel=1e-14)


def test_what_has_no_activation_or_is_none_of_x():
    with pytest.raises(EarnshawError, match=r"no activation to take away: .*coefficient"):
        numpy_source(ew.realize("cos(3*rho)"))
