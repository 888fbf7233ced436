"""`earnshaw learn`, as the shell sees it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import earnshaw as ew

SMALL = ("learn", "--dim", "3", "--units", "3")


def test_json_has_the_keys_that_others_rely_on(invoke, tmp_path):
    picture, file = tmp_path / "run.png", tmp_path / "run.npz"
    outcome = invoke(*SMALL, "--json", "--plot", str(picture), "--save", str(file))
    assert outcome.code == 0, outcome.stderr
    (line,) = outcome.stdout.splitlines()
    found = json.loads(line)
    assert found["relative_loss"] < 1e-12
    assert sorted(found["permutation"]) == [0, 1, 2]
    assert [row["unit"] for row in found["recovered"]] == [0, 1, 2]
    assert max(row["distance"] for row in found["recovered"]) < 1e-9
    assert max(row["weight_error"] for row in found["recovered"]) < 1e-8
    assert found["stop"] == "recovered"
    assert found["iterations"] > 0
    assert found["seconds"] > 0
    assert found["certificate"]["kind"] == "cusp-minimum"
    assert found["certificate"]["gradient_norm"] < 1e-6
    assert found["certificate"]["smallest_eigenvalue"] > 0
    assert picture.read_bytes().startswith(b"\x89PNG")

    # What was saved goes on, here to the same end, and refuses to be another problem.
    before = file.read_bytes()
    again = json.loads(invoke("learn", "--resume", str(file), "--json").stdout)
    assert again["recovered"] == found["recovered"]
    for options, why in (
        (("--seed", "1"), "seed 0, not 1"),
        (("--dim", "4"), "another teacher"),
        (("--method", "gd"), "method 'node-wise', not 'gd'"),
    ):
        outcome = invoke("learn", "--resume", str(file), *options)
        assert outcome.code == 2
        assert why in outcome.stderr
        assert outcome.stdout == ""
    assert np.load(file).files == np.load(_written(tmp_path, before)).files


def _written(folder, content):
    path = folder / "copy.npz"
    path.write_bytes(content)
    return path


def test_the_plain_output_is_a_table_and_a_verdict(invoke, tmp_path):
    teacher = ew.random_teacher("almost-harmonic", 3, 3, seed=0)
    ew.save(tmp_path / "teacher.json", teacher)
    outcome = invoke("learn", "--teacher", str(tmp_path / "teacher.json"))
    assert outcome.code == 0, outcome.stderr
    for weight in teacher.weights:
        assert f"{float(weight):+.6f}" in outcome.stdout
    for words in ("a permutation", "recovered", "cusp-minimum", "gradient norm"):
        assert words in outcome.stdout
    assert outcome.stderr == ""


@pytest.mark.slow
def test_the_same_in_every_process(tmp_path):
    """One that compiles, and one that finds everything compiled."""
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "earnshaw", "learn", "--dim", "2", "--units", "2", "--json"],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout) | {"seconds": None})
    assert found[0] == found[1]


@pytest.mark.slow
def test_methods_and_steps_by_name(invoke):
    options = ("--activation", "gaussian", "--positions", "gaussian", "--dim", "2", "--units", "1")
    outcome = invoke(
        "learn", *options, "--method", "gd", "--steps", "0.1", "--iterations", "20", "--json"
    )
    found = json.loads(outcome.stdout)
    assert (found["stop"], found["iterations"]) == ("iteration-limit", 20)


REFUSED = [
    (("--units", "0"), "number of units is 0"),
    (("--units", "-4"), "number of units is -4"),
    (("--dim", "0"), "dimension is 0"),
    (("--student-units", "0"), "units is 0"),
    (("--student-units", "2147483647"), "points of a path need 7 TiB"),
    (("--oracle", "delphi"), "oracle is 'delphi'; allowed: exact, float64, noisy:TAU"),
    (("--oracle", "noisy:-1"), "TAU of noisy:TAU is -1.0"),
    (("--oracle", "float64", "--samples", "9"), "two oracles"),
    (("--start-scale", "0"), "start_scale is 0.0"),
    (("--activation", "no-such"), "unknown activation"),
    (("--method", "no-such"), "unknown method"),
    (("--radius", "2"), "radius is 2.0"),
    (("--method", "newton"), "without a cusp"),
    (("--teacher", "no-such.json"), "there is no such file"),
    (("--teacher", "orthonormal", "--dim", "3", "--units", "4"), "cannot be orthonormal"),
    (("--plot", "picture.txt"), "allowed endings"),
    (("--save", "run.txt"), "allowed endings"),
    (("--resume", "no-such.npz"), "there is no such file"),
    (("--steps", "fast", "--method", "gd"), "steps is 'fast'"),
    (
        ("--activation", "hermite-3", "--on", "sphere", "--method", "node-wise-paper"),
        "ball of R^d",
    ),
]


@pytest.mark.parametrize(("options", "why"), REFUSED, ids=[" ".join(o) for o, _ in REFUSED])
def test_bad_input_is_one_line(options, why, refuse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert why in refuse("learn", *options)
    assert not [path for path in tmp_path.iterdir() if path.name != "cache"]


def test_a_teacher_with_nan_is_refused(refuse, tmp_path):
    file = tmp_path / "teacher.json"
    ew.save(file, ew.random_teacher("gaussian", 2, 1))
    weight = float(ew.load_teacher(file).weights[0])
    file.write_text(file.read_text().replace(repr(weight), "NaN"))
    before = file.read_bytes()
    line = refuse("learn", "--teacher", str(file))
    assert "NaN" in line
    assert file.read_bytes() == before


def test_options_of_a_random_teacher_do_not_go_with_a_file(refuse, tmp_path):
    file = tmp_path / "teacher.json"
    ew.save(file, ew.random_teacher("gaussian", 2, 1))
    assert "--dim" in refuse("learn", "--teacher", str(file), "--dim", "3")
