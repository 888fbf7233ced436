"""Random starts: each a function of the seed and its own number alone."""

import numpy as np
import pytest

from earnshaw.charges.manifolds import Space, Sphere
from earnshaw.landscape.hunting._starts import draw_starts


def test_a_start_does_not_depend_on_how_many_there_are():
    all_of_them = draw_starts(Space(), (3, 4), 7, range(20))
    for some in (range(5), range(5, 13), range(13, 20)):
        part = draw_starts(Space(), (3, 4), 7, some)
        for whole, piece in zip(all_of_them, part, strict=True):
            np.testing.assert_array_equal(whole[some.start : some.stop], piece)


def test_two_seeds_share_no_start():
    first, second = (draw_starts(Space(), (2, 2), seed, range(50))[0] for seed in (0, 1))
    assert len(np.unique(np.concatenate([first, second]).reshape(100, -1), axis=0)) == 100


@pytest.mark.parametrize(("scale", "variance"), [(None, 1 / 5), (0.7, 0.49)])
def test_positions_and_weights_have_the_stated_laws(scale, variance):
    x, c = draw_starts(Space(), (4, 5), 0, range(4000), scale=scale)
    flat = x.reshape(-1, 5)
    covariance = np.cov(flat.T)
    error = 5 * np.sqrt(2 / len(flat)) * variance  # five standard errors
    np.testing.assert_allclose(covariance, variance * np.eye(5), atol=error)
    assert np.var(c) == pytest.approx(1 / 4, rel=5 * np.sqrt(2 / c.size))
    assert abs(np.mean(c)) < 5 / 2 / np.sqrt(c.size)


def test_starts_on_the_sphere_are_uniform():
    x, _ = draw_starts(Sphere(), (1, 3), 0, range(4000))
    np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1.0, atol=1e-14)
    # Archimedes: each coordinate of a uniform point of S^2 is uniform on [-1, 1].
    for coordinate in x[:, 0].T:
        parts, _ = np.histogram(coordinate, 10, (-1, 1))
        assert np.all(np.abs(parts - 400) < 5 * np.sqrt(400))


def test_given_weights_stay():
    _, c = draw_starts(Space(), (2, 3), 0, range(3), weights=np.array([1.0, -2.0]))
    np.testing.assert_array_equal(c, [[1.0, -2.0]] * 3)
