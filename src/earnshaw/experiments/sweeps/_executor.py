"""Where the pieces of a sweep are done: here, in local processes, or on a cluster.

An executor takes jobs while it has room and gives back outcomes in any order. `LOST` is the outcome
of a piece whose worker died: the piece is done again, by another.
"""

from __future__ import annotations

import abc

from earnshaw.experiments.kinds.kind import Piece
from earnshaw.experiments.processes import Lost
from earnshaw.experiments.sweeps._job import Failure, Job, do

PIECE_SECONDS = 4.0  # how long a process works before it gives back what it has


PieceOutcome = Piece | Failure | Lost


class Executor(abc.ABC):
    """Takes jobs while it has `room`, and gives back what became of them by `wait`."""

    @abc.abstractmethod
    def room(self) -> int:
        """How many more pieces it would take now."""

    @abc.abstractmethod
    def submit(self, job: Job, state: bytes | None) -> None:
        """Begin the next piece of a job from `state` (None at the start), if there is room."""

    @abc.abstractmethod
    def wait(self) -> list[tuple[Job, PieceOutcome]]:
        """Outcomes, as soon as there are any; none after a while, so that time can be shown."""

    @abc.abstractmethod
    def close(self) -> None:
        """Drop what is under way."""


class Serial(Executor):
    """In this process, one piece after the other."""

    def __init__(self) -> None:
        self._taken: tuple[Job, bytes | None] | None = None

    def room(self) -> int:
        return int(self._taken is None)

    def submit(self, job: Job, state: bytes | None) -> None:
        self._taken = job, state

    def wait(self) -> list[tuple[Job, PieceOutcome]]:
        assert self._taken is not None
        (job, state), self._taken = self._taken, None
        return [(job, do(job, state, PIECE_SECONDS))]

    def close(self) -> None:
        self._taken = None
