"""The steps of a fit, one by one: search, refit, polish, sides; against NumPy and SciPy."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import least_squares

import earnshaw as ew
from earnshaw.learning.fitting import _search as searching
from earnshaw.learning.fitting._layout import Freedom, layout_of
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting._refit import RIDGE, Features, refit
from earnshaw.learning.fitting._search import search
from earnshaw.learning.fitting._simplify import best_sides, turned, without_linear_part
from earnshaw.learning.fitting._solvers import lbfgs, marquardt, minibatch
from earnshaw.learning.fitting.network import empty_network
from learning.fitting.cases import FORMULAS, answers, plain_samples, random_network, teacher_data

COUNT, DIM = 200, 3


@pytest.fixture(scope="module")
def noisy():
    """A teacher of two tanh units with noise, as samples; and a network near it."""
    truth, x, y = teacher_data("tanh", 2, DIM, COUNT, seed=3, noise=0.1)
    rng = np.random.default_rng(0)
    near = dataclasses.replace(
        truth, positions=truth.positions + 0.2 * rng.standard_normal(truth.positions.shape)
    )
    return plain_samples(x, y), near


def features(network, x):
    return np.column_stack([np.tanh(x @ network.positions.T + network.biases), x, np.ones(len(x))])


def residuals(table, y, ridge):
    extended = np.vstack([table, np.diag(ridge)])
    target = np.append(y[:, 0], np.zeros(len(ridge)))
    found = np.linalg.lstsq(extended, target, rcond=None)[0]
    return np.sum((extended @ found - target) ** 2), found


def ridge_of(network, count):
    return np.append(np.full(network.units, np.sqrt(RIDGE * count)), np.zeros(DIM + 1))


def test_refit_and_contributions(noisy):
    samples, network = noisy
    table, ridge = features(network, samples.x), ridge_of(network, COUNT)
    least, found = residuals(table, samples.y, ridge)
    made = refit(network, samples, Freedom(), seed=0)
    mine = np.concatenate([made.weights[:, 0], made.linear[:, 0], made.intercept])
    np.testing.assert_allclose(mine, found, rtol=1e-9, atol=1e-11)
    parts = Features(made, samples, Freedom(), seed=0).contributions()
    for unit in range(2):
        without = [i for i in range(table.shape[1]) if i != unit]
        more, _ = residuals(table[:, without], samples.y, ridge[without])
        assert parts[unit] == pytest.approx(more - least, rel=1e-8)


def test_search_gains_what_it_says(noisy):
    samples, network = noisy
    network = refit(network.keep(np.array([0])), samples, Freedom(), seed=0)
    best = search(network, samples, Freedom(), "squares", seed=1)
    plain = features(network, samples.x)
    before = residuals(plain, samples.y, np.zeros(plain.shape[1]))[0]

    def gain(unit):
        # The ridge of the new unit only, as in the search.
        table = np.column_stack([plain, np.tanh(samples.x @ unit[:-1] + unit[-1])])
        ridge = np.append(np.zeros(plain.shape[1]), np.sqrt(RIDGE * COUNT))
        return 1 - residuals(table, samples.y, ridge)[0] / before

    assert best.gain == pytest.approx(gain(best.unit), rel=1e-6)
    # It is a maximum, and better than anything that 300 random units offer.
    rng = np.random.default_rng(2)
    nearby = best.unit + 1e-3 * rng.standard_normal((20, DIM + 1))
    anywhere = 2 * rng.standard_normal((300, DIM + 1))
    assert max(gain(unit) for unit in nearby) <= best.gain * (1 + 1e-6)
    assert max(gain(unit) for unit in anywhere) < best.gain


@pytest.mark.parametrize(
    ("dim", "gain", "rows"),
    [(10, 0.9, [512]), (10, 0.1, [512, 8 * 11**2]), (2, 0.1, [512]), (60, 0.1, [32 * 61])],
)
def test_search_looks_at_more_samples_where_few_leave_it_in_doubt(monkeypatch, dim, gain, rows):
    seen = []

    def searched(network, few, *_):
        seen.append(few.count)
        return searching.Candidate(np.zeros(dim + 1), np.zeros(1), gain)

    monkeypatch.setattr(searching, "_searched", searched)
    samples = plain_samples(np.zeros((5000, dim)), np.zeros((5000, 1)))
    network = empty_network(ew.activation("tanh"), dim, 1)
    assert search(network, samples, Freedom(), "squares", seed=0).gain == gain
    assert seen == rows


def test_polish_agrees_with_scipy(noisy):
    samples, network = noisy
    objective = FitObjective(samples, alpha=1e-3)
    found = marquardt(objective, network, 200, 1e-14)
    layout = layout_of(network)
    free = objective.freedom.mask(layout, network.units) > 0
    begin = layout.pack(network)

    def residuals(part):
        vector = begin.copy()
        vector[free] = part
        there = layout.unpack(vector, network)
        gap = (answers("tanh", there, samples.x) - samples.y)[:, 0] / np.sqrt(COUNT)
        kept = [there.positions, there.weights, there.linear]
        return np.concatenate([gap, *(np.sqrt(1e-3) * np.ravel(part) for part in kept)])

    theirs = least_squares(residuals, begin[free], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert found.value == pytest.approx(2 * theirs.cost, rel=1e-10)
    assert found.settled

    by_gradient = lbfgs(objective, network, 2000)
    assert by_gradient.value == pytest.approx(found.value, rel=1e-6)
    by_batches = minibatch(objective, network, passes=3, seed=0)
    start = objective.slope(begin, layout, network)[0]
    assert found.value < by_batches.value < start


@pytest.mark.parametrize("name", ["relu", "softplus", "gelu", "logistic", "tanh"])
def test_turned_units_are_the_same_function(name):
    network = random_network(name, 5, DIM, 2, seed=4, linear=True)
    x = np.random.default_rng(1).standard_normal((50, DIM))
    sides = np.array([True, False, True, True, False])
    np.testing.assert_allclose(turned(network, sides)(x), network(x), atol=1e-13)
    assert np.all(turned(network, sides).positions[0] == -network.positions[0])


@pytest.mark.parametrize("units", [6, 20])
def test_sides_that_need_no_linear_part(units):
    """A network without linear part, some units turned, is turned back; by search if many."""
    network = random_network("relu", units, 12, seed=units)
    sides = np.random.default_rng(2).random(units) < 0.5
    other = turned(network, sides)
    np.testing.assert_array_equal(best_sides(other, seed=0), sides)
    found = without_linear_part(other, seed=0)
    x = np.random.default_rng(1).standard_normal((50, 12))
    np.testing.assert_allclose(found(x), answers("relu", network, x), atol=1e-12)


def test_a_network_is_called_block_by_block(monkeypatch):
    from earnshaw.charges import plain_network as module

    network = random_network("softplus", 4, DIM, 2, linear=True)
    x = np.random.default_rng(3).standard_normal((37, DIM))
    by_hand = (
        FORMULAS["softplus"](x @ network.positions.T + network.biases) @ network.weights
        + x @ network.linear
        + network.intercept
    )
    np.testing.assert_allclose(network(x), by_hand, rtol=1e-13)
    monkeypatch.setattr(module, "BLOCK", 40)
    np.testing.assert_allclose(network(x), by_hand, rtol=1e-13)
    assert network(x[:0]).shape == (0, 2)


@pytest.mark.slow
def test_jumps_have_something_to_follow():
    """Sign units have no slope at samples, yet their units are found, roughly."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((COUNT, DIM))
    direction = np.array([1.0, -2.0, 0.5])
    y = np.sign(x @ direction + 0.3)[:, None]
    nothing = refit(empty_network(ew.activation("sign"), DIM, 1), plain_samples(x, y), Freedom(), 0)
    best = search(nothing, plain_samples(x, y), Freedom(), "squares", seed=0)
    found = best.unit[:-1] / np.linalg.norm(best.unit[:-1])
    assert abs(found @ direction) / np.linalg.norm(direction) > 0.98
