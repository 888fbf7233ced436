"""Fields against scikit-learn's Gaussian processes, repeated samples and samples left out."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from earnshaw.learning.evidence.field import charged, fit_field
from earnshaw.learning.evidence.shapes import (
    KINDS,
    POTENTIALS,
    Shape,
    ShapeEvidence,
    logarithms,
    prior,
)

ROWS, DIM = 25, 3
RNG = np.random.default_rng(0)
X = RNG.standard_normal((ROWS, DIM))
Y = np.sin(2 * X[:, :1]) + 0.1 * RNG.standard_normal((ROWS, 1))
ONES = np.ones(ROWS)


def test_charges_and_error_bars_are_those_of_a_gaussian_process():
    lengths = np.array([0.7, 1.5, 3.0])
    shape = Shape("matern", np.sqrt(3) / lengths[None], np.array([1.7]), 0.0, 0.05)
    field = charged(shape, X, Y, ONES, 0.0)
    kernel = ConstantKernel(1.7) * Matern(lengths, nu=1.5)
    process = GaussianProcessRegressor(kernel, alpha=0.05 + 1e-8, optimizer=None).fit(X, Y[:, 0])
    new = np.random.default_rng(1).standard_normal((7, DIM))
    mean, deviation = process.predict(new, return_std=True)
    np.testing.assert_allclose(field.outputs(new)[:, 0], mean, rtol=1e-8)
    np.testing.assert_allclose(np.sqrt(field.variance(new)), deviation, rtol=1e-6)


def test_the_evidence_is_the_marginal_likelihood():
    """Of one input, where the potential of steps is Matern's of 1/2."""
    first = np.array([np.log(0.8), 0.1, -20.0, np.log(0.3)])
    problem = ShapeEvidence("laplace", X[:, :1], Y, ONES, np.zeros(1, dtype=int), first)
    kernel = ConstantKernel(np.exp(0.2)) * Matern(1 / 0.8, nu=0.5)
    process = GaussianProcessRegressor(kernel, alpha=0.09 + 1e-8, optimizer=None)
    expected = process.fit(X[:, :1], Y[:, 0]).log_marginal_likelihood_value_
    assert -problem(first)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("kind", POTENTIALS)
def test_gradients_and_weights(kind):
    """A weight is as many equal samples, in the evidence, the field and what it has not seen."""
    weight = RNG.integers(1, 4, ROWS).astype(float)
    repeated = np.repeat(np.arange(ROWS), weight.astype(int))
    sources = np.array([0, 0, 1])
    first, _ = prior(kind, sources)
    problem = ShapeEvidence(kind, X, Y, weight, sources, first)
    p = first + 0.3 * RNG.standard_normal(len(first))
    np.testing.assert_allclose(logarithms(problem.shape(p), sources), p, rtol=1e-12, atol=1e-12)
    size = np.linalg.norm(problem(p)[1])
    assert check_grad(lambda q: problem(q)[0], lambda q: problem(q)[1], p) < 1e-5 * size
    other = ShapeEvidence(kind, X[repeated], Y[repeated], np.ones(len(repeated)), sources, first)
    assert other(p)[0] == pytest.approx(problem(p)[0], rel=1e-9)
    one = fit_field(kind, X, Y, weight, (0, 0, 1), 100, 20, 0)
    two = charged(one.shape, X[repeated], Y[repeated], np.ones(len(repeated)), 0.0)
    np.testing.assert_allclose(two.outputs(X), one.outputs(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(two.unseen, one.unseen[repeated], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", POTENTIALS)
def test_what_it_has_not_seen(kind):
    parts = len(KINDS[kind])
    shape = Shape(kind, RNG.uniform(0.1, 1.0, (parts, DIM)), np.ones(parts), 0.2, 0.04)
    field = charged(shape, X, Y, ONES, 0.0)
    for i in (0, 11):
        rest = np.arange(ROWS) != i
        without = charged(shape, X[rest], Y[rest], ONES[rest], 0.0)
        here = X[i : i + 1]
        assert field.unseen[i, 0] == pytest.approx(without.outputs(here)[0, 0], rel=1e-6)
        assert field.unsure[i] == pytest.approx(without.variance(here)[0], rel=1e-5)
