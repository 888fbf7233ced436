"""Every start of a hunt, from where it begins to where it ends.

Starts go down in rounds: gradient descent for all that still run (`walkers.py`), then Newton's
method for those that may be at the bottom of a bowl (`polish.py`). Batches have one fixed size and
are filled anew from the running starts in each round: finished starts cost nothing, everything is
compiled once, and batches run on all cores at the same time (compiled code lets go of Python's
lock). What becomes of a start depends on no other.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum

import jax.numpy as jnp
import numpy as np

from earnshaw.descent.loop import Progress, Report
from earnshaw.energy.objective import freedom
from earnshaw.energy.population import PopulationLoss
from earnshaw.landscape.hunt.polish import hessians, polish
from earnshaw.landscape.hunt.walkers import Walkers, advance
from earnshaw.landscape.cusps import cusp_slopes, powers

BATCH = 64  # starts that go down side by side
NUMBERS = 2**22  # entries of the largest array that a batch may need
PIECE = 100  # iterations of a round
PATIENCE = 1.5  # a start is polished again after this many times its iterations
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


def begin(walkers: Walkers) -> Search:
    """Before the first step."""
    count = len(walkers.value)
    return Search(walkers, np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64))


def go(
    loss: PopulationLoss,
    search: Search,
    tolerance: float,
    iterations: int,
    *,
    report: Report | None = None,
    checkpoint: Callable[[Search], None] | None = None,
) -> bool:
    """Go on, in place, until every start has ended; whether it was interrupted before."""
    search.status[search.status == Status.LIMIT] = Status.RUNNING  # there may be more allowed now
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        rounds = _Rounds(loss, tolerance, iterations, pool)
        try:
            while len(search.running):
                rounds.one(search)
                if checkpoint is not None:
                    checkpoint(search)
                if report is not None:
                    report(_progress(search))
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            return True
    return False


def _progress(search: Search) -> Progress:
    count = len(search.status)
    ended = count - len(search.running)
    most = int(np.max(search.walkers.iterations))
    return Progress(ended, count, f"{ended} of {count} starts ended, {most} iterations")


class _Rounds:
    """What all rounds share: the compiled functions, in batches of one size."""

    def __init__(
        self, loss: PopulationLoss, tolerance: float, iterations: int, pool: ThreadPoolExecutor
    ) -> None:
        self.loss, self.tolerance, self.iterations, self.pool = loss, tolerance, iterations, pool
        self.near = NEAR * gradient_scale(loss)
        self.cusps = has_cusps(loss)
        self.compiled: set[str] = set()

    def one(self, search: Search) -> None:
        """A piece of descent for all that run, then the ends of those that are there."""
        walkers, running = search.walkers, search.running
        fewest = self.iterations - int(np.min(walkers.iterations[running]))
        moved = self.descend(walkers.take(running), max(1, min(PIECE, fewest)))
        walkers.put(running, moved)
        due = self.due(search, running)
        if len(due):
            size = self.batch(walkers, freedom_of(self.loss, walkers))
            for ends, arrived, some in self._each(
                "polish", lambda some: (*self._polished(walkers.take(some)), some), _cut(due, size)
            ):
                walkers.put(some[arrived], ends.take(arrived))
                search.status[some[arrived]] = Status.ARRIVED
                search.next_try[some[~arrived]] = (
                    PATIENCE * walkers.iterations[some[~arrived]]
                ).astype(int) + 1
        still = search.running
        if not self.cusps:
            stationary = walkers.gradient_norms[still] <= self.tolerance
            search.status[still[stationary]] = Status.ARRIVED
        over = walkers.iterations >= self.iterations
        search.status[over & (search.status == Status.RUNNING)] = Status.LIMIT

    def due(self, search: Search, running: np.ndarray) -> np.ndarray:
        """The starts to polish now. Where there are cusps gradients need not be small."""
        walkers = search.walkers
        if freedom_of(self.loss, walkers) > DENSE:
            return running[:0]
        due = walkers.iterations[running] >= search.next_try[running]
        if not self.cusps:
            due &= walkers.gradient_norms[running] <= self.near
        return running[due]

    def descend(self, walkers: Walkers, steps: int) -> Walkers:
        """Some iterations of gradient descent."""
        count, tolerance = jnp.asarray(steps), jnp.asarray(self.tolerance)
        size = self.batch(walkers)

        def one(some: np.ndarray) -> Walkers:
            batch = walkers.take(_filled(some, size))
            moved = advance(self.loss, batch, count, tolerance, self.cusps)
            return Walkers(*(np.asarray(part)[: len(some)] for part in moved))

        parts = list(self._each("descend", one, _cut(np.arange(len(walkers.value)), size)))
        return Walkers(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _polished(self, walkers: Walkers) -> tuple[Walkers, np.ndarray]:
        """One batch at the ends of its starts; see `polish`."""
        size = self.batch(walkers, freedom_of(self.loss, walkers))

        def evaluate(some: Walkers) -> Walkers:
            filled = some.take(_filled(np.arange(len(some.value)), self.batch(walkers)))
            done = advance(
                self.loss, filled, jnp.asarray(1), jnp.asarray(self.tolerance), self.cusps
            )
            return Walkers(*(np.array(part)[: len(some.value)] for part in done))

        def make(some: Walkers) -> tuple[np.ndarray, np.ndarray]:
            filled = some.take(_filled(np.arange(len(some.value)), size))
            found = hessians(self.loss, jnp.asarray(filled.positions), jnp.asarray(filled.weights))
            matrices, bases = (np.asarray(part)[: len(some.value)] for part in found)
            return matrices, bases

        return polish(
            self.loss, walkers, self.tolerance, self.near, evaluate, make, self.cusps
        )

    def batch(self, walkers: Walkers, columns: int = 1) -> int:
        """How many starts go side by side, if each needs `columns` evaluations at a time."""
        count, dim = walkers.positions.shape[1:]
        coupling = self.loss.field.coupling
        pairs = count * (count + self.loss.teacher.units) * dim * coupling.scratch
        room = NUMBERS // max(pairs * min(columns, 16), columns**2, 1)
        return 2 ** int(np.log2(np.clip(room, 1, BATCH)))

    def _each(self, what: str, work: Callable, parts: list[np.ndarray]) -> list:
        """`work` on each part, on all cores; at the first time one alone, which compiles."""
        alone = 0 if what in self.compiled else 1
        self.compiled.add(what)
        return [*map(work, parts[:alone]), *map(work, parts[alone:])]


def freedom_of(loss: PopulationLoss, walkers: Walkers) -> int:
    """The coordinates of one start."""
    return freedom(loss, walkers.student(0))


def has_cusps(loss: PopulationLoss) -> bool:
    """Whether the potential has a cusp where units meet."""
    w = loss.teacher.positions
    return not loss.unbounded and bool(np.any(np.asarray(cusp_slopes(loss.field.coupling, w))))


def gradient_scale(loss: PopulationLoss) -> float:
    """s max(s, 1) Phi, s the teacher's largest weight: the size of the loss's own gradients."""
    size = float(np.max(np.abs(np.asarray(loss.teacher.weights))))
    power = float(np.max(np.abs(powers(loss.field.coupling, loss.teacher.positions))))
    scale = size * max(size, 1.0) * power
    return scale if 0 < scale < np.inf else 1.0


def _cut(numbers: np.ndarray, size: int) -> list[np.ndarray]:
    return [numbers[i : i + size] for i in range(0, len(numbers), size)]


def _filled(some: np.ndarray, size: int) -> np.ndarray:
    """`some`, its last entry repeated, to a whole batch."""
    return np.pad(some, (0, size - len(some)), mode="edge")
