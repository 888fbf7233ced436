"""`earnshaw reproduce`: the files it writes, its JSON, and what it refuses."""

import csv
import json

import numpy as np
import pytest

from earnshaw.papers.reproductions.printed import TABLE_2

pytestmark = pytest.mark.slow

SHORT = ("--iterations", "300", "--seeds", "2", "--workers", "1")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def reproduce(invoke, *arguments):
    code, printed, said = invoke("reproduce", *arguments, "--json")
    assert code == 0, said
    return json.loads(printed)


def test_table_two_and_figure_two_share_their_cells(invoke, tmp_path):
    cells = ("--cells", "2x3,3x3", *SHORT)
    table = reproduce(invoke, "table2", *cells)
    assert (table["preset"], table["complete"]) == ("quick", True)
    assert [(row["depth"], row["width"]) for row in table["rows"]] == [(2, 3), (3, 3)]
    assert all(row["seeds"] == 2 and row["printed"] is None for row in table["rows"])
    written = list(csv.DictReader((tmp_path / "table2.csv").open()))
    assert [float(row["median"]) for row in written] == [r["median"] for r in table["rows"]]
    page = (tmp_path / "table2.md").read_text()
    assert "earnshaw reproduce table2 --preset quick --seeds 2 --cells 2x3,3x3" in page
    assert table["code"] in page
    assert (tmp_path / "table2.png").stat().st_size > 10_000

    # Figure 2 shows the same cells: nothing is trained again.
    code, printed, said = invoke("reproduce", "figure2", *cells, "--json")
    assert code == 0
    assert said == ""
    assert json.loads(printed)["rows"] == table["rows"]


def test_figure_one_follows_the_error(invoke, tmp_path):
    figure = reproduce(invoke, "figure1", "--cells", "2x5,2x20,3x20", *SHORT)
    panels = {row["panel"] for row in figure["rows"]}
    assert panels == {"depth 2", "width 20"}
    way = [row for row in figure["rows"] if row["panel"] == "depth 2" and row["width"] == 5]
    assert [way[0]["iteration"], way[-1]["iteration"]] == [0, 300]
    assert all(row["low"] <= row["median"] <= row["high"] for row in way)
    # The page compares the ends with Table 2, where it has them.
    assert f"{TABLE_2[2, 20]:.3g}" in (tmp_path / "figure1.md").read_text()


def test_what_the_store_has_so_far(invoke, refuse):
    assert "there is no store" in refuse("reproduce", "table2", "--stored")
    done = reproduce(invoke, "table2", "--cells", "2x3", *SHORT)
    so_far = reproduce(invoke, "table2", "--cells", "2x3,3x3", "--stored", *SHORT)
    assert so_far["complete"] is False
    assert so_far["rows"][0] == done["rows"][0]
    assert so_far["rows"][1]["median"] is None


def test_readings_are_different_runs(invoke):
    """Settings never mix: the printed step is a hundred times smaller, and learns less."""
    cells = ("--cells", "2x3", *SHORT)
    usual = reproduce(invoke, "table2", *cells)["rows"][0]["median"]
    literal = reproduce(invoke, "table2", "--reading", "literal", *cells)
    assert literal["rows"][0]["median"] != usual
    assert "alpha = 1e-5" in literal["remarks"][0]
    runs = json.loads(invoke("runs", "list", "--json").stdout)["runs"]
    assert len(runs) == 2


def test_the_printed_table_is_that_of_the_texts():
    """Against the words of the full version, as given to this project (Table 2)."""
    rows = """
        0.0015 0.0017 0.0018 0.0019
        0.0033 0.0264 0.1503 0.2362
        0.0036 0.0579 0.2400 0.4397
        0.0085 0.1662 0.4171 0.6071
        0.0845 0.3862 0.4934 0.5777
    """
    printed = np.array(rows.split(), float).reshape(5, 4)
    for depth, row in zip((2, 3, 5, 9, 17), printed, strict=True):
        assert [TABLE_2[depth, width] for width in (5, 10, 20, 40)] == row.tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("table3",), "did you mean table"),
        (("table2", "--preset", "slow"), "unknown preset 'slow'"),
        (("table2", "--reading", "literaly"), "did you mean literal?"),
        (("table2", "--cells", "2,5"), "cells is '2,5'; allowed: depth x width"),
        (("table2", "--cells", "0x5"), "depth is 0"),
        (("table2", "--seeds", "-1"), "seeds is -1"),
        (("table2", "--iterations", "0"), "iterations is 0"),
        (("table2", "--out", "nowhere"), "there is no folder"),
        (("table1", "--cells", "2x5"), "table1 has no cells"),
        (("table2", "--workers", "-2"), "workers is -2"),
    ],
)
def test_bad_input_is_one_line(refuse, arguments, words):
    assert words in refuse("reproduce", *arguments)
