"""In Python and on the command line: the same numbers under the same names."""

from __future__ import annotations

import json

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.cli.options import describe_teacher

# What only a command knows: times, files, options, and what the landscape says of a rest.
OWN = {"seconds", "settings", "plot", "saved", "equilibrium"}


def printed(invoke, *arguments) -> dict:
    outcome = invoke(*arguments, "--json")
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout)


def same(command: dict, result) -> None:
    """But for what only a command knows; a result that has settings has the same."""
    mine = result.to_dict()
    assert {k: v for k, v in command.items() if k in mine or k not in OWN} == mine


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "almost-harmonic"])
def test_potentials(invoke, name):
    same(printed(invoke, "potential", name, "--dim", "3"), ew.potential(name, dim=3))


@pytest.mark.parametrize(("formula", "on"), [("exp(rho-1)", "sphere"), ("rho**2-rho", "sphere")])
def test_realizations(invoke, formula, on):
    result = ew.realize(formula, on=on, dim=3)
    same(printed(invoke, "realize", "--potential", formula, "--on", on, "--dim", "3"), result)


@pytest.mark.slow
def test_runs_and_what_they_save(invoke, tmp_path):
    """Five steps of gradient descent; the learned network goes on as a teacher and as a student."""
    asked = ("--activation", "gaussian", "--dim", "2", "--units", "2")
    learned = ("learn", *asked, "--method", "gd", "--iterations", "5")
    files = {ending: tmp_path / f"learned{ending}" for ending in (".json", ".csv")}
    found = printed(invoke, *learned, "--save", str(files[".json"]))
    run = ew.learn(ew.random_teacher("gaussian", 2, 2, seed=0), method="gd", iterations=5)
    same(found, run)
    told = invoke(*learned, "--save", str(files[".csv"])).stdout
    assert f"saved: {files['.csv']} (the learned network)" in told.replace("\n", "")
    for file in files.values():
        student = ew.load_student(file)
        np.testing.assert_array_equal(student.positions, run.student.positions)
        np.testing.assert_array_equal(ew.load_teacher(file).weights, run.student.weights)
    assert json.loads(files[".json"].read_text()) == found["student"]

    # A simulation whose protons are the learned network, with the same as electrons.
    path = str(files[".csv"])
    moved = printed(invoke, "simulate", "--teacher", path, "--student", path, "--time", "0.5")
    learned_teacher = ew.load_teacher(path)
    same(moved, ew.simulate(learned_teacher, ew.load_student(path), time=0.5))
    assert describe_teacher(learned_teacher)["activation"] == "gaussian"


@pytest.mark.slow
def test_files_by_hand_take_what_they_lack_from_options(invoke, refuse, tmp_path):
    file = tmp_path / "units.csv"
    file.write_text("x1,x2,weight\n0,1,1\n1,0,-1\n")
    asked = ("simulate", "--teacher", str(file), "--time", "0.1", "--json")
    found = json.loads(invoke(*asked, "--activation", "gaussian").stdout)
    assert found["settings"]["activation"] == "gaussian"
    assert "it has no activation" in refuse(*asked)
    file.write_text("# activation: gaussian\nx1,x2,weight\n0,1,1\n1,0,-1\n")
    assert "not allowed with it: activation" in refuse(*asked, "--activation", "relu")
    assert "--dim describes a random teacher" in refuse(*asked, "--dim", "2")


@pytest.mark.slow
def test_landscapes_and_their_points(invoke, refuse, tmp_path):
    """The folder is made; a file in its place is refused."""
    given = ("--activation", "gaussian", "--dim", "1", "--units", "2", "--student-units", "1")
    folder = tmp_path / "new" / "points"
    asked = ("landscape", *given, "--starts", "4")
    found = printed(invoke, *asked, "--points", str(folder))
    teacher = ew.load_teacher(folder / "teacher.json")
    result = ew.hunt(teacher, units=1, starts=4)
    found.pop("points")
    same(found, result)
    point = ew.load_student(folder / "point-0.json")
    assert point.unit_kind.name == "gaussian"
    (tmp_path / "file").write_text("")
    assert "is a file; allowed: a folder" in refuse(*asked, "--points", str(tmp_path / "file"))
