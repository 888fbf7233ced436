"""`ew.train`: students of random networks of any depth, trained on samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from earnshaw.descent.loop import Progress, Report
from earnshaw.experiments.training._deep_network import Layers
from earnshaw.experiments.training.engine import LANES, Trainer
from earnshaw.experiments.training.settings import Training, seeds_of, training
from earnshaw.results import Result, number


@dataclass(frozen=True, repr=False)
class Trained(Result):
    """What became of a student.

    Attributes
    ----------
    settings
        all that was asked for.
    seed
        of the teacher, the start and the samples.
    iterations
        at which the test error was taken, (m,), from 0 to the last.
    errors
        E[(f - g)^2] there, (m,).
    scale
        E[f^2], the error of the answer 0.
    teacher
        its layers.
    student
        its layers.

    Examples
    --------
    >>> import earnshaw as ew
    >>> (trained,) = ew.train(width=3, iterations=1000, test_samples=100)
    >>> int(trained.iterations[-1]), trained.error == float(trained.errors[-1])
    (1000, True)
    """

    settings: Training
    seed: int
    iterations: np.ndarray
    errors: np.ndarray
    scale: float
    teacher: Layers
    student: Layers

    _picture = "earnshaw.plots.training:draw_trained"
    _panel = "earnshaw.plots.training:draw_errors"

    @property
    def error(self) -> float:
        """The test error at the end."""
        return float(self.errors[-1])

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: the settings, and the test error on the way."""
        return {
            "settings": asdict(self.settings),
            "seed": self.seed,
            "error": self.error,
            "scale": self.scale,
            "iterations": self.iterations.tolist(),
            "errors": self.errors.tolist(),
        }

    def _title(self) -> str:
        asked = self.settings
        return f"{asked.activation}, depth {asked.depth}, width {asked.width}, seed {self.seed}"

    def _facts(self) -> dict[str, object]:
        return {
            "test error": number(self.error),
            "at the start": number(float(self.errors[0])),
            "error of the answer 0": number(self.scale),
            "iterations": int(self.iterations[-1]),
        }


def train(
    *, seeds: int | Iterable[int] = 1, report: Report | None = None, **settings: Any
) -> tuple[Trained, ...]:
    """Train a student on a random teacher for every seed; the seeds share one compiled run.

    Parameters
    ----------
    seeds
        how many (0, 1, ...), or which.
    report
        called with a `Progress` now and then.
    **settings
        those of `Training`: depth, width, dim, activation, step, iterations, ...

    Returns
    -------
    tuple of Trained
        one a seed, in order.

    Examples
    --------
    >>> import earnshaw as ew
    >>> runs = ew.train(width=3, iterations=1000, test_samples=100, seeds=2)
    >>> [run.seed for run in runs]
    [0, 1]
    """
    asked = training(settings)
    wanted = seeds_of(seeds)
    found: dict[int, Trained] = {}
    for block in sorted({seed // LANES for seed in wanted}):
        trainer = Trainer(asked, block, None)
        while not trainer.done:
            trainer.advance()
            if report is not None:
                latest = np.median(trainer.errors[-1]) if trainer.errors else np.nan
                note = f"error {latest:.3g}"
                report(Progress(trainer.iteration, asked.iterations, note))
        for lane, seed in enumerate(trainer.seeds):
            found[seed] = Trained(
                asked,
                seed,
                np.array(trainer.marks),
                np.array(trainer.errors)[:, lane],
                float(trainer.scale[lane]),
                _lane(trainer.teacher, lane),
                _lane(trainer.student, lane),
            )
    return tuple(found[seed] for seed in wanted)


def _lane(layers: Layers, lane: int) -> Layers:
    return jax.tree.map(lambda array: np.array(array)[lane], layers)
