"""Input distributions against SciPy, quadrature and the chi^2 law of the squared norm."""

from __future__ import annotations

import math
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.inputs import inputs_from_dict, inputs_to_dict

COUNT = 20_000
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(100)
CASES = [  # dim, width, radius: from almost nothing of the Gaussian to all of it
    (1, 1.0, 0.1),
    (1, 0.5, 1.0),
    (3, 2.0, 1e-9),
    (3, 2.0, 3.0),
    (3, 1.0, 1e3),
    (50, 1.0, 4.0),
    (50, 1.0, 7.5),
]


@lru_cache
def samples(dim: int, width: float, radius: float) -> np.ndarray:
    x = np.asarray(ew.TruncatedGaussian(width, radius).sample(jax.random.key(dim), COUNT, dim))
    assert x.shape == (COUNT, dim)
    return x


def mass(dim: int, width: float, radius: float) -> float:
    return float(stats.chi2.cdf((radius / width) ** 2, dim))


@pytest.mark.parametrize("dim", [1, 3, 8])
@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_gaussian_density(dim, width):
    x = width * np.random.default_rng(dim).standard_normal((20, dim))
    exact = stats.multivariate_normal(np.zeros(dim), width**2 * np.eye(dim)).logpdf(x)
    np.testing.assert_allclose(ew.Gaussian(width).log_density(x), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.quick("0.5-2")
@pytest.mark.parametrize("dim", [1, 2, 3, 10, 101, 1000])
@pytest.mark.parametrize("factor", [1e-9, 0.1, 0.5, 1.0, 1.1, 1.3, 1e9])
def test_mass_of_the_ball(dim, factor):
    """Against 40 digits, at radii from far inside the shell of the Gaussian to far outside."""
    radius = math.sqrt(dim) * factor
    with mpmath.workdps(40):
        square = min(mpmath.mpf(radius) ** 2 / 2, mpmath.mpf(10) ** 5)  # beyond, 1 to 40 digits
        exact = mpmath.log(mpmath.gammainc(mpmath.mpf(dim) / 2, 0, square, regularized=True))
    found = ew.TruncatedGaussian(1.0, radius).log_mass(dim)
    np.testing.assert_allclose(found, float(exact), rtol=1e-12, atol=1e-12)


log_density = jax.jit(lambda inputs, x: inputs.log_density(x))


@pytest.mark.parametrize(("dim", "width", "radius"), CASES)
def test_truncated_density_integrates_to_one(dim, width, radius):
    """Radially: the area of the sphere times r^(d-1) times the density, over the ball."""
    inputs = ew.TruncatedGaussian(width, radius)
    axis = np.eye(1, dim)[0]
    log_area = math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)
    reach = min(radius, width * (math.sqrt(dim) + 12))
    r = reach * (NODES + 1) / 2
    logs = log_area + (dim - 1) * np.log(r) + log_density(inputs, r[:, None] * axis)
    np.testing.assert_allclose(reach / 2 * NODE_WEIGHTS @ np.exp(logs), 1.0, rtol=1e-11)


@pytest.mark.slow
def test_truncated_density_is_the_conditional_one():
    inputs, plain = ew.TruncatedGaussian(0.7, 1.2), ew.Gaussian(0.7)
    x = np.random.default_rng(0).uniform(-1.2, 1.2, (200, 3))
    inside = np.linalg.norm(x, axis=1) <= 1.2
    assert 50 < np.sum(inside) < 150
    found = np.asarray(inputs.log_density(x))
    assert np.all(np.isneginf(found[~inside]))
    exact = np.asarray(plain.log_density(x)) - math.log(mass(3, 0.7, 1.2))
    np.testing.assert_allclose(found[inside], exact[inside], rtol=1e-12)
    assert np.isnan(inputs.log_density(jnp.array([jnp.nan, 0.0])))


def test_a_wide_ball_changes_nothing():
    x = np.random.default_rng(1).standard_normal((50, 4))
    wide = ew.TruncatedGaussian(1.0, 1e200).log_density(x)
    np.testing.assert_allclose(wide, ew.Gaussian().log_density(x), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "width", "radius"), CASES)
def test_truncated_norms_have_the_truncated_chi_law(dim, width, radius):
    norms = np.linalg.norm(samples(dim, width, radius), axis=1)
    assert np.max(norms) <= radius * (1 + 1e-14)
    whole = mass(dim, width, radius)
    law = lambda r: np.minimum(stats.chi2.cdf((r / width) ** 2, dim) / whole, 1.0)  # noqa: E731
    assert stats.kstest(norms, law).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "width", "radius"), CASES)
def test_truncated_directions_are_uniform(dim, width, radius):
    """The mean direction is 0 and its second moment I/d, within five standard errors."""
    x = samples(dim, width, radius)
    u = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert np.all(np.abs(np.mean(u, axis=0)) < 5 / math.sqrt(dim * COUNT))
    deviation = np.abs(u.T @ u / COUNT - np.eye(dim) / dim)
    assert np.all(deviation < 5 * math.sqrt(2) / (dim * math.sqrt(COUNT)) + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "width", "radius"), CASES[1:5])
def test_truncated_moments_by_quadrature(dim, width, radius):
    """E|x|^2 and E|x|^4 against integrals of r^(d-1) exp(-r^2/2), within five standard errors."""
    reach = min(radius / width, 40.0)
    weight = lambda s, p: s ** (dim - 1 + p) * math.exp(-((s * reach) ** 2) / 2)  # noqa: E731
    whole, *moments = (
        quad(weight, 0, 1, args=(p,), epsabs=0, limit=400, points=[0.05, 0.1])[0] for p in (0, 2, 4)
    )
    squares = np.sum((samples(dim, width, radius) / (width * reach)) ** 2, axis=1)
    for power, moment in zip((1, 2), moments, strict=True):
        values = squares**power
        error = np.std(values) / math.sqrt(COUNT)
        assert abs(np.mean(values) - moment / whole) < 5 * error


@pytest.mark.slow
def test_sampling_compiles_also_with_traced_parameters():
    compiled = jax.jit(lambda inputs, key: inputs.sample(key, COUNT, 3))
    found = compiled(ew.TruncatedGaussian(2.0, 3.0), jax.random.key(3))
    np.testing.assert_allclose(found, samples(3, 2.0, 3.0), rtol=1e-12)


def test_slope_of_the_mass_is_the_density_of_the_norm():
    """d log P(|X| <= R) / dR is the density of the chi law at R over its distribution function."""
    slope = jax.jit(jax.grad(lambda radius, i: eqx.tree_at(at_radius, i, radius).log_mass(5)))
    for radius in (0.01, 1.0, 3.0):
        exact = stats.chi.pdf(radius, 5) / stats.chi.cdf(radius, 5)
        found = slope(radius, ew.TruncatedGaussian(1.0, 2.0))
        np.testing.assert_allclose(found, exact, rtol=1e-11)


def at_radius(inputs: ew.TruncatedGaussian) -> float:
    return inputs.radius


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "wide", None, [1.0, 2.0]])
def test_bad_widths_and_radii_are_refused_in_one_line(bad):
    makers = (
        lambda: ew.Gaussian(bad),
        lambda: ew.TruncatedGaussian(bad, 1.0),
        lambda: ew.TruncatedGaussian(1.0, bad),
    )
    for make, word in zip(makers, ("width", "width", "radius"), strict=True):
        with pytest.raises(EarnshawError, match=word) as caught:
            make()
        assert "\n" not in str(caught.value)


# -- means, covariances, mixtures -----------------------------------------------------------------

SPREAD = np.array([[2.0, 0.6], [0.6, 0.5]])
MIXED = ([0.3, 0.7], [[0.0, 1.0], [2.0, -1.0]], [SPREAD, 0.25 * np.eye(2)])


def moments_agree(x: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> None:
    """The mean and the covariance of samples, within five standard errors."""
    gap = x - mean
    products = gap[:, :, None] * gap[:, None, :]
    for rows, wanted in ((gap, 0.0), (products, covariance)):
        error = np.std(rows, axis=0) / math.sqrt(len(x)) + 1e-12
        assert np.all(np.abs(np.mean(rows, axis=0) - wanted) < 5 * error)


@pytest.mark.slow
@pytest.mark.parametrize("covariance", [1.7, [0.2, 3.0], SPREAD, [[1.0, 1.0], [1.0, 1.0]]])
def test_gaussian_with_covariance(covariance):
    """A number, a diagonal, a matrix, a degenerate one: samples, density and components."""
    inputs = ew.Gaussian(mean=[1.0, -2.0], covariance=covariance)
    matrix = np.asarray(covariance, dtype=float)
    matrix = matrix if matrix.ndim == 2 else np.diag(np.broadcast_to(matrix, 2))
    ((probability, mean, found),) = inputs.components()
    assert probability == 1
    assert np.array_equal(mean, [1.0, -2.0])
    assert np.array_equal(found, matrix)
    moments_agree(np.asarray(inputs.sample(jax.random.key(1), COUNT, 2)), mean, matrix)
    x = np.random.default_rng(0).normal(size=(3, 4, 2))
    if np.linalg.eigvalsh(matrix)[0] < 1e-12:
        with pytest.raises(EarnshawError, match="degenerate"):
            inputs.log_density(x)
    else:
        wanted = stats.multivariate_normal(mean, matrix).logpdf(x)
        assert np.allclose(inputs.log_density(x), wanted, rtol=1e-13)


@pytest.mark.slow
def test_mixture():
    """Against SciPy's densities, and the law of total covariance."""
    weights, means, covariances = MIXED
    mixture = ew.GaussianMixture(*MIXED)
    x = np.random.default_rng(0).normal(size=(5, 2))
    laws = [stats.multivariate_normal(m, s) for m, s in zip(means, covariances, strict=True)]
    density = sum(w * law.pdf(x) for w, law in zip(weights, laws, strict=True))
    assert np.allclose(mixture.log_density(jnp.asarray(x)), np.log(density), rtol=1e-13)
    mean = np.average(means, axis=0, weights=weights)
    between = np.asarray(means) - mean
    covariance = np.average(covariances, axis=0, weights=weights)
    covariance = covariance + (between.T * weights) @ between
    moments_agree(np.asarray(mixture.sample(jax.random.key(2), COUNT, 2)), mean, covariance)
    parts = mixture.components()
    assert [float(part.probability) for part in parts] == weights
    assert np.array_equal(parts[0].covariance, SPREAD)


@pytest.mark.slow
def test_mixture_fitted_to_data():
    """Two far clouds are found."""
    pytest.importorskip("sklearn")
    far = ew.GaussianMixture([0.25, 0.75], [[-9.0, 0.0], [9.0, 0.0]], [SPREAD, SPREAD])
    x = np.asarray(far.sample(jax.random.key(3), 4000, 2))
    found = sorted(ew.GaussianMixture.fit(x, 2).components(), key=lambda part: float(part.mean[0]))
    share = float(np.mean(x[:, 0] < 0))
    assert float(found[0].probability) == pytest.approx(share, abs=1e-3)
    assert np.allclose(found[0].mean, np.mean(x[x[:, 0] < 0], axis=0), atol=1e-2)


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_files(tmp_path, ending):
    """What is written is read, to the last bit."""
    all_inputs = (
        ew.Gaussian(0.3),
        ew.Gaussian(covariance=0.09),
        ew.Gaussian(mean=[0.1, 2.0], covariance=SPREAD),
        ew.GaussianMixture(*MIXED),
    )
    for inputs in all_inputs:
        path = tmp_path / f"inputs.{ending}"
        ew.save_inputs(path, inputs)
        for one, other in zip(
            ew.load_inputs(path).components(2), inputs.components(2), strict=True
        ):
            assert eqx.tree_equal(one, other)
    assert inputs_from_dict(inputs_to_dict(all_inputs[0])).width == 0.3
    with pytest.raises(EarnshawError, match="it has no weights"):
        inputs_from_dict({"format": "earnshaw-inputs", "version": 1, "kind": "mixture"})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ew.Gaussian(covariance=[[1, 2], [2, 1]]), "eigenvalue -1; allowed"),
        (lambda: ew.Gaussian(covariance=[[1, 2], [0, 1]]), "not symmetric"),
        (lambda: ew.Gaussian(covariance=-1.0), "eigenvalue -1"),
        (lambda: ew.Gaussian(covariance=np.ones((2, 3))), "shape"),
        (lambda: ew.Gaussian(covariance="round"), "no array of numbers"),
        (lambda: ew.Gaussian(mean=[1.0, math.nan]), "NaN"),
        (lambda: ew.Gaussian(mean=[[1.0]]), "shape of the mean"),
        (lambda: ew.Gaussian(mean=[1, 2], covariance=[1, 2, 3]), "dimension 3; allowed: 2"),
        (lambda: ew.Gaussian(2.0, covariance=3.0), "one of them"),
        (lambda: ew.GaussianMixture([0.5, 0.6], [[0], [1]], [1, 1]), "sum of the weights"),
        (lambda: ew.GaussianMixture([1.5, -0.5], [[0], [1]], [1, 1]), "a weight"),
        (lambda: ew.GaussianMixture([1.0], [[0], [1]], [1]), "shape of the means"),
        (lambda: ew.GaussianMixture([1.0], [[0, 1]], [[1, 1, 1]]), "dimension 3"),
        (lambda: ew.GaussianMixture([1.0], [[0, 1]], [1, 1]), "shape of the covariances"),
        (lambda: ew.GaussianMixture(*MIXED).sample(jax.random.key(0), 2, 3), "dimension 2, not 3"),
        (lambda: ew.Gaussian().components(), "every dimension"),
        (lambda: ew.GaussianMixture.fit(np.ones((3, 2)), 5), "components is 5"),
    ],
)
def test_bad_inputs_are_refused_in_one_line(make, words):
    with pytest.raises(EarnshawError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)
