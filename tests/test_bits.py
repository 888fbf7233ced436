"""The same bits for any number of threads: results in processes with one, two and eight."""

import pytest

from bits import WORK, digests
from earnshaw.cli.output import QUICK_TO_COMPILE

QUICK = ("energy", "refit", "regressor")
FLAGS = {"library": "", "commands": QUICK_TO_COMPILE}  # what users run, in place of the tests' own


def same(names, others=(2,), **environment):
    """Compare one thread with others, and see that there were so many."""
    alone = digests(1, names, **environment)
    assert alone.pop("threads") == 1
    for threads in others:
        many = digests(threads, names, **environment)
        assert many.pop("threads") == threads
        assert many == alone


def test_energies_and_fits_have_the_same_bits_with_one_and_two_threads():
    same(QUICK)


@pytest.mark.slow
def test_everything_has_the_same_bits_with_one_and_two_threads():
    same(WORK)


@pytest.mark.slow
def test_the_same_bits_with_more_threads_than_cores():
    same(QUICK, (3, 8))


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_the_same_bits_as_users_compile_them(flags):
    same(QUICK, XLA_FLAGS=flags)
