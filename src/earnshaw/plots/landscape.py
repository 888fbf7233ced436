"""The picture of `earnshaw landscape`: where starts end, how often, and for d <= 3 from where.

A hue stands for a kind of point: blue for the lowest minima, amber for other minima, violet for
saddles, grey for what is degenerate or undecided. Shades tell points of one kind apart.
"""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from earnshaw.landscape.hunting.critical_points import CriticalPoint, Landscape
from earnshaw.plots._basins import draw_basins, towards
from earnshaw.plots._small_table import Column, draw_rows, height_of
from earnshaw.plots.formatting import fitting, plural, short, units_of
from earnshaw.plots.page import fitting_in
from earnshaw.plots.style import ASTRAY, ELECTRON, FIELD, INK, PALE, RC

WIDTH, HEIGHT = 12.4, 7.8  # inches
LEFT, TOP = 0.62, 0.925  # the corner of the right column
ROWS = 14
MINIMA = ("minimum", "cusp-minimum")
BINS = 60
BAR = 0.022  # the width of a bar, of that of the axes
TALL = 60  # the range of counts that deserves a logarithmic axis
FEW = 24  # levels of loss up to which each has a bar of its own
LABELLED = 8  # bars that carry their numbers
ZERO = 1e-12  # a relative loss below is 0
HATCHED: dict[str, dict[str, Any]] = {  # starts without a verdict
    "lost": {"facecolor": "white", "edgecolor": PALE, "hatch": "////"},
    "approaching": {"facecolor": "white", "edgecolor": ELECTRON, "hatch": "...."},
}
DECADES = 10.0  # a range that deserves a logarithmic axis
COLUMNS = (
    Column("", 0.05),
    Column("kind", 0.066, "left"),
    Column("rel. loss", 0.325),
    Column("starts", 0.417),
    Column("95 %", 0.605),
    Column("eigenvalue", 0.762),
    Column("found", 0.892),
    Column("shared", 1.0),
)


def draw_landscape(landscape: Landscape) -> Figure:
    """A histogram of final losses, the points found, and for d <= 3 the basins."""
    with matplotlib.rc_context(RC):
        colours = point_colours(landscape.found)
        rows, dots, rest = _table(landscape, colours)
        tall = height_of(len(rows), rest)
        if landscape.teacher.dim <= 3:
            figure = Figure(figsize=(WIDTH, HEIGHT))
            draw_basins(figure, landscape, colours, ROWS)
            low = max(0.13 + tall / HEIGHT + 0.13, 0.52)
            _draw_losses(figure, (LEFT, low, 0.36, TOP - 0.03 - low), landscape, colours)
            axes = figure.add_axes((LEFT, low - 0.13 - tall / HEIGHT, 0.36, tall / HEIGHT))
        else:
            height = max(5.0, tall + 2.35)
            figure = Figure(figsize=(WIDTH, height))
            low, high = 0.85 / height, 1 - 1.4 / height
            _draw_losses(figure, (0.065, low, 0.5, high - low), landscape, colours)
            axes = figure.add_axes((LEFT, high + 0.03 - tall / height, 0.36, tall / height))
        draw_rows(axes, tall, COLUMNS, rows, dots, rest)
        _title(figure, landscape)
        _footer(figure, landscape)
    return figure


def point_colours(found: tuple[CriticalPoint, ...]) -> list[str]:
    """One colour a point: a hue for its kind, a shade to tell it from others of that kind."""
    hues = [_hue(point, found) for point in found]
    colours = []
    for index, hue in enumerate(hues):
        alike = [i for i, other in enumerate(hues) if other == hue]
        darker = alike.index(index) / max(len(alike) - 1, 1)
        colours.append(to_hex(towards(hue, INK, 0.55 * darker)))
    return colours


def _hue(point: CriticalPoint, found: tuple[CriticalPoint, ...]) -> str:
    if point.kind in MINIMA:
        return ELECTRON if point.loss <= _lowest(found) else ASTRAY
    return FIELD if point.kind == "strict-saddle" else PALE


def _lowest(found: tuple[CriticalPoint, ...]) -> float:
    """The loss up to which a minimum is one of the lowest."""
    losses = [point.loss for point in found if point.kind in MINIMA]
    least, size = min(losses), max(abs(loss) for loss in losses)
    return least + 1e-9 * size


# -- words ----------------------------------------------------------------------------------------


def _title(figure: Figure, landscape: Landscape) -> None:
    height = figure.get_figheight()
    top = lambda inches: 1 - inches / height  # noqa: E731
    words = _headline(landscape)
    size = fitting_in(0.57 * WIDTH, words, 17, "bold")
    figure.text(0.03, top(0.33), words, fontsize=size, fontweight="bold", va="center")
    about = landscape.settings
    facts = [units_of(landscape.teacher), plural(landscape.teacher.units, "teacher unit")]
    facts.append(plural(about["units"], "student unit"))
    facts.append("fixed charges" if about["fixed_charges"] else "free charges")
    facts += [plural(landscape.starts, "start"), f"seed {about['seed']}"]
    line = "  ·  ".join(facts)
    figure.text(0.03, top(0.63), line, fontsize=fitting(line, 10, 110), va="center", color=PALE)


def _headline(landscape: Landscape) -> str:
    found, total, near = landscape.found, landscape.starts, len(landscape.approaching)
    creeping = f"{100 * near / total:.3g} % of starts approach loss 0"
    if not found:
        return creeping if near else "No start has ended"
    lowest = sum(point.count for point in found if _hue(point, found) == ELECTRON)
    bad = sum(point.count for point in found if _hue(point, found) == ASTRAY)
    zero = any(point.relative_loss <= ZERO for point in found)
    goal = "loss 0" if zero else "the lowest minimum"
    if lowest == total:
        return f"Every start reached {goal}"
    if bad:
        return f"{100 * bad / total:.3g} % of starts ended in a bad minimum"
    reached = f"{100 * lowest / total:.3g} % of starts reached {goal}"
    return f"{reached}, {creeping.replace(' of starts', '')}" if near else reached


def _table(
    landscape: Landscape, colours: list[str]
) -> tuple[list[list[str]], list[tuple[str, str]], str]:
    rows: list[list[str]] = []
    dots = []
    for point, colour in list(zip(landscape.found, colours, strict=True))[:ROWS]:
        low, high = (100 * end for end in point.interval)
        paired = ["–", "–"]
        if (found := point.pairing) is not None:
            met = found.alone + found.shared
            paired = [f"{met} of {met + found.missed}", str(found.shared)]
        rows.append(
            [
                str(len(rows)),
                point.kind,
                _loss_words(point.relative_loss),
                str(point.count),
                f"{low:.3g}–{high:.3g} %",
                _eigenvalue(point.smallest_eigenvalue),
                *paired,
            ]
        )
        dots.append((colour, colour))
    remarks = []
    if others := landscape.found[ROWS:]:
        remarks.append(f"… and {len(others)} more, of {sum(p.count for p in others)} starts")
    if len(landscape.approaching):
        remarks.append(f"{plural(len(landscape.approaching), 'start')} approaching 0")
    if landscape.undecided:
        remarks.append(f"{plural(landscape.undecided, 'start')} undecided")
    return rows, dots, "; ".join(remarks)


def _eigenvalue(value: float) -> str:
    return "0" if abs(value) <= ZERO else short(value).replace("-", "−")


def _loss_words(value: float) -> str:
    return "0" if value <= ZERO else short(value)


def _footer(figure: Figure, landscape: Landscape) -> None:
    height = figure.get_figheight()
    text = f"Stopped: {landscape.stop.meaning}"
    if landscape.iterations.size:
        steps = landscape.iterations
        text = f"Iterations of a start: {np.median(steps):.0f} (median), {np.max(steps)} (most)"
        text += f".  Starts are {_law(landscape)}."
    if landscape.found:
        text += "  Found: units of the teacher that some unit is most like; shared: by several."
    if str(landscape.stop) == "interrupted":
        text = f"Interrupted. {text}"
    for number, line in enumerate(textwrap.wrap(text, 78, max_lines=3, placeholder=" …")):
        style: dict[str, Any] = {"fontsize": 8.5, "va": "center", "color": PALE}
        figure.text(LEFT, (0.6 - 0.19 * number) / height, line, **style)


def _law(landscape: Landscape) -> str:
    if landscape.teacher.manifold.name == "sphere":
        return "uniform on the sphere"
    scale = landscape.settings["init_scale"]
    return "N(0, I/d)" if scale is None else f"N(0, {scale:g}² I)"


# -- losses ---------------------------------------------------------------------------------------


def _draw_losses(
    figure: Figure,
    box: tuple[float, float, float, float],
    landscape: Landscape,
    colours: list[str],
) -> None:
    """How many starts ended at which relative loss; loss 0 has a place of its own."""
    left, bottom, width, height = box
    found = landscape.found
    values = np.array([point.relative_loss for point in found])
    zero, several = values <= ZERO, values[values > ZERO]
    creeping = np.isin(np.arange(landscape.starts), landscape.approaching)
    near = landscape.relative_losses[creeping]
    ends = landscape.relative_losses[(landscape.reached < 0) & ~creeping]
    lost = ends[np.isfinite(ends) & (ends > ZERO)]
    several = np.concatenate([several, lost, near])
    logarithmic = len(several) > 0 and np.max(several) > DECADES * np.min(several)
    # A logarithmic axis has no place for 0.
    apart = 0.16 * width if logarithmic and np.any(zero) else 0.0
    gap = 0.015 if apart else 0.0
    main = figure.add_axes((left + apart + gap, bottom, width - apart - gap, height))
    side = figure.add_axes((left, bottom, apart, height)) if apart else main
    bars = _Bars(main, landscape, several, logarithmic)
    bars.draw(np.flatnonzero(values > ZERO), colours, lost, near)
    if np.any(zero):
        bars.draw_zero(side, np.flatnonzero(zero), colours, 0.55 if apart else bars.width)
    if apart:
        side.set_xlim(-0.6, 0.6)
        side.set_xticks([0.0], ["0"])
        main.spines["left"].set_visible(False)
        main.tick_params(which="both", left=False, labelleft=False)
    least = min((point.count for point in found), default=1)
    tall = bars.highest > TALL * least
    for axes in {main, side}:
        axes.grid(visible=False, axis="x")
        if tall:
            axes.set_yscale("log")
            axes.set_ylim(0.6, bars.highest * 3.2)
            axes.yaxis.set_major_locator(LogLocator(numticks=6))
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            axes.set_ylim(0, 1.18 * max(bars.highest, 1.0))
            axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    side.set_ylabel("starts (logarithmic)" if tall else "starts")
    main.set_xlabel("loss / loss of the empty student")
    inch = 1 / figure.get_figheight()
    title: dict[str, Any] = {"fontsize": 11, "fontweight": "bold", "va": "center"}
    figure.text(left, bottom + height + 0.4 * inch, "Final losses", **title)
    figure.legend(
        handles=_kinds(landscape, bool(len(lost)), bool(len(near))),
        loc="center left",
        bbox_to_anchor=(left, bottom + height + 0.17 * inch),
        ncols=4,
        fontsize=8.5,
        handlelength=1.1,
        columnspacing=1.2,
        borderpad=0.0,
        borderaxespad=0.0,
    )


class _Bars:
    """Bars of starts over relative losses; `highest` is the highest so far."""

    def __init__(
        self, axes: Any, landscape: Landscape, values: np.ndarray, logarithmic: bool
    ) -> None:
        self.axes, self.landscape, self.highest = axes, landscape, 0.0
        self.scale = np.log10 if logarithmic else np.asarray
        placed = self.scale(values)
        low, high = (np.min(placed), np.max(placed)) if len(placed) else (0.0, 1.0)
        low = low if logarithmic else 0.0  # losses are compared with 0
        room = 0.1 * (high - low) or 0.5
        self.edges = np.linspace(low - room, high + room, BINS + 1)
        self.width = BAR * (high - low + 2 * room)
        axes.set_xlim(self.edges[0], self.edges[-1])
        if not logarithmic:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
            return
        powers = np.arange(np.ceil(low - room), np.floor(high + room) + 1)
        axes.set_xticks(powers, [f"$10^{{{int(power)}}}$" for power in powers])

    def draw(
        self, points: np.ndarray, colours: list[str], lost: np.ndarray, near: np.ndarray
    ) -> None:
        """A bar for each point, or for each bin where there are many; hatched for the others.

        `lost` and `near` are the relative losses of starts that are undecided or approach 0.
        """
        found, many = self.landscape.found, len(points) > FEW
        labelled = sorted(points, key=lambda i: -found[i].count)[: 0 if many else LABELLED]
        heights = np.zeros(BINS)
        for i in points:
            x, count = float(self.scale(found[i].relative_loss)), found[i].count
            column = int(np.clip(np.searchsorted(self.edges, x) - 1, 0, BINS - 1))
            base = heights[column] if many else 0.0
            x = float(np.mean(self.edges[column : column + 2])) if many else x
            self.axes.bar(
                x, count, self.width, bottom=base, color=colours[i], gid="point", zorder=3
            )
            heights[column] = base + count if many else max(heights[column], count)
            if i in labelled:
                self._number(self.axes, x, count)
        middles = (self.edges[1:] + self.edges[:-1]) / 2
        base = np.zeros(BINS)
        for name, losses in (("lost", lost), ("approaching", near)):
            counts, _ = np.histogram(self.scale(losses), self.edges)
            (some,) = np.nonzero(counts)
            style: dict[str, Any] = {"zorder": 2, "linewidth": 0.8, "gid": name} | HATCHED[name]
            self.axes.bar(middles[some], counts[some], self.width, bottom=base[some], **style)
            base += counts
        self.highest = max(self.highest, float(np.max(heights)), float(np.max(base)))

    def draw_zero(self, axes: Any, points: np.ndarray, colours: list[str], width: float) -> None:
        """One bar for all points of loss 0."""
        base = 0
        for i in points:
            count = self.landscape.found[i].count
            axes.bar(0.0, count, width, bottom=base, color=colours[i], gid="zero", zorder=3)
            base += count
        self._number(axes, 0.0, base)
        self.highest = max(self.highest, base)

    def _number(self, axes: Any, x: float, count: int) -> None:
        """The count over its bar, and its part of all starts."""
        axes.annotate(
            f"{count}\n{100 * count / self.landscape.starts:.3g} %",
            (x, count),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8.5,
            linespacing=1.15,
        )


def _kinds(landscape: Landscape, lost: bool, near: bool) -> list[Any]:
    """Handles for the legend: the kinds of points that were found, in their colours."""
    found = landscape.found
    hues = {_hue(point, found) for point in found}
    zero = any(point.relative_loss <= ZERO for point in found)
    names = {
        ELECTRON: "minimum, loss 0" if zero else "lowest minimum",
        ASTRAY: "other minimum",
        FIELD: "strict saddle",
        PALE: "degenerate",
    }
    handles: list[Any] = [
        Patch(color=hue, label=name) for hue, name in names.items() if hue in hues
    ]
    if near:
        handles.append(Patch(**HATCHED["approaching"], label="approaching 0"))
    if lost:
        handles.append(Patch(**HATCHED["lost"], label="undecided"))
    return handles
