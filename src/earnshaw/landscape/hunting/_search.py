"""Every start of a hunt, from where it begins to where it ends.

Starts go down in rounds: gradient descent for all that still run, then Newton's method for
those that may be at the bottom of a bowl (`_newton.py`). Batches are filled anew from the
running starts in each round, so that finished starts cost nothing. What becomes of a start depends
on no other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import IntEnum

import numpy as np

from earnshaw.descent.loop import Progress, Report
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._newton import newton_to_bottom
from earnshaw.landscape.hunting._walkers import Walkers

PIECE = 100  # iterations of a round
PATIENCE = 1.5  # Newton's method is tried again after this many times the iterations so far
DENSE = 1500  # coordinates up to which Newton's method is affordable
NEAR = 1e-3  # the gradient, in units of the loss's own, below which Newton's method is tried


class Status(IntEnum):
    """Where a start is: on its way, at a critical point, or out of iterations."""

    RUNNING = 0
    ARRIVED = 1
    LIMIT = 2


@dataclasses.dataclass
class Search:
    """All starts of a hunt, at one moment: enough to go on from. Arrays over the starts."""

    walkers: Walkers
    status: np.ndarray
    next_try: np.ndarray  # the iteration from which on Newton's method is tried

    @property
    def running(self) -> np.ndarray:
        """The numbers of the starts that still run."""
        return np.flatnonzero(self.status == Status.RUNNING)

    @property
    def arrived(self) -> np.ndarray:
        """The numbers of the starts that are at a critical point."""
        return np.flatnonzero(self.status == Status.ARRIVED)


def begin(walkers: Walkers) -> Search:
    """Before the first step."""
    count = len(walkers.value)
    return Search(walkers, np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64))


def run_search(
    batches: Batches,
    search: Search,
    iterations: int,
    *,
    report: Report | None = None,
    checkpoint: Callable[[Search], None] | None = None,
) -> None:
    """Descend, in place, until every start has ended or made so many `iterations`."""
    more = (search.status == Status.LIMIT) & (search.walkers.iterations < iterations)
    search.status[more] = Status.RUNNING  # a stored hunt that may now go further
    near = NEAR * batches.loss.gradient_scale()
    while len(search.running):
        _round(batches, search, iterations, near)
        if checkpoint is not None:
            checkpoint(search)
        if report is not None:
            report(_progress(search))


def _round(batches: Batches, search: Search, iterations: int, near: float) -> None:
    """A piece of descent for all that run, then the ends of those that are there."""
    walkers, running = search.walkers, search.running
    begun = running[walkers.iterations[running] == 0]
    if len(begun):
        first = batches.evaluate(walkers.positions[begun], walkers.weights[begun])
        walkers.put(begun, first)
    made = int(np.min(walkers.iterations[running]))
    until = min(iterations, (made // PIECE + 1) * PIECE)
    walkers.put(running, batches.descend(walkers.take(running), until - made))
    still = walkers.gradient_norms[running] <= batches.tolerance
    late = walkers.iterations[running] >= search.next_try[running]
    if batches.cusps:  # at a cusp gradients need not be small
        due = running[late | still]
    else:
        due = running[late & (walkers.gradient_norms[running] <= near)]
    if len(due) and batches.freedom <= DENSE:
        ends, there = newton_to_bottom(batches, walkers.take(due), near)
        walkers.put(due[there], ends.take(there))
        search.status[due[there]] = Status.ARRIVED
        later = due[~there]
        search.next_try[later] = np.ceil(PATIENCE * walkers.iterations[later])
    search.status[running[still]] = Status.ARRIVED
    over = (walkers.iterations >= iterations) & (search.status == Status.RUNNING)
    search.status[over] = Status.LIMIT


def _progress(search: Search) -> Progress:
    count = len(search.status)
    ended = count - len(search.running)
    most = int(np.max(search.walkers.iterations))
    return Progress(ended, count, f"{ended} of {count} starts ended, {most} iterations")
