"""What every potential shares: Laplacians, mixtures, regions, the geometry of pairs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import earnshaw as ew
from earnshaw.duality.pair import Pair, angle
from earnshaw.errors import EarnshawError


@pytest.mark.slow
@pytest.mark.parametrize("name", ["erf", "tanh", "hermite-4", "relu", "gelu"])
@pytest.mark.parametrize("dim", [2, 3, 6])
def test_zonal_laplacian_is_the_laplacian_of_the_extension(name, dim):
    """On the sphere the Laplacian of F is that of F(x/|x|) in R^d at |x| = 1."""
    phi = ew.potential(name, dim=dim)
    generator = np.random.default_rng(dim)
    theta, w = (v / np.linalg.norm(v) for v in generator.standard_normal((2, dim)))
    extended = lambda x: phi.value(jnp.dot(x / jnp.linalg.norm(x), w))  # noqa: E731
    trace = jnp.trace(jax.hessian(extended)(jnp.asarray(theta)))
    np.testing.assert_allclose(phi.laplacian(theta @ w), trace, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dim"), [("gaussian", 3), ("almost-harmonic", 4), ("lambda-harmonic", 3)]
)
def test_radial_laplacian_is_the_trace_of_the_hessian(name, dim):
    phi = ew.potential(name, dim=dim)
    generator = np.random.default_rng(dim)
    theta, w = generator.standard_normal((2, dim))
    trace = jnp.trace(jax.hessian(lambda x: phi.between(x, w))(jnp.asarray(theta)))
    np.testing.assert_allclose(
        phi.laplacian(np.linalg.norm(theta - w)), trace, rtol=1e-8, atol=1e-14
    )


@pytest.mark.quick("gaussian*")
@pytest.mark.parametrize(
    ("name", "dim"),
    [
        ("gaussian", 3),
        ("almost-harmonic", 4),
        ("lambda-harmonic", 2),
        ("bessel", 3),
        ("distance", 3),
    ],
)
def test_gradients_on_space_are_those_of_autodiff(name, dim):
    phi = ew.potential(name, dim=dim)
    theta, w = np.random.default_rng(dim).standard_normal((2, 5, dim))
    expected = jax.vmap(jax.grad(phi.between))(jnp.asarray(theta), jnp.asarray(w))
    np.testing.assert_allclose(phi.gradient_between(theta, w), expected, rtol=1e-11, atol=1e-15)


@pytest.mark.slow
def test_gradients_on_the_sphere_are_tangent_and_riemannian():
    phi = ew.potential("relu", dim=4)
    theta, w = (v / np.linalg.norm(v) for v in np.random.default_rng(0).standard_normal((2, 4)))
    extended = lambda x: phi.value(jnp.dot(x / jnp.linalg.norm(x), w))  # noqa: E731
    gradient = phi.gradient_between(theta, w)
    np.testing.assert_allclose(gradient, jax.grad(extended)(jnp.asarray(theta)), atol=1e-14)
    np.testing.assert_allclose(gradient @ theta, 0.0, atol=1e-15)


def test_at_coincidence_the_gradient_of_a_cusp_is_zero_and_the_force_is_one_sided():
    phi = ew.potential("almost-harmonic", dim=3)
    w = np.array([1.0, 2.0, 3.0])
    assert np.all(np.asarray(phi.gradient_between(w, w)) == 0)
    beside = np.linalg.norm(phi.gradient_between(w + np.array([1e-9, 0, 0]), w))
    np.testing.assert_allclose(beside, float(phi.cusp), rtol=1e-6)


@pytest.mark.slow
def test_mixtures_add_and_scale():
    erf, cube = ew.potential("erf", dim=3), ew.potential("hermite-3", dim=3)
    mixed = 0.5 * erf + cube * 2.0
    rho = jnp.linspace(-1, 1, 7)
    for method in ("value", "first", "second", "laplacian"):
        expected = 0.5 * getattr(erf, method)(rho) + 2.0 * getattr(cube, method)(rho)
        np.testing.assert_allclose(getattr(mixed, method)(rho), expected, atol=1e-13)
    radial = ew.potential("gaussian", dim=2) + 3.0 * ew.potential("gaussian", dim=2, rate=4.0)
    np.testing.assert_allclose(radial(0.5), np.exp(-0.125) + 3 * np.exp(-0.5), rtol=1e-14)


def test_mixtures_of_different_spaces_are_refused():
    with pytest.raises(EarnshawError, match="dimensions"):
        ew.potential("gaussian", dim=2) + ew.potential("gaussian", dim=3)


@pytest.mark.slow
def test_regions_of_relu_on_the_sphere():
    """The sign change of the Laplacian is a root of (1 - rho^2) f'' - (d-1) rho f'."""
    phi = ew.potential("relu", dim=5)
    left, right = phi.regions()
    assert (left.character, right.character) == ("subharmonic", "superharmonic")
    assert left.high == right.low
    assert abs(float(phi.laplacian(left.high))) < 1e-10
    assert float(phi.laplacian(left.high - 0.05)) > 0 > float(phi.laplacian(left.high + 0.05))


def test_sign_on_the_circle_is_harmonic():
    """1 - 2 t/pi is linear in the angle, so its Laplacian on S^1 is 0, up to rounding."""
    (region,) = ew.potential("sign", dim=2).regions()
    assert (region.character, region.low, region.high) == ("harmonic", -1.0, 1.0)


def test_regions_of_a_formula_that_ends():
    """max(1 - r, 0) in the plane: Laplacian -1/r up to r = 1; beyond there is nothing."""
    from earnshaw.duality.formulas.expression import parse_potential

    (inner,) = parse_potential("max(1-r, 0)", on="space", dim=2).regions()
    assert inner.character == "superharmonic"
    np.testing.assert_allclose(inner.high, 1.0, atol=1e-9)


def test_a_linear_function_of_rho_is_an_eigenfunction():
    """rho^1 on S^(d-1) is an eigenfunction: Laplacian = -(d-1) rho."""
    phi = ew.potential("hermite-1", dim=4)
    rho = jnp.linspace(-1, 1, 5)
    np.testing.assert_allclose(phi.laplacian(rho), -3 * rho, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(
    small=st.floats(-12, -1),
    scale=st.floats(0.1, 50),
    flip=st.booleans(),
)
def test_the_angle_of_nearly_parallel_vectors(small, scale, flip):
    t = 10.0**small
    theta = np.array([scale, 0.0, 0.0])
    w = np.array([np.cos(t), np.sin(t), 0.0]) * (-1 if flip else 1)
    found = float(angle(*Pair.of_vectors(theta, w)))
    np.testing.assert_allclose(np.pi - found if flip else found, t, rtol=1e-3 if flip else 1e-7)


@pytest.mark.quick("relu", "tanh")
@pytest.mark.parametrize("name", ["relu", "tanh", "elu"])
def test_positive_semidefinite_on_random_points(name):
    """Every dual is a kernel: its Gram matrices have no negative eigenvalue (Lemma B.4)."""
    phi = ew.potential(name)
    for seed in range(20):
        points = np.random.default_rng(seed).standard_normal((12, 4))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        gram = np.asarray(phi(jnp.clip(points @ points.T, -1, 1)))
        assert np.linalg.eigvalsh(gram)[0] > -1e-12


@pytest.mark.parametrize(("name", "at"), [("relu", 2.0), ("gaussian", -0.5)])
def test_a_table_of_values_holds_none_outside_the_domain(name, at):
    with pytest.raises(EarnshawError, match="allowed: a number"):
        ew.potential(name, dim=3).summary(at=[0.5, at])
