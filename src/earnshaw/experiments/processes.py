"""Processes of this machine that call functions for this one (the other end is `worker.py`).

Processes of our own, not of `multiprocessing`, which would import the user's script again in every
one of them: a script that calls `ew.sweep` needs no guard.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any

from earnshaw.limits import check_integer

WORKER = "earnshaw.experiments.worker"
WORKERS_A_CORE = 8  # more only take memory, hundreds of megabytes each


def check_workers(workers: Any) -> int:
    """The number of processes, if it is one that this machine may have."""
    return check_integer("workers", workers, 1, WORKERS_A_CORE * (os.cpu_count() or 1))


class Lost(Enum):
    """What a call returns whose process died."""

    LOST = "lost"


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

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of a module returns there. In a thread, which starts no process."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump((function, arguments), self._process.stdin)
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
