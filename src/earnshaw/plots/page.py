"""A picture laid out in inches: title and facts above, axes between, notes in small type below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, NullFormatter
from scipy.optimize import isotonic_regression

from earnshaw.plots.formatting import plain
from earnshaw.plots.style import PALE

WIDE, NARROW = 12.4, 8.4  # inches: of a full picture, and of one with little to show
MARGIN = 0.37
HEAD = 0.95  # the title and the facts
NOTE = 0.165  # a line of notes
LETTER = 0.064  # a letter of them, on average
HINTING = 1.03  # letters are drawn on whole pixels, a little wider than they are


class Page:
    """A figure with words around `body` inches of height for axes.

    Attributes:
        figure: the picture.
        width, height: of all of it.
    """

    def __init__(
        self,
        body: float,
        title: str,
        facts: Sequence[str],
        notes: Sequence[str] = (),
        width: float = WIDE,
    ) -> None:
        letters = int((width - 2 * MARGIN) / LETTER)
        lines = [line for note in notes for line in textwrap.wrap(note, letters)]
        self.width, self.height = width, HEAD + body + 0.25 + NOTE * len(lines)
        self.figure = Figure(figsize=(self.width, self.height))
        self.text(MARGIN, 0.33, title, self.fitting(title, 17, "bold"), fontweight="bold")
        line = "  ·  ".join(facts)
        self.text(MARGIN, 0.66, line, self.fitting(line, 10), color=PALE)
        for number, words in enumerate(reversed(lines)):
            place = self.height - 0.2 - NOTE * number
            self.text(MARGIN, place, words, self.fitting(words, 8), color=PALE)

    def text(
        self,
        left: float,
        down: float,
        words: str,
        size: float,
        formulas: bool = False,
        **style: Any,
    ) -> Any:
        """Words that begin `left` inches from the left, `down` inches below the upper edge.

        Dollars are dollars, unless they are said to enclose `formulas`.
        """
        asked: dict[str, Any] = {"va": "center", "fontsize": size} | style
        words = words if formulas else plain(words)
        return self.figure.text(left / self.width, 1 - down / self.height, words, **asked)

    def axes(self, left: float, down: float, width: float, height: float) -> Any:
        """Axes whose upper left corner is there, `down` inches below the head."""
        bottom = self.height - HEAD - down - height
        return self.figure.add_axes(
            (
                left / self.width,
                bottom / self.height,
                width / self.width,
                height / self.height,
            )
        )

    def fitting(self, words: str, size: float, weight: str = "normal") -> float:
        """The font size at which words fit between the margins: `size` or less."""
        return fitting_in(self.width - 2 * MARGIN, words, size, weight)


def inches(words: str, size: float, weight: str = "normal") -> float:
    """How wide the words are, or the widest of their lines."""
    font = FontProperties(size=size, weight=weight)
    measure = TextToPath().get_text_width_height_descent
    widest = max(measure(line, font, ismath=False)[0] for line in words.split("\n"))
    return HINTING * widest / 72


def fitting_in(room: float, words: str, size: float, weight: str = "normal") -> float:
    """The font size at which words fit in `room` inches: `size` or less."""
    return size * min(1.0, room / max(inches(words, size, weight), 1e-9))


class Legend:
    """Marks and words in as few lines as have room; `height` inches."""

    def __init__(self, handles: Sequence[Any], room: float, size: float = 9.0) -> None:
        self.handles, self.size = list(handles), size
        wide = [inches(handle.get_label(), size) + 0.42 for handle in self.handles]
        self.columns = 1
        for columns in range(1, len(wide) + 1):
            lines = -(-len(wide) // columns)
            # Matplotlib fills columns from the top, the first ones with one more.
            parts = np.array_split(np.array(wide), columns)
            if lines and sum(float(np.max(part)) for part in parts) <= room:
                self.columns = columns
        self.height = 0.2 * -(-len(wide) // self.columns)

    def draw(self, figure: Figure, left: float, top: float) -> None:
        """At `left` of the figure's width, below `top` of its height."""
        figure.legend(
            handles=self.handles,
            loc="upper left",
            bbox_to_anchor=(left, top),
            ncols=self.columns,
            fontsize=self.size,
            handletextpad=0.3,
            columnspacing=1.3,
            borderpad=0.0,
            borderaxespad=0.0,
        )


def logarithmic(axes: Any, which: str, low: float, high: float) -> None:
    """Make the axis `which` ("x" or "y") logarithmic, with numbers on it whatever its range."""
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    if high / low < 30:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=9))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        axis.set_major_locator(LogLocator(numticks=8))
        axis.set_major_formatter(LogFormatterMathtext())
    axis.set_minor_formatter(NullFormatter())


def spread(places: Sequence[float], gap: float, low: float, high: float) -> np.ndarray:
    """The nearest places (least squares) at least `gap` apart and between `low` and `high`.

    With z_i = y_i - i gap for sorted places y, "apart" means that z does not fall: an isotonic
    regression, whose answer with bounds is the clipped one. Where there is too little room for
    all, the gap is smaller.
    """
    if not len(places):
        return np.zeros(0)
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    z = isotonic_regression(np.asarray(places, float)[order] - steps).x
    found = np.empty(len(places))
    found[order] = np.clip(z, low, high - steps[-1]) + steps
    return found
