"""Pieces of a sweep in processes of this machine.

Each process has a thread here that waits for it. One that dies loses its own piece, no other's, and
the next piece starts a new one.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from earnshaw.experiments.processes import Lost, Worker
from earnshaw.experiments.sweeps import _executor as executor
from earnshaw.experiments.sweeps._executor import Executor, PieceOutcome
from earnshaw.experiments.sweeps._job import Job, do

PATIENCE = 1.0  # seconds between two looks at the clock


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
        future = self._threads.submit(worker.call, do, job, state, executor.PIECE_SECONDS)
        self._under_way[future] = job, worker

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
