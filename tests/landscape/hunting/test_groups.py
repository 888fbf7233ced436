"""Ends that symmetries turn into each other are one group, and others are not."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from earnshaw.charges.network import Teacher
from earnshaw.energy.population import population_loss
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._groups import SAME, _alike, _invariants
from earnshaw.landscape.hunting._newton import newton_to_bottom
from earnshaw.landscape.hunting._walkers import unevaluated

RNG = np.random.default_rng(1)
W = np.linalg.qr(RNG.normal(size=(3, 3)))[0]


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(1) as made:
        yield made


@pytest.mark.slow
def test_permutations_scales_and_maps_of_the_teacher_change_no_invariant(pool):
    loss = population_loss(Teacher(W, np.ones(3), "relu"))
    batches = Batches(loss, (2, 3), 1e-10, pool)
    x, c = RNG.normal(size=(2, 3)), RNG.normal(size=2)
    cycle = W.T @ W[[1, 2, 0]]  # the orthogonal map w_j -> w_(j+1)
    scales = np.array([2.0, 0.3])
    students = [
        (x, c),
        (x[::-1], c[::-1]),
        (x * scales[:, None], c / scales),
        (x @ cycle, c),
        (-x, c),  # no symmetry of relu
        (x, -c),
        (x @ np.linalg.qr(RNG.normal(size=(3, 3)))[0], c),  # moves the teacher
    ]
    ends = unevaluated(*(np.stack(part) for part in zip(*students, strict=True)))
    invariants = _invariants(batches, ends)
    groups = _alike(invariants, np.arange(len(students)))
    assert [group.tolist() for group in groups] == [[0, 1, 2, 3], [4], [5], [6]]
    assert np.max(np.abs(invariants[:4] - invariants[0])) < 1e-3 * SAME


@pytest.mark.slow
def test_newton_does_not_end_in_a_saddle(pool):
    """Between two units of an even polynomial there is a saddle: 1e-6 away, descent must go on."""
    teacher = Teacher(W, np.ones(3), "hermite-4", on="sphere")
    batches = Batches(population_loss(teacher, wrt="positions"), (1, 3), 1e-10, pool)
    middle = (W[0] + W[1]) / np.sqrt(2)
    across = (W[0] - W[1]) / np.sqrt(2)
    x = np.stack([middle + 1e-6 * across, W[0] + 1e-4 * W[1]])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    near = batches.evaluate(x[:, None], np.ones((2, 1)))
    ends, arrived = newton_to_bottom(batches, near, near=1.0)
    assert arrived.tolist() == [False, True]
    np.testing.assert_allclose(ends.positions[0, 0], x[0], atol=1e-14)
    np.testing.assert_allclose(ends.positions[1, 0], W[0], atol=1e-10)
