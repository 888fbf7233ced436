"""What is run, what is reused, what is kept apart, and what becomes of failures."""

import sqlite3
from contextlib import contextmanager

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.store._opening import opened_to_write
from earnshaw.experiments.store.store import reading
from earnshaw.experiments.sweeps import _dispatch as dispatch
from earnshaw.experiments.sweeps import _executor as executor
from earnshaw.experiments.sweeps._executor import Lost, Serial
from earnshaw.experiments.sweeps._job import Failure, Job, do
from experiments.sweeps.toy import expected

GRID = {"rate": [4.0, 3.99]}


@pytest.fixture
def begun(toy, monkeypatch):
    """The blocks that were begun, one after the other."""
    blocks = []
    advance = toy.advance

    def counted(settings, block, state, seconds):
        if state is None:
            blocks.append((settings["rate"], block))
        return advance(settings, block, state, seconds)

    monkeypatch.setattr(toy, "advance", counted)
    return blocks


def test_only_what_is_missing_is_run(begun, tmp_path):
    store = tmp_path / "s.sqlite"
    first = ew.sweep("toy", GRID, seeds=[0, 1, 2], store=store)
    assert sorted(begun) == [(3.99, 0), (3.99, 1), (4.0, 0), (4.0, 1)]
    assert [c.numbers["value"] for c in first.cells] == [
        expected(s, r, 100) for r in (4.0, 3.99) for s in range(3)
    ]
    begun.clear()
    again = ew.sweep("toy", GRID, seeds=[0, 1, 2], store=store)
    assert begun == []
    assert again.run == first.run
    assert again.rows() == first.rows()
    more = ew.sweep("toy", GRID, seeds=5, store=store)  # seed 3 came with the block of seed 2
    assert sorted(begun) == [(3.99, 2), (4.0, 2)]
    assert more.run != first.run
    begun.clear()
    larger = ew.sweep("toy", {"rate": [3.98, 4.0, 3.99]}, seeds=4, store=store)
    assert sorted(begun) == [(3.98, 0), (3.98, 1)]
    assert larger.complete
    assert larger.elsewhere == 0


def test_another_setting_or_version_is_never_mixed_in(begun, tmp_path, monkeypatch):
    store = tmp_path / "s.sqlite"
    old = ew.sweep("toy", GRID, store=store)
    ew.sweep("toy", GRID, fixed={"steps": 99}, store=store)
    assert len(begun) == 4
    for place in ("sweeps.sweep", "kinds.registry"):
        monkeypatch.setattr(f"earnshaw.experiments.{place}.code_version", lambda kind: "another")
    new = ew.sweep("toy", GRID, store=store)
    assert len(begun) == 6
    assert (old.elsewhere, new.elsewhere) == (0, 2)
    with reading(store) as opened:
        assert [run.version for run in opened.runs()] == [old.code, old.code, "another"]
        assert [run.done for run in opened.runs()] == [2, 2, 2]
        assert opened.elsewhere(old.run) == 2


def test_a_failed_cell_has_its_line_and_is_tried_again(begun, toy, tmp_path, monkeypatch):
    store = tmp_path / "s.sqlite"
    grid = {"fault": ["", "raise"]}
    done = ew.sweep("toy", grid, seeds=2, store=store)
    assert (done.done, done.failed, done.complete) == (2, 2, False)
    assert [c.error for c in done.cells] == [None, None, *["RuntimeError: two lines"] * 2]
    assert done.rows()[1] == {"fault": "raise", "seeds": 0, "values": []}
    with reading(store) as opened:
        (run,) = opened.runs()
        assert (run.done, run.failed) == (2, 2)
    begun.clear()
    monkeypatch.setattr(toy, "fault", lambda settings: None)
    again = ew.sweep("toy", grid, seeds=2, store=store)
    assert begun == [(4.0, 0)]
    assert again.complete
    assert again.cells[2].error is None


@pytest.mark.slow
def test_a_cell_that_kills_its_workers_fails_alone(toy, tmp_path):
    flag = tmp_path / "flag"
    done = ew.sweep(
        "toy",
        {"fault": ["die", "", "die once"]},
        fixed={"steps": 150, "pause": 0.01, "flag": str(flag)},  # the others outlive it
        seeds=2,
        workers=2,
        store=tmp_path / "s.sqlite",
    )
    assert [c.error is None for c in done.cells] == [False, False, True, True, True, True]
    assert "5 workers died" in done.cells[0].error
    assert flag.exists()
    assert done.cells[4].numbers == {"value": expected(0, 4.0, 150)}


class Forgetful(Serial):
    """An executor that loses pieces, comes back late, and has no room at first."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def room(self):
        self.calls += 1
        return 0 if self.calls < 3 else super().room()

    def wait(self):
        if self._taken is None:
            return []
        (job, outcome), *_ = super().wait()
        return [(job, Lost.LOST if self.calls % 2 else outcome)]


def test_what_an_executor_loses_is_done_again(toy, tmp_path, monkeypatch):
    monkeypatch.setattr("earnshaw.experiments.sweeps.sweep.Serial", Forgetful)
    fixed = {"steps": 60, "pause": 0.001}
    done = ew.sweep("toy", GRID, fixed=fixed, seeds=4, store=tmp_path / "s.sqlite")
    values = [c.numbers["value"] for c in done.cells]
    assert values == [expected(s, r, 60) for r in (4.0, 3.99) for s in range(4)]


def test_progress_adds_up(toy, tmp_path, monkeypatch):
    seen = []
    fixed = {"steps": 30, "pause": 0.002}
    ew.sweep("toy", GRID, fixed=fixed, seeds=4, store=tmp_path / "s", watch=seen.append)
    fractions = [one.fraction for one in seen]
    assert fractions[0] == 0
    assert seen[0].seconds_left is None
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)
    assert seen[-1].seconds_left == pytest.approx(0, abs=1e-6)
    assert (seen[-1].cells, seen[-1].done, seen[-1].failed) == (8, 8, 0)
    assert sum(len(one.finished) for one in seen) == 4
    assert all(one.under_way for one in seen[:-1])
    assert seen[-1].under_way == ()
    assert any(0 < one.under_way[0].fraction < 1 for one in seen[:-1])


def test_checkpoints_come_often_enough():
    """Well within 30 s: a piece may take twice its time, and be the first not to be kept."""
    assert dispatch.CHECKPOINT_SECONDS + 2 * executor.PIECE_SECONDS < 30


def test_long_blocks_are_kept_on_the_way(toy, tmp_path):
    store = tmp_path / "s.sqlite"
    kept = []

    def look(progress):
        with sqlite3.connect(store) as db:
            kept.extend(db.execute("SELECT fraction, seconds FROM checkpoints").fetchall())
        db.close()

    ew.sweep("toy", fixed={"steps": 30, "pause": 0.002}, store=store, watch=look)
    assert len(set(kept)) > 1
    assert kept == sorted(kept)
    look(None)
    with sqlite3.connect(store) as db:
        assert db.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
    db.close()


def test_a_worker_of_another_version_ends_the_sweep(toy, tmp_path, monkeypatch):
    job = Job("toy", toy.check({}), 0, "0.0.1", "")
    refused = do(job, None, 1.0)
    assert isinstance(refused, Failure)
    assert refused.fatal
    monkeypatch.setattr("earnshaw.experiments.sweeps.sweep.code_version", lambda kind: "0.0.1")
    store = tmp_path / "s.sqlite"
    with pytest.raises(EarnshawError, match=r"a worker runs earnshaw '.*'; allowed: '0\.0\.1'"):
        ew.sweep("toy", store=store)
    with reading(store) as opened:
        assert [(run.done, run.failed) for run in opened.runs()] == [(0, 0)]


def test_rows_have_medians_ranges_and_infinite_values(toy, tmp_path, monkeypatch):
    done = ew.sweep("toy", GRID, seeds=6, store=tmp_path / "s")
    values = [expected(s, 4.0, 100) for s in range(6)]
    row = done.rows()[0]
    assert row["median"] == np.median(values)
    assert (row["low"], row["high"], row["seeds"]) == (min(values), max(values), 6)
    assert row["mean"] == np.mean(values)
    with pytest.raises(EarnshawError, match="no number 'error' in the results; allowed: value"):
        done.rows("error")
    with np.errstate(over="ignore"):
        diverged = ew.sweep("toy", {"rate": [50.0]}, store=tmp_path / "s")
    assert diverged.rows()[0]["median"] == np.inf


@pytest.mark.slow
def test_a_full_disk_stops_a_sweep_that_goes_on_later(toy, tmp_path, monkeypatch):
    from earnshaw.experiments.store import store as stores

    @contextmanager
    def small(path):
        with opened_to_write(path) as db:
            db.execute("PRAGMA max_page_count = 20")
            yield db

    path = tmp_path / "s.sqlite"
    with monkeypatch.context() as disk:
        disk.setattr(stores, "opened_to_write", small)
        with pytest.raises(EarnshawError, match="the disk is full; what was finished is kept"):
            ew.sweep("toy", GRID, seeds=60, store=path)
    with reading(path) as opened:
        assert 0 < opened.runs()[0].done < 120
    done = ew.sweep("toy", GRID, seeds=60, store=path)
    values = [c.numbers["value"] for c in done.cells]
    assert values == [expected(s, r, 100) for r in (4.0, 3.99) for s in range(60)]


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True])
def test_workers_are_counted(toy, tmp_path, workers):
    with pytest.raises(EarnshawError, match="workers is"):
        ew.sweep("toy", workers=workers, store=tmp_path / "s")
    assert not (tmp_path / "s").exists()
