"""The examples in docstrings run; every public name has one, in numpydoc's sections.

One process for all: they share what is compiled.
"""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import pytest

import earnshaw as ew

NEEDS = {"from_sklearn": "sklearn", "from_torch": "torch", "lab": "anywidget"}


def named(name: str) -> Any:
    """What a public name documents: the lab is a room that can be called."""
    if name == "lab":
        from earnshaw.lab import widget

        return widget.lab
    return getattr(ew, name)


NAMES = sorted(ew.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_sections(name):
    """`ew.learn?` shows Parameters, Returns and Examples, and no parameter is left out."""
    words = inspect.getdoc(named(name))
    assert "Examples\n--------\n" in words
    assert "Args:" not in words
    assert "Attributes:" not in words
    if not inspect.isfunction(named(name)):
        return
    listed = words.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    said = {
        one.strip("* ")
        for line in listed.splitlines()
        if not line.startswith(" ")
        for one in line.split(",")
    }
    assert said == set(inspect.signature(named(name)).parameters)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.torch) if one == "from_torch" else one for one in NAMES],
)
def test_examples_run(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(inspect.unwrap(named(name)), name, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 0
