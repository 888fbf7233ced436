"""Translation activations: their profiles, and what E[sigma sigma] comes to."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic, almost_harmonic_activation
from earnshaw.duality.families.bessel import BesselTranslation
from earnshaw.duality.families.gaussian import GaussianTranslation
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.errors import OutOfRange
from earnshaw.inputs import Gaussian
from earnshaw.numerics.log_table import fit_log_table

pytestmark = pytest.mark.slow

RADII = np.geomspace(1e-6, 30, 3000)


def example(dim=3):
    return RadialTranslation("example", dim, fit_log_table(RADII, np.exp(-RADII) / RADII, 1.0, 1.0))


def grid_mean(function, dim, inputs, reach=6.0, count=61):
    """E[function(X)] by the trapezoid rule, which is spectrally accurate for analytic functions."""
    line = np.linspace(-reach, reach, count)
    x = np.stack(np.meshgrid(*[line] * dim, indexing="ij"), axis=-1)
    weight = np.exp(np.asarray(inputs.log_density(x))) * (line[1] - line[0]) ** dim
    return float(np.sum(np.asarray(function(x)) * weight))


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("width", [1.0, 1.7])
def test_gaussian_realises_its_potential_under_any_width(dim, width):
    rate = 1.5
    sigma = GaussianTranslation(dim, rate, Gaussian(width))
    theta, w = np.full(dim, 0.3), np.linspace(-0.4, 0.5, dim)
    mean = grid_mean(lambda x: sigma.unit(x, theta) * sigma.unit(x, w), dim, sigma.inputs)
    assert mean == pytest.approx(np.exp(-rate * np.sum((theta - w) ** 2) / 2), abs=1e-12)
    assert sigma.name == "gaussian"


def test_gaussian_profile_is_the_stated_one():
    sigma = GaussianTranslation(3, 0.7)
    x = np.random.default_rng(0).normal(size=(5, 3))
    expected = (2 * 0.7 / np.pi) ** 0.75 * np.exp(-0.7 * np.sum(x * x, axis=1))
    np.testing.assert_allclose(sigma.profile(x), expected, rtol=1e-14)


def test_bessel_profile_and_potential():
    sigma = BesselTranslation(2)
    x = np.array([[0.3, -1.2], [2.0, 1e-9]])
    expected = 2 / np.pi**2 * np.prod(special.k0(np.abs(x)), axis=1)
    np.testing.assert_allclose(sigma.profile(x), expected, rtol=1e-13)
    assert sigma.name == "bessel"
    single = BesselTranslation(1)
    # Trapezoid rule in s, x = sinh(s)^3: the logarithms at 0 are resolved.
    s = np.linspace(-2.5, 2.5, 20_001)[:, None] + 1e-5
    x, speed = np.sinh(s) ** 3, 3 * np.sinh(s[:, 0]) ** 2 * np.cosh(s[:, 0])
    square = np.asarray(single.profile(x)) ** 2
    assert np.sum(square * speed) * 2.5e-4 == pytest.approx(1.0, abs=1e-7)
    for delta in (0.4, 1.5):
        value, _ = integrate.quad(
            lambda x, d=delta: special.k0(abs(x)) * special.k0(abs(x - d)),
            -40,
            40,
            points=[0, delta],
            limit=300,
        )
        assert 2 / np.pi**2 * value == pytest.approx(np.exp(-delta), abs=1e-7)


def test_table_reproduces_a_function_beyond_its_ends():
    table = fit_log_table(RADII, np.exp(-RADII) * (1 + RADII) / RADII, 1.0, 1.0)
    r = np.geomspace(1e-9, 29, 500)
    np.testing.assert_allclose(table(r), np.exp(-r) * (1 + r) / r, rtol=2e-6)
    assert float(table(31.0)) == 0.0
    assert float(table(0.0)) == np.inf
    logarithmic = fit_log_table(RADII, special.k0(RADII), 0.0, 1.0, logarithmic=True)
    np.testing.assert_allclose(logarithmic(r), special.k0(r), rtol=1e-5)
    assert float(logarithmic(0.0)) == np.inf
    bounded = fit_log_table(RADII, np.exp(-RADII), 0.0, 1.0)
    assert float(bounded(0.0)) == pytest.approx(1.0, abs=1e-9)
    stretched = table.stretched(2.0, 3.0)
    np.testing.assert_allclose(stretched(r), 3 * table(r / 2), rtol=1e-12)


def test_radial_activation_compiles_vectorises_and_differentiates():
    sigma = example()
    x, w = np.array([[0.3, 0.1, 0.0], [1.0, 2.0, -0.5]]), np.array([0.2, 0.0, 0.1])
    compiled = eqx.filter_jit(lambda s, x, w: s.unit(x, w))(sigma, x, w)
    mapped = jax.vmap(lambda x: sigma.unit(x, w))(jnp.asarray(x))
    np.testing.assert_allclose(compiled, mapped, rtol=1e-13)
    r = np.linalg.norm(x - w, axis=1)
    expected = np.exp(-r) / r * (2 * np.pi) ** 0.75 * np.exp(np.sum(x * x, axis=1) / 4)
    np.testing.assert_allclose(compiled, expected, rtol=1e-9)
    gradient = jax.grad(lambda w: jnp.sum(sigma.unit(x, w)))(jnp.asarray(w))
    step, direction = 1e-6, np.array([0.3, -0.5, 0.8])
    ahead, behind = (jnp.sum(sigma.unit(x, w + s * step * direction)) for s in (1, -1))
    slope = float(ahead - behind) / (2 * step)
    assert float(gradient @ direction) == pytest.approx(slope, rel=1e-6)
    assert sigma.name == "example"


def test_radial_activation_at_and_far_from_its_weight():
    sigma = example()
    assert float(sigma.profile(np.zeros(3))) == np.inf
    assert float(sigma.profile(np.array([100.0, 0, 0]))) == 0.0
    bounded = RadialTranslation("bounded", 2, fit_log_table(RADII, np.exp(-(RADII**2))))
    at_zero = jax.grad(lambda x: bounded.profile(x))(jnp.zeros(2))
    np.testing.assert_array_equal(at_zero, np.zeros(2))


def test_product_of_profiles():
    table = fit_log_table(RADII, np.exp(-RADII))
    sigma = ProductTranslation("product", (table, table), Gaussian(2.0))
    x = np.array([[0.3, -1.0], [-0.1, 0.2]])
    np.testing.assert_allclose(sigma.profile(x), np.exp(-np.sum(np.abs(x), axis=1)), rtol=1e-9)
    assert sigma.dim == 2
    assert sigma.unit(x, np.zeros(2)).shape == (2,)


@pytest.mark.parametrize(("dim", "distance"), [(1, 0.05), (2, 0.15), (3, 0.06), (3, 0.3)])
def test_almost_harmonic_activation_by_monte_carlo(dim, distance):
    """E[sigma(X, theta) sigma(X, w)], X ~ N(0, 4 I), sampled around both weights.

    Plainly sampled, the variance is infinite: h falls exponentially only, 1/p grows faster. Here
    |x - centre| has the density r0/(r0 + r)^2, which leaves bounded weights.
    """
    inputs = Gaussian(2.0)
    sigma = almost_harmonic_activation(dim, inputs=inputs)
    generator = np.random.default_rng(dim)
    count, spread = 400_000, 0.1
    theta, w = np.zeros(dim), distance * np.eye(dim)[0]
    centre = np.where(generator.random(count)[:, None] < 0.5, theta, w)
    fraction = generator.random(count)
    direction = generator.normal(size=(count, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    x = centre + (spread * fraction / (1 - fraction))[:, None] * direction
    area = 2 * np.pi ** (dim / 2) / special.gamma(dim / 2)

    def density(point):
        r = np.linalg.norm(x - point, axis=1)
        return spread / (spread + r) ** 2 / (area * r ** (dim - 1))

    near = np.linalg.norm(x, axis=1) < 30  # beyond, sigma^2 p is below 1e-20, and 1/p overflows
    x = np.where(near[:, None], x, 30.0)
    ratio = np.exp(np.asarray(inputs.log_density(x))) * 2 / (density(theta) + density(w))
    terms = np.where(near, np.asarray(sigma.unit(x, theta) * sigma.unit(x, w)) * ratio, 0.0)
    mean, error = np.mean(terms), np.std(terms) / np.sqrt(count)
    exact = float(AlmostHarmonic(dim).value(distance))
    assert abs(mean - exact) < 5 * error
    assert error < 0.02 * exact


def test_almost_harmonic_activation_is_infinite_at_its_weight_and_square_integrable():
    for dim in (1, 3):
        sigma = almost_harmonic_activation(dim)
        assert float(sigma.profile(np.zeros(dim))) == np.inf
        assert np.isfinite(float(sigma.profile(1e-12 * np.eye(dim)[0])))
        assert sigma.name == "almost-harmonic"
    r = np.array([1e-5, 1e-6])
    for dim in (2, 3, 5):  # h ~ r^(-(d-1)/2)
        h = np.asarray(almost_harmonic_activation(dim).radial_profile(r))
        slope = np.log(h[1] / h[0]) / np.log(10)
        assert slope == pytest.approx((dim - 1) / 2, abs=0.01)


@pytest.mark.parametrize(
    "make",
    [
        lambda: GaussianTranslation(0),
        lambda: GaussianTranslation(2, -1.0),
        lambda: BesselTranslation(1.5),
        lambda: almost_harmonic_activation(2, 1.5),
        lambda: almost_harmonic_activation(4, core="paper"),
        lambda: almost_harmonic_activation(60),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(OutOfRange):
        make()
