"""`earnshaw sweep` and `earnshaw runs`: a grid from a file, kept, shown and exported."""

import csv
import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SWEEP = """
name = "small"
kind = "train"
seeds = 3
[grid]
width = [2, 3]
[fixed]
iterations = 200
test_samples = 100
records = 4
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return str(path)


def sweep(invoke, file, *more):
    code, printed, said = invoke("sweep", file, "--workers", "1", "--json", *more)
    assert code == 0, said
    return json.loads(printed), said


def test_a_sweep_is_kept_shown_and_exported(invoke, file, tmp_path):
    found, said = sweep(invoke, file, "--plot", "heat.png", "--csv", "table.csv")
    assert (found["cells"], found["done"], found["failed"]) == (6, 6, 0)
    assert [row["width"] for row in found["rows"]] == [2, 3]
    assert all(row["low"] <= row["median"] <= row["high"] for row in found["rows"])
    # Plain lines where nobody looks: a block, how far, and how long.
    assert said.count("small: ") == 2
    assert "6 of 6 cells" in said
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")
    table = list(csv.DictReader((tmp_path / "table.csv").open()))
    assert [float(row["median"]) for row in table] == [row["median"] for row in found["rows"]]

    again, said = sweep(invoke, file)  # nothing is run again
    assert again == found
    assert said == ""

    (run,) = json.loads(invoke("runs", "list", "--json").stdout)["runs"]
    assert (run["name"], run["kind"], run["cells"], run["done"]) == ("small", "train", 6, 6)
    shown = json.loads(invoke("runs", "show", "small", "--json").stdout)["runs"][0]["rows"]
    for name in ("out.csv", "out.json", "out.parquet"):
        assert invoke("runs", "export", str(run["id"]), "--to", name).code == 0
    by_csv = list(csv.DictReader((tmp_path / "out.csv").open()))
    by_json = json.loads((tmp_path / "out.json").read_text())["runs"][0]["rows"]
    import pandas

    by_parquet = pandas.read_parquet(tmp_path / "out.parquet")
    errors = [row["error"] for row in shown]
    assert [float(row["error"]) for row in by_csv] == errors
    assert [row["error"] for row in by_json] == errors
    assert by_parquet["error"].tolist() == errors
    for width, row in zip((2, 3), found["rows"], strict=True):
        of_width = [r["error"] for r in shown if r["width"] == width]
        assert np.median(of_width) == row["median"]
    assert invoke("runs", "export", "small", "--to", "ways.json", "--arrays").code == 0
    ways = json.loads((tmp_path / "ways.json").read_text())["runs"][0]["rows"]
    assert [row["arrays"]["errors"][-1] for row in ways] == errors
    assert all(row["arrays"]["iterations"][-1] == 200 for row in ways)
    assert "small" in invoke("runs", "list").stdout
    assert "0.1.0" in invoke("runs", "show", "1").stdout


def test_a_run_that_diverges_is_a_result(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.toml").write_text(
        'kind = "train"\nseeds = 1\n[fixed]\niterations = 50\nstep = 1e300\nrecords = 1\n'
        'output = "linear"\nactivation = "relu"\ntest_samples = 10\nwidth = 2\n'
    )
    found, _ = sweep(invoke, "l.toml")
    assert found["done"] == 1
    (row,) = found["rows"]
    assert row["median"] is None
    (cell,) = json.loads(invoke("runs", "show", "l", "--json").stdout)["runs"][0]["rows"]
    assert cell["diverged"] is True
    assert cell["error"] is None


def test_the_learnability_question(invoke, tmp_path, monkeypatch):
    """The second built-in use, on a grid of one; the built-in file itself is only read."""
    from earnshaw.experiments.sweeps.toml import built_in, load_plan

    monkeypatch.chdir(tmp_path)
    assert built_in("learnability") is not None
    assert built_in("no-such-sweep") is None
    (tmp_path / "one.toml").write_text(
        'kind = "learn"\nseeds = 2\n[grid]\nactivation = ["gaussian"]\ndim = [2]\nunits = [2]\n'
    )
    found, _ = sweep(invoke, "one.toml", "--plot", "heat.svg")
    (row,) = found["rows"]
    assert row["mean"] == 1.0
    assert load_plan("one.toml").axes == ("activation", "dim", "units")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind = 'train'\nbroken = 1\nother = 2", "unknown keys 'broken', 'other'; allowed: name"),
        ("kind = 'train'\n[fixed]\nwidht = 3", "no setting 'widht'; allowed: depth, width"),
        (
            "kind = 'train'\n[grid]\nwidth = [3, -1]",
            "width is -1; allowed: an integer from 1 to 2147483647",
        ),
        ("kind = 'train'\n[grid]\nwidth = 3", "allowed: a list of values"),
        ("kind = 'train'\nseeds = 0", "seeds is 0"),
        ("kind = 'tarin'", "did you mean train"),
        ("kind = 'learn'\n[fixed]\nmethod = 'magic'", "magic"),
        ("seeds = 3", "it has no kind"),
        ("kind = ", "not a TOML file"),
    ],
)
def test_a_bad_file_is_one_line(refuse, tmp_path, text, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text(text)
    assert words in refuse("sweep", "bad.toml", "--json")
    assert not (tmp_path / "earnshaw.sqlite").exists()


def test_stores_that_cannot_be_used_are_one_line(refuse, file, tmp_path):
    (tmp_path / "text.sqlite").write_text("not a database, by far " * 100)
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    before = (tmp_path / "other.sqlite").read_bytes()
    for name, words in (
        ("text.sqlite", "not a store of earnshaw"),
        ("other.sqlite", "another program"),
        ("no/such/folder.sqlite", "no folder"),
    ):
        assert words in refuse("sweep", file, "--store", name, "--workers", "1")
    assert (tmp_path / "other.sqlite").read_bytes() == before
    for arguments, words in (
        (("list", "--store", "none.sqlite"), "there is no store"),
        (("list", "--store", "text.sqlite"), "not a store of earnshaw"),
        (("show", "1", "--store", "other.sqlite"), "another program"),
        (("export", "1", "--to", "x.xlsx"), "allowed endings: .csv, .json, .parquet"),
        (("export", "1", "--to", "x.csv", "--arrays"), "allowed endings: .json"),
    ):
        assert words in refuse("runs", *arguments)


def test_a_sweep_cannot_be_drawn_where_nothing_can_be_written(refuse, file):
    assert "no folder" in refuse("sweep", file, "--plot", "nowhere/heat.png")
    assert "allowed endings" in refuse("sweep", file, "--csv", "table.txt")
    assert "workers is 0" in refuse("sweep", file, "--workers", "0")


def test_runs_do_not_load_jax(file):
    code = (
        "import sys; sys.argv = ['earnshaw', 'runs', 'list']\n"
        "from earnshaw.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 2\n"
        "assert 'jax' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
