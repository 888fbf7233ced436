"""Predictions beside the truth: points for numbers, a table and a curve of trust for classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import log_probabilities
from earnshaw.plots.formatting import shortened
from earnshaw.plots.heat_map import RATE, HeatMap, Scale, size_in
from earnshaw.plots.page import HEAD, MARGIN, Page, fitting_in, inches
from earnshaw.plots.style import ELECTRON, INK, PALE

ROOM = 7.55  # inches from the left margin to the right end of the predictions
POINTS = 4000  # rows that are drawn
TARGETS = 3  # that are drawn
CLASSES = 15
BINS, ENOUGH = 8, 25  # points of a curve of trust, at most, and rows of each


def draw_predictions(
    page: Page, problem: Problem, outputs: np.ndarray, seen: str, top: float, tall: float
) -> None:
    """Fill `tall` inches on the left of a page from `top` on; `seen` says what rows these are."""
    if problem.classes:
        _draw_confusion(page, problem, outputs, top, tall)
        _draw_trust(page, problem, outputs, top, tall)
        return
    rows = np.arange(problem.count)
    if problem.count > POINTS:
        rows = np.random.default_rng(0).choice(rows, POINTS, replace=False)
    y, g = problem.y[rows], outputs[rows]
    if len(problem.targets) == 1:
        width = 3.25
        axes = page.axes(MARGIN + 0.5, top, width, tall)
        draw_points(axes, y[:, 0], g[:, 0], seen)
        _heading(page, top, MARGIN + 0.5, "Predicted against true", width)
        left = MARGIN + ROOM - width
        axes = page.axes(left, top, width, tall)
        _draw_misses(axes, y[:, 0], g[:, 0])
        _heading(page, top, left, "What is missed: true − predicted", width)
        return
    names = problem.targets[:TARGETS]
    width = (ROOM - 0.5 - 0.65 * (len(names) - 1)) / len(names)
    for number, name in enumerate(names):
        left = MARGIN + 0.5 + number * (width + 0.65)
        axes = page.axes(left, top, width, tall)
        draw_points(axes, y[:, number], g[:, number], seen if number == 0 else "")
        more = len(problem.targets) - len(names)
        last = f" (and {more} more)" if more and number == len(names) - 1 else ""
        _heading(page, top, left, shortened(name, 24) + last, width)


def _heading(page: Page, top: float, left: float, words: str, room: float) -> None:
    size = fitting_in(room, words, 11, "bold")
    page.text(left, HEAD + top - 0.17, words, size, fontweight="bold")


def _dots(count: int) -> dict[str, Any]:
    size = float(np.clip(120 / np.sqrt(max(count, 1)), 3, 22))
    return {"s": size, "alpha": float(np.clip(30 / np.sqrt(count), 0.25, 0.8)), "lw": 0}


def draw_points(axes: Any, true: np.ndarray, predicted: np.ndarray, seen: str) -> None:
    """Each row a point, the same scale on both axes, and the line of perfect predictions."""
    low = float(min(np.min(true), np.min(predicted)))
    high = float(max(np.max(true), np.max(predicted)))
    room = 0.04 * (high - low) or 0.5
    ends = (low - room, high + room)
    axes.set_axisbelow(True)
    axes.plot(ends, ends, color=PALE, lw=1.0, zorder=1)
    axes.scatter(true, predicted, color=ELECTRON, gid="rows", **_dots(len(true)))
    axes.set(xlim=ends, ylim=ends)
    axes.set_xlabel("true", fontsize=9)
    axes.set_ylabel(f"predicted ({seen})" if seen else "", fontsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=4))
    _plain_ticks(axes)


def _draw_misses(axes: Any, true: np.ndarray, predicted: np.ndarray) -> None:
    """What is left of the answers against the predictions: structure here is not learned yet."""
    axes.set_axisbelow(True)
    axes.axhline(0.0, color=PALE, lw=1.0, zorder=1)
    axes.scatter(predicted, true - predicted, color=ELECTRON, gid="misses", **_dots(len(true)))
    axes.set_xlabel("predicted", fontsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=4))
    _plain_ticks(axes)


def _plain_ticks(axes: Any) -> None:
    """Numbers as they are, without a power of ten in the corner."""
    axes.tick_params(labelsize=8.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}")


def _draw_confusion(
    page: Page, problem: Problem, outputs: np.ndarray, top: float, tall: float
) -> None:
    """How many rows of a class (down) are taken for which (across), shaded by parts of a row."""
    count = len(problem.classes)
    found = np.argmax(outputs, axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(int)
    table = np.zeros((count, count), dtype=int)
    np.add.at(table, (problem.numbers, found), 1)
    often = np.sort(np.argsort(-table.sum(axis=1), kind="stable")[:CLASSES])
    table = table[np.ix_(often, often)]
    names = [shortened(problem.classes[i], 14) for i in often]
    # Names across stand upright if they are too long: they take what they need from the top.
    beside = max(inches(name, 9) for name in names) + 0.1
    left = MARGIN + 0.25 + beside
    width = min(3.4, MARGIN + 4.45 - left)
    upright = max(inches(name, 9) for name in names) > 0.95 * width / len(names)
    above = 0.3 + (beside if upright else 0.22)
    high = tall - above
    axes = page.axes(left, top + above, width, high)
    axes.set_gid("confusion")
    cells = HeatMap(axes, names, names, width, high)
    axes.set_ylabel("true", fontsize=9)
    axes.set_xlabel("predicted", fontsize=9, labelpad=6)
    scale = Scale([], RATE, logarithmic=False, limits=(0.0, 1.0))
    size = min(11.0, size_in([str(n) for n in table.ravel()], 11, width / len(names)))
    size = min(size, 50 * high / len(names))
    for (row, column), number in np.ndenumerate(table):
        part = number / max(table[row].sum(), 1)
        cells.fill((row, column), scale.colour(part), str(number), size)
    more = f" ({len(often)} of {count} classes)" if len(often) < count else ""
    _heading(page, top, MARGIN, f"Rows by true and predicted class{more}", 4.2)


def _draw_trust(page: Page, problem: Problem, outputs: np.ndarray, top: float, tall: float) -> None:
    """How often a prediction of some probability is right; as many rows in every point."""
    logs = log_probabilities(outputs)
    sure, right = np.exp(np.max(logs, axis=1)), np.argmax(logs, axis=1) == problem.numbers
    order = np.argsort(sure, kind="stable")
    parts = np.array_split(order, min(BINS, max(1, len(order) // ENOUGH)))
    x = np.array([np.mean(sure[part]) for part in parts])
    y = np.array([np.mean(right[part]) for part in parts])
    sizes = np.array([len(part) for part in parts])
    error = np.sqrt(np.maximum(y * (1 - y), 0.0) / sizes)
    left, width = MARGIN + 5.15, 2.4
    axes = page.axes(left, top, width, tall)
    axes.set_gid("trust")
    low = min(float(np.min(x)), float(np.min(y - error)), 1 / len(problem.classes)) - 0.03
    axes.set_axisbelow(True)
    axes.plot([low, 1], [low, 1], color=PALE, lw=1.0, zorder=1)
    axes.errorbar(x, y, yerr=error, fmt="o-", color=ELECTRON, ms=5, mec="white", ecolor=INK, lw=1.6)
    axes.set(xlim=(low, 1.03), ylim=(low, 1.03))
    axes.set_xlabel("probability of the predicted class", fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    _plain_ticks(axes)
    _heading(page, top, left - 0.3, "How often that is right", width + 0.3)
