"""What a hunt refuses, in one line; and what its numbers mean."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import binomtest

from earnshaw.charges.network import Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.hunting.critical_points import interval
from earnshaw.landscape.hunting.hunt import hunt
from earnshaw.landscape.hunting.settings import Settings
from earnshaw.settings import settings_of

TEACHER = Teacher(np.eye(2), [1.0, 2.0], "relu")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"starts": 0}, "starts is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"units": 0}, "student units is 0"),
        ({"iterations": 0}, "iterations is 0"),
        ({"tolerance": 0.0}, "tolerance is 0"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"init_scale": -1.0}, "init scale is -1"),
        ({"objective": "ful"}, "objective is 'ful'"),
        ({"fixed_charges": 1}, "fixed_charges is 1"),
        ({"fixed_charges": True, "units": 3}, "3 student units cannot share those of 2"),
        ({"objective": "assumption-1"}, "every weight of the teacher to be 1"),
        ({"resume": "nowhere.npz"}, "no such file"),
        ({"save": "hunt.txt"}, "allowed endings: .npz"),
    ],
)
def test_bad_input_is_one_line(asked, words):
    with pytest.raises(EarnshawError) as error:
        hunt(TEACHER, **asked)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_hunt_needs_a_teacher():
    with pytest.raises(EarnshawError, match="needs a Teacher"):
        hunt()


def test_no_scale_on_the_sphere():
    teacher = Teacher(np.eye(2), [1.0, 1.0], "relu", on="sphere")
    with pytest.raises(EarnshawError, match="uniform"):
        hunt(teacher, init_scale=2.0)


def test_fixed_charges_are_the_teachers():
    np.testing.assert_array_equal(Settings(fixed_charges=True).weights(TEACHER), [1.0, 2.0])
    equal = Teacher(np.eye(2), [3.0, 3.0], "relu")
    np.testing.assert_array_equal(Settings(fixed_charges=True, units=4).weights(equal), [3.0] * 4)
    assert Settings().weights(TEACHER) is None


def test_settings_survive_a_file():
    settings = Settings(units=3, seed=5, init_scale=0.25, tolerance=1e-9)
    assert settings_of(Settings, dataclasses.asdict(settings), "a hunt") == settings
    with pytest.raises(EarnshawError):
        settings_of(Settings, {"units": 3}, "a hunt")


def test_a_stored_hunt_only_grows():
    stored = Settings(starts=10, iterations=100)
    assert stored.agreeing({"starts": 20}).starts == 20
    with pytest.raises(EarnshawError, match="as many, or more"):
        stored.agreeing({"starts": 5})
    with pytest.raises(EarnshawError, match="seed 0, not 1"):
        stored.agreeing({"seed": 1})


@pytest.mark.parametrize(("count", "total"), [(0, 600), (1, 600), (69, 600), (599, 600), (3, 3)])
def test_intervals_are_those_of_clopper_and_pearson(count, total):
    wanted = binomtest(count, total).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(interval(count, total), (wanted.low, wanted.high), atol=1e-12)
