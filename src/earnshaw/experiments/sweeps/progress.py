"""How far a sweep has come: what a progress display needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class BlockProgress:
    """A block of seeds that some worker is at: which, how much of it is done, and a note."""

    label: str
    fraction: float
    note: str


@dataclass(frozen=True)
class SweepProgress:
    """One moment of a sweep.

    Attributes:
        cells, done, failed: of all cells of the sweep, also those that an earlier one finished.
        under_way: the blocks in work.
        fraction: of this sweep's own work that is done.
        seconds: since it began.
        finished: what was finished since the last report, in words.
    """

    cells: int
    done: int
    failed: int
    under_way: tuple[BlockProgress, ...]
    fraction: float
    seconds: float
    finished: tuple[str, ...] = ()

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest will take; None before anything is known."""
        if self.fraction <= 0:
            return None
        return self.seconds * max(0.0, 1 - self.fraction) / self.fraction


Watch = Callable[[SweepProgress], None]
