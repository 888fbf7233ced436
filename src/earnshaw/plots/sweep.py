"""The picture of any sweep: a heat map over its last two axes, or a row a value of its only one."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import matplotlib
from matplotlib.figure import Figure

from earnshaw.plots._ranges import Spot, draw_ranges
from earnshaw.plots.formatting import plural, shortened
from earnshaw.plots.heat_map import ERROR, RATE, HeatMap, Scale, between, number, size_in
from earnshaw.plots.page import HEAD, MARGIN, WIDE, Page, fitting_in, inches
from earnshaw.plots.style import RC

SHARES = ("found",)  # numbers that are parts of 1, though not yes or no
CELL = (0.62, 1.05)  # the width of a cell in inches, at least where panels wrap, and at most
GAP = 0.3  # between panels
NAME = 2.6  # for the name of a panel, at most
LEAST = 7.4  # the width of the picture
LETTERS = 26  # of a value that is shown whole
FACTS = 170  # letters of the line below the title


class Cell(Protocol):
    """One place of the grid with one seed: its numbers, or why there are none."""

    @property
    def numbers(self) -> Mapping[str, Any] | None: ...
    @property
    def error(self) -> str | None: ...


class Plan(Protocol):
    """What was asked for: the settings of every place, the axes among them, the seeds."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def axes(self) -> tuple[str, ...]: ...
    @property
    def settings(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def seeds(self) -> Sequence[int]: ...


class Sweep(Protocol):
    """What a picture needs of a sweep; `ew.Sweep` says what each is.

    A protocol, so that the pictures and the machinery of sweeps need not know each other.
    """

    @property
    def plan(self) -> Plan: ...
    @property
    def cells(self) -> Sequence[Cell]: ...
    @property
    def code(self) -> str: ...
    @property
    def elsewhere(self) -> int: ...
    @property
    def measure(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    def rows(self, measure: str | None = None) -> list[dict[str, Any]]: ...
    def chosen_settings(self) -> dict[str, Any]: ...


def draw_sweep(done: Sweep, measure: str | None = None) -> Figure:
    """The last axis across, the one before it down, the others as panels; see the module.

    Args:
        done: the sweep, finished or not.
        measure: a number of its results; the kind's own if None. Of yes and no, the rate is shown,
            from 0 to 1; of parts of 1 the mean; of others the median, on a logarithmic scale
            unless some are negative.
    """
    measure = done.measure if measure is None else measure
    yes_no = _yes_no(done, measure)
    share = yes_no or measure in SHARES
    spots = _spots(done, measure, yes_no, share)
    what = f"{'rate' if yes_no else 'mean' if share else 'median'}"
    name = measure.replace("_", " ")
    title = f"{name} {what}" if yes_no else f"{what} {name}"
    with matplotlib.rc_context(RC):
        if len(done.plan.axes) < 2:
            labels = [word(spot.row[axis]) for spot in spots for axis in done.plan.axes]
            axis = done.plan.axes[0] if done.plan.axes else ""
            line = _head(done, title) + ("" if axis else f": {spots[0].words}")
            head = line, _facts(done), _notes(done, "Beside", yes_no, share)
            return draw_ranges(head, spots, labels or [""], axis, title, share, yes_no)
        return _draw_maps(done, spots, title, share, yes_no)


def word(value: Any) -> str:
    """A value of a setting as a label."""
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return shortened(
            ", ".join(f"{word(key)} {word(v)}" for key, v in value.items()) or "none", LETTERS
        )
    if isinstance(value, (list, tuple)):
        return shortened(", ".join(map(word, value)), LETTERS)
    return f"{value:.4g}" if isinstance(value, float) else shortened(str(value), LETTERS)


# -- numbers --------------------------------------------------------------------------------------


def _yes_no(done: Sweep, measure: str) -> bool:
    values = [cell.numbers.get(measure) for cell in done.cells if cell.numbers is not None]
    return bool(values) and all(isinstance(value, bool) for value in values)


def _spots(done: Sweep, measure: str, yes_no: bool, share: bool) -> list[Spot]:
    seeds, spots = len(done.plan.seeds), []
    for i, row in enumerate(done.rows(measure)):
        if not row["seeds"]:
            failed = any(cell.error for cell in done.cells[i * seeds : (i + 1) * seeds])
            spots.append(Spot(None, "failed" if failed else "missing", "", row))
            continue
        value = row["mean"] if share else row["median"]
        small = between(row["low"], row["high"]) if row["seeds"] > 1 else ""
        if yes_no:
            small = f"{sum(row['values']):.0f} of {row['seeds']}"
        elif share and small:
            small = f"{100 * row['low']:.3g}–{100 * row['high']:.3g}"
        if row["seeds"] < seeds and not yes_no:
            small += f" ({row['seeds']})" if small else f"({row['seeds']})"
        words = f"{100 * value:.3g} %" if share and math.isfinite(value) else number(value)
        spots.append(Spot(value, words, small, row))
    return spots


# -- words ----------------------------------------------------------------------------------------


def _head(done: Sweep, title: str) -> str:
    title = title[:1].upper() + title[1:]
    axes = [axis.replace("_", " ") for axis in done.plan.axes]
    if not axes:
        return title
    return f"{title} by {', '.join(axes[:-1])}{' and ' if axes[1:] else ''}{axes[-1]}"


def _facts(done: Sweep) -> list[str]:
    """The run, its seeds, and the settings that are the same everywhere but not the defaults."""
    plan = done.plan
    facts = [shortened(plan.name, 40)] if plan.name != plan.kind else []
    facts += [plan.kind, plural(len(plan.seeds), "seed")]
    facts += [f"{key.replace('_', ' ')} {word(v)}" for key, v in done.chosen_settings().items()]
    kept = list(itertools.accumulate(len(fact) + 5 for fact in facts))
    fits = sum(length <= FACTS for length in kept)
    return facts if fits == len(facts) else [*facts[:fits], "…"]


def _notes(done: Sweep, where: str, yes_no: bool, share: bool) -> list[str]:
    """How far the sweep is, what the small type means, and the version of the code."""
    seeds = plural(len(done.plan.seeds), "seed")
    notes = []
    if yes_no:
        notes.append(f"{where} a rate: how many of the {seeds}.")
    elif len(done.plan.seeds) > 1:
        notes.append(f"{where} a number: the range over the {seeds}{', in %' if share else ''}.")
    if not done.complete:
        notes.append(f"{done.done} of {len(done.cells)} cells are done, {done.failed} failed.")
        if not yes_no and any(0 < row["seeds"] < len(done.plan.seeds) for row in done.rows()):
            notes.append("In brackets: of how many seeds a number is, where not of all.")
    if done.elsewhere:
        notes.append(f"{plural(done.elsewhere, 'cell')} of other versions of the code: not used.")
    return [" ".join(notes), f"earnshaw {done.code}"]


# -- heat maps ------------------------------------------------------------------------------------


def _draw_maps(done: Sweep, spots: list[Spot], title: str, share: bool, yes_no: bool) -> Figure:
    *before, down, across = done.plan.axes
    panels: dict[str, list[Spot]] = {}
    for spot in spots:
        panels.setdefault(_key([spot.row[axis] for axis in before]), []).append(spot)
    rows, columns = _values(spots, down), _values(spots, across)
    layout = _Layout(list(rows.values()), list(columns.values()), _names(panels, before))
    notes = _notes(done, "Below", yes_no, share)
    page = Page(layout.body, _head(done, title), _facts(done), notes, layout.page)
    scale = _scale([spot.value for spot in spots if spot.value is not None], share)
    size = size_in([spot.words for spot in spots if spot.value is not None], 10, layout.cell)
    small = size_in([spot.small for spot in spots], 7.5, layout.cell)
    small = small if layout.tall >= 0.42 else 0.0
    for index, panel in enumerate(panels.values()):
        left, top = layout.corner(index)
        axes = page.axes(left, top, layout.width, layout.height)
        axes.set_gid(layout.names[index])
        first = index % layout.columns == 0
        names = list(rows.values()) if first else [""] * len(rows)
        cells = HeatMap(axes, names, list(columns.values()), layout.width, layout.height)
        axes.set_xlabel(across.replace("_", " "), fontsize=10, labelpad=5)
        axes.set_ylabel(down.replace("_", " ") if first else "", fontsize=10)
        for spot in panel:
            place = tuple(
                list(values).index(_key(spot.row[axis]))
                for values, axis in ((rows, down), (columns, across))
            )
            if spot.value is None:
                cells.hatch((place[0], place[1]), spot.words, min(8, 50 * layout.tall))
            else:
                colour = scale.colour(spot.value)
                cells.fill((place[0], place[1]), colour, spot.words, size, spot.small, small)
        over = HEAD + top - layout.above + 0.1
        size_of_name = fitting_in(layout.pitch - GAP, layout.names[index], 10, "bold")
        style: dict[str, Any] = {"fontweight": "bold", "va": "top"}
        page.text(left, over, layout.names[index], size_of_name, **style)
    bar = page.axes(layout.left, layout.body - 0.55, min(3.0, page.width - 2), 0.12)
    scale.draw(bar, title, percent=share)
    return page.figure


def _scale(values: list[float], share: bool) -> Scale:
    if share:
        return Scale([], RATE, logarithmic=False, limits=(0.0, 1.0))
    return Scale(values, ERROR, logarithmic=all(value >= 0 for value in values))


def _values(spots: list[Spot], axis: str) -> dict[str, str]:
    """The values of an axis in the order of the grid: their one text, and their label."""
    return {_key(spot.row[axis]): word(spot.row[axis]) for spot in spots}


def _key(value: Any) -> str:
    """One text for equal settings, which may be lists or tables and so no keys themselves."""
    return json.dumps(value, sort_keys=True)


def _names(panels: dict[str, list[Spot]], before: list[str]) -> list[str]:
    return [
        ", ".join(f"{axis.replace('_', ' ')} {word(group[0].row[axis])}" for axis in before)
        for group in panels.values()
    ]


class _Layout:
    """Where the panels are, in inches: as many in a line as have room, then the next line."""

    def __init__(self, rows: list[str], columns: list[str], names: list[str]) -> None:
        self.left = MARGIN + 0.32 + max(inches(row, 9) for row in rows) + 0.1
        room = WIDE - MARGIN - self.left
        # A panel is no narrower than its name, if that is not very long.
        longest = max(inches(part, 10, "bold") for name in names for part in name.split(", "))
        narrowest = max(CELL[0] * len(columns), min(longest, NAME))
        most = int((room + GAP) / (narrowest + GAP))
        lines = math.ceil(len(names) / max(1, min(most, len(names))))
        self.columns = math.ceil(len(names) / lines)
        each = (room + GAP) / self.columns - GAP
        self.cell = min(CELL[1], each / len(columns))
        self.width = self.cell * len(columns)
        self.tall = min(0.5, max(0.22, 9.0 / (len(rows) * lines)))
        self.height = self.tall * len(rows)
        self.pitch = max(self.width, min(longest, NAME)) + GAP
        self.names = [_folded(name, self.pitch - GAP) for name in names]
        widest = max(inches(column, 9) for column in columns)
        ticks = widest if widest > 0.95 * self.cell else 0.15
        titles = max(name.count("\n") + 1 for name in self.names) if any(names) else 0
        self.above = 0.19 * titles + 0.3 + ticks + 0.12
        self.body = lines * (self.above + self.height + 0.15) + 0.62
        self.page = max(LEAST, self.left + self.columns * self.pitch - GAP + MARGIN)

    def corner(self, index: int) -> tuple[float, float]:
        """The upper left corner of the cells of a panel."""
        line, column = divmod(index, self.columns)
        down = line * (self.above + self.height + 0.15) + self.above
        return self.left + column * self.pitch, down


def _folded(name: str, width: float) -> str:
    """A name in as many lines as a panel so wide asks for: parts stay whole where they fit."""
    lines = [""]
    for part in name.split(", "):
        longer = f"{lines[-1]}, {part}" if lines[-1] else part
        if lines[-1] and inches(longer, 10, "bold") > width:
            lines.append(part)
        else:
            lines[-1] = longer
    return "\n".join(lines)
