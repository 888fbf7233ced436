"""The picture of `earnshaw reproduce figure1`: the test error on the way, by width and by depth."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

from earnshaw.papers.plots._captions import facts_of, notes_of
from earnshaw.papers.reproductions.printed import LEARNED
from earnshaw.papers.reproductions.reproduction import Curve, Reproduction
from earnshaw.plots.heat_map import number
from earnshaw.plots.page import MARGIN, NARROW, WIDE, Page, inches, logarithmic, spread
from earnshaw.plots.style import ASTRAY, ELECTRON, FIELD, INK, PALE, PROTON, RC

STILL = 0.05  # the part of its first error by which a curve may differ where the axis begins
LEFT, GAP, TOP, HEIGHT = 0.85, 0.3, 0.42, 3.5  # inches
LABEL = 8.5
WIDTHS = LinearSegmentedColormap.from_list("widths", ["#8fbde0", ELECTRON, "#0d2240"])
DEPTHS = LinearSegmentedColormap.from_list("depths", [ELECTRON, FIELD, PROTON, ASTRAY])


def draw_figure_one(made: Reproduction) -> Figure:
    """One panel a group of curves: medians, the range over the seeds, labels at the ends."""
    panels: dict[str, list[Curve]] = {}
    for curve in made.curves:
        panels.setdefault(curve.panel, []).append(curve)
    with matplotlib.rc_context(RC):
        wide = min(WIDE, NARROW + 4.5 * max(len(panels) - 1, 0))
        facts = facts_of(made, made.shown)
        page = Page(TOP + HEIGHT + 0.55, made.title, facts, notes_of(made), wide)
        if not panels:
            page.text(MARGIN, 1.4, "No curve yet", 11, color=PALE)
            return page.figure
        # The same room for the labels of all panels, so that all have the same size.
        label = max(inches(_words(curve), LABEL) for curve in made.curves) + 0.25
        room = (wide - LEFT - MARGIN - GAP * (len(panels) - 1)) / len(panels)
        width = room - label
        limits = _limits(made.curves)
        for number_, (name, curves) in enumerate(panels.items()):
            left = LEFT + number_ * (width + label + GAP)
            axes = page.axes(left, TOP, width, HEIGHT)
            axes.set_gid(name)
            page.text(left, 1.17, name.capitalize(), 11, fontweight="bold")
            _draw_panel(axes, curves, limits)
            axes.set_xlabel("iterations")
            if number_ == 0:
                axes.set_ylabel("test error")
            else:
                axes.tick_params(labelleft=False)
    return page.figure


def depth_colour(depth: int) -> str:
    """The same in all pictures: from blue at depth 2 to amber at depth 17."""
    return to_hex(DEPTHS(math.log(max(depth, 2) / 2) / math.log(17 / 2)))


def _colour(curve: Curve) -> str:
    if curve.panel.startswith("depth"):
        return to_hex(WIDTHS(math.log(max(curve.width, 5) / 5) / math.log(125 / 5)))
    return depth_colour(curve.depth)


def _words(curve: Curve) -> str:
    """The label of a curve: what tells it from others of its panel, and its last error."""
    varied = f"width {curve.width}" if curve.panel.startswith("depth") else f"depth {curve.depth}"
    return f"{varied}:  {number(float(curve.median[-1]))}"


def _limits(curves: tuple[Curve, ...]) -> tuple[float, float, float, float]:
    """Of both axes, for all panels.

    Few errors move in the first steps, of which a logarithmic axis would make most: it begins at
    the last record where every median is still near its first.
    """
    begins, ends, errors = [], [], []
    for curve in curves:
        moved = np.abs(curve.median - curve.median[0]) > STILL * curve.median[0]
        moved |= ~np.isfinite(curve.median)
        first = int(np.argmax(moved)) if np.any(moved) else len(moved)
        begins.append(curve.iterations[max(first - 1, 0)])
        ends.append(curve.iterations[-1])
        errors += [*curve.low, *curve.high]
    start, end = max(1.0, float(min(begins))), max(2.0, float(max(ends)))
    start = min(start, end / 10) if end > 10 else 1.0
    if any(curve.panel == "depth 2" for curve in curves):
        errors.append(LEARNED)
    known = [error for error in errors if math.isfinite(error) and error > 0] or [0.1, 1.0]
    return start, end, min(known) / 1.4, max(known) * 1.4


def _draw_panel(axes: Any, curves: list[Curve], limits: tuple[float, float, float, float]) -> None:
    start, end, low, high = limits
    axes.set_axisbelow(True)
    logarithmic(axes, "x", start, end)
    logarithmic(axes, "y", low, high)
    ends, faint = [], 0.07 + 0.12 / len(curves)
    for curve in curves:
        seen = curve.iterations > 0  # a logarithmic axis has no 0
        x, colour = curve.iterations[seen], _colour(curve)
        band = [np.nan_to_num(e[seen], nan=high, posinf=high) for e in (curve.low, curve.high)]
        band = [np.clip(edge, low / 10, high * 10) for edge in band]
        axes.fill_between(x, *band, color=colour, alpha=faint, lw=0, gid=_words(curve))
        axes.plot(x, curve.median[seen], color=colour, lw=1.8, gid=_words(curve), zorder=3)
        known = seen & np.isfinite(curve.median) & (curve.median > 0)
        last = int(np.flatnonzero(known)[-1]) if np.any(known) else None
        ends.append((end, high) if last is None else (curve.iterations[last], curve.median[last]))
    if curves[0].panel == "depth 2":
        axes.axhline(LEARNED, color=PROTON, lw=0.9, ls=(0, (5, 3)), gid="printed")
        words = f"papers: < {LEARNED:g}"
        style: dict[str, Any] = {"fontsize": LABEL, "color": PROTON, "va": "bottom"}
        offset = {"xytext": (4, 2), "textcoords": "offset points"}
        axes.annotate(words, (start, LEARNED), **offset, **style)
    _label(axes, curves, ends)


def _label(axes: Any, curves: list[Curve], ends: list[tuple[float, float]]) -> None:
    """Words right of the axes at the height of each curve's end, moved apart where they must."""
    to_axes = axes.transScale + axes.transLimits
    corners = np.clip(to_axes.transform(np.array(ends, float)), 0.0, 1.0)
    places = spread(corners[:, 1], 1.35 * LABEL / 72 / HEIGHT, 0.02, 0.98)
    for curve, (x, y), place in zip(curves, corners, places, strict=True):
        axes.plot(
            [x, 1.015, 1.035],
            [y, y, place],
            transform=axes.transAxes,
            color=_colour(curve),
            lw=0.8,
            clip_on=False,
            gid="leader",
        )
        style: dict[str, Any] = {"fontsize": LABEL, "va": "center", "color": INK}
        axes.text(1.045, place, _words(curve), transform=axes.transAxes, **style)
