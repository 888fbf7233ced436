"""A sweep with one axis or none: a row a value, with a dot, its range, and the numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from earnshaw.landscape.hunting.critical_points import interval
from earnshaw.plots.formatting import plain
from earnshaw.plots.page import MARGIN, NARROW, Page, inches, logarithmic
from earnshaw.plots.style import ELECTRON, INK, PALE

ROW = 0.32  # inches
WORDS = 10.0


@dataclasses.dataclass(frozen=True)
class Spot:
    """What a picture shows of one place of the grid.

    Attributes:
        value: the rate or the median; None where no seed has a number.
        words: the value as text, or why there is none.
        small: the range, or the count, over the seeds.
        row: of `Sweep.rows`.
    """

    value: float | None
    words: str
    small: str
    row: dict[str, Any]


def draw_ranges(
    head: tuple[str, Sequence[str], Sequence[str]],
    spots: Sequence[Spot],
    labels: Sequence[str],
    axis: str,
    title: str,
    share: bool,
    yes_no: bool,
) -> Figure:
    """See the module. Of yes and no, the range is the 95 % interval of the rate.

    Args:
        head: title, facts and notes of the page.
        spots: one a row.
        labels: of the rows.
        axis: what the labels are values of.
        title: what the numbers are.
        share: whether they are parts of 1.
        yes_no: whether they are rates of yes.
    """
    left = MARGIN + 0.32 + max(inches(label, 9.5) for label in labels) + 0.1
    right = max(inches(_numbers(spot), WORDS) for spot in spots) + 0.25
    height = ROW * len(spots)
    page = Page(0.1 + height + 0.75, *head, width=NARROW)
    axes = page.axes(left, 0.1, page.width - MARGIN - left - right, height)
    axes.set_ylim(len(spots) - 0.5, -0.5)
    axes.set_yticks(range(len(spots)), list(map(plain, labels)), fontsize=9.5)
    axes.set_ylabel(axis.replace("_", " "))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    low, high = _limit(axes, spots, share)
    axes.set_xlabel(title + (", its 95 % interval" if yes_no else ", range, and every seed"))
    for y, spot in enumerate(spots):
        style: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
        ink = PALE if spot.value is None else INK
        axes.text(1.02, y, _numbers(spot), fontsize=WORDS, color=ink, **style)
        if spot.value is None:
            axes.axhspan(y - 0.36, y + 0.36, fc="white", ec="#c3c7d0", hatch="////", lw=0)
            continue
        row = spot.row
        ends = (row["low"], row["high"])
        if yes_no:
            ends = interval(round(sum(row["values"])), row["seeds"])
        wide: dict[str, Any] = {"lw": 6, "alpha": 0.25, "solid_capstyle": "butt", "gid": "range"}
        axes.plot(np.clip(ends, low, high), [y, y], color=ELECTRON, **wide)
        if not yes_no:
            seeds = np.clip(row["values"], low, high)  # 0 and infinity stand at the ends
            axes.plot(seeds, [y] * len(seeds), "|", color=ELECTRON, ms=7, alpha=0.6, gid="seed")
        beyond = not math.isfinite(spot.value)
        axes.plot(
            [min(max(spot.value, low), high)],
            [y],
            ">" if beyond else "o",
            color=ELECTRON,
            ms=7,
            clip_on=False,
            gid="dot",
            zorder=3,
        )
    return page.figure


def _numbers(spot: Spot) -> str:
    return f"{spot.words}   {spot.small}".strip()


def _limit(axes: Any, spots: Sequence[Spot], share: bool) -> tuple[float, float]:
    """The axis of the numbers: 0 to 1 for parts, logarithmic for what is not negative."""
    if share:
        axes.set_xlim(-0.02, 1.02)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        return -0.02, 1.02
    known = [v for spot in spots for v in spot.row["values"] if math.isfinite(v)]
    if all(value >= 0 for value in known):
        positive = [value for value in known if value > 0] or [0.1, 1.0]
        low, high = min(positive) / 1.6, max(positive) * 1.6
        logarithmic(axes, "x", low, high)
        return low, high
    room = 0.08 * (max(known) - min(known)) or 0.5
    low, high = min(known) - room, max(known) + room
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
    return low, high
