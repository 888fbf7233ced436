"""The same sweep here, in local processes and on a real Dask cluster; workers die and join."""

import os
import socket
import subprocess
import sys

import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.store.store import reading
from earnshaw.experiments.sweeps import _cluster as clusters
from earnshaw.experiments.sweeps import _dispatch as dispatch
from earnshaw.experiments.sweeps import _executor as executor

pytestmark = pytest.mark.slow

TRAIN = (
    {"width": [3]},  # as in test_interrupted.py: compiled once
    {"iterations": 100_000, "test_samples": 50, "records": 20, "dim": 2},
)
LEARN = (
    {"activation": ["hermite-3"]},
    {"dim": 2, "units": 1, "method": "gd", "iterations": 20, "steps": 1e-3},
)


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.workers = []
        at = ("--host", "127.0.0.1", "--no-dashboard")
        self.scheduler = self._start("scheduler", "--port", str(port), "--no-show", *at)

    def _start(self, what, *arguments, **environment):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
        null = subprocess.DEVNULL
        return subprocess.Popen(
            command, env=os.environ | environment, stdout=null, stderr=null, cwd="/"
        )

    def join(self, **environment):
        how = ("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--no-dashboard")
        self.workers.append(self._start("worker", self.address, *how, **environment))

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 60)  # to start, on a busy machine
    made = Cluster()
    yield made
    made.close()


def cells(done):
    assert done.complete, [cell.error for cell in done.cells]
    return [
        (c.settings, c.seed, c.numbers, {name: a.tobytes() for name, a in c.arrays.items()})
        for c in done.cells
    ]


def test_everywhere_the_same_numbers(cluster, tmp_path, monkeypatch):
    """Of two workers the first is killed in the midst of training, and a third one joins.

    In the midst of learning the second is killed: then the third does the rest.
    """
    cluster.join()
    cluster.join()
    for kind, (grid, fixed), piece in (("train", TRAIN, 0.01), ("learn", LEARN, 0.0)):
        asked = {"kind": kind, "grid": grid, "fixed": fixed, "seeds": [0, 5]}  # two blocks
        here = cells(ew.sweep(**asked, store=tmp_path / f"{kind}-serial"))
        monkeypatch.setattr(executor, "PIECE_SECONDS", piece)
        monkeypatch.setattr(dispatch, "CHECKPOINT_SECONDS", 0.0)
        seen = []

        def watch(progress, kind=kind, seen=seen):
            seen.extend(one.fraction for one in progress.under_way)
            if any(seen):
                cluster.workers[kind == "learn"].kill()
                if len(cluster.workers) == 2:
                    cluster.join()

        store = tmp_path / f"{kind}-cluster"
        there = ew.sweep(**asked, store=store, cluster=cluster.address, watch=watch)
        assert len({f for f in seen if 0 < f < 1}) > 1  # it was cut
        assert cells(there) == here
        local = ew.sweep(**asked, store=tmp_path / f"{kind}-local", workers=2)
        assert cells(local) == here
    assert [worker.poll() is None for worker in cluster.workers] == [False, False, True]


def test_a_worker_without_earnshaw_and_a_scheduler_that_vanishes(cluster, tmp_path, toy):
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "earnshaw.py").write_text("raise ImportError('none here')\n")
    cluster.join(PYTHONPATH=str(tmp_path / "none"))
    store = tmp_path / "s.sqlite"
    with pytest.raises(EarnshawError, match=r"cannot run earnshaw \(ImportError: none here\)"):
        ew.sweep("toy", store=store, cluster=cluster.address)
    cluster.workers[0].kill()
    idle = []

    def vanish(progress):
        idle.append(progress.under_way)
        if len(idle) == 2:  # nobody is there to work; it waits
            cluster.scheduler.kill()
            clusters.CONNECT_SECONDS = 2

    with pytest.raises(EarnshawError, match=r"is gone .*the same command goes on") as gone:
        ew.sweep("toy", store=store, cluster=cluster.address, watch=vanish)
    assert "\n" not in str(gone.value)
    with reading(store) as opened:
        assert [(run.done, run.failed) for run in opened.runs()] == [(0, 0)]
    assert ew.sweep("toy", store=store).complete


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("tcp://127.0.0.1:9", "Timed out"),
        ("nowhere", "missing port"),
        ("http://127.0.0.1:9", "unknown address scheme"),
        ("127.0.0.1:port", "invalid literal"),
        ("", "the cluster is ''"),
        (8786, "the cluster is 8786"),
    ],
)
def test_no_scheduler_is_one_line(tmp_path, toy, monkeypatch, capfd, address, says):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.5)
    with pytest.raises(EarnshawError) as refused:
        ew.sweep("toy", store=tmp_path / "s.sqlite", cluster=address)
    assert says in str(refused.value)
    assert "dask scheduler" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert capfd.readouterr() == ("", "")  # Dask itself keeps quiet
    assert ew.sweep("toy", store=tmp_path / "s.sqlite").complete
