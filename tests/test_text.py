"""Counts with their nouns, in what commands and pictures say."""

import io
import math
import sys

import pytest

from earnshaw.cli.terminal import progress_bar
from earnshaw.text import plural


@pytest.mark.parametrize(("count", "words"), [(0, "0 units"), (1, "1 unit"), (2, "2 units")])
def test_one_unit_is_not_units(count, words):
    assert plural(count, "unit") == words


def test_a_bar_without_an_end(monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar("learning") as report:
        report((2, math.inf, "unit 3 of ?: searching"))
        report((2, 3, "unit 3 of at most 3"))
    assert "learning: unit 3 of" in screen.getvalue()
