"""A local worker process: jobs come in on standard input, outcomes go out on standard output.

A process of our own, not one of `multiprocessing`, which would import the user's script again in
every worker: a script that calls `ew.sweep` needs no guard. It ends with its parent, however that
ends, because then its input does.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue

from earnshaw.experiments.sweeps._job import do


def main() -> None:
    """Do one job after the other until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    outcomes = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be taken for an outcome
    jobs: SimpleQueue = SimpleQueue()
    threading.Thread(target=_receive, args=(jobs,), daemon=True).start()
    with suppress(BrokenPipeError):
        while True:
            pickle.dump(do(*jobs.get()), outcomes)
            outcomes.flush()


def _receive(jobs: SimpleQueue) -> None:
    """In a thread of its own, so that the end of the input is noticed in the midst of a piece."""
    try:
        while True:
            jobs.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
