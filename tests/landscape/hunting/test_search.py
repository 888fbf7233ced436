"""Rounds of a hunt: every start ends, whatever Newton's method makes of it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from earnshaw.charges.network import Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.hunting import _search as rounds
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._walkers import unevaluated

W = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]


@pytest.fixture
def sign_batches():
    """One sign unit for one: a loss with a cusp."""
    loss = population_loss(Teacher(W[:1], [1.0], "sign", on="sphere"), wrt="positions")
    with ThreadPoolExecutor(1) as pool:
        yield Batches(loss, (1, 3), 1e-10, pool)


@pytest.mark.slow
def test_a_start_without_a_gradient_ends_though_newton_refuses_it(sign_batches, monkeypatch):
    """On its proton a unit feels no force, and makes no iterations that would end it."""

    def refuse(batches, walkers, near):
        return walkers, np.zeros(len(walkers.value), dtype=bool)

    monkeypatch.setattr(rounds, "newton_to_bottom", refuse)
    search = rounds.begin(unevaluated(W[:2, None], np.ones((2, 1))))
    rounds.run_search(sign_batches, search, 250)
    assert search.status.tolist() == [rounds.Status.ARRIVED, rounds.Status.LIMIT]
    assert search.walkers.iterations.tolist() == [1, 250]
    np.testing.assert_array_equal(search.walkers.positions[0, 0], W[0])


@pytest.mark.slow
def test_a_limit_that_is_reached_stays_reached_until_more_is_allowed(sign_batches):
    search = rounds.begin(unevaluated(W[1:2, None], np.ones((1, 1))))
    for limit, made in ((1, 1), (2, 2), (2, 2)):
        rounds.run_search(sign_batches, search, limit)
        assert search.walkers.iterations.tolist() == [made]
        assert search.status.tolist() == [rounds.Status.LIMIT]
