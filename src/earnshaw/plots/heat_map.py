"""Tables as heat maps: a colour and a number in every cell, hatching where there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize, to_hex, to_rgb
from matplotlib.patches import Rectangle

from earnshaw.plots.formatting import plain, short
from earnshaw.plots.page import inches
from earnshaw.plots.style import ASTRAY, ELECTRON, INK, PALE, PROTON

ERROR = LinearSegmentedColormap.from_list("error", ["#fff8ec", "#f7cf8b", ASTRAY, "#5c3408"])
RATE = LinearSegmentedColormap.from_list("rate", ["#f2f5f9", "#adcde6", ELECTRON, "#123a66"])
RATIO = LinearSegmentedColormap.from_list("ratio", [ELECTRON, "#ffffff", PROTON])
HATCH: dict[str, Any] = {"facecolor": "white", "edgecolor": "#c3c7d0", "hatch": "////"}
SMALLEST = 4.5  # a number below that size is left out: it could not be read
ROOM = 0.9  # of the width of a cell, for its words


class Scale:
    """Colours of numbers, the same for all the cells of a picture."""

    def __init__(
        self,
        values: Iterable[float],
        shades: Any,
        *,
        logarithmic: bool = True,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.shades = shades
        known = [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)]
        low, high = limits or (min(known, default=0.1), max(known, default=1.0))
        if limits is None and logarithmic and high < 10 * low:
            # At least a decade: small differences must not look large.
            low, high = (math.sqrt(low * high) * side for side in (10**-0.5, 10**0.5))
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.logarithmic = low, high, logarithmic
        self.norm = LogNorm(low, high) if logarithmic else Normalize(low, high)

    def colour(self, value: float) -> str:
        """What is infinite is black; what is beyond an end has the colour of that end."""
        if not math.isfinite(value):
            return INK
        return to_hex(self.shades(float(self.norm(min(max(value, self.low), self.high)))))

    def draw(self, axes: Any, label: str, percent: bool = False) -> None:
        """The scale itself, in flat axes: its ends, and powers of ten between them."""
        bar = axes.figure.colorbar(
            ScalarMappable(self.norm, self.shades), cax=axes, orientation="horizontal"
        )
        bar.outline.set_visible(False)
        places = [self.low, *self._between(), self.high]
        words = [f"{100 * v:.3g} %" if percent else _brief(v) for v in places]
        bar.set_ticks(places, labels=words)
        bar.ax.minorticks_off()
        bar.ax.tick_params(labelsize=8.5, length=3)
        bar.set_label(label, fontsize=9)

    def _between(self) -> list[float]:
        if not self.logarithmic:
            return [(self.low + self.high) / 2]
        low, high = math.log10(self.low), math.log10(self.high)
        powers = range(math.ceil(low), math.floor(high) + 1)
        apart = 0.16 * (high - low)  # from the ends, whose labels need room
        return [10.0**p for p in powers if low + apart <= p <= high - apart]


class HeatMap:
    """A table of `rows` by `columns` cells in axes of `width` by `height` inches."""

    def __init__(
        self, axes: Any, rows: Sequence[str], columns: Sequence[str], width: float, height: float
    ) -> None:
        self.axes = axes
        self.cell = (width / len(columns), height / len(rows))
        axes.set_xlim(0, len(columns))
        axes.set_ylim(len(rows), 0)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        upright = max(inches(word, 9) for word in columns) > 0.95 * self.cell[0]
        across, down = ([plain(name) for name in names] for names in (columns, rows))
        turned = 90 if upright else 0
        axes.set_xticks([i + 0.5 for i in range(len(columns))], across, rotation=turned)
        axes.set_yticks([i + 0.5 for i in range(len(rows))], down)
        axes.tick_params(length=0, labelsize=9)

    def fill(
        self,
        place: tuple[int, int],
        colour: str,
        words: str,
        size: float,
        small: str = "",
        small_size: float = 7.0,
    ) -> None:
        """A number, and below it in small type what else there is to say."""
        row, column = place
        style: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.2}
        self.axes.add_patch(Rectangle((column, row), 1, 1, gid=f"{row} {column}", **style))
        ink = readable(colour)
        below = small and small_size >= SMALLEST
        if size >= SMALLEST:
            self._write(column, row + (0.39 if below else 0.5), words, size, ink)
        if below:
            self._write(column, row + 0.72, small, small_size, ink)

    def hatch(self, place: tuple[int, int], words: str, size: float = 8.0) -> None:
        """A cell without a number, and why, where there is room for that."""
        row, column = place
        patch = Rectangle((column, row), 1, 1, gid=f"{row} {column}", linewidth=0.0, **HATCH)
        self.axes.add_patch(patch)
        size = min(size, size_in([words], size, self.cell[0]))
        if words and size >= SMALLEST:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            self._write(column, row + 0.5, words, size, PALE, bbox=box)

    def _write(
        self, column: int, y: float, words: str, size: float, colour: str, **style: Any
    ) -> None:
        centred: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        self.axes.text(column + 0.5, y, words, color=colour, **centred, **style)


def size_in(words: Iterable[str], size: float, width: float) -> float:
    """The font size at which each of these fits in a cell so many inches wide."""
    widest = max((inches(one, size) for one in words if one), default=0.0)
    return size * min(1.0, ROOM * width / max(widest, 1e-9))


def readable(colour: str) -> str:
    """Black or white, whichever stands out from `colour` (relative luminance of sRGB)."""
    linear = [((v + 0.055) / 1.055) ** 2.4 if v > 0.04045 else v / 12.92 for v in to_rgb(colour)]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return INK if light > 0.25 else "white"


def number(value: float) -> str:
    """A number to three digits with a true minus sign, or the sign of infinity."""
    return short(value).replace("-", "−") if math.isfinite(value) else "∞"


def between(low: float, high: float) -> str:
    """A range, two digits each."""
    return f"{_brief(low)}–{_brief(high)}"


def _brief(value: float) -> str:
    return f"{value:.2g}" if 1e-4 <= abs(value) < 1e3 else number(value)
