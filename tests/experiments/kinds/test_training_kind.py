"""The kind "train": pieces that any process can do, and the same results as `ew.train`."""

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.registry import kind_named
from earnshaw.experiments.training import engine

KIND = kind_named("train")
ASKED = {"width": 6, "iterations": 30, "step": 0.01, "test_samples": 50, "records": 5}
AGES = 1e6  # seconds


@pytest.fixture(autouse=True)
def _small_pools(monkeypatch):
    monkeypatch.setattr(engine, "POOL", 8)


def _pieces(settings, block, seconds):
    """All pieces of a block, each from the bytes of the one before."""
    pieces, state = [], None
    while not pieces or state is not None:
        pieces.append(KIND.advance(settings, block, state, seconds))
        state = pieces[-1].state
    return pieces


def test_pieces_make_the_same_whole():
    settings = KIND.check(ASKED)
    (whole,) = _pieces(settings, 1, AGES)
    pieces = _pieces(settings, 1, 0.0)  # of one call each
    assert len(pieces) > 5
    fractions = [piece.fraction for piece in pieces]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert all(isinstance(piece.state, bytes) and not piece.results for piece in pieces[:-1])
    again = KIND.advance(settings, 1, pieces[1].state, 0.0)  # a worker was lost
    assert (again.state, again.fraction) == (pieces[2].state, pieces[2].fraction)
    for one, other in zip(whole.results, pieces[-1].results, strict=True):
        assert (one.seed, one.numbers) == (other.seed, other.numbers)
        assert one.arrays.keys() == other.arrays.keys()
        for name in one.arrays:
            np.testing.assert_array_equal(one.arrays[name], other.arrays[name])


def test_results_are_those_of_train():
    assert KIND.together == engine.LANES
    (piece,) = _pieces(KIND.check(ASKED), 1, AGES)
    runs = ew.train(seeds=range(5, 10), **ASKED)
    for result, run in zip(piece.results, runs, strict=True):
        assert result.seed == run.seed
        assert result.numbers["error"] == run.error
        assert result.numbers["first_error"] == run.errors[0]
        assert result.numbers["scale"] == run.scale
        assert result.numbers["diverged"] is False
        np.testing.assert_array_equal(result.arrays["iterations"], run.iterations)
        np.testing.assert_array_equal(result.arrays["errors"], run.errors)


@pytest.mark.slow
def test_divergence_is_a_result():
    steep = KIND.check(ASKED | {"step": 1e9, "output": "linear", "activation": "softplus"})
    (piece,) = _pieces(steep, 0, AGES)
    assert [result.numbers["diverged"] for result in piece.results] == [True] * 5


def test_settings_are_checked_and_filled_in():
    settings = KIND.check({"depth": 3})
    assert (settings["depth"], settings["width"], settings["batch"]) == (3, 10, 1)
    assert KIND.check(settings) == settings
    with pytest.raises(EarnshawError, match="no setting 'deep'; allowed: depth"):
        KIND.check({"deep": 3})


def test_more_to_do_is_more_work():
    def work(**asked):
        return KIND.work(KIND.check(asked))

    for more in ({"iterations": 10**7}, {"depth": 9}, {"width": 40}, {"batch": 30}, {"dim": 50}):
        assert work(**more) > work()
