"""The page of JSON keys says what commands print."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import earnshaw as ew

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
OPTIONAL = {"saved", "points", "plot", "drawn", "proof"}  # where an option asks for it
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
    "runs show": "runs show 1 --store results.sqlite",
    "runs export": "runs export 1 --to run.csv --store results.sqlite",
    "certify --check": "certify --check proof.json",
    "fit": "fit table.csv --target y --save model.npz --folds 2 --networks 1",
    "predict": "predict model.npz table.csv",
    "barrier": "barrier s.json t.json --teacher one.json --iterations 3",
    "reproduce": "reproduce table2 --cells 2x2 --seeds 1 --iterations 1000",
    "activations": "activations",
    "potentials": "potentials",
    "methods": "methods",
    "demo": "demo",
    "lab": "lab --write lab.html",
    "verify": "verify dual --instances 1",
    "verify --list": "verify --list",
}


def keys() -> dict[str, set[str]]:
    """What the page's table says, by command."""
    rows = re.findall(r"^\| `([a-z -]+)` \| (.*) \|$", PAGE.read_text(), re.M)
    return {
        name: {one.removesuffix("[]") for one in re.findall(r"`(.*?)`", row)} for name, row in rows
    }


def inside(kind: str) -> str:
    """What the page says of the objects in a list."""
    return PAGE.read_text().split(f"`{kind}[]`:", 1)[-1].split("\n- ")[0]


@pytest.mark.slow
def test_commands_print_these_keys(tmp_path, monkeypatch, capfd):
    """In one process and one folder: later commands read what earlier ones wrote."""
    from earnshaw.cli.main import app

    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text(
        'kind = "train"\nseeds = 1\n[grid]\nwidth = [5]\n[fixed]\niterations = 1000\n'
    )
    rows = "\n".join(f"{x / 20},{(x / 20) ** 2}" for x in range(-20, 21))
    Path("table.csv").write_text(f"x,y\n{rows}\n")
    for file, turn in (("one.json", 1.0), ("two.json", -1.0)):
        ew.save(file, ew.Teacher([[turn, 0.0], [0.0, 1.0]], [turn, 1.0], "erf"))
    bad = ew.Student([[0.5**1.5, 0.5**1.5]], [2.0])  # one unit for two at right angles
    corner = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    ew.save_proof("proof.json", ew.prove(corner, bad))
    ew.save("s.json", corner.student())
    ew.save("t.json", ew.Student([[0.6, 0.8], [0.0, 1.0]], [1.0, 1.0]))
    said = keys()
    for name, line in LINES.items():
        capfd.readouterr()
        app([*shlex.split(line), "--json"], standalone_mode=False)
        found = json.loads(capfd.readouterr().out)
        assert set(found) - OPTIONAL == said[name] - OPTIONAL, name
        for kind in ("activations", "potentials", "methods", "claims", "runs"):
            rows = found.get(kind, [{}])
            assert all(f"`{key}`" in inside(kind) for key in rows[0]), (name, kind)


def test_every_command_with_results_has_its_row():
    from typer.main import get_command

    from earnshaw.cli.main import app

    commands = get_command(app).commands
    runs = [f"runs {name}" for name in commands.pop("runs").commands]
    assert set(keys()) == {*LINES}
    assert set(keys()) >= {*commands, *runs}
