"""The examples in docstrings run; those of what users call first are numpydoc, with an example.

One process for all: they share what is compiled.
"""

from __future__ import annotations

import doctest
import inspect

import pytest

import earnshaw as ew

FIRST = [  # what users call first
    "activation",
    "activations",
    "barrier",
    "certify",
    "check_proof",
    "compare",
    "export",
    "extend",
    "from_arrays",
    "hunt",
    "learn",
    "load_run",
    "loss_slice",
    "match",
    "potential",
    "potentials",
    "prove",
    "random_student",
    "random_teacher",
    "realize",
    "reproduce",
    "save",
    "simulate",
    "spectrum",
    "sweep",
    "verify",
]


def functions():
    return {n: getattr(ew, n) for n in ew.__all__ if inspect.isfunction(getattr(ew, n))}


@pytest.mark.parametrize("name", FIRST)
def test_sections(name):
    """`ew.learn?` shows Parameters, Returns and Examples, and no parameter is left out."""
    function = functions()[name]
    words = inspect.getdoc(function)
    assert "Examples\n--------\n>>> " in words
    assert "Args:" not in words
    listed = words.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    if listed:
        named = {
            one.strip("* ")
            for line in listed.splitlines()
            if not line.startswith(" ")
            for one in line.split(",")
        }
        assert named == set(inspect.signature(function).parameters)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIRST))
def test_examples_run(name):
    function = inspect.unwrap(functions()[name])
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(function, name, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 0
