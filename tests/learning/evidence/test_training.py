"""Networks by evidence against exact Bayesian regression, finite differences and integrals."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import expit, softmax
from scipy.stats import multivariate_normal

import earnshaw as ew
from earnshaw.learning.evidence._parameters import Layout
from earnshaw.learning.evidence._training import Curved, Data, laplace, train
from earnshaw.learning.evidence._unseen import spread, unseen
from earnshaw.learning.evidence.growth import grown, line

TANH = ew.activation("tanh")


def straight_data(rows=40, dim=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, dim))
    y = x @ np.array([1.0, -0.5, 0.0])[:dim, None] + noise * rng.standard_normal((rows, 1))
    return Data(x, y, rng.integers(1, 4, rows).astype(float), "squares")


@pytest.fixture(scope="module")
def fitted():
    data = straight_data()
    return data, train(line(TANH, (0, 1, 2), 1, data), data, 200, tolerance=1e-10)


def features(data):
    return np.column_stack([data.x, np.ones(len(data.x))])


def log_marginal(data, alpha, noise):
    """log p(y) of y = Phi theta + errors, every sample repeated as often as it weighs."""
    repeats = data.weight.astype(int)
    phi, y = np.repeat(features(data), repeats, axis=0), np.repeat(data.y[:, 0], repeats)
    covariance = phi / alpha @ phi.T + np.eye(len(y)) / noise
    return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)


def test_without_units_the_evidence_is_that_of_bayesian_regression(fitted):
    data, member = fitted
    alpha = member.precisions[member.layout.groups]
    by_hand = log_marginal(data, alpha, member.noise[0])
    assert member.evidence == pytest.approx(by_hand, rel=1e-8)


def test_precisions_are_where_the_evidence_is_largest(fitted):
    """The precision of an input that plays no part goes to its bound; others are stationary."""
    data, member = fitted
    alpha, noise = member.precisions[member.layout.groups], member.noise[0]
    best = log_marginal(data, alpha, noise)
    for factor in (0.8, 1.25):
        assert log_marginal(data, alpha, noise * factor) < best
        for i in range(2):
            assert (
                log_marginal(data, np.where(np.arange(4) == i, alpha * factor, alpha), noise) < best
            )
    assert alpha[2] > 10 * max(alpha[:2])


def test_error_bars_of_a_linear_network_are_exact(fitted):
    data, member = fitted
    phi, alpha = features(data), member.precisions[member.layout.groups]
    precision = member.noise[0] * phi.T @ (data.weight[:, None] * phi) + np.diag(alpha)
    new = np.random.default_rng(1).standard_normal((5, 3))
    rows = np.column_stack([new, np.ones(5)])
    expected = np.einsum("ni,ij,nj->n", rows, np.linalg.inv(precision), rows)
    np.testing.assert_allclose(spread(member, new)[:, 0, 0], expected, rtol=1e-9)


def test_what_is_said_of_unseen_samples_is_what_the_others_say(fitted):
    data, member = fitted
    phi, alpha = features(data), member.precisions[member.layout.groups]
    said, variance = unseen(member, data)
    for i in (0, 7, 23):
        weight = data.weight - (np.arange(len(data.x)) == i)  # one of so many equal samples less
        matrix = member.noise[0] * phi.T @ (weight[:, None] * phi) + np.diag(alpha)
        theta = np.linalg.solve(matrix, member.noise[0] * phi.T @ (weight * data.y[:, 0]))
        assert said[i, 0] == pytest.approx(phi[i] @ theta, rel=1e-4)
        exact = phi[i] @ np.linalg.solve(matrix, phi[i])
        assert variance[i, 0] == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(("loss", "outputs"), [("squares", 2), ("logistic", 1), ("softmax", 3)])
def test_gradients_and_curvature(loss, outputs):
    """Against differences; of a linear network the curvature is exact, so that is, too."""
    rng = np.random.default_rng(2)
    x, weight = rng.standard_normal((30, 2)), rng.uniform(0.5, 2, 30)
    y = rng.standard_normal((30, outputs))
    y = (y > 0).astype(float) if loss == "logistic" else y
    y = np.eye(outputs)[np.argmax(y, axis=1)] if loss == "softmax" else y
    data, noise = Data(x, y, weight, loss), rng.uniform(1, 2, outputs)
    for units in (0, 2):
        layout = Layout(TANH, units, (0, 1), outputs)
        theta = rng.standard_normal(layout.size)
        here = Curved(layout, theta, data, noise)
        step = 1e-5 * np.eye(layout.size)
        ends = [[Curved(layout, theta + s * one, data, noise) for s in (1, -1)] for one in step]
        slope = [(up.value - down.value) / 2e-5 for up, down in ends]
        np.testing.assert_allclose(here.gradient, slope, rtol=1e-5, atol=1e-6)
        if not units:
            second = [(up.gradient - down.gradient) / 2e-5 for up, down in ends]
            np.testing.assert_allclose(here.matrix, second, rtol=1e-5, atol=1e-5)
        g = layout.outputs_of
        jacobian = np.array([(g(theta + s, x) - g(theta - s, x)) / 2e-5 for s in step])
        bend = _bend(loss, g(theta, x), noise)
        by_hand = np.einsum("ano,n,noq,bnq->ab", jacobian, weight, bend, jacobian)
        np.testing.assert_allclose(here.matrix, by_hand, rtol=1e-5, atol=1e-6)
        precisions = np.ones(layout.groups.max() + 1)
        member = laplace(layout, theta, data, here, precisions, noise, 0)
        covariance = np.linalg.inv(by_hand + np.eye(layout.size))
        expected = np.einsum("ano,ab,bnq->noq", jacobian, covariance, jacobian)
        np.testing.assert_allclose(spread(member, x), expected, rtol=1e-5, atol=1e-8)


def _bend(loss, g, noise):
    """Minus the Hessian of log p in the outputs, (n, m, m)."""
    if loss == "squares":
        return np.broadcast_to(np.diag(noise), (len(g), *2 * noise.shape))
    p = expit(g) if loss == "logistic" else softmax(g, axis=1)
    same = p[:, :, None] * np.eye(g.shape[1])
    return same - p[:, :, None] * p[:, None, :]


def test_the_evidence_of_classes_is_near_the_integral():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 1))
    y = (rng.random((40, 1)) < expit(1.5 * x)).astype(float)
    data = Data(x, y, np.ones(40), "logistic")
    member = train(line(TANH, (0,), 1, data), data, 100)
    alpha, flat = member.precisions[[-2, -1]]

    def integrand(c, slope):
        g = slope * x + c
        value = np.sum(y * g - np.logaddexp(0, g)) - 0.5 * alpha * slope**2 - 0.5 * flat * c**2
        return np.exp(value - member.evidence) * np.sqrt(alpha * flat) / (2 * np.pi)

    ratio, _ = dblquad(integrand, -3, 8, -5, 5, epsrel=1e-4)
    assert ratio == pytest.approx(1, abs=0.1)


def test_a_network_finds_units_and_knows_which_inputs_count():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((300, 3))
    y = np.tanh(2 * x[:, :1] - x[:, 1:2]) + 0.1 * rng.standard_normal((300, 1))
    data = Data(x, y, np.ones(300), "squares")
    straight = train(line(TANH, (0, 1, 2), 1, data), data, 40)
    member = train(grown(straight, data, 2, 0), data, 100)
    assert member.evidence > straight.evidence + 20
    assert 1 / member.noise[0] == pytest.approx(0.01, rel=0.25)
    assert member.precisions[2] > 10 * max(member.precisions[:2])
    again = train(grown(straight, data, 2, 0), data, 100)
    np.testing.assert_array_equal(again.theta, member.theta)
