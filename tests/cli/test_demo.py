"""`earnshaw demo`, `earnshaw barrier` and the pictures of `earnshaw certify`."""

import json

import numpy as np
import pytest
from PIL import Image

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.network_file import save

pytestmark = pytest.mark.slow


def test_the_demo_writes_a_picture_and_a_film(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, printed, _ = invoke("demo")
    assert code == 0
    said = " ".join(printed.split())
    assert "no stable resting place in empty space" in said
    assert "strict-saddle" in said
    assert "drawn: earnshaw-demo.png" in said
    assert "filmed: earnshaw-demo.gif" in said
    assert max(map(len, printed.splitlines())) <= 100
    assert Image.open(tmp_path / "earnshaw-demo.gif").n_frames > 20
    code, printed, _ = invoke("demo", "--json", "--plot", "a.svg", "--animate", "a.gif")
    found = json.loads(printed)
    assert code == 0
    assert (found["kind"], found["stop"], len(found["saddles"])) == (
        "strict-saddle",
        "collision",
        3,
    )
    assert found["distance"] < 1e-3
    assert (tmp_path / "a.svg").exists()


def test_the_demo_refuses_other_films(refuse):
    assert "allowed endings: .gif" in refuse("demo", "--animate", "film.avi")


@pytest.fixture
def files(tmp_path):
    """Two gaussian units, their swapped copy, and the saddle between at (0, +-1/sqrt 3)."""
    w = np.array([[1.0, 0.0], [-1.0, 0.0]])
    networks = {
        "teacher": Teacher(w, [1.0, 1.0], "gaussian"),
        "start": Student(w, [1.0, 1.0]),
        "end": Student(-w, [1.0, 1.0]),
        "saddle": Student([[0.0, 3**-0.5], [0.0, -(3**-0.5)]], [1.0, 1.0]),
    }
    for name, network in networks.items():
        save(tmp_path / f"{name}.json", network)
    return {name: str(tmp_path / f"{name}.json") for name in networks}


def test_a_barrier(invoke, refuse, files, tmp_path):
    given = ("barrier", files["start"], files["end"], "--teacher", files["teacher"])
    given += ("--fixed-charges", "--no-match")
    code, printed, _ = invoke(*given, "--json", "--plot", str(tmp_path / "barrier.png"))
    assert code == 0
    found = json.loads(printed)
    # y^2 = 1/3 in L = 4 + 2 exp(-2) + 2 exp(-2 y^2) - 8 exp(-(1 + y^2)/2)
    assert found["saddle_loss"] == pytest.approx(4 + 2 * np.exp(-2) - 6 * np.exp(-2 / 3), abs=1e-8)
    assert found["height"] < found["line_height"]
    assert (tmp_path / "barrier.png").exists()
    code, printed, _ = invoke(*given)
    assert "bounds the lowest pass from above" in printed
    save(tmp_path / "other.json", Student(np.eye(2), [1.0, 2.0]))
    assert "different weights" in refuse(*given[:2], str(tmp_path / "other.json"), *given[3:])


def test_pictures_of_a_point(invoke, refuse, files, tmp_path):
    given = ("certify", "--teacher", files["teacher"], "--student", files["saddle"])
    given += ("--fixed-charges",)
    pictures = [str(tmp_path / name) for name in ("spectrum.png", "slice.png")]
    code, printed, _ = invoke(
        *given,
        "--spectrum",
        pictures[0],
        "--slice",
        pictures[1],
        "--through",
        files["start"],
        "--json",
    )
    found = json.loads(printed)
    assert code == 0
    assert found["spectrum"]["negative"] == 1
    assert found["spectrum"]["values"][0] == pytest.approx(found["smallest_eigenvalue"])
    assert found["slice"]["point_losses"][1] == pytest.approx(0, abs=1e-12)
    assert all((tmp_path / name).exists() for name in ("spectrum.png", "slice.png"))
    assert "--along" in refuse(*given, "--slice", pictures[1], "--along", "0")
    assert "--slice FILE" in refuse(*given, "--reach", "1")
