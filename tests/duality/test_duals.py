"""Every dual pair against 50-digit arithmetic, quadrature and Monte Carlo."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from reference import (
    ACTIVATIONS,
    SMOOTH_NUMERIC,
    dual_derivatives,
    line_mean,
    monte_carlo,
    plane_mean,
    roughness,
)

RHOS = (-0.999999, -0.9, -0.3, 0.0, 0.5, 0.99, 0.999999)
NAMES = tuple(ACTIVATIONS)


def target(name: str) -> float:
    """The accuracy that was promised for this activation."""
    return 1e-11 if name in SMOOTH_NUMERIC else 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_values_are_within_bound_and_target(name):
    phi = ew.potential(name, normalize=False)
    values = np.asarray(phi(jnp.array([-1.0, *RHOS, 1.0])))
    exact = [line_mean(ACTIVATIONS[name], -1)]
    exact += [plane_mean(ACTIVATIONS[name], rho) for rho in RHOS]
    exact += [line_mean(ACTIVATIONS[name])]
    errors = np.array([abs(float(e - float(v))) for e, v in zip(exact, values, strict=True)])
    assert phi.error_bound is not None
    assert np.all(errors <= phi.error_bound)
    assert phi.error_bound <= target(name) * max(1.0, float(exact[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_match_the_50_digit_dual(name):
    phi, rhos = ew.potential(name, normalize=False), jnp.array([-0.9, 0.4, 0.999999])
    exact = [
        dual_derivatives(ACTIVATIONS[name], float(rho), step)
        for rho, step in zip(rhos, ("1e-9", "1e-9", "1e-12"), strict=True)
    ]
    _, first, second = np.transpose(exact)
    scale = float(line_mean(ACTIVATIONS[name]))
    np.testing.assert_allclose(phi.first(rhos), first, rtol=1e-10, atol=1e-11 * scale)
    np.testing.assert_allclose(phi.second(rhos), second, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_at_the_ends_are_finite_exactly_where_they_exist(name):
    """f'(+-1) = E[s'(X) s'(+-X)] needs s' in L2; f'' needs s''. Elsewhere: infinite, never NaN."""
    phi = ew.potential(name)
    ends = jnp.array([-1.0, 1.0])
    rough = roughness(ACTIVATIONS[name])
    jump, corner = rough == "jump", rough == "corner"
    first, second = np.asarray(phi.first(ends)), np.asarray(phi.second(ends))
    assert not np.any(np.isnan([first, second]))
    assert np.all(np.isinf(first)) == jump
    assert np.all(np.isinf(second)) == (jump or corner)
    if not jump and not corner:
        inside = jnp.array([-1 + 1e-9, 1 - 1e-9])
        np.testing.assert_allclose(second, phi.second(inside), rtol=1e-3, atol=1e-4)


@pytest.mark.quick("relu", "tanh")
@pytest.mark.parametrize("name", NAMES)
def test_monte_carlo_agrees_within_its_error_bar(name):
    phi = ew.potential(name, normalize=False)
    for rho in (-0.6, 0.8):
        mean, error = monte_carlo(ew.activation(name), rho)
        assert abs(float(phi(rho)) - mean) < 5 * error


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_arbitrary_norms(name):
    phi, s = ew.potential(name, normalize=False), ACTIVATIONS[name]
    q1, q2, rho = np.array([(4.0, 0.25, -0.8), (2.0, 3.0, 0.95), (9.0, 9.0, 0.3)]).T
    found = np.asarray(phi.moment(q1, q2, rho * np.sqrt(q1 * q2)))
    for value, *at in zip(found.tolist(), rho.tolist(), q1.tolist(), q2.tolist(), strict=True):
        exact, length = float(plane_mean(s, *at)), at[1] ** 0.5
        sizes = float(line_mean(lambda x, length=length: s(length * x))) + abs(exact)
        assert abs(value - exact) <= target(name) * max(1.0, sizes)


@pytest.mark.quick("relu")
@pytest.mark.parametrize("name", NAMES)
def test_partial_derivatives_in_the_norms(name):
    """d/dq1 of E[s(u) s(v)] against differences of the 50-digit moment."""
    phi = ew.potential(name, normalize=False)
    q1, q2, c, h = 1.5, 0.7, 0.4, 1e-5
    moment = lambda q: float(plane_mean(ACTIVATIONS[name], c / np.sqrt(q * q2), q, q2))  # noqa: E731
    slope = (moment(q1 + h) - moment(q1 - h)) / (2 * h)
    ours = jax.grad(phi.moment, argnums=0)(q1, q2, c)
    np.testing.assert_allclose(ours, slope, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "sign", "erf", "tanh", "elu"])
def test_vectors_and_moments_agree(name):
    phi = ew.potential(name, normalize=False)
    generator = np.random.default_rng(1)
    theta, w = generator.standard_normal((2, 20, 6))
    from_vectors = phi.between(theta, w)
    from_moments = phi.moment((theta**2).sum(1), (w**2).sum(1), (theta * w).sum(1))
    np.testing.assert_allclose(from_vectors, from_moments, atol=1e-12)


def test_nearly_parallel_vectors_keep_the_angle():
    """sqrt(P - c^2) loses an angle of 1e-10 altogether; differences of unit vectors do not."""
    phi = ew.potential("sign")
    theta, w = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1e-10, 0.0])
    np.testing.assert_allclose(1 - float(phi.between(theta, w)), 2e-10 / np.pi, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "elu", "laplace", "gelu", "tanh"])
def test_no_nan_at_coincidence(name):
    phi = ew.potential(name, normalize=False)
    theta = jnp.array([0.3, -1.2, 0.5])
    assert np.all(np.isfinite(jax.grad(phi.between)(theta, theta)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("leaky-relu", {"negative_slope": 0.3, "positive_slope": 2.0}),
        ("leaky-relu", {"negative_slope": 1.0, "positive_slope": 1.0}),
        ("rbf", {"gamma": 0.3}),
        ("exponential", {"rate": 0.5, "shift": -1.0}),
        ("gaussian-bump", {"curvature": -2.0}),
        ("elu", {"alpha": 0.3}),
        ("polynomial", {"coefficients": [1.0, -2.0, 0.5, 3.0]}),
    ],
)
def test_parameters_by_quadrature_of_the_same_function(name, parameters):
    """Closed form against the split quadrature of the activation itself, with its parameters."""
    phi = ew.potential(name, normalize=False, **parameters)
    sigma = ew.activation(name, **parameters)
    box = ew.potential(lambda x: sigma(x), normalize=False, kinks=[0.0])
    rho = jnp.linspace(-1, 1, 41)
    np.testing.assert_allclose(phi(rho), box(rho), atol=1e-12 * max(1.0, float(phi(1.0))))


@pytest.mark.slow
def test_input_width_scales_the_variance():
    wide = ew.potential("erf", normalize=False, width=1.7)
    plain = ew.potential("erf", normalize=False)
    rho, q = jnp.array([-0.7, 0.2, 1.0]), 1.7**2
    np.testing.assert_allclose(wide(rho), plain.moment(q, q, q * rho), atol=1e-14)
    tanh = ew.potential("tanh", normalize=False, width=1.7)
    np.testing.assert_allclose(
        tanh(0.2), float(plane_mean(ACTIVATIONS["tanh"], 0.2, q, q)), atol=1e-11
    )


@pytest.mark.slow
def test_bound_at_long_vectors_holds():
    """Beyond max_norm the series is cut short, and its bound says by how much."""
    phi = ew.potential("tanh", normalize=False, max_norm=1.0)
    q = 36.0
    exact = float(plane_mean(ACTIVATIONS["tanh"], 0.9, q, q))
    error = abs(float(phi.moment(q, q, 0.9 * q)) - exact)
    assert error <= float(phi.form.error_at(jnp.asarray(q), jnp.asarray(q)))


@pytest.mark.slow
def test_the_bound_holds_where_the_series_is_hopeless():
    """tanh(100 x) is nearly a jump: the series is cut far too early, and says so."""
    phi = ew.potential("tanh", normalize=False, width=100.0)
    for rho in (0.5, 0.999999):
        # tanh(100 x) differs from sgn(x) by more than 1e-9 only for |x| < 0.11, and the dual of
        # the two by at most 2 E|tanh(100 X) - sgn(X)| = 0.0111.
        sign = 1 - 2 / np.pi * np.arccos(rho)
        assert abs(float(phi(rho)) - sign) <= phi.error_bound + 0.0112
    exact = 1 - np.sqrt(2 / np.pi) / 100  # E[tanh(100 X)^2] = 1 - E[sech^2], to 1e-6
    assert abs(float(phi(1.0)) - exact) <= phi.error_bound + 1e-6


@pytest.mark.slow
def test_normalisation():
    for name in NAMES:
        np.testing.assert_allclose(ew.potential(name)(1.0), 1.0, atol=1e-13)


@pytest.mark.slow
def test_a_smooth_black_box_estimates_its_error():
    phi = ew.potential(lambda x: np.tanh(x), normalize=False)
    assert phi.error_bound is None
    exact = [float(plane_mean(ACTIVATIONS["tanh"], rho)) for rho in RHOS]
    errors = np.abs(np.asarray(phi(jnp.array(RHOS))) - exact)
    assert np.all(errors <= phi.error_estimate)
    assert phi.error_estimate < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "sign", "elu", "laplace"])
def test_a_kinked_black_box_reaches_the_closed_form(name):
    sigma = ew.activation(name)
    phi = ew.potential(lambda x: sigma(x), normalize=False, kinks=[0.0])
    closed = ew.potential(name, normalize=False)
    rho = jnp.array([-1.0, *RHOS, 1.0])
    assert np.max(np.abs(np.asarray(phi(rho) - closed(rho)))) <= max(phi.error_estimate, 1e-13)
    inner = rho[2:-2]
    np.testing.assert_allclose(phi.first(inner), closed.first(inner), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(phi.second(inner), closed.second(inner), rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_kinks_away_from_zero():
    """Hard tanh, whose corners are at +-1, against the plane integral split there."""
    from scipy.integrate import quad

    phi = ew.potential(lambda x: jnp.clip(x, -1, 1), normalize=False, kinks=[-1.0, 1.0])

    # Price: f'(rho) = P(|u| < 1, |v| < 1); integrate the bivariate density conditionally.
    from scipy.stats import norm

    def inside(rho: float) -> float:
        k = np.sqrt(1 - rho**2)
        strip = lambda u: norm.pdf(u) * (norm.cdf((1 - rho * u) / k) - norm.cdf((-1 - rho * u) / k))  # noqa: E731
        return quad(strip, -1, 1, epsabs=1e-13)[0]

    for rho in (-0.8, 0.0, 0.6):
        np.testing.assert_allclose(phi.first(rho), inside(rho), atol=1e-10)
    np.testing.assert_allclose(phi(0.0), 0.0, atol=1e-14)


@pytest.mark.slow
def test_an_undeclared_kink_is_admitted_in_the_estimate():
    phi = ew.potential(lambda x: jnp.maximum(x, 0.0), normalize=False)
    error = abs(float(phi(1.0)) - 0.5)
    assert 1e-9 < error <= phi.error_estimate


def test_a_black_box_at_any_norm():
    exact = float(plane_mean(ACTIVATIONS["tanh"], 0.5, 4.0, 1.0))
    assert abs(float(ew.potential(jnp.tanh, normalize=False).moment(4.0, 1.0, 1.0)) - exact) < 1e-11


@pytest.mark.slow
def test_sphere_synthetic_three_ways():
    """EPD, Theorem 4.4: the polynomial, the plane integral of its activation, and samples."""
    phi = ew.potential("sphere-synthetic", dim=5, degree=6)
    sigma = ew.activation("sphere-synthetic", dim=5, degree=6)
    by_activation = ew.potential(lambda x: sigma(x), normalize=False)
    for rho in (-0.6, 0.3, 0.9):
        exact = float(phi(rho))
        np.testing.assert_allclose(by_activation(rho), exact, atol=1e-11)
        mean, error = monte_carlo(sigma, rho)
        assert abs(exact - mean) < 5 * error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "bessel"])
@pytest.mark.parametrize("dim", [1, 2])
def test_pairs_on_space_by_monte_carlo(name, dim):
    """E[sigma(X, theta) sigma(X, w)] under inputs wide enough for a finite variance.

    (Quadrature of the same pairs is in tests/duality/families/test_translation.py.)
    """
    sigma = ew.activation(name, dim=dim, width=2.0)
    phi = ew.potential(name, dim=dim)
    theta, w = np.full(dim, 0.2), np.linspace(-0.5, 0.1, dim)
    # From a mixture of heavy tails around both units, so that the weights stay bounded.
    generator = np.random.default_rng(5)
    count = 400_000
    centre = np.where(generator.random((count, 1)) < 0.5, theta, w)
    x = centre + generator.laplace(size=(count, dim))
    density = sum(np.exp(-np.abs(x - c).sum(1)) / 2**dim for c in (theta, w)) / 2
    truth = np.exp(np.asarray(sigma.inputs.log_density(jnp.asarray(x))))
    products = np.asarray(sigma.unit(x, theta) * sigma.unit(x, w)) * truth / density
    error = np.std(products) / np.sqrt(count)
    assert abs(np.mean(products) - float(phi.between(theta, w))) < 5 * error
    assert error < 0.01
