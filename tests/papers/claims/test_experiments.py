"""Depth 2 is learned, deeper networks are not; and that the claim can fail."""

import dataclasses

import numpy as np
import pytest

from earnshaw.experiments.training._deep_network import random_layers
from earnshaw.experiments.training.settings import Training
from earnshaw.experiments.training.train import Trained
from earnshaw.papers.claims.learning import experiments
from earnshaw.papers.claims.verdict import Verdict
from papers.claims.one_statement import finding

pytestmark = pytest.mark.slow


def test_verdict(run):
    result = run("experiments")
    assert result.verdict == Verdict.CORRECTED
    for outcome in result.outcomes:
        assert outcome.failed == (outcome.role == "printed"), outcome.name


@pytest.fixture
def trained_to(monkeypatch):
    """Nothing is trained: ``trained_to(error)`` says what error(depth, width, mark) is found.

    It returns the list of what is asked for from then on.
    """

    def replace(error, learned=False):
        all_asked = []

        def train(*, seeds, **settings):
            asked = Training(**settings)
            all_asked.append(asked)
            marks = np.array(asked.marks())
            errors = np.array([error(asked.depth, asked.width, mark) for mark in marks])
            teacher, start = (
                random_layers(np.random.default_rng(seed), asked, student=False) for seed in (0, 1)
            )
            student = teacher if learned else start
            one = Trained(asked, 0, marks, errors, 1.0, teacher, student)
            return tuple(dataclasses.replace(one, seed=seed) for seed in seeds)

        monkeypatch.setattr(experiments, "train", train)
        return all_asked

    return replace


def as_printed(depth, width, mark):
    """Falls from 1 like 1/(1 + rate mark), slower for more depth and width."""
    rate = 0.1 / (depth - 1) ** 4 / width if mark else 0
    return 1 / (1 + rate * mark)


TRENDS = ("first-errors", "wider-takes-longer", "deeper-is-worse", "wider-is-worse")


@pytest.mark.parametrize("name", [*TRENDS, "depth-2-is-learned", "units-are-elsewhere"])
def test_they_hold_for_curves_as_printed(trained_to, name):
    trained_to(as_printed)
    assert finding("experiments", name).holds is True


@pytest.mark.parametrize("name", TRENDS)
def test_other_trends_are_found_out(trained_to, name):
    trained_to(lambda depth, width, mark: 10 * as_printed(7 - depth, 1 / width, mark))
    assert finding("experiments", name).holds is False


@pytest.mark.parametrize("name", [*TRENDS[1:], "depth-2-is-learned", "printed-step"])
def test_students_that_learn_nothing_are_found_out(trained_to, name):
    trained_to(lambda depth, width, mark: 1.0)
    assert finding("experiments", name).holds is False


def test_an_order_that_turns_round_on_the_way_is_found_out(trained_to):
    """In the last fiftieth only, depth 5 is worse."""
    trained_to(lambda depth, width, mark: depth if mark > 29_400 else 1 / depth)
    assert finding("experiments", "deeper-is-worse").holds is False
    trained_to(lambda depth, width, mark: depth)
    assert finding("experiments", "deeper-is-worse").holds is True


def test_units_that_are_learned_are_found_out(trained_to):
    trained_to(as_printed, learned=True)
    found = finding("experiments", "units-are-elsewhere")
    assert found.holds is False
    assert found.numbers["relative distance of a unit"] == 0


def test_the_printed_number_would_be_seen_at_the_printed_step(trained_to):
    asked = trained_to(lambda depth, width, mark: 0.0015)
    assert finding("experiments", "printed-step").holds is True
    (one,) = asked
    assert (one.step, one.iterations, one.depth, one.width) == (1e-5, 1_000_000, 2, 5)


def test_seeds_fill_whole_blocks():
    instance = {"blocks": [3, 7], "iterations": 1}
    runs = experiments._trained(instance, 2, 5)
    assert [one.seed for one in runs] == [15, 16, 17, 18, 19, 35, 36, 37, 38, 39]


def test_a_student_that_does_not_move_is_found_out(monkeypatch):
    monkeypatch.setattr(experiments, "run", lambda method, loss, loop, limit: (loop, False))
    assert finding("experiments", "by-the-exact-loss").holds is not True
