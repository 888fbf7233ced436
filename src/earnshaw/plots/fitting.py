"""The picture of `earnshaw fit`: predictions of unseen rows, growth, and the units found."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting.fitted import Fitted
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.picture import FitPicture
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import score_text, scores_of
from earnshaw.learning.fitting.unit_table import UnitTable
from earnshaw.learning.fitting.validation import Validation
from earnshaw.plots._fitted_units import UnitsMap
from earnshaw.plots._predictions import draw_points, draw_predictions
from earnshaw.plots.formatting import plural, short, shortened
from earnshaw.plots.page import HEAD, Page, logarithmic
from earnshaw.plots.style import ELECTRON, FIELD, INK, RC

TOP = 0.28  # inches: of the headings over the axes
TALL = 3.55  # of the predictions
GROWTH = (8.85, 3.15, 1.4)  # left, width and height of the two curves of growth
FOOT = 0.8  # the labels below them, and a gap
SCORES = {"r2": "R²", "accuracy": "accuracy"}


def draw_estimator(found: FitPicture) -> Figure:
    """The picture of an estimator, on rows of the user's choice."""
    return draw_fit(found.model, found.problem, found, None, given=True)


def draw_answers(found: FitPicture, axes: Any) -> None:
    """Predicted against true of these rows, in axes of the user's own."""
    if found.problem.classes or len(found.problem.targets) > 1:
        raise EarnshawError(
            "classes and several targets have no main panel; allowed: plot(X, y) without ax="
        )
    outputs = found.model.outputs(found.problem.x)
    with matplotlib.rc_context(RC):
        draw_points(axes, found.problem.y[:, 0], outputs[:, 0], "these rows")


def draw_fit(
    model: Model,
    problem: Problem,
    fitted: Fitted | FitPicture,
    validation: Validation | None,
    given: bool = False,
) -> Figure:
    """Predicted against true for rows not seen, error and criterion by units, and the units.

    Without cross-validation the predictions are those of the rows that the network was fitted to,
    or of others that were `given`.
    """
    outputs = model.outputs(problem.x) if validation is None else validation.outputs
    units = UnitsMap(model, UnitTable.of(model.network, problem))
    with matplotlib.rc_context(RC):
        page = Page(
            TOP + TALL + FOOT + units.height,
            _title(model, problem, outputs, validation, given),
            _facts(model, problem, validation),
            [_note(validation, given), units.note],
        )
        seen = "fitted rows" if validation is None else "rows not seen"
        seen = "these rows" if given else seen
        draw_predictions(page, problem, outputs, seen, TOP, TALL)
        _draw_growth(page, fitted, str(model.settings.get("criterion", "criterion")))
        units.draw(page, TOP + TALL + FOOT)
    return page.figure


def _title(
    model: Model,
    problem: Problem,
    outputs: np.ndarray,
    validation: Validation | None,
    given: bool = False,
) -> str:
    scores = scores_of(problem, outputs) if validation is None else model.scores
    name = next(name for name in SCORES if name in scores)
    where = "on the rows it was fitted to" if validation is None else "on rows it has not seen"
    where = f"on these {plural(problem.count, 'row')}" if given else where
    count = model.network.units
    what = shortened(", ".join(model.targets), 32)
    by = "a linear part alone" if model.network.linear.any() else "a constant"
    if count:
        by = plural(count, f"{shortened(model.activation, 16)} unit")
    return f"{what} by {by}: {SCORES[name]} {score_text(scores[name])} {where}"


def _facts(model: Model, problem: Problem, validation: Validation | None) -> list[str]:
    facts = [plural(problem.count, "row"), plural(len(model.inputs), "input")]
    if problem.classes:
        facts.append(f"{len(problem.classes)} classes")
    if model.network.linear.any():
        facts.append("with a linear part")
    if validation is not None:
        low, high = min(validation.units), max(validation.units)
        units = plural(low, "unit") if low == high else f"{low} to {high} units"
        facts.append(f"{units} in {len(validation.units)} folds")
    for name, words in (("rmse", "RMSE"), ("log_loss", "log-loss")):
        if name in model.scores and len(model.targets) == 1:
            spread = model.scores[f"{name} spread"]
            facts.append(f"{words} {short(model.scores[name])} ± {short(spread)}")
    return facts


def _note(validation: Validation | None, given: bool = False) -> str:
    if given:
        return "The predictions are of the rows that were given; the network may have seen them."
    if validation is None:
        return "Without cross-validation: the predictions are of rows that the network has seen."
    return (
        "Every prediction is that of a network fitted to the other folds. ± is the standard "
        "deviation over the folds."
    )


# -- growth ---------------------------------------------------------------------------------------


def _draw_growth(page: Page, fitted: Fitted | FitPicture, criterion: str) -> None:
    """Error and criterion against the number of units; a curve for every number of samples."""
    left, width, height = GROWTH
    upper = page.axes(left, TOP, width, height)
    lower = page.axes(left, TOP + TALL - height, width, height)
    upper.set_gid("error")
    lower.set_gid("criterion")
    page.text(left, HEAD + TOP - 0.17, "Growth: error by units", 11, fontweight="bold")
    each = criterion != "holdout"
    heading = f"{criterion.upper()} / samples" if each else "error of rows held out"
    down = HEAD + TOP + TALL - height - 0.17
    page.text(left, down, heading, 11, fontweight="bold")
    stages = sorted({event.samples for event in fitted.history})
    for axes, values in ((upper, _errors(fitted)), (lower, _criteria(fitted, each))):
        for samples in stages:
            best: dict[int, float] = {}  # of all networks of so many units, that of best criterion
            lowest: dict[int, float] = {}
            for event, value in zip(fitted.history, values, strict=True):
                if event.samples != samples or not np.isfinite(value):
                    continue
                if event.criterion <= lowest.get(event.units, np.inf):
                    best[event.units], lowest[event.units] = value, event.criterion
            units = sorted(best)
            colour = ELECTRON if samples == fitted.history[-1].samples else FIELD
            style: dict[str, Any] = {"color": colour, "ms": 4.5, "mec": "white", "clip_on": False}
            label = f"on {samples} rows"
            axes.plot(units, [best[k] for k in units], "o-", label=label, gid="curve", **style)
        last = fitted.history[-1]
        if np.isfinite(values[-1]):
            ring: dict[str, Any] = {"mfc": "none", "mec": INK, "ms": 10, "clip_on": False}
            axes.plot([last.units], [values[-1]], "o", gid="chosen", **ring)
        counts = [event.units for event in fitted.history]
        axes.set_xlim(min(counts) - 0.5, max(counts) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axes.tick_params(labelsize=8.5)
    if len(stages) > 1:
        upper.legend(fontsize=8, loc="upper right")
    upper.set_xticklabels([])
    lower.set_xlabel("units", fontsize=9)
    _error_axis(upper, [value for value in _errors(fitted) if np.isfinite(value) and value > 0])
    lower.yaxis.set_major_locator(MaxNLocator(nbins=4))
    _quiet(lower)


def _error_axis(axes: Any, errors: list[float]) -> None:
    low, high = (min(errors), max(errors)) if errors else (0.1, 1.0)
    if high > 3 * low:
        room = (high / low) ** 0.12
        logarithmic(axes, "y", low / room, high * room)
        if 10 < high / low < 1000:  # too short for powers of ten alone
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=9))
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4))


def _quiet(axes: Any) -> None:
    """Numbers without an offset in the corner, in as few letters as tell them apart."""
    low, high = axes.get_ylim()
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.set_yticklabels([f"{tick:.4g}" for tick in ticks])
    axes.set_ylim(low, high)


def _errors(fitted: Fitted | FitPicture) -> list[float]:
    return [event.error for event in fitted.history]


def _criteria(fitted: Fitted | FitPicture, each: bool) -> list[float]:
    return [event.criterion / (event.samples if each else 1) for event in fitted.history]
