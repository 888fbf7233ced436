"""The page of JSON keys says what commands print."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import earnshaw as ew

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
OPTIONAL = {"saved", "points", "plot", "drawn"}  # where the option that asks for it was given
LINES = {
    "potential": "potential relu --dim 3 --at 0.5",
    "realize": "realize --potential 'exp(rho-1)' --dim 3",
    "learn": "learn --activation erf --dim 2 --units 2 --method gd --iterations 5 --save a.npz",
    "simulate": "simulate --activation gaussian --dim 2 --units 2 --time 1",
    "certify": "certify a.npz",
    "landscape": "landscape --activation gaussian --dim 1 --units 2 --student-units 1 --starts 4",
    "compare": "compare one.json two.json",
    "sweep": "sweep sweep.toml --store results.sqlite",
    "runs list": "runs list --store results.sqlite",
}


def keys() -> dict[str, set[str]]:
    """What the page's table says, by command."""
    rows = re.findall(r"^\| `([a-z ]+)` \| (.*) \|$", PAGE.read_text(), re.M)
    return {
        name: {one.removesuffix("[]") for one in re.findall(r"`(.*?)`", row)} for name, row in rows
    }


@pytest.mark.slow
def test_commands_print_these_keys(tmp_path, monkeypatch, capfd):
    """In one process and one folder: later commands read what earlier ones wrote."""
    from earnshaw.cli.main import app

    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text(
        'kind = "train"\nseeds = 1\n[grid]\nwidth = [5]\n[fixed]\niterations = 1000\n'
    )
    for file, turn in (("one.json", 1.0), ("two.json", -1.0)):
        ew.save(file, ew.Teacher([[turn, 0.0], [0.0, 1.0]], [turn, 1.0], "erf"))
    said = keys()
    for name, line in LINES.items():
        capfd.readouterr()
        app([*shlex.split(line), "--json"], standalone_mode=False)
        printed = set(json.loads(capfd.readouterr().out))
        assert printed - OPTIONAL == said[name] - OPTIONAL, name


def test_every_command_with_results_has_its_row():
    assert set(keys()) >= {*LINES, "barrier", "reproduce", "fit", "predict"}
