"""Tables of what there is, the shell's completion, and messages in the command line's own words."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.cli.completion import activation_names, method_names, potential_names
from earnshaw.cli.words import as_options
from earnshaw.descent.catalogue import CLASSES
from earnshaw.descent.methods import METHODS
from earnshaw.duality.named import ACTIVATIONS, POTENTIALS


@pytest.mark.slow
def test_the_table_of_activations_has_them_all_in_80_columns(invoke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    printed = invoke("activations").stdout
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert "…" not in printed
    names = set(ACTIVATIONS) - {"hermite"} | {"hermite-N"}
    assert all(f"│ {name} " in printed for name in names)
    mish = next(line for line in printed.splitlines() if line.startswith("│ mish "))
    assert "x tanh(log(1 + exp(x)))" in mish  # the formula in one piece
    assert f"series {ew.potential('mish').error_bound:.0e}" in mish


def test_activations_say_what_they_are(invoke):
    rows = {
        row["name"]: row
        for row in json.loads(invoke("activations", "--json").stdout)["activations"]
    }
    assert set(rows) == set(ACTIVATIONS)
    assert rows["tanh"]["symmetries"] == "odd"
    assert rows["relu"]["symmetries"] == "even but for a line, homogeneous, degree 1"
    assert rows["relu"]["formula"] == "max(0, x)"
    assert rows["sign"]["potential"] == "2*asin(rho)/pi"
    assert rows["tanh"]["method"] == "Hermite series"
    assert rows["gaussian"]["on"] == ["space"]
    assert "swish" in rows["silu"]["aliases"]


def test_the_methods_named_are_those_computed():
    """Whether an activation has a closed form is asked of its potential itself."""
    for row in ew.activations():
        if row["name"] in ("tanh", "logistic", "erf", "relu", "sin"):
            own = ew.potential(row["name"]).method
            assert own.startswith(row["method"].lower())


def test_potentials_and_methods(invoke):
    rows = json.loads(invoke("potentials", "--json").stdout)["potentials"]
    assert set(POTENTIALS) <= {row["name"] for row in rows}
    assert {row["name"]: row["activation"] for row in rows}["harmonic"] is False
    found = json.loads(invoke("methods", "--json").stdout)["methods"]
    assert [row["name"] for row in found] == list(METHODS) == list(CLASSES)
    assert [row["name"] for row in found if row["default"]] == ["node-wise"]
    assert "node-wise-paper" in invoke("methods").stdout
    assert "2*asin(rho)/pi" in invoke("potentials").stdout


def test_names_for_completion_are_the_registered_ones():
    assert activation_names() == sorted(ACTIVATIONS)
    assert potential_names() == sorted({*ACTIVATIONS, *POTENTIALS})
    assert method_names() == list(METHODS)
    assert method_names("node-wise-s") == ["node-wise-sgd"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "answer"),
    [("earnshaw activ", "activations"), ("earnshaw learn --method sec", "second-gd")],
)
def test_the_shell_completes(typed, answer):
    """As bash asks: the words so far and the number of the last, in the environment."""
    environment = {
        **os.environ,
        "_EARNSHAW_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    code = (
        "import sys\nfrom earnshaw.cli.main import main\nsys.argv = ['earnshaw']\n"
        "try:\n    main()\n"
        "finally:\n    assert 'jax' not in sys.modules"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [answer], done.stderr


def test_completion_can_be_installed(invoke):
    assert "--install-completion" in invoke("--help").stdout


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("allowed: on='sphere'", "allowed: --on sphere"),
        ("allowed: on=space or sphere", "allowed: --on space or sphere"),
        ("needs a dimension: give dim=", "needs a dimension: give --dim"),
        ("start= for methods of all units", "--start for methods of all units"),
        ("kinks= is no option", "kinks= is no option"),
        ("parameter 'dim=x' is not", "parameter 'dim=x' is not"),
        ("rho <= 1 and f(x)=on", "rho <= 1 and f(x)=on"),
    ],
)
def test_messages_are_in_the_words_of_the_command_line(said, shown):
    assert as_options(said, {"--on", "--dim", "--start", "--x"}) == shown


def test_a_refusal_names_the_option(refuse):
    line = refuse(
        "learn", "--activation", "gaussian", "--dim", "2", "--units", "1", "--start", "random"
    )
    assert "start=" not in line
    assert "--start" in line


def test_the_potential_of_a_formula(invoke, refuse):
    answer = json.loads(invoke("potential", "x^2+1", "--at", "0.5", "--raw", "--json").stdout)
    np.testing.assert_allclose(answer["values"][0]["value"], 4.5, rtol=1e-13)
    assert "unknown name 'y'" in refuse("potential", "tanh(y)")
    assert "did you mean" in refuse("potential", "sigmod")


@pytest.mark.slow
def test_kinks_are_shown(invoke):
    words = invoke("potential", "relu(x-1)", "--at", "0").stdout
    assert "kinks of s(x): 1" in words
    assert "an estimate" in words


@pytest.mark.slow
def test_a_formula_can_be_learned(invoke):
    line = [
        "learn",
        "--activation",
        "x^3+x",
        "--dim",
        "2",
        "--units",
        "1",
        "--on",
        "sphere",
        "--method",
        "gd",  # which compiles in a third of the time
        "--json",
    ]
    answer = json.loads(invoke(*line).stdout)
    assert answer["relative_loss"] < 1e-12


def test_realize_prints_what_it_found(invoke):
    words = invoke("realize", "--potential", "arcsin(rho)*2/pi").stdout
    assert "activation: s(x) = sgn(x) (sign)" in words
    assert "warning" not in words
    slow = invoke("realize", "--potential", "1-sqrt(1-rho)").stdout
    assert "0.707107 he_1(x) + 0.353553 he_2(x)" in slow
    assert "warning: the activation has the potential only to" in slow
    answer = json.loads(invoke("realize", "--potential", "1/(2-rho)", "--json").stdout)
    np.testing.assert_allclose(answer["activation_is"]["leading"][1], [1, 0.5], rtol=1e-12)
    assert answer["warning"] is None
