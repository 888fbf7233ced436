"""Run what a sweep lacks: hand out pieces, keep what comes back, until every cell has an end."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.kind import Piece
from earnshaw.experiments.kinds.registry import kind_named
from earnshaw.experiments.processes import Lost
from earnshaw.experiments.store.store import Store, canonical
from earnshaw.experiments.sweeps._executor import Executor, PieceOutcome
from earnshaw.experiments.sweeps._job import Job
from earnshaw.experiments.sweeps.plan import Plan
from earnshaw.experiments.sweeps.progress import BlockProgress, SweepProgress, Watch

CHECKPOINT_SECONDS = 10.0  # between two checkpoints of a block: with a piece, well below 30
LIVES = 5  # workers in a row that a piece may lose before its block has failed


@dataclass
class Block:
    """A block that is not finished."""

    job: Job
    label: str
    seeds: tuple[int, ...]  # that the sweep asks for
    work: float
    turn: int  # blocks of the same settings that come before it
    state: bytes | None = None
    fraction: float = 0.0
    note: str = ""
    seconds: float = 0.0  # of work
    lost: int = 0  # workers since the last piece came back
    saved: float = field(default_factory=time.monotonic)


class Dispatcher:
    """One run of a sweep on an executor."""

    def __init__(
        self, plan: Plan, code: str, store: Store, run: int, executor: Executor, watch: Watch | None
    ) -> None:
        self.plan, self.code, self.store, self.executor = plan, code, store, executor
        self.watch = watch
        self.began = time.monotonic()
        missing = store.missing(run)
        self.cells = len(plan.settings) * len(plan.seeds)
        self.done = self.cells - len(missing)
        self.failed = 0  # those of an earlier time are tried again
        blocks = self._blocks(missing)
        # What was begun comes first. Then one block of every setting, so that two workers do not
        # compile the same at the same time; of these the longest, so that no core waits long.
        blocks.sort(key=lambda block: (block.state is None, block.turn, -block.work))
        self.waiting = deque(blocks)
        self.all_work = sum(block.work * (1 - block.fraction) for block in blocks)
        self.work_done = 0.0
        self.begun: dict[tuple[str, int], Block] = {}  # handed out at least once, without an end
        self.finished: list[str] = []

    def _blocks(self, missing: list[tuple[dict[str, Any], int]]) -> list[Block]:
        kind = kind_named(self.plan.kind)
        flags = os.environ.get("XLA_FLAGS", "")
        found: dict[tuple[str, int], Block] = {}
        turns: Counter[str] = Counter()
        for settings, seed in missing:
            job = Job(kind.name, settings, seed // kind.together, self.code, flags)
            place = _place(job)
            if place in found:
                found[place].seeds += (seed,)
                continue
            label = ", ".join(f"{axis} {settings[axis]}" for axis in self.plan.axes) or kind.name
            block = Block(job, label, (seed,), kind.work(settings), turns[place[0]])
            turns[place[0]] += 1
            kept = self.store.under_way(kind.name, self.code, settings, job.block)
            if kept is not None:
                piece, block.seconds = kept
                block.state, block.fraction, block.note = piece.state, piece.fraction, piece.note
            found[place] = block
        return list(found.values())

    def run(self) -> None:
        """Until every cell is finished or has failed."""
        while self.waiting or self.begun:
            for _ in range(min(len(self.waiting), self.executor.room())):
                self._hand_out(self.waiting.popleft())
            self._show()
            for job, outcome in self.executor.wait():
                self._take_back(self.begun[_place(job)], outcome)
        self._show()

    def _hand_out(self, block: Block) -> None:
        self.begun[_place(block.job)] = block
        self.executor.submit(block.job, block.state)

    def _take_back(self, block: Block, outcome: PieceOutcome) -> None:
        if isinstance(outcome, Piece):
            block.lost = 0
            block.seconds += outcome.seconds
            self.work_done += block.work * (outcome.fraction - block.fraction)
            block.state, block.fraction, block.note = outcome.state, outcome.fraction, outcome.note
            if outcome.state is None:
                self._finish(block, outcome)
            else:
                self._keep(block, outcome)
                # At once, and before new blocks: what was begun is brought to an end.
                self.waiting.appendleft(block)
        elif isinstance(outcome, Lost):
            block.lost += 1
            if block.lost < LIVES:
                self.waiting.appendleft(block)
            else:
                self._fail(block, f"{LIVES} workers died on it, one after the other")
        else:
            self._fail(block, outcome.words, outcome.fatal)

    def _keep(self, block: Block, piece: Piece) -> None:
        if time.monotonic() - block.saved >= CHECKPOINT_SECONDS:
            job = block.job
            self.store.checkpoint(
                job.kind, self.code, job.settings, job.block, piece, block.seconds
            )
            block.saved = time.monotonic()

    def _finish(self, block: Block, piece: Piece) -> None:
        job = block.job
        self.store.finish(
            job.kind, self.code, job.settings, job.block, piece.results, block.seconds
        )
        del self.begun[_place(job)]
        self.done += len(block.seeds)
        self.finished.append(f"{block.label}: {piece.note} ({_words(block.seeds)})")

    def _fail(self, block: Block, words: str, fatal: bool = False) -> None:
        if fatal:
            raise EarnshawError(words)
        job = block.job
        self.store.fail(job.kind, self.code, job.settings, job.block, block.seeds, words)
        del self.begun[_place(job)]
        self.failed += len(block.seeds)
        self.work_done += block.work * (1 - block.fraction)
        self.finished.append(f"{block.label}: failed: {words} ({_words(block.seeds)})")

    def _show(self) -> None:
        if self.watch is None:
            return
        self.watch(
            SweepProgress(
                self.cells,
                self.done,
                self.failed,
                tuple(
                    BlockProgress(one.label, one.fraction, one.note) for one in self.begun.values()
                ),
                1.0 if not self.all_work else self.work_done / self.all_work,
                time.monotonic() - self.began,
                tuple(self.finished),
            )
        )
        self.finished = []


def _place(job: Job) -> tuple[str, int]:
    return canonical(job.settings), job.block


def _words(seeds: tuple[int, ...]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    run = seeds == tuple(range(seeds[0], seeds[-1] + 1))
    return f"seeds {seeds[0]} to {seeds[-1]}" if run else f"seeds {', '.join(map(str, seeds))}"
