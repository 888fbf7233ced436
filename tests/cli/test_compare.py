"""`earnshaw compare`: two files, inputs like a table's, words and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import earnshaw as ew


@pytest.fixture
def files(tmp_path):
    """Two networks with biases, and data."""
    for name, seed in (("a.json", 0), ("b.csv", 1)):
        ew.save(tmp_path / name, ew.random_teacher("erf", 2, 2, seed, biases="gaussian"))
    rows = np.random.default_rng(0).normal([1.0, -1.0], [0.5, 2.0], size=(60, 2))
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="u,v", comments="")
    return tmp_path


@pytest.mark.slow
def test_words_json_and_a_picture(invoke, files):
    """The numbers of `ew.compare` under the mixture that is fitted to the table."""
    asked = ["compare", str(files / "a.json"), str(files / "b.csv")]
    asked += ["--inputs", str(files / "data.csv"), "--components", "1"]
    code, printed, _ = invoke(*asked, "--json", "--plot", str(files / "c.png"))
    assert code == 0
    found = json.loads(printed)
    rows = np.loadtxt(files / "data.csv", delimiter=",", skiprows=1)
    networks = [ew.load_teacher(files / name) for name in ("a.json", "b.csv")]
    wanted = ew.compare(*networks, ew.GaussianMixture.fit(rows, 1))
    assert found["distance"] == pytest.approx(wanted.distance, rel=1e-9)
    assert len(found["pairs"]) == 2
    assert (files / "c.png").stat().st_size > 1000
    code, printed, _ = invoke(*asked)
    assert code == 0
    assert "the same units" in printed


def test_refused(refuse, files):
    (files / "words.csv").write_text("u,v\n1,a\n2,b\n")
    a = str(files / "a.json")
    assert "of text" in refuse("compare", a, a, "--inputs", str(files / "words.csv"))
    assert "no such file" in refuse("compare", a, str(files / "none.json")).lower()
    three = files / "three.json"
    ew.save(three, ew.random_teacher("erf", 3, 2, 0))
    assert "2 and 3 inputs" in refuse("compare", a, str(three))
