"""Run a command in this process, as the shell would see it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from earnshaw.cli.main import main


class Outcome(NamedTuple):
    """What the shell sees of a command."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def invoke(monkeypatch, capsys, tmp_path) -> Callable[..., Outcome]:
    """``invoke("potential", "relu")`` -> exit code, standard output, standard error."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["earnshaw", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Outcome(ended.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def refuse(invoke) -> Callable[..., str]:
    """The one line of a refusal: exit code 2, nothing on standard output, no traceback."""

    def run(*arguments: str) -> str:
        outcome = invoke(*arguments)
        assert outcome.code == 2, outcome
        assert outcome.stdout == ""
        (line,) = outcome.stderr.strip().splitlines()
        return line

    return run
