"""Subset sums beside all subsets, one by one."""

from itertools import product

import numpy as np
import pytest

from earnshaw.numerics.subset_sum import MOST, TooMany, subset_with_sum


@pytest.mark.parametrize(("count", "dim"), [(0, 2), (1, 1), (5, 1), (9, 2), (10, 3), (4, 7)])
def test_a_subset_is_found_exactly_if_there_is_one(count, dim):
    rng = np.random.default_rng(count)
    vectors = rng.normal(size=(count, dim))
    masks = np.array(list(product([False, True], repeat=count))).reshape(2**count, count)
    target = masks[rng.integers(len(masks))] @ vectors
    found = subset_with_sum(vectors, target + 1e-12, 1e-9)
    np.testing.assert_allclose(found @ vectors, target, atol=1e-11)
    # Away from all sums, by brute force, there is none.
    nowhere = target + 0.01
    nearest = np.min(np.linalg.norm(masks @ vectors - nowhere, axis=1))
    assert subset_with_sum(vectors, nowhere, 0.9 * nearest) is None
    best = subset_with_sum(vectors, nowhere, 1.1 * nearest)
    assert best is None or np.linalg.norm(best @ vectors - nowhere) <= 1.1 * nearest
    if count > dim:
        assert np.linalg.norm(best @ vectors - nowhere) == pytest.approx(nearest)


def test_many_vectors_in_the_plane():
    rng = np.random.default_rng(3)
    vectors, chosen = rng.normal(size=(24, 2)), rng.random(24) < 0.5
    np.testing.assert_array_equal(subset_with_sum(vectors, chosen @ vectors, 1e-10), chosen)


@pytest.mark.slow
def test_equal_vectors_have_many_subsets_and_one_is_enough():
    found = subset_with_sum(np.ones((30, 1)), np.array([11.0]), 1e-9)
    assert np.sum(found) == 11


def test_too_many_are_refused_unless_they_are_independent():
    vectors = np.random.default_rng(4).normal(size=(MOST + 8, MOST + 8))
    chosen = np.arange(MOST + 8) % 3 == 0
    np.testing.assert_array_equal(subset_with_sum(vectors, chosen @ vectors, 1e-8), chosen)
    with pytest.raises(TooMany):
        subset_with_sum(vectors[:, :3], vectors[0, :3], 1e-8)
