"""The objective, its gradient and its Gauss-Newton matrix, against NumPy and differences."""

import dataclasses

import numpy as np
import pytest

from earnshaw.learning.fitting import _samples as chunking
from earnshaw.learning.fitting._layout import Freedom, layout_of
from earnshaw.learning.fitting._objective import FitObjective
from learning.fitting.cases import answers, errors, plain_samples, random_network

DIM, COUNT, ALPHA = 3, 40, 0.01


def problem(loss):
    outputs = {"squares": 2, "logistic": 1, "softmax": 3}[loss]
    rng = np.random.default_rng(5)
    network = random_network("tanh", 3, DIM, outputs, seed=1, linear=True)
    x = rng.standard_normal((COUNT, DIM))
    if loss == "squares":
        y = rng.standard_normal((COUNT, outputs))
    elif loss == "logistic":
        y = rng.integers(0, 2, (COUNT, 1)).astype(float)
    else:
        y = np.eye(outputs)[rng.integers(0, outputs, COUNT)]
    weight = rng.uniform(0, 2, COUNT)
    objective = FitObjective(plain_samples(x, y, weight), loss, ALPHA)
    layout = layout_of(network)
    return objective, network, layout, layout.pack(network)


def value_by_hand(objective, network):
    samples = objective.samples
    g = answers("tanh", network, samples.x)
    mean = np.average(errors(objective.loss, g, samples.y), weights=samples.weight)
    parts = (network.positions, network.weights, network.linear)
    return mean + ALPHA * sum(np.sum(part**2) for part in parts)


@pytest.mark.quick("softmax")
@pytest.mark.parametrize("loss", ["squares", "logistic", "softmax"])
def test_value_gradient_and_matrix(loss):
    objective, network, layout, vector = problem(loss)
    found = objective.normal(vector, layout, network)
    assert found.value == pytest.approx(value_by_hand(objective, network), rel=1e-13)

    free = np.flatnonzero(objective.freedom.mask(layout, network.units))
    step = 1e-6

    def moved(i, by):
        there = vector.copy()
        there[i] += by
        return layout.unpack(there, network)

    slope = np.array(
        [
            (value_by_hand(objective, moved(i, step)) - value_by_hand(objective, moved(i, -step)))
            / (2 * step)
            for i in free
        ]
    )
    np.testing.assert_allclose(found.gradient[free], slope, atol=1e-8)
    assert np.all(np.delete(found.gradient, free) == 0)
    value, gradient = objective.slope(vector, layout, network)
    assert value == pytest.approx(found.value, rel=1e-13)
    np.testing.assert_allclose(gradient, found.gradient, atol=1e-13)

    # J by differences, H from its formula: p (1 - p) and the like.
    x, weight = objective.samples.x, objective.samples.weight / objective.samples.total
    jacobian = np.stack(
        [
            (answers("tanh", moved(i, step), x) - answers("tanh", moved(i, -step), x)) / (2 * step)
            for i in free
        ],
        axis=2,
    )
    g = answers("tanh", network, x)
    if loss == "squares":
        curvature = np.broadcast_to(2 * np.eye(2), (COUNT, 2, 2))
    elif loss == "logistic":
        p = 1 / (1 + np.exp(-g))
        curvature = (2 * p * (1 - p))[:, :, None]
    else:
        p = np.exp(g) / np.exp(g).sum(axis=1, keepdims=True)
        curvature = 2 * (p[:, :, None] * np.eye(3) - p[:, :, None] * p[:, None, :])
    matrix = np.einsum("n,nop,noq,nqr->pr", weight, jacobian, curvature, jacobian)
    penalised = layout.join(
        np.tile([1.0] * DIM + [0.0], (layout.room, 1)),
        np.ones((layout.room, layout.outputs)),
        np.vstack([np.ones((DIM, layout.outputs)), np.zeros((1, layout.outputs))]),
    )
    matrix += np.diag(2 * ALPHA * penalised[free])
    np.testing.assert_allclose(found.matrix[np.ix_(free, free)], matrix, atol=1e-7)


def test_chunks_do_not_matter(monkeypatch):
    objective, network, layout, vector = problem("squares")
    whole = objective.normal(vector, layout, network)
    monkeypatch.setattr(chunking, "FEWEST", 16)
    monkeypatch.setattr(chunking, "MOST", 16)
    again = dataclasses.replace(objective, samples=dataclasses.replace(objective.samples))
    assert len(list(again.samples.chunks(again.samples.rows(1)))) == 3
    parts = again.normal(vector, layout, network)
    assert parts.value == pytest.approx(whole.value, rel=1e-14)
    np.testing.assert_allclose(parts.gradient, whole.gradient, atol=1e-14)
    np.testing.assert_allclose(parts.matrix, whole.matrix, atol=1e-13)


def test_freedom():
    objective, network, layout, vector = problem("squares")
    held = dataclasses.replace(
        objective, freedom=Freedom(biases=False, linear=False, intercept=False)
    )
    found = layout.unpack(held.normal(vector, layout, network).gradient, network)
    assert np.all(found.biases == 0)
    assert np.all(found.linear == 0)
    assert np.all(found.intercept == 0)
    assert np.all(found.positions != 0)
    free = objective.freedom.mask(layout, network.units)
    assert int(free.sum()) == objective.freedom.count(network)
    assert held.freedom.count(network) == network.positions.size + network.weights.size
