"""The kind "train": students of random deep networks, trained on samples."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

from earnshaw.experiments.kinds.kind import Kind, Piece, Result, Settings
from earnshaw.experiments.store.packing import pack, unpack
from earnshaw.experiments.training.settings import LANES, Training, training, work


class TrainingKind(Kind):
    """`ew.train` for sweeps: blocks of five seeds, which are trained in lockstep."""

    name = "train"
    together = LANES
    measure = "error"
    numbers = frozenset({"error", "first_error", "scale", "diverged"})
    sources = ("experiments/training", "duality")
    pins_compiler = True

    def defaults(self) -> dict[str, Any]:
        return dataclasses.asdict(Training())

    def check(self, settings: Settings) -> dict[str, Any]:
        return dataclasses.asdict(training(settings))

    def work(self, settings: Settings) -> float:
        return work(Training(**settings))

    def advance(self, settings: Settings, block: int, state: bytes | None, seconds: float) -> Piece:
        from earnshaw.experiments.training.engine import Trainer

        until = time.monotonic() + seconds
        trainer = Trainer(Training(**settings), block, None if state is None else unpack(state))
        while not trainer.done:
            trainer.advance()
            if time.monotonic() > until:
                break
        note = f"error {_median(trainer.errors[-1]):.3g}" if trainer.errors else ""
        if not trainer.done:
            fraction = trainer.iteration / trainer.settings.iterations
            return Piece(fraction, note, state=pack(trainer.state()))
        return Piece(1.0, note, results=_results(trainer))


def _median(values: Any) -> float:
    import numpy as np

    return float(np.median(values))


def _results(trainer: Any) -> tuple[Result, ...]:
    import numpy as np

    marks, errors = np.array(trainer.marks), np.array(trainer.errors)  # (marks,), (marks, lanes)
    return tuple(
        Result(
            seed,
            {
                "error": float(way[-1]),
                "first_error": float(way[0]),
                "scale": float(scale),
                "diverged": not math.isfinite(way[-1]),
            },
            {"iterations": marks, "errors": way},
        )
        for seed, way, scale in zip(trainer.seeds, errors.T, trainer.scale, strict=True)
    )
