"""The units of a fitted network as a heat map over its inputs, with what each of them does."""

from __future__ import annotations

import math

import numpy as np

from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.unit_table import UnitTable
from earnshaw.plots.formatting import plural, short, shortened
from earnshaw.plots.heat_map import RATIO, HeatMap, Scale, size_in
from earnshaw.plots.page import HEAD, MARGIN, Page, inches
from earnshaw.plots.style import ELECTRON, PALE, PROTON

UNITS, INPUTS, OUTPUTS = 20, 30, 4  # that are drawn
LETTERS = 26  # of a name
CELL, ROW = 1.0, (0.2, 0.3)  # inches: of a cell, its width at most, and its height
BARS = 1.9  # for what the units do
ROOM = 12.4 - 2 * MARGIN


class UnitsMap:
    """Rows: units, the one that does most first, then the linear part; columns: inputs.

    Attributes:
        height: in inches, of all of it.
        note: what its numbers mean.
    """

    def __init__(self, model: Model, found: UnitTable) -> None:
        self.model, self.found = model, found
        units = min(found.units, UNITS)
        linear = list(range(min(found.linear.shape[1], OUTPUTS))) if found.linear.any() else []
        self.values = np.vstack([found.slopes[:units], found.linear.T[linear]])
        self.units = units
        self.rows = [f"unit {number + 1}" for number in range(units)] + [
            self._linear_name(output) for output in linear
        ]
        matter = np.max(np.abs(self.values), axis=0, initial=0.0)
        self.inputs = np.sort(np.argsort(-matter, kind="stable")[:INPUTS])
        self.values = self.values[:, self.inputs]
        self.columns = [shortened(model.inputs[i], LETTERS) for i in self.inputs]
        self.left = MARGIN + max((inches(row, 9) for row in self.rows), default=0.0) + 0.12
        bars = BARS + 0.3 if units else 0.0
        self.cell = min(CELL, (MARGIN + ROOM - bars - self.left) / len(self.columns))
        widest = max(inches(column, 9) for column in self.columns)
        self.above = (widest if widest > 0.95 * self.cell else 0.15) + 0.34
        self.row = float(np.clip(4.2 / max(len(self.rows), 1), *ROW))
        self.height = self.above + self.row * len(self.rows) + 0.75 if self.rows else 0.45
        self.note = self._note()

    def _linear_name(self, output: int) -> str:
        model = self.model
        if self.found.linear.shape[1] == 1:
            return "linear part"
        names = model.classes or model.targets
        return f"linear, {shortened(names[output], 14)}"

    def _note(self) -> str:
        moves = "by how much a standard deviation of an input moves"
        output = "the output" if self.model.classes else "the output in its standard deviations"
        parts = []
        if self.units:
            parts.append(f"Colours: {moves} the argument of a unit's activation.")
            parts.append(f"Bars: the standard deviation of what a unit adds to {output}.")
        if len(self.rows) > self.units:
            parts.append(f"Linear part: {moves} {output}.")
        for shown_here, all_of_them, what in (
            (self.units, self.found.units, "unit"),
            (len(self.columns), len(self.model.inputs), "input"),
        ):
            if shown_here < all_of_them and self.rows:
                parts.append(f"{shown_here} of {plural(all_of_them, what)} are shown.")
        return " ".join(parts)

    def draw(self, page: Page, down: float) -> None:
        """Into a page, `down` inches below its head."""
        title = "The units, and the inputs they look at" if self.units else "The linear part"
        if not self.rows:
            title = "No units and no linear part: the inputs are of no use"
        page.text(MARGIN, HEAD + down, title, 11, fontweight="bold")
        if not self.rows:
            return
        width, height = self.cell * len(self.columns), self.row * len(self.rows)
        axes = page.axes(self.left, down + self.above, width, height)
        axes.set_gid("units")
        cells = HeatMap(axes, self.rows, self.columns, width, height)
        largest = float(np.max(np.abs(self.values))) or 1.0
        scale = Scale([], RATIO, logarithmic=False, limits=(-largest, largest))
        words = [[_rounded(value, largest) for value in row] for row in self.values]
        size = size_in([word for row in words for word in row], 8.5, self.cell)
        size = min(size, 40 * self.row)
        for place, value in np.ndenumerate(self.values):
            cells.fill((place[0], place[1]), scale.colour(value), words[place[0]][place[1]], size)
        bar = page.axes(self.left, down + self.above + height + 0.12, min(2.6, ROOM / 2), 0.1)
        scale.draw(bar, "")
        if self.units:
            self._draw_bars(page, self.left + width + 0.25, down + self.above)

    def _draw_bars(self, page: Page, left: float, top: float) -> None:
        """What each unit does, and its weight where there is one output."""
        axes = page.axes(left, top, BARS, self.row * self.units)
        axes.set_gid("shares")
        found, one = self.found, self.found.weights.shape[1] == 1
        shares, weights = found.shares[: self.units], found.weights[: self.units, 0]
        colours = [(PROTON if w > 0 else ELECTRON) if one else PALE for w in weights]
        largest = float(np.max(shares)) or 1.0
        axes.barh(np.arange(self.units) + 0.5, shares / largest, 0.62, color=colours)
        axes.set(xlim=(0, 2.3), ylim=(self.units, 0))
        axes.set_axis_off()
        for j, share in enumerate(shares):
            words = short(share) + (f"  (weight {short(weights[j])})" if one else "")
            words = words.replace("-", "−")
            size = min(8.0, 40 * self.row)
            axes.text(share / largest + 0.05, j + 0.5, words, va="center", fontsize=size)
        page.text(left, HEAD + top - 0.14, "adds", 9, color=PALE)


def _rounded(value: float, largest: float) -> str:
    """To the second digit of the largest; nothing where that is 0."""
    digits = 1 - math.floor(math.log10(largest))
    if not -3 < digits < 5:
        return short(value, 0) if abs(value) > 0.005 * largest else ""
    text = f"{value:.{max(digits, 0)}f}"
    return text.replace("-", "−") if float(text) else ""
