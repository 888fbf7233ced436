"""Stores in which something is not what it should be: one line that says so, and no change."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.kind import Piece, Result
from earnshaw.experiments.store.store import reading, writing

PLACES = [({"width": width}, seed) for width in (2, 3) for seed in (0, 1)]


def filled(path):
    """A run of four cells, two of them finished, and a block under way."""
    with writing(path) as store:
        store.begin_run("first", "train", "v1", PLACES)
        results = [
            Result(seed, {"error": 0.5, "stop": "time"}, {"way": np.ones(3)}) for seed in (0, 1)
        ]
        store.finish("train", "v1", {"width": 2}, 0, results, 1.5)
        store.checkpoint("train", "v1", {"width": 3}, 0, Piece(0.5, "half", state=b"state"), 2.5)


def everything(path):
    """All that a reader may ask for."""
    with reading(path) as store:
        for run in store.runs():
            cells = store.cells(store.run(run.name).id)
            store.missing(run.id)
            store.elsewhere(run.id)
            store.under_way("train", "v1", {"width": 3}, 0)
    return [cell.arrays for cell in cells]


def altered(path, *statements):
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET name = x'00ff'",
        "UPDATE versions SET code = x'41'",
        "UPDATE settings SET settings = '{' WHERE id = 1",
        "UPDATE settings SET settings = '[1]' WHERE id = 1",
        "UPDATE settings SET settings = '{\"other\": 1}' WHERE id = 1",
        "UPDATE settings SET settings = '{\"width\": NaN}' WHERE id = 1",
        "UPDATE settings SET settings = x'7b7d' WHERE id = 1",
        f"UPDATE settings SET settings = '{'[' * 5000}' WHERE id = 1",
        f"UPDATE settings SET settings = '{{\"width\": {'9' * 5000}}}' WHERE id = 1",
        "UPDATE run_cells SET seed = 'one'",
        "UPDATE cells SET numbers = 'x'",
        "UPDATE cells SET numbers = 5",
        "UPDATE cells SET numbers = '{\"error\": [1]}'",
        "UPDATE cells SET numbers = '{\"error\": {}}'",
        "UPDATE cells SET numbers = '\"\\ud800\"'",
        "UPDATE cells SET arrays = 'text'",
        "UPDATE cells SET arrays = x'00'",
        "UPDATE cells SET error = x'00'",
        "UPDATE cells SET seconds = 'long'",
        "UPDATE checkpoints SET fraction = 'half'",
        "UPDATE checkpoints SET state = 'text'",
        "DROP TABLE cells",
        "ALTER TABLE cells RENAME COLUMN numbers TO figures",
        "ALTER TABLE cells ADD COLUMN more",
        "CREATE VIEW more AS SELECT * FROM cells",
        "CREATE TRIGGER gone AFTER INSERT ON cells BEGIN DELETE FROM cells; END",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -3",
        "PRAGMA user_version = 9",
        "PRAGMA application_id = 7",
    ],
)
def test_what_is_damaged_is_one_line(statement, tmp_path):
    path = tmp_path / "s.sqlite"
    altered(path, statement)
    with pytest.raises(EarnshawError) as error:
        everything(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300 + len(str(path))


def test_arrays_that_would_run_code_are_refused(tmp_path):
    path = tmp_path / "s.sqlite"
    filled(path)
    np.savez(tmp_path / "objects.npz", way=np.array([{}], dtype=object))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE cells SET arrays = ?", ((tmp_path / "objects.npz").read_bytes(),))
        db.commit()
    with pytest.raises(EarnshawError, match=r"arrays of seed 0 are damaged.*type object"):
        everything(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run_cells SET seed = 5 WHERE place = 1",
        "UPDATE settings SET settings = '{\"width\": 9}' WHERE id = 1",
        "DELETE FROM run_cells WHERE place = 3",
        "DELETE FROM settings WHERE id = 2",
        "UPDATE run_cells SET place = 9 WHERE place = 0",
    ],
)
def test_a_run_with_other_cells_than_its_plan_does_not_go_on(statement, tmp_path):
    path = tmp_path / "s.sqlite"
    altered(path, "PRAGMA foreign_keys = OFF", statement)
    with writing(path) as store:
        other = store.begin_run("second", "train", "v1", PLACES[:1])
        assert len(store.missing(other)) <= 1
    with pytest.raises(EarnshawError, match="cells of its plan"), writing(path) as store:
        store.begin_run("first", "train", "v1", PLACES)


def test_tables_that_are_not_ours_do_not_matter(tmp_path):
    path = tmp_path / "s.sqlite"
    altered(path, "CREATE TABLE notes (words)", "CREATE INDEX quick ON cells (seed)")
    assert len(everything(path)) == len(PLACES)
