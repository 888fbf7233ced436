"""The gate for numbers: what a computation needs is known, and refused, before it begins."""

import tracemalloc

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.limits import OPERATIONS, allowed_memory, check_memory, check_work

GIB = 2**30


def test_memory_is_eight_bytes_a_number_and_copy(monkeypatch):
    monkeypatch.setenv("EARNSHAW_MEMORY", "1")
    check_memory({"units": 2**20, "dimensions": 2**6}, copies=2)  # 8 * 2^27 bytes, exactly
    with pytest.raises(EarnshawError, match=r"1048577 units x 64 dimensions need 1 GiB"):
        check_memory({"units": 2**20 + 1, "dimensions": 2**6}, copies=2)


@pytest.mark.parametrize(
    ("count", "words"),
    [(2**60, "8 EiB"), (2**37, "1 TiB"), (2**27 * 10, "10 GiB")],
)
def test_what_is_needed_is_said_in_units_that_fit(count, words):
    with pytest.raises(EarnshawError) as error:
        check_memory({"numbers": count})
    assert f"need {words} of memory" in str(error.value)


@pytest.mark.parametrize("text", ["", "much", "nan", "inf", "-1", "0"])
def test_a_limit_that_is_none_is_one_line(monkeypatch, text):
    monkeypatch.setenv("EARNSHAW_MEMORY", text)
    with pytest.raises(EarnshawError, match=r"EARNSHAW_MEMORY is .*; allowed: "):
        allowed_memory()


def test_work_is_refused_above_its_limit():
    check_work("nothing", {"pairs": int(OPERATIONS)})
    with pytest.raises(EarnshawError, match=r"take 2e.13 operations for one value"):
        check_work("one value", {"pairs": int(OPERATIONS), "dimensions": 2})


TEACHER = ew.Teacher(np.eye(2), np.ones(2), activation="gaussian")
TOO_LARGE = {
    "random_teacher": lambda: ew.random_teacher("relu", dim=2**20, units=2**20),
    "random_student": lambda: ew.random_student(TEACHER, 2**31 - 1),
    "empirical_loss": lambda: ew.empirical_loss(TEACHER, samples=2**31 - 1),
    "hunt": lambda: ew.hunt(TEACHER, starts=2**31 - 1),
    "learn, starts": lambda: ew.learn(TEACHER, "gd", starts=2**31 - 1),
    "learn, starts of a node": lambda: ew.learn(TEACHER, starts=2**31 - 1),
    "learn, units": lambda: ew.learn(TEACHER, "gd", units=2**31 - 1),
    "train": lambda: ew.train(width=2**31 - 1),
    "hessian": lambda: ew.population_loss(TEACHER).hessian(
        ew.Student(np.zeros((20_000, 2)), np.zeros(20_000))
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_sizes_that_do_not_fit_are_refused_before_anything_is_allocated(name):
    tracemalloc.start()
    try:
        with pytest.raises(EarnshawError, match=r"need .* of memory; allowed: 4 GiB|operations"):
            TOO_LARGE[name]()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < GIB / 4


def test_a_larger_limit_lets_more_through(monkeypatch):
    sizes = {"samples": 2**30}  # 8 GiB
    monkeypatch.setenv("EARNSHAW_MEMORY", "8")
    check_memory(sizes)
    monkeypatch.delenv("EARNSHAW_MEMORY")
    with pytest.raises(EarnshawError, match="need 8 GiB of memory; allowed: 4 GiB"):
        check_memory(sizes)
