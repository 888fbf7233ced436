"""Hours of sweeps whose processes are killed at random: nothing lost or done twice, memory flat.

Four sweeps at once: orbits of the logistic map (many cells that cost nothing) and the training of
small networks (JAX), each in local processes and on one Dask cluster. Workers are killed (SIGKILL)
at random, in each pool about every 80 s, and replaced; in the first half of the time the clients
are killed too, and started again. In the second half clients and the oldest worker of each pool are
left alone: there memory is measured, since a process that has just begun says nothing. Workers
sleep between pieces, so that the machine can be used meanwhile. Dask's own processes keep logs that
grow for an hour or more: its scheduler by 0.6 kB a task, also of tasks that do nothing.

At the end each store is compared, to the bit, with that of the same sweep in one process that
nobody killed: settings, seeds, numbers and arrays of every cell, in order; no cell more in the file
than in the sweep, no checkpoint left, no process left.

    nice -n 15 python benchmarks/load.py --folder /tmp/load/run            (two hours)
    nice -n 15 python benchmarks/load.py --folder /tmp/load/trial --minutes 3
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).absolute().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).absolute().parent))

from earnshaw.experiments.kinds.kind import Piece
from earnshaw.experiments.kinds.registry import KINDS
from earnshaw.experiments.kinds.training import TrainingKind
from experiments.sweeps.toy import TOKEN, Toy, alive

ROLE, PAUSE = "EARNSHAW_LOAD_ROLE", "EARNSHAW_LOAD_PAUSE"  # in the environment of our processes
WORKER_LIFE = 80.0  # mean seconds between two kills of workers of a pool
CLIENT_KILLS = 12  # of each client, about, in the first half of the time
SAMPLE = 5.0  # seconds between two looks at the memory
WARM = 120.0  # seconds of a process's life before its memory counts
WORKERS = 2  # of each pool of local processes
DASK_WORKERS = 3
GONE = 30.0  # seconds within which the workers of a killed client must have ended
BLOCKS = {  # of each sweep, a minute of the time asked for: about what gets done
    "toy-local": 57,
    "toy-dask": 27,
    "train-local": 10,
    "train-dask": 11,
}


class SlowToy(Toy):
    """One step a piece."""

    def advance(self, settings: Any, block: int, state: bytes | None, seconds: float) -> Piece:
        time.sleep(0.5 * float(os.environ.get(PAUSE, "0")))
        return super().advance(settings, block, state, 0.0)


class SlowTraining(TrainingKind):
    """One call of the compiled code a piece."""

    def advance(self, settings: Any, block: int, state: bytes | None, seconds: float) -> Piece:
        time.sleep(1.5 * float(os.environ.get(PAUSE, "0")))
        return super().advance(settings, block, state, 0.0)


KINDS["toy"], KINDS["train"] = SlowToy(), SlowTraining()


def asked(name: str, minutes: float) -> dict[str, Any]:
    """The sweep of that name, as arguments of `ew.sweep`."""
    blocks = max(2, round(BLOCKS[name] * minutes))
    if name.startswith("toy"):
        return {
            "kind": "toy",
            "grid": {"rate": [4.0, 3.99]},
            "fixed": {"steps": 4},
            "seeds": blocks,  # two a block, for each of two rates
        }
    return {
        "kind": "train",
        "grid": {"width": [2, 3]},
        "fixed": {"iterations": 3000, "test_samples": 50, "records": 4, "dim": 2},
        "seeds": 5 * blocks // 2,
    }


# --- processes ------------------------------------------------------------------------------------


def client() -> None:
    """A sweep; its local workers are this file again."""
    from earnshaw.experiments.sweeps import _local as local
    from earnshaw.experiments.sweeps.sweep import sweep

    local.WORKER, os.environ[ROLE] = "load", "worker"
    assert sweep(**json.loads(sys.argv[1])).complete


def worker() -> None:
    """A local worker that knows the kinds of this file."""
    from earnshaw.experiments.sweeps.worker import main

    main()


def processes(name: str, folder: Path) -> list[int]:
    """Those of a sweep, or of a part of the cluster, in the order of their numbers."""
    return sorted(alive(f"{folder}/{name}"))


def started(command: list[str], folder: Path, name: str, role: str, pause: int) -> Any:
    """A process of ours, whose words go to a file."""
    environment = os.environ | {
        TOKEN: f"{folder}/{name}",
        ROLE: role,
        PAUSE: str(pause),
        "PYTHONPATH": os.pathsep.join(sys.path[:2]),
        "JAX_COMPILATION_CACHE_DIR": str(folder / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    with open(folder / f"{name}.err", "ab") as words:
        return subprocess.Popen(
            [sys.executable, *command],
            env=environment,
            stdout=words,
            stderr=words,
            start_new_session=True,
            cwd=folder,
        )


def sweeping(name: str, arguments: dict[str, Any], folder: Path, pause: int = 1) -> Any:
    """A client, on its way."""
    return started([__file__, json.dumps(arguments)], folder, name, "client", pause)


class DaskCluster:
    """A scheduler, and workers that come and go."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder, self.address = folder, f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--port", str(port), "--no-show")
        self.workers: list[Any] = []
        for _ in range(DASK_WORKERS):
            self.join()

    def _start(self, what: str, *arguments: str) -> Any:
        command = ["-m", f"distributed.cli.dask_{what}", *arguments]
        command += ["--host", "127.0.0.1", "--no-dashboard"]
        return started(command, self.folder, f"dask-{what}", "dask", 1)

    def join(self) -> None:
        """One more worker."""
        how = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--preload", "load")
        where = ("--local-directory", str(self.folder / "dask"))
        self.workers.append(self._start("worker", self.address, *how, *where))

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@dataclass
class Client:
    """A sweep that is killed and begun again."""

    name: str
    folder: Path
    arguments: dict[str, Any]
    process: Any
    done: bool = False
    kills: int = 0
    problems: list[str] = field(default_factory=list)

    def finished(self) -> int:
        """Cells that the store has."""
        try:
            with sqlite3.connect(f"file:{self.folder}/{self.name}.sqlite?mode=ro", uri=True) as db:
                (count,) = db.execute("SELECT count(*) FROM cells").fetchone()
            db.close()
        except sqlite3.Error:  # not there yet, or being made
            return 0
        return int(count)

    def local_workers(self) -> list[int]:
        """The oldest first, as far as numbers of processes tell."""
        there = processes(self.name, self.folder)
        return [pid for pid in there if pid != self.process.pid]


# --- what is measured -----------------------------------------------------------------------------


def resident(pid: int) -> float | None:
    """The memory of a process, in MB; None if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """Of a process so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


Series = dict[tuple[str, int], list[tuple[float, float]]]  # (who, pid): seconds, MB


def memory_lines(series: Series, since: float) -> Iterator[str]:
    """Of each process that lived long enough: means of the quarters, and the slope.

    The slope is that of the least squares line through the means of 12 equal stretches of time, its
    error from their scatter: single samples are not independent.
    """
    yield f"{'process':22s} {'minutes':>8s} {'first quarter':>14s} {'last quarter':>14s}   slope"
    for (who, _), seen in sorted(series.items()):
        t, mb = np.array(seen).T
        counted = t >= max(since, t[0] + WARM)
        t, mb = t[counted], mb[counted]
        if len(t) < 48:
            continue
        hours = np.array([part.mean() for part in np.array_split(t, 12)]) / 3600
        means = np.array([part.mean() for part in np.array_split(mb, 12)])
        (slope, _), covariance = np.polyfit(hours, means, 1, cov=True)
        quarters = np.array_split(mb, 4)
        yield (
            f"{who:22s} {(t[-1] - t[0]) / 60:8.1f} {quarters[0].mean():11.2f} MB "
            f"{quarters[-1].mean():11.2f} MB   {slope:+.3f} +- {np.sqrt(covariance[0, 0]):.3f} MB/h"
        )


def table(store: Path) -> list[Any]:
    """Every cell of the one run of a store, in order."""
    from earnshaw.experiments.store.store import reading

    with reading(store) as opened:
        (run,) = opened.runs()
        return [
            (c.settings, c.seed, c.numbers, c.error, {k: v.tobytes() for k, v in c.arrays.items()})
            for c in opened.cells(run.id)
        ]


def differences(name: str, folder: Path) -> list[str]:
    """What is wrong with the store of a sweep; nothing, we hope."""
    store, wrong = folder / f"{name}.sqlite", []
    found, whole = table(store), table(folder / f"{name}-whole.sqlite")
    if found != whole:
        wrong.append(f"{sum(a != b for a, b in zip(found, whole, strict=True))} cells differ")
    with sqlite3.connect(store) as db:
        (integrity,) = db.execute("PRAGMA integrity_check").fetchone()
        (cells,) = db.execute("SELECT count(*) FROM cells").fetchone()
        (checkpoints,) = db.execute("SELECT count(*) FROM checkpoints").fetchone()
    db.close()
    # Blocks are kept whole: the last of each setting may have seeds that nobody asked for.
    if integrity != "ok" or checkpoints or not 0 <= cells - len(found) < 10:
        wrong.append(f"integrity {integrity}, {cells} cells, {checkpoints} checkpoints")
    print(f"{name}: {len(found)} cells compared to the bit, {len(wrong)} differences", flush=True)
    return wrong


# --- the run --------------------------------------------------------------------------------------


def drive(minutes: float, folder: Path, seed: int) -> int:
    """All of it; the number of problems."""
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    began, end = time.monotonic(), 60 * minutes
    client_life = end / 2 / CLIENT_KILLS
    cluster = DaskCluster(folder)
    clients, serial = [], []
    for name in BLOCKS:
        arguments = asked(name, minutes)
        alone = arguments | {"store": f"{name}-whole.sqlite"}
        serial.append(sweeping(f"{name}-whole", alone, folder, pause=0))
        where = {"cluster": cluster.address} if name.endswith("dask") else {"workers": WORKERS}
        arguments |= {"store": f"{name}.sqlite"} | where
        process = sweeping(name, arguments, folder)
        clients.append(Client(name, folder, arguments, process))
    pools = ["toy-local", "train-local", "dask"]
    next_kill = {pool: chance.expovariate(1 / WORKER_LIFE) for pool in pools}
    next_kill |= {f"client {c.name}": chance.expovariate(1 / client_life) for c in clients}
    worker_kills = dict.fromkeys(pools, 0)
    series: Series = {}
    used: dict[int, float] = {}
    next_sample = next_line = 0.0
    late = end + max(300.0, 0.5 * end)

    while not all(one.done for one in clients) and (now := time.monotonic() - began) < late:
        time.sleep(0.5)
        for one in clients:
            _look_after(one)
        spared = now > end / 2
        for pool in pools:
            if now < next_kill[pool] or now > end:
                continue
            next_kill[pool] = now + chance.expovariate(1 / WORKER_LIFE)
            worker_kills[pool] += _kill_a_worker(pool, clients, cluster, chance, spared)
        for one in clients:
            if not one.done and not spared and now > next_kill[f"client {one.name}"]:
                next_kill[f"client {one.name}"] = now + chance.expovariate(1 / client_life)
                _kill_client(one)
        if now > next_sample:
            next_sample = now + SAMPLE
            for who, pid in _everybody(clients, cluster):
                used[pid] = max(used.get(pid, 0.0), cpu_seconds(pid))
                if (mb := resident(pid)) is not None:
                    series.setdefault((who, pid), []).append((now, mb))
        if now > next_line:
            next_line = now + 60
            _say(now, clients, worker_kills, used)

    problems = [f"{one.name}: {text}" for one in clients for text in one.problems]
    problems += [f"{one.name}: not done in time" for one in clients if not one.done]
    codes = [process.wait() for process in serial]
    problems += [f"a sweep without kills ended with {code}" for code in codes if code]
    cluster.close()
    for one in clients:
        if one.done:
            problems += [f"{one.name}: {text}" for text in differences(one.name, folder)]
        elif one.process.poll() is None:
            one.process.kill()
    time.sleep(2)
    names = [*BLOCKS, *(f"{name}-whole" for name in BLOCKS), "dask-worker", "dask-scheduler"]
    left = [pid for name in names for pid in processes(name, folder)]
    problems += [f"process {pid} left over" for pid in left]

    print(*memory_lines(series, end / 2), sep="\n")
    print(f"kills of workers: {worker_kills}; of clients: { {c.name: c.kills for c in clients} }")
    print(f"{len(problems)} problems", *problems, sep="\n", flush=True)
    return len(problems)


def _look_after(one: Client) -> None:
    """See whether a client has ended; it may only because it is done."""
    if one.done or (code := one.process.poll()) is None:
        return
    one.done = code == 0
    if code:
        one.problems.append(f"ended by itself with {code}")
        one.process = sweeping(one.name, one.arguments, one.folder)


def _kill_client(one: Client) -> None:
    """Kill it, see its workers go, and begin it again."""
    one.process.kill()
    one.process.wait()
    one.kills += 1
    until = time.monotonic() + GONE
    while (left := processes(one.name, one.folder)) and time.monotonic() < until:
        time.sleep(0.1)
    if left:
        one.problems.append(f"{len(left)} workers outlived their client by {GONE:.0f} s")
    one.process = sweeping(one.name, one.arguments, one.folder)


def _kill_a_worker(
    pool: str, clients: list[Client], cluster: DaskCluster, chance: random.Random, spared: bool
) -> int:
    """Kill one, if there is one, and on a cluster let another join."""
    if pool == "dask":
        unlucky = chance.choice(cluster.workers[spared:])
        unlucky.kill()
        unlucky.wait()
        cluster.workers.remove(unlucky)
        cluster.join()
        return 1
    (one,) = (one for one in clients if one.name == pool)
    there = [] if one.done else one.local_workers()[spared:]
    if not there:
        return 0
    try:
        os.kill(chance.choice(there), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _everybody(clients: list[Client], cluster: DaskCluster) -> Iterator[tuple[str, int]]:
    yield "scheduler", cluster.scheduler.pid
    for process in cluster.workers:
        yield "worker dask", process.pid
    for one in clients:
        if not one.done:
            yield f"client {one.name}", one.process.pid
            for pid in one.local_workers():
                yield f"worker {one.name}", pid


def _say(
    now: float, clients: list[Client], worker_kills: dict[str, int], used: dict[int, float]
) -> None:
    dead = f"{sum(worker_kills.values())} workers and {sum(c.kills for c in clients)} clients"
    done = ", ".join(f"{c.name} {c.finished()}{' (all)' if c.done else ''}" for c in clients)
    wrong = sum(len(c.problems) for c in clients)
    core = sum(used.values()) / max(now, 1.0)
    print(
        f"{now / 60:6.1f} min, killed {dead}, cells {done}, {wrong} problems, {core:.2f} cores",
        flush=True,
    )


def main() -> None:
    """The driver, or what the environment says."""
    role = os.environ.get(ROLE)
    if role == "client":
        client()
    elif role == "worker":
        worker()
    else:
        options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
        options.add_argument("--minutes", type=float, default=120.0)
        options.add_argument("--folder", type=Path, required=True)
        options.add_argument("--seed", type=int, default=0)
        given = options.parse_args()
        sys.exit(drive(given.minutes, given.folder.absolute(), given.seed) > 0)


if __name__ == "__main__":
    main()
