"""Sweeps that are killed, again and again, in whatever state: nothing is lost or changed."""

import os
import random
import signal
import sqlite3
import time
from types import SimpleNamespace

import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds import learning
from earnshaw.experiments.store.store import reading
from earnshaw.experiments.sweeps.plan import plan
from experiments.sweeps.toy import alive, expected, gone, sweeping

pytestmark = pytest.mark.slow

TOY = {
    "kind": "toy",
    "grid": {"rate": [4.0, 3.99]},
    "fixed": {"steps": 400, "pause": 0.002},  # 0.8 s a block, and more where sleep is coarse
    "seeds": 6,
}
TRAIN = {
    "kind": "train",
    "grid": {"width": [3]},
    "fixed": {"iterations": 300_000, "test_samples": 50, "records": 20, "dim": 2},
    "seeds": 15,
}


def killed(store, token, count, workers, chance, longest, **asked):
    """Kill a sweep `count` times, then let it end; how often a checkpoint was left behind."""
    left = 0
    for i in range(count):
        process = sweeping(store, token, workers=workers, **asked)
        if i % 3:  # else anywhere from the start of the process
            assert process.stdout.readline() == "begun\n", process.stderr.read()
        time.sleep(chance.uniform(0, longest))
        process.kill()
        out, _ = process.communicate()
        assert "done" not in out  # else this was no kill
        assert gone(token), alive(token)
        if store.exists():
            with sqlite3.connect(store) as db:
                left += db.execute("SELECT count(*) > 0 FROM checkpoints").fetchone()[0]
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            db.close()
    process = sweeping(store, token, workers=workers, **asked)
    out, error = process.communicate()
    assert out.endswith("done\n"), error
    assert gone(token)
    return left


def table(store):
    with reading(store) as opened:
        return [
            (c.settings, c.seed, c.numbers, {k: v.tobytes() for k, v in c.arrays.items()})
            for c in opened.cells(1)
        ]


@pytest.mark.parametrize("workers", [1, 2])
def test_ten_kills_change_nothing(tmp_path, workers):
    chance = random.Random(workers)
    store = tmp_path / "killed.sqlite"
    assert killed(store, f"toy{tmp_path}", 10, workers, chance, 0.2, **TOY) >= 3
    found = {(c[0]["rate"], c[1]): c[2]["value"] for c in table(store)}
    assert found == {(r, s): expected(s, r, 400) for r in (4.0, 3.99) for s in range(6)}


def test_ten_kills_of_training_change_nothing(tmp_path):
    store, whole = tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    left = killed(store, f"train{tmp_path}", 10, 1, random.Random(3), 0.1, **TRAIN)
    assert left >= 3
    ew.sweep(**TRAIN, store=whole)
    assert table(store) == table(whole)


@pytest.mark.slow
def test_ten_kills_of_training_with_workers_change_nothing(tmp_path):
    store, whole = tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    left = killed(store, f"train{tmp_path}", 10, 2, random.Random(4), 0.2, **TRAIN)
    assert left >= 3
    ew.sweep(**TRAIN, store=whole)
    assert table(store) == table(whole)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_at_once_and_the_store_has_one_writer(tmp_path, workers, toy):
    store, token = tmp_path / "s.sqlite", f"ctrl-c{tmp_path}"
    slow = TOY | {"fixed": TOY["fixed"] | {"pause": 0.02}}  # not done before it is interrupted
    process = sweeping(store, token, workers=workers, **slow)
    assert process.stdout.readline() == "begun\n"
    with pytest.raises(EarnshawError, match=f"in use by process {process.pid};"):
        ew.sweep(**slow, store=store)
    with reading(store) as opened:  # readers are welcome
        assert opened.runs()[0].cells == 12
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert out == ""
    assert process.returncode != 0
    assert error.count("Traceback") == 1  # the sweep's own, none of a worker
    assert error.rstrip().endswith("KeyboardInterrupt")
    assert gone(token)
    asked = plan(TOY["kind"], TOY["grid"], fixed=TOY["fixed"] | {"pause": 0.0}, seeds=6)
    assert ew.sweep(asked, store=store).complete


def test_ctrl_c_ends_learning_too(tmp_path, monkeypatch):
    """`ew.learn` itself answers Ctrl-C with what it has; a sweep must not go on with that."""
    pressed = SimpleNamespace(stop="interrupted")
    monkeypatch.setattr("earnshaw.learning.learn.learn", lambda *args, **kwargs: pressed)
    monkeypatch.setattr(learning.Learning, "teacher", lambda self, seed: None)
    monkeypatch.setattr(learning, "_check_objective", lambda text: None)
    with pytest.raises(KeyboardInterrupt):
        ew.sweep("learn", store=tmp_path / "s.sqlite")


def test_a_killed_worker_costs_nothing(tmp_path, toy):
    token, store = f"worker{tmp_path}", tmp_path / "s.sqlite"
    process = sweeping(store, token, workers=2, **TOY)
    assert process.stdout.readline() == "begun\n"
    for _ in range(3):
        workers = [pid for pid in alive(token) if pid != process.pid]
        os.kill(random.Random(0).choice(workers), signal.SIGKILL)
        time.sleep(0.3)
    out, error = process.communicate()
    assert out == "done\n", error
    found = {(c[0]["rate"], c[1]): c[2]["value"] for c in table(store)}
    assert found == {(r, s): expected(s, r, 400) for r in (4.0, 3.99) for s in range(6)}
