"""K-fold cross-validation: every row is predicted by a network that has not seen it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting.evident import fit
from earnshaw.learning.fitting.fitted import Fitted
from earnshaw.learning.fitting.growth import Event, OnEvent
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import scores_of
from earnshaw.learning.fitting.settings import Settings

USUAL = 5  # folds
LEVEL = 0.9  # of intervals
SMALLEST = 2  # rows of a fold: R^2 of one row means nothing

OnFoldEvent = Callable[[int, Event], None]  # the number of a fold, and a step of its fit


@dataclasses.dataclass(frozen=True)
class Validation:
    """What networks say of rows that they have not seen.

    Attributes:
        fold: (n,), in which fold a row is.
        outputs: (n, m), of the network that was fitted to the other folds.
        units: how many each of the networks has.
        scores: of each of them on its own fold.
        coverage: the part of each fold that intervals of 90 % held, where there are error bars.
    """

    fold: np.ndarray
    outputs: np.ndarray
    units: list[int]
    scores: list[dict[str, float]]
    coverage: list[float] = dataclasses.field(default_factory=list)

    def mean(self, name: str) -> float:
        """A score's mean over the folds."""
        return float(np.mean([score[name] for score in self.scores]))

    def spread(self, name: str) -> float:
        """Its standard deviation over the folds."""
        return float(np.std([score[name] for score in self.scores], ddof=1))


def number_of_folds(asked: int | None, count: int) -> int:
    """As asked for, or 5, or fewer if there are few rows; 0 for no cross-validation."""
    most = count // SMALLEST
    if asked is None:
        return min(USUAL, most) if most >= 2 else 0
    if asked == 0:
        return 0
    if not 2 <= asked <= most:
        allowed = f"0 for none, or 2 to {most} with {count} rows" if most >= 2 else "0"
        raise EarnshawError(f"the number of folds is {asked}; allowed: {allowed}")
    return asked


def folds_of(problem: Problem, count: int, seed: int) -> np.ndarray:
    """The fold (n,) of every row, at random; of every class each has as many, to one."""
    order = np.random.default_rng([seed, 19]).permutation(problem.count)
    if problem.classes:
        order = order[np.argsort(problem.numbers[order], kind="stable")]
    fold = np.empty(problem.count, dtype=int)
    fold[order] = np.arange(problem.count) % count
    return fold


def cross_validate(
    problem: Problem,
    activation: DotProduct,
    settings: Settings,
    folds: int,
    on_event: OnFoldEvent | None = None,
) -> Validation:
    """Fit `folds` networks, each to the rows outside its fold."""
    fold = folds_of(problem, folds, settings.seed)
    outputs = np.empty(problem.y.shape)
    units, scores = [], []
    coverage: list[float] = []
    for number in range(folds):
        inside = fold == number
        step = None if on_event is None else (lambda event, at=number: on_event(at, event))
        try:
            found = fit_problem(problem.take(~inside), activation, settings, step)
        except EarnshawError as error:
            raise EarnshawError(f"without fold {number + 1} of {folds}: {error}") from None
        if found.interrupted:
            raise KeyboardInterrupt  # what is left of a fold says nothing
        outputs[inside] = found.outputs(problem.x[inside])
        units.append(found.network.units)
        scores.append(scores_of(problem.take(inside), outputs[inside]))
        if found.committee is not None and not problem.classes:
            half = found.committee.reach(LEVEL) * found.committee.spread(problem.x[inside])
            coverage.append(float(np.mean(np.abs(problem.y[inside] - outputs[inside]) <= half)))
    return Validation(fold, outputs, units, scores, coverage)


def fit_problem(
    problem: Problem,
    activation: DotProduct,
    settings: Settings,
    on_event: OnEvent | None = None,
) -> Fitted:
    """The network of a problem, with the loss that belongs to it."""
    settings = dataclasses.replace(settings, loss=problem.loss)
    given = (problem.x, problem.y, problem.weight, activation, settings)
    if problem.origins is None:
        return fit(*given, on_event)
    return fit(*given, on_event, problem.origins)
