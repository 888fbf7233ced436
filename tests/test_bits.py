"""The same bits for any number of threads: results in processes with one, two and eight."""

import pytest

from bits import WORK, digests
from earnshaw.cli.main import QUICK_TO_COMPILE

QUICK = ("energy", "refit", "regressor")
FLAGS = {"library": "", "commands": QUICK_TO_COMPILE}  # what users run, in place of the tests' own


def same(names, numbers=(1, 2), **environment):
    """Compare processes with these numbers of threads, and see that they had so many."""
    first, *others = found = digests(numbers, names, **environment)
    assert [one.pop("threads") for one in found] == list(numbers)
    assert all(other == first for other in others)


@pytest.mark.slow
def test_everything_has_the_same_bits_with_one_and_two_threads():
    same(WORK)


@pytest.mark.slow
def test_the_same_bits_with_more_threads_than_cores():
    same(QUICK, (1, 8))


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_the_same_bits_as_users_compile_them(flags):
    same(QUICK[:2], XLA_FLAGS=flags)
