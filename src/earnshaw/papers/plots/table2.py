"""The picture of `earnshaw reproduce table2`: our errors, the papers', and their ratio."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from earnshaw.papers.plots._captions import CLOSE, factor, facts_of, notes_of
from earnshaw.papers.reproductions.reproduction import Reproduction
from earnshaw.plots.heat_map import ERROR, RATIO, HeatMap, Scale, between, number, size_in
from earnshaw.plots.page import MARGIN, WIDE, Page
from earnshaw.plots.style import RC

CELL = (1.4, 0.6)  # the largest, in inches
LEFT, GAP, TOP = 0.95, 0.4, 0.62  # of the first panel, between two, and below the head
PANELS = ("Ours: median and range", "The papers'", "Ours / the papers'")


def draw_table_two(made: Reproduction) -> Figure:
    """Three tables of depth by width: ours, the papers' on the same colours, and the ratio."""
    rows = made.shown or made.rows
    depths = sorted({row["depth"] for row in rows})
    widths = sorted({row["width"] for row in rows})
    room = (WIDE - LEFT - MARGIN - 2 * GAP) / 3
    width = min(room, CELL[0] * len(widths))
    height = CELL[1] * len(depths)
    with matplotlib.rc_context(RC):
        page = Page(TOP + height + 0.75, made.title, facts_of(made, rows), notes_of(made))
        errors = Scale(
            [row[key] for row in rows for key in ("median", "printed") if row[key] is not None],
            ERROR,
        )
        farthest = max([CLOSE, *(factor(row["ratio"]) for row in rows)])
        ratios = Scale([], RATIO, limits=(1 / farthest, farthest))
        small = size_in(map(_range, rows), 8, width / len(widths))
        for panel, name in enumerate(PANELS):
            left = LEFT + panel * (room + GAP)
            axes = page.axes(left, TOP, width, height)
            axes.set_gid(("ours", "printed", "ratio")[panel])
            cells = HeatMap(
                axes,
                [f"depth {depth}" for depth in depths] if panel == 0 else [""] * len(depths),
                [f"width {w}" if i == 0 else str(w) for i, w in enumerate(widths)],
                width,
                height,
            )
            page.text(left, 1.12, name, 11, fontweight="bold")
            for row in rows:
                place = depths.index(row["depth"]), widths.index(row["width"])
                _fill(cells, place, row, panel, errors if panel < 2 else ratios, small)
        bar = min(room, 2.9)
        down = TOP + height + 0.14
        errors.draw(page.axes(LEFT, down, bar, 0.12), "test error, on both tables")
        last = page.axes(LEFT + 2 * (room + GAP), down, bar, 0.12)
        ratios.draw(last, "ours smaller  ←   ratio   →  ours larger")
    return page.figure


def _range(row: dict[str, Any]) -> str:
    return "" if row["median"] is None else between(row["low"], row["high"])


def _fill(
    cells: HeatMap,
    place: tuple[int, int],
    row: dict[str, Any],
    panel: int,
    scale: Scale,
    small: float,
) -> None:
    value = row[("median", "printed", "ratio")[panel]]
    if value is None:
        cells.hatch(place, ("missing", "not printed", "")[panel])
        return
    words = number(value)
    if math.isfinite(value) and panel > 0:
        words = f"{value:.4f}" if panel == 1 else f"{value:.2g}"  # as the papers print theirs
    size = size_in([words], 11, cells.cell[0])
    cells.fill(place, scale.colour(value), words, size, _range(row) if panel == 0 else "", small)
