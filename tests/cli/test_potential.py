"""`earnshaw potential` as a user meets it: its words, its JSON, its pictures, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest


@pytest.mark.quick("arguments1")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["potential", "--help"]])
def test_help_does_not_import_jax(arguments):
    code = (
        "import sys\nfrom earnshaw.cli.main import main\ntry:\n    main()\n"
        "except SystemExit:\n    pass\nassert 'jax' not in sys.modules"
    )
    command = [sys.executable, "-c", code, *arguments]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_json_is_one_object_with_the_promised_keys(invoke):
    result = invoke("potential", "relu", "--dim", "5", "--at", "0.5", "--at", "-1", "--json")
    answer = json.loads(result.stdout)
    assert {"kind", "values", "method", "error_bound"} <= set(answer)
    rho = 0.5
    exact = (np.sqrt(1 - rho**2) + rho * (np.pi - np.arccos(rho))) / np.pi
    np.testing.assert_allclose(answer["values"][0]["value"], exact, atol=1e-14)
    np.testing.assert_allclose(answer["values"][0]["first"], 1 - np.arccos(rho) / np.pi, atol=1e-14)
    # f'' is infinite at rho = -1; JSON has no infinity.
    assert answer["values"][1]["second"] is None


def test_radial_values_include_the_logarithm(invoke):
    result = invoke("potential", "gaussian", "--dim", "3", "--at", "60", "--json")
    (row,) = json.loads(result.stdout)["values"]
    assert row["value"] == 0.0
    np.testing.assert_allclose(row["log_value"], -1800.0)


def test_regions_are_reported(invoke):
    result = invoke("potential", "gaussian", "--dim", "2", "--json")
    inner, outer = json.loads(result.stdout)["regions"]
    assert (inner["character"], outer["character"]) == ("superharmonic", "subharmonic")
    np.testing.assert_allclose(inner["high"], np.sqrt(2), rtol=1e-9)


@pytest.mark.slow
def test_what_is_compiled_is_kept_for_the_next_run(tmp_path):
    command = [sys.executable, "-m", "earnshaw", "potential", "relu", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    del environment["JAX_COMPILATION_CACHE_DIR"]  # the tests' own, which the command would respect
    first = subprocess.run(command, capture_output=True, env=environment, check=True)
    kept = sorted(path.name for path in (tmp_path / "earnshaw" / "jax").iterdir())
    assert kept
    second = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert first.stdout == second.stdout
    assert sorted(path.name for path in (tmp_path / "earnshaw" / "jax").iterdir()) == kept


@pytest.mark.slow
def test_norms_on_space(invoke):
    result = invoke("potential", "relu", "--on", "space", "--norms", "2,3", "--at", "1", "--json")
    (row,) = json.loads(result.stdout)["values"]
    np.testing.assert_allclose(row["value"], 2 * 3 / 2, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_are_written(invoke, tmp_path, ending):
    target = tmp_path / f"relu.{ending}"
    result = invoke("potential", "relu", "--plot", str(target))
    assert result.code == 0, result.stderr
    assert target.stat().st_size > 5000
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == [target.name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rellu"], "did you mean relu"),
        (["relu", "--at", "1.5"], "[-1, 1]"),
        (["gaussian", "--dim", "3", "--at", "-1"], ">= 0"),
        (["gaussian"], "needs the parameter --dim"),
        (["gaussian", "--dim", "0"], "integer from 1 to"),
        (["almost-harmonic", "--dim", "3", "--radius", "1"], "(1e-30, 1)"),
        (["almost-harmonic", "--dim", "4", "--core", "paper"], "odd"),
        (["almost-harmonic", "--dim", "3", "--core", "hard"], "ball"),
        (["sphere-synthetic", "--dim", "3", "--degree", "3"], "even"),
        (["hermite-5000"], "from 0 to 1000"),
        (["relu", "--width", "0"], "width"),
        (["relu", "-p", "alpha=1"], "no parameter"),
        (["gaussian", "-p", "dim=3"], "option of its own"),
        (["polynomial", "-p", "coefficients=0,0"], "positive"),
        (["exponential", "-p", "rate=30"], "finite"),
        (["relu", "--width", "1e200"], "width"),
        (["elu", "-p", "alpha"], "NAME=VALUE"),
        (["relu", "--dim", "three"], "integer"),
        (["relu", "--plot", "relu.doc"], ".png"),
        (["relu", "--plot", "/no/such/folder/relu.png"], "no folder"),
        (["relu", "--on", "moon"], "sphere or space"),
        (["gaussian", "--dim", "2", "--on", "sphere"], "--on space"),
        (["relu", "--on", "space", "--norms", "2"], "two numbers"),
        (["--no-such-option"], "option"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refuse, arguments, words):
    assert words in refuse("potential", *arguments)


@pytest.mark.slow
def test_a_potential_whose_activation_is_out_of_reach_is_drawn_all_the_same(invoke, tmp_path):
    target = tmp_path / "far.png"
    result = invoke("potential", "almost-harmonic", "--dim", "60", "--plot", str(target))
    assert result.code == 0, result.stderr
    assert target.exists()


def test_unknown_command(refuse):
    assert "frobnicate" in refuse("frobnicate")


def test_a_failed_picture_leaves_the_old_file(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    from earnshaw.errors import EarnshawError
    from earnshaw.plots.style import save

    target = tmp_path / "old.png"
    target.write_bytes(b"precious")
    figure = Figure()
    monkeypatch.setattr(figure, "savefig", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(EarnshawError, match=r"cannot write .*old\.png.*: full"):
        save(figure, target)
    assert target.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [target]
