"""The Gaussian potential."""

import math

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.errors import EarnshawError

RADII = np.array([0.0, 1e-8, 0.3, 1.0, 2.5, 6.0])


def cartesian_laplacian(dim, rate, r):
    """The sum of second derivatives over the axes of R^dim, by mpmath, at distance r."""
    place = [mp.mpf(r) / mp.sqrt(dim)] * dim

    def along(axis):
        others = sum(x**2 for i, x in enumerate(place) if i != axis)
        return mp.diff(lambda t: mp.exp(-rate * (t**2 + others) / 2), place[axis], 2)

    return float(sum(along(axis) for axis in range(dim)))


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_paper_error_6_the_laplacian_has_a_leading_rate(rate):
    """Full, before Theorem F.4, prints (c r^2 - d) Phi, which is wrong unless c = 1."""
    dim, r = 3, 0.9
    truth = cartesian_laplacian(dim, rate, r)
    phi = GaussianPotential(dim, rate)
    printed = (rate * r**2 - dim) * float(phi.value(r))
    assert float(phi.laplacian(r)) == pytest.approx(truth, rel=1e-12)
    assert (abs(printed - truth) < 1e-12) == (rate == 1.0)


@pytest.mark.slow
def test_values_and_derivatives():
    phi, c = GaussianPotential(4, 1.7), mp.mpf(1.7)
    for r in RADII[2:]:
        exact = mp.taylor(lambda t: mp.exp(-c * t**2 / 2), mp.mpf(r), 2)
        assert float(phi.value(r)) == pytest.approx(float(exact[0]), rel=1e-14)
        assert float(phi.first(r)) == pytest.approx(float(exact[1]), rel=1e-13)
        assert float(phi.second(r)) == pytest.approx(2 * float(exact[2]), rel=1e-13)
    np.testing.assert_allclose(jax.vmap(jax.grad(phi.value))(RADII), phi.first(RADII), rtol=1e-14)
    second = jax.vmap(jax.grad(jax.grad(phi.value)))(jnp.asarray(RADII))
    np.testing.assert_allclose(second, phi.second(RADII), rtol=1e-12)
    np.testing.assert_array_equal(phi.log_value(1000.0), -0.85e6)
    assert float(phi.value(1000.0)) == 0.0


@settings(deadline=None)
@given(st.integers(1, 40), st.floats(0.01, 100.0))
def test_superharmonic_near_and_subharmonic_far(dim, rate):
    phi = GaussianPotential(dim, rate)
    near, far = phi.regions()
    assert (near.character, far.character) == ("superharmonic", "subharmonic")
    assert near.high == far.low == math.sqrt(dim / rate)
    assert float(phi.laplacian(0.99 * near.high)) < 0 < float(phi.laplacian(1.01 * near.high))


@pytest.mark.parametrize("dim", [1, 2, 3, 6])
@pytest.mark.parametrize("k", [0.4, 2.0])
def test_fourier_by_the_hankel_transform(dim, k):
    phi, order = GaussianPotential(dim, 1.3), dim / 2 - 1
    integral, _ = integrate.quad(
        lambda r: r ** (dim / 2) * special.jv(order, k * r) * math.exp(-0.65 * r * r),
        0,
        15,
        limit=200,
    )
    assert phi.fourier(k) == pytest.approx((2 * math.pi) ** (dim / 2) * k**-order * integral)


@pytest.mark.parametrize(
    "arguments", [{"dim": 0}, {"dim": 2, "rate": 0.0}, {"dim": 2, "rate": math.inf}]
)
def test_bad_input_is_refused(arguments):
    with pytest.raises(EarnshawError, match="allowed"):
        GaussianPotential(**arguments)
