"""What can be asked of a training run, and what is said to the rest."""

import dataclasses
import itertools

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.training.settings import Training, seeds_of, training

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"widht": 3}, ["'widht'", "allowed", "width", "test_samples"]),
        *(
            ({name: value}, [name, repr(value), "an integer from 1 to 2147483647"])
            for name in ("depth", "width", "dim", "iterations", "test_samples", "records")
            for value in (0, -3, 2.0, True, NAN, "2", None)
        ),
        *(
            ({name: value}, [name, repr(value), "an integer from 1 to 2147483647"])
            for name in ("student_depth", "student_width", "batch")
            for value in (0, -3, 2.5, False)
        ),
        *(
            ({name: value}, [name, repr(value), "a number in (0, inf)"])
            for name in ("gain", "weight_scale", "step")
            for value in (0, -1.0, NAN, INFINITE, None, "small", [1.0])
        ),
        ({"bias": 1}, ["bias", "true or false"]),
        ({"data": "old"}, ["data", "'old'", "fresh or fixed"]),
        ({"loss": "max"}, ["loss", "'max'", "mean or sum"]),
        ({"loss": ["mean"]}, ["loss", "mean or sum"]),
        ({"precision": "float16"}, ["precision", "float64 or float32"]),
        ({"precision": np.dtype("float64")}, ["precision", "float64 or float32"]),
        ({"samples": 100}, ["samples", "data = 'fixed'"]),
        ({"data": "fixed", "batch": 4}, ["fixed set", "no batch"]),
        ({"data": "fixed", "samples": 0}, ["samples", "an integer from 1 to 2147483647"]),
        ({"activation": "tahn"}, ["'tahn'", "tanh"]),
        ({"output": "nothing-like-it"}, ["'nothing-like-it'", "known", "softplus"]),
        *(
            ({where: name}, [where, repr(name), "functions of x.w", "tanh"])
            for where in ("activation", "output")
            for name in ("gaussian", "almost-harmonic", "polynomial", "hermite")
        ),
        ({"activation": 3}, ["activation", "the name of an activation"]),
        ({"output": None}, ["output", "the name of an activation"]),
    ],
    ids=str,
)
def test_bad_settings_are_answered_in_one_line(asked, words):
    with pytest.raises(EarnshawError) as caught:
        training(asked)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize("seeds", [0, -1, True, 2.0, "3", None, [], [-1], [1.5], [True], [2**31]])
def test_bad_seeds(seeds):
    with pytest.raises(EarnshawError, match=r"seed.*allowed: an integer") as caught:
        ew.train(seeds=seeds)
    assert "\n" not in str(caught.value)


def test_seeds_are_counted_or_named():
    assert seeds_of(3) == (0, 1, 2)
    assert seeds_of(seed for seed in (7, 2, 7)) == (7, 2)
    assert seeds_of(np.array([4, 1])) == (4, 1)
    assert {type(seed) for seed in seeds_of(np.array([4, 1]))} == {int}


def test_the_same_numbers_are_the_same_settings():
    given = {"depth": np.int64(3), "step": 1, "gain": np.float32(0.5), "batch": np.int32(2)}
    asked = training(given)
    assert asked == training({"depth": 3, "step": 1.0, "gain": 0.5, "batch": 2})
    plain = {int, float, str, bool, type(None)}
    assert {type(value) for value in dataclasses.asdict(asked).values()} <= plain


def test_defaults_depend_on_the_data():
    assert (Training().batch, Training().samples, Training().samples_a_step) == (1, None, 1)
    fixed = Training(data="fixed", samples=30)
    assert (fixed.batch, fixed.samples, fixed.samples_a_step) == (None, 30, 30)
    again = Training(**dataclasses.asdict(fixed))  # as a store gives them back
    assert again == fixed


@pytest.mark.parametrize("iterations", [1, 2, 10, 1000, 1_000_000, 2**31 - 1])
@pytest.mark.parametrize("records", [1, 2, 60])
def test_marks_are_spread_evenly_in_their_logarithm(iterations, records):
    marks = Training(iterations=iterations, records=records).marks()
    assert marks[0] == 0
    assert marks[-1] == iterations
    assert all(type(mark) is int for mark in marks)
    gaps = np.diff(marks)
    assert np.all(gaps > 0)
    assert len(marks) <= records + 2
    ratio = iterations ** (1 / records)
    # From one to the next: not more than the ratio, but for rounding and for the first.
    assert all(b <= ratio * (a + 0.5) + 1 for a, b in itertools.pairwise(marks[1:]))
    assert marks[1] <= round(ratio)
    if iterations > 1000:
        assert len(marks) >= records / 2


def test_sizes():
    asked = Training(depth=4, width=3, dim=2, student_width=8)
    assert asked.sizes() == (2, 3, 3, 3, 1)
    assert asked.sizes(student=True) == (2, 8, 8, 8, 1)
    assert Training(depth=1, dim=2).sizes() == (2, 1)
