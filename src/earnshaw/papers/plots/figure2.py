"""The picture of `earnshaw reproduce figure2`: the error after training against width, by depth."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from earnshaw.papers.plots._captions import facts_of, notes_of
from earnshaw.papers.plots.figure1 import depth_colour
from earnshaw.papers.reproductions.reproduction import Reproduction
from earnshaw.plots.page import HEAD, MARGIN, NARROW, WIDE, Page, logarithmic
from earnshaw.plots.style import INK, PALE, RC

LEFT, GAP, TOP, HEIGHT = 0.85, 0.25, 0.75, 3.4  # inches
MOST = 6  # panels in a row
OTHERS = "#d5d8de"

Rows = list[dict[str, Any]]


def draw_figure_two(made: Reproduction) -> Figure:
    """One panel a depth, the other depths in grey: ours with ranges, the papers' dashed."""
    rows = made.shown or made.rows
    depths = sorted({row["depth"] for row in rows})
    groups = {depth: sorted(_of(rows, depth), key=lambda row: row["width"]) for depth in depths}
    columns = min(len(depths), MOST)
    lines = math.ceil(len(depths) / columns)
    wide = min(WIDE, NARROW + 2.5 * (columns - 1))
    width = (wide - LEFT - MARGIN - GAP * (columns - 1)) / columns
    tall = HEIGHT + 0.95
    with matplotlib.rc_context(RC):
        body = TOP + tall * lines - 0.4
        page = Page(body, made.title, facts_of(made, rows), notes_of(made), wide)
        for number, depth in enumerate(depths):
            line, column = divmod(number, columns)
            left, down = LEFT + column * (width + GAP), TOP + line * tall
            axes = page.axes(left, down, width, HEIGHT)
            axes.set_gid(f"depth {depth}")
            page.text(left, HEAD + down - 0.16, f"Depth {depth}", 11, fontweight="bold")
            _furnish(axes, rows)
            for other in depths:
                if other != depth:
                    _line(axes, groups[other], "median", color=OTHERS, lw=1.4, zorder=1)
            _draw_depth(axes, groups[depth], depth_colour(depth))
            axes.set_xlabel("width")
            if column == 0:
                axes.set_ylabel("test error after training")
            else:
                axes.tick_params(labelleft=False)
        _legend(page, len(depths) > 1)
    return page.figure


def _of(rows: Rows, depth: int) -> Rows:
    return [row for row in rows if row["depth"] == depth]


def _furnish(axes: Any, rows: Rows) -> None:
    """Logarithmic axes, the same in every panel; ticks at the widths that were trained."""
    widths = sorted({row["width"] for row in rows})
    errors = [row[key] for row in rows for key in ("low", "high", "median", "printed")]
    known = [e for e in errors if e is not None and math.isfinite(e) and e > 0] or [0.1, 1.0]
    logarithmic(axes, "x", widths[0] / 1.35, widths[-1] * 1.35)
    logarithmic(axes, "y", min(known) / 1.5, max(known) * 1.5)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_xticks([], minor=True)


def _line(axes: Any, rows: Rows, key: str, **style: Any) -> None:
    """A line that is broken where there is no number."""
    values = [math.nan if row[key] is None else row[key] for row in rows]
    axes.plot([row["width"] for row in rows], values, gid=key, **style)


def _draw_depth(axes: Any, rows: Rows, colour: str) -> None:
    bottom, top = axes.get_ylim()
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    style: dict[str, Any] = {"ha": "center", "bbox": box}
    for row in rows:
        if row["median"] is None:
            upright: dict[str, Any] = {"rotation": 90, "fontsize": 8, "color": PALE, "va": "bottom"}
            axes.text(row["width"], 1.1 * bottom, "missing", **upright, **style)
            continue
        ends = np.clip([row["low"], row["high"]], bottom, top)
        wide: dict[str, Any] = {"lw": 5, "alpha": 0.25, "solid_capstyle": "butt"}
        axes.plot([row["width"]] * 2, ends, color=colour, gid="range", zorder=2, **wide)
        if not math.isfinite(row["median"]):
            axes.text(row["width"], top, "∞", color=colour, fontsize=12, va="center", **style)
    _line(axes, rows, "median", color=colour, marker="o", ms=6, zorder=4)
    _line(
        axes, rows, "printed", color=INK, marker="D", ms=5, mfc="white", lw=1.2, ls="--", zorder=3
    )


def _legend(page: Page, several: bool) -> None:
    grey: dict[str, Any] = {"color": INK, "lw": 1.2, "ls": "--", "marker": "D", "mfc": "white"}
    handles = [
        Line2D([], [], color=depth_colour(2), marker="o", ms=6, label="ours, median"),
        Line2D([], [], color=depth_colour(2), lw=5, alpha=0.25, label="range over the seeds"),
        Line2D([], [], ms=5, label="the papers'", **grey),
    ]
    if several:
        handles.append(Line2D([], [], color=OTHERS, lw=1.4, label="ours at the other depths"))
    page.figure.legend(
        handles=handles,
        loc="center left",
        bbox_to_anchor=(LEFT / page.width, 1 - (HEAD + 0.12) / page.height),
        ncols=4,
        fontsize=9,
        borderpad=0.0,
        borderaxespad=0.0,
        labelcolor=PALE,
    )
