"""The distance potential of Conjecture 3.14."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.duality.families.distance import Distance
from earnshaw.errors import EarnshawError


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_value_derivatives_and_laplacian(dim):
    r = np.array([0.0, 0.5, 7.0])
    place = jnp.linspace(0.2, 1.0, dim)
    trace = float(jnp.trace(jax.jit(jax.hessian(lambda x: jnp.sqrt(jnp.sum(x**2))))(place)))
    distance = float(jnp.sqrt(jnp.sum(place**2)))
    for sign, character in ((-1, "superharmonic"), (1, "subharmonic")):
        phi = Distance(dim, sign)
        np.testing.assert_array_equal(phi.value(r), sign * r)
        np.testing.assert_array_equal(phi.first(r), sign)
        np.testing.assert_array_equal(phi.second(r), 0)
        expected = pytest.approx(sign * trace, rel=1e-13, abs=1e-15)
        assert float(phi.laplacian(distance)) == expected
        assert float(phi.laplacian(0.0)) == (0 if dim == 1 else sign * math.inf)
        assert phi.regions()[0].character == ("harmonic" if dim == 1 else character)


def test_item_19_the_printed_sign_is_unbounded_below():
    """One proton b = 1 and one electron a = -1: the loss is -2 Phi(r) + 2 Phi(0)."""

    def loss(phi, r):
        return 2 * float(phi.value(0.0)) - 2 * float(phi.value(r))

    assert [loss(Distance(3, sign=1), r) for r in (1, 10, 1e6)] == [-2, -20, -2e6]
    assert [loss(Distance(3), r) for r in (1, 10, 1e6)] == [2, 20, 2e6]


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_conditionally_positive_definite(seed):
    """Energies of charges that sum to zero are non-negative under -r."""
    generator = np.random.default_rng(seed)
    points, charges = generator.normal(size=(6, 3)), generator.normal(size=6)
    charges -= charges.mean()
    gram = np.asarray(Distance(3).between(points[:, None], points[None]))
    assert charges @ gram @ charges >= -1e-12


def test_logarithm_only_where_positive():
    np.testing.assert_allclose(Distance(2, sign=1).log_value(3.0), math.log(3))
    with pytest.raises(EarnshawError, match="not positive"):
        Distance(2).log_value(3.0)


@pytest.mark.parametrize("arguments", [{"dim": 0}, {"dim": 3, "sign": 0}, {"dim": 3, "sign": 2}])
def test_bad_input_is_refused(arguments):
    with pytest.raises(EarnshawError, match="allowed"):
        Distance(**arguments)
