"""`earnshaw simulate` as a user meets it: its words, its JSON, its files, its exit code."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import earnshaw as ew

QUICK = ("simulate", "--activation", "gaussian", "--units", "2", "--time", "2")


def answer(invoke, *arguments: str):
    outcome = invoke(*QUICK, *arguments, "--json")
    assert outcome.code == 0, outcome
    assert outcome.stderr == ""
    (line,) = outcome.stdout.splitlines()
    return json.loads(line)


@pytest.mark.slow
def test_json_has_the_promised_keys(invoke):
    found = answer(invoke)
    assert {"energy", "times", "stop", "events", "bound", "student", "settings"} <= set(found)
    assert np.all(np.diff(found["energy"]) <= 1e-12)
    assert len(found["energy"]) == len(found["times"]) <= 200
    assert (found["times"][0], found["times"][-1], found["stop"]) == (0.0, 2.0, "time")
    assert np.shape(found["student"]["positions"]) == (2, 2)
    assert found["student"]["weights"] == [1.0, 1.0]  # only positions move
    assert found["settings"]["activation"] == "gaussian"


@pytest.mark.slow
def test_files_are_written(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr("earnshaw.plots.animation.FRAMES", 4)
    picture, film, kept = (tmp_path / name for name in ("p.svg", "f.gif", "k.npz"))
    outcome = invoke(*QUICK, "--plot", str(picture), "--animate", str(film), "--save", str(kept))
    assert outcome.code == 0, outcome
    assert outcome.stderr == ""
    assert "the time asked for has passed" in outcome.stdout
    for word in ("start", "bound to", "weight", str(picture), str(film), str(kept)):
        assert word in outcome.stdout
    assert "<svg" in picture.read_text()
    with Image.open(film) as opened:
        assert (opened.format, opened.n_frames) == ("GIF", 4)
    with np.load(kept, allow_pickle=False) as stored:
        assert (stored["format"].item(), stored["version"].item()) == ("earnshaw-path", 1)
        steps = len(stored["times"])
        assert stored["positions"].shape == (steps, 2, 2)
        assert stored["weights"].shape == (steps, 2)
        assert stored["energy"].shape == (steps,)
        assert stored["bound"].shape == (2,)
        assert json.loads(stored["events"].item()) == []
        settings = json.loads(stored["settings"].item())
        assert (settings["wrt"], settings["dim"], settings["seed"]) == ("positions", 2, 0)
        # The energy is the loss of the student at that time.
        teacher = ew.Teacher(stored["teacher.positions"], stored["teacher.weights"], "gaussian")
        end = ew.Student(stored["positions"][-1], stored["weights"][-1])
        value = float(ew.population_loss(teacher).value(end))
        np.testing.assert_allclose(stored["energy"][-1], value, rtol=1e-9)


@pytest.mark.slow
def test_the_default_is_worth_looking_at(invoke):
    outcome = invoke("simulate", "--json")
    found = json.loads(outcome.stdout)
    assert found["stop"] == "bound"
    assert sorted(found["bound"]) == [0, 1, 2, 3, 4]
    assert [event["kind"] for event in found["events"]].count("bind") >= 5
    assert set(found["events"][0]) == {"time", "kind", "unit", "partner", "side"}
    assert found["energy"][0] > 1 > 1e-12 > found["energy"][-1]


@pytest.mark.slow
def test_given_teacher_and_student(invoke, tmp_path):
    teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, 1.0], "gaussian")
    files = [str(tmp_path / name) for name in ("teacher.json", "student.json")]
    ew.save(files[0], teacher)
    ew.save(files[1], ew.Student([[0.5, 0.5]], [0.3]))
    given = ("--teacher", files[0], "--student", files[1])
    outcome = invoke("simulate", *given, "--time", "0.5", "--wrt", "both", "--json")
    found = json.loads(outcome.stdout)
    assert found["settings"]["units"] == 2
    assert len(found["student"]["weights"]) == 1
    assert found["student"]["weights"] != [0.3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--plot", "p.gif"], "allowed endings: .png, .svg, .pdf"),
        (["--animate", "f.png"], "allowed endings: .gif, .mp4"),
        (["--animate", "/nowhere/f.gif"], "there is no folder"),
        (["--save", "k.json"], "allowed endings: .npz"),
        (["--student", "s.json", "--student-units", "3"], "--student-units and --student"),
        (["--time", "-1"], "time is -1.0"),
        (["--wrt", "charges"], "charges"),
        (["--objective", "half"], "unknown objective 'half'"),
        (["--activation", "nonesuch"], "nonesuch"),
        (["--teacher", "t.json", "--dim", "3"], "--dim describes a random teacher"),
        (["--teacher", "missing.json"], "there is no such file"),
        (["--student", "missing.json"], "there is no such file"),
        (["--units", "0"], "number of units is 0"),
        (["--student-units", "0"], "the student has no units"),
        (["--activation", "harmonic", "--dim", "3"], "without-constants"),
        (["--on", "circle"], "circle"),
    ],
)
def test_refusals(refuse, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in refuse("simulate", *arguments)
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == []


def test_help_does_not_import_jax():
    import subprocess
    import sys

    code = (
        "import sys\nfrom earnshaw.cli.main import main\nsys.argv[1:] = ['simulate', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert not {'jax', 'matplotlib'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.slow
def test_a_path_goes_on_from_its_file(invoke, refuse, tmp_path):
    """To the same end as one that was never stopped."""
    file = tmp_path / "path.npz"
    some = ("simulate", "--activation", "gaussian", "--dim", "2", "--units", "2")
    whole = json.loads(invoke(*some, "--time", "2", "--json").stdout)
    invoke(*some, "--time", "1", "--save", str(file))
    rest = json.loads(invoke("simulate", "--resume", str(file), "--time", "2", "--json").stdout)
    np.testing.assert_allclose(
        rest["student"]["positions"], whole["student"]["positions"], atol=1e-6
    )
    assert rest["times"][-1] == 2
    before = file.read_bytes()
    assert "--dim does not go with --resume" in refuse(
        "simulate", "--resume", str(file), "--dim", "3"
    )
    assert "--rtol does not go with --resume" in refuse(
        "simulate", "--resume", str(file), "--rtol", "1e-3"
    )
    assert "passed already" in refuse("simulate", "--resume", str(file), "--time", "1")
    assert file.read_bytes() == before


@pytest.mark.slow
def test_a_path_that_ran_out_of_steps_goes_on_with_more(invoke, tmp_path):
    file = tmp_path / "path.npz"
    some = ("simulate", "--activation", "gaussian", "--dim", "2", "--units", "2", "--time", "1")
    short = json.loads(invoke(*some, "--max-steps", "3", "--save", str(file), "--json").stdout)
    assert (short["stop"], short["settings"]["max_steps"]) == ("step-limit", 3)
    more = ("simulate", "--resume", str(file), "--max-steps", "1000")
    assert json.loads(invoke(*more, "--json").stdout)["stop"] == "time"


@pytest.fixture
def amid_four(tmp_path):
    """Options for one electron amid four harmonic protons, at a place."""
    teacher = ew.Teacher(
        [[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -1.0]], np.ones(4), potential="-log(r)"
    )
    ew.save(str(tmp_path / "teacher.json"), teacher)

    def options(place):
        ew.save(str(tmp_path / "student.json"), ew.Student([place], [1.0]))
        given = ("--teacher", "teacher.json", "--student", "student.json")
        paths = [str(tmp_path / name) if name.endswith(".json") else name for name in given]
        return ("simulate", *paths, "--objective", "without-constants")

    return options


@pytest.mark.slow
def test_a_saddle_is_called_unstable(invoke, amid_four):
    words = invoke(*amid_four([0.0, 0.0])).stdout
    assert "1 electron among 4 protons" in words
    assert "at rest: saddle, unstable: Earnshaw (strict-saddle, smallest eigenvalue -3)" in words
    found = json.loads(invoke(*amid_four([0.0, 0.0]), "--json").stdout)
    assert found["equilibrium"]["unstable"] is True
    assert found["equilibrium"]["earnshaw"] is True
    assert found["collisions"] == []


@pytest.mark.slow
def test_a_collision_names_who_met(invoke, amid_four):
    words = invoke(*amid_four([0.0, 0.5])).stdout
    assert "bound: 0 of 1; electron 0 met proton 1; events: 0" in words
    assert "an electron came to where the force has no limit" in words
    found = json.loads(invoke(*amid_four([0.0, 0.5]), "--json").stdout)
    assert found["collisions"] == [{"unit": 0, "what": "proton", "partner": 1}]
    assert found["equilibrium"] is None


def test_an_electron_that_is_not_there_feels_nothing(refuse):
    assert "felt_by is 7" in refuse("simulate", "--units", "2", "--felt-by", "7")
