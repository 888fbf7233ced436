"""Pieces of a sweep in processes of this machine.

A worker that dies takes the pool with it: a new pool is made, and all pieces that were under way
are done again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_any

from earnshaw.experiments.sweeps.executor import PIECE_SECONDS, Executor, Lost, Outcome
from earnshaw.experiments.sweeps.job import Job, do

PATIENCE = 1.0  # seconds between two looks at the clock


class LocalProcesses(Executor):
    """As many processes as asked for."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = self._new_pool()
        self._under_way: dict[Future, Job] = {}

    def _new_pool(self) -> ProcessPoolExecutor:
        # Not forked: JAX has threads, and a forked child would inherit their locks.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin_worker)

    def room(self) -> int:
        return self.workers - len(self._under_way)

    def submit(self, job: Job, state: bytes | None) -> None:
        self._under_way[self._pool.submit(do, job, state, PIECE_SECONDS)] = job

    def wait(self) -> list[tuple[Job, Outcome]]:
        done, _ = wait(self._under_way, timeout=PATIENCE, return_when=FIRST_COMPLETED)
        outcomes: list[tuple[Job, Outcome]] = []
        broken = False
        for future in done:
            job = self._under_way.pop(future)
            try:
                outcomes.append((job, future.result()))
            except BrokenProcessPool:
                broken = True
                outcomes.append((job, Lost.LOST))
        if broken:
            outcomes += [(job, Lost.LOST) for job in self._under_way.values()]
            self._under_way = {}
            self.close()
            self._pool = self._new_pool()
        return outcomes

    def close(self) -> None:
        for process in list((self._pool._processes or {}).values()):  # no public way to stop them
            process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        wait_for_any([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
