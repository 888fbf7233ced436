"""Results as replays: the numbers are the result's own."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.lab.replay import FRAMES, replay_of, start_of


def test_start():
    teacher = ew.Teacher([[0.0, 1.0]], [2.0], "almost-harmonic")
    found = start_of(teacher, ew.Student([[1.0, 0.5]], [1.0]))
    assert (found["stage"], found["potential"], found["unit"]) == (
        "plane",
        "almost-harmonic",
        "start",
    )
    assert found["positions"] == [[[1.0, 0.5]]]
    assert found["charges"] == [2.0]


def test_parameters_of_ones_own_are_no_name_of_the_catalogue():
    teacher = ew.Teacher([[0.0, 1.0]], [2.0], "almost-harmonic", radius=0.3)
    assert start_of(teacher, None)["potential"] == ""


def test_units_without_a_table_are_shown_without():
    teacher = ew.Teacher([[0.0, 1.0]], [2.0], "abs(x - 0.3)")  # a corner where no cell ends
    assert start_of(teacher, None)["table"] is None


def test_several_outputs_are_refused():
    teacher = ew.Teacher([[0.0, 1.0]], [[2.0, 1.0]], "relu")
    with pytest.raises(EarnshawError, match="vectors of 2 outputs"):
        start_of(teacher, None)


def test_too_many_units():
    teacher = ew.Teacher(np.random.default_rng(0).normal(size=(65, 2)), np.ones(65), "gaussian")
    with pytest.raises(EarnshawError, match="65 units; the lab moves 64"):
        start_of(teacher, None)


@pytest.mark.slow
def test_run_and_landscape():
    teacher = ew.random_teacher("almost-harmonic", 2, 2, 0)
    run = ew.learn(teacher, seed=0)
    found = replay_of(run)
    assert len(found["times"]) <= FRAMES
    assert np.allclose(found["positions"][-1], run.student.positions)
    assert found["weights"][-1] == np.asarray(run.student.weights).tolist()
    assert found["energy"][-1] == pytest.approx(run.loss, abs=1e-9)
    landscape = ew.hunt(teacher, starts=4, seed=0)
    points = replay_of(landscape)
    assert len(points["times"]) == len(landscape.found)
    assert points["energy"] == [point.summary()["relative_loss"] for point in landscape.found]


def test_other_things_are_refused():
    with pytest.raises(EarnshawError, match="allowed: Path, Run, Landscape"):
        replay_of(3)
