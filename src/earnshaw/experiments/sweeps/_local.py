"""Pieces of a sweep in processes of this machine.

Each process has a thread here that waits for it. One that dies loses its own piece, no other's, and
the next piece starts a new one.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress

from earnshaw.experiments.sweeps import _executor as executor
from earnshaw.experiments.sweeps._executor import Executor, Lost, PieceOutcome
from earnshaw.experiments.sweeps._job import Job

PATIENCE = 1.0  # seconds between two looks at the clock
WORKER = "earnshaw.experiments.sweeps.worker"


class Worker:
    """A process, if it has been started."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, if it is not running; it finds modules where this process does."""
        if self._process is None:
            path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": path},
                start_new_session=True,  # a terminal's Ctrl-C is for the parent alone
            )

    def do(self, job: Job, state: bytes | None) -> PieceOutcome:
        """Have it do a piece. Called in a thread, which starts and ends no process."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump((job, state, executor.PIECE_SECONDS), self._process.stdin)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            return Lost.LOST

    def kill(self) -> None:
        """End the process at once; the thread that waits for it then gets `LOST`."""
        if self._process is not None:
            self._process.kill()

    def bury(self) -> None:
        """Kill it and forget it. Only when no thread waits for it."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError):  # what could not be sent to it
                self._process.__exit__(None, None, None)
            self._process = None


class LocalProcesses(Executor):
    """As many processes as asked for."""

    def __init__(self, workers: int) -> None:
        self._all = [Worker() for _ in range(workers)]
        self._idle = list(self._all)
        self._threads = ThreadPoolExecutor(workers)
        self._under_way: dict[Future[PieceOutcome], tuple[Job, Worker]] = {}

    def room(self) -> int:
        return len(self._idle)

    def submit(self, job: Job, state: bytes | None) -> None:
        worker = self._idle.pop()
        worker.start()
        self._under_way[self._threads.submit(worker.do, job, state)] = job, worker

    def wait(self) -> list[tuple[Job, PieceOutcome]]:
        done, _ = wait(self._under_way, PATIENCE, FIRST_COMPLETED)
        outcomes = []
        for future in done:
            job, worker = self._under_way.pop(future)
            outcomes.append((job, future.result()))
            if future.result() is Lost.LOST:
                worker.bury()
            self._idle.append(worker)
        return outcomes

    def close(self) -> None:
        for worker in self._all:
            worker.kill()
        self._threads.shutdown()
        for worker in self._all:
            worker.bury()
