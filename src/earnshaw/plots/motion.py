"""The picture of `earnshaw simulate`: the ways of the charges over their potential, the energy."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.dynamics.path import Encounter, Path
from earnshaw.plots import _charges as charges
from earnshaw.plots._decay import Decay
from earnshaw.plots._field import Shades, paint, potentials
from earnshaw.plots._projection import Line, View, choose_view
from earnshaw.plots._small_table import Column, draw_rows, height_of
from earnshaw.plots.formatting import ENDINGS, fitting, plural, short, units_of
from earnshaw.plots.style import ASTRAY, ELECTRON, FIELD, PALE, RC, panel

WIDTH, HEIGHT = 12.4, 7.4  # inches
LEFT, TOP = 0.62, 0.915  # the corner of the right column
ROWS = 12
GRID = 161
MOMENTS = 161  # in which the potential on the line is taken
COLUMNS = (Column("time", 0.16), Column("event", 0.22, "left"))
WORDS = {
    "bind": "electron {unit} binds to {antipode}proton {partner}",
    "release": "electron {unit} leaves {antipode}proton {partner}",
    "merge": "electron {unit} joins {antipode}electron {partner}",
    "split": "electron {unit} parts from {antipode}electron {partner}",
}
DOTS = {
    "bind": (ELECTRON, ELECTRON),
    "release": (ASTRAY, "white"),
    "merge": (FIELD, FIELD),
    "split": (FIELD, "white"),
}


def draw_path(path: Path) -> Figure:
    """Trajectories over the potential at time 0, the energy over time, and all encounters."""
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        _title(figure, path)
        _draw_trajectories(figure, path)
        rows = [[f"{event.time:.4g}", in_words(event)] for event in path.events]
        dots = [DOTS[event.kind] for event in path.events]
        rest = f"… and {len(rows) - ROWS} more" if len(rows) > ROWS else ""
        rest = rest or ("" if rows else "no electron met another charge")
        tall = height_of(min(len(rows), ROWS), rest)
        part = tall / HEIGHT
        low = max(0.12 + part + 0.11, 0.5)  # the lower edge of the energy
        _draw_energy(figure.add_axes((LEFT, low, 0.36, TOP - low)), path)
        axes = figure.add_axes((LEFT, low - 0.11 - part, 0.36, part))
        draw_rows(axes, tall, COLUMNS, rows[:ROWS], dots[:ROWS], rest)
        _footer(figure, path)
    return figure


def in_words(event: Encounter) -> str:
    """Such as "electron 2 binds to proton 0"."""
    antipode = "the antipode of " if event.side < 0 else ""
    return WORDS[event.kind].format(unit=event.unit, partner=event.partner, antipode=antipode)


def headline(path: Path) -> str:
    """How many electrons are bound."""
    bound, units = int(np.sum(path.bound >= 0)), len(path.bound)
    if bound == units:
        return f"All {units} electrons bound" if units > 1 else "The electron is bound"
    return f"{bound} of {plural(units, 'electron')} bound"


def facts(path: Path) -> str:
    """What moved among what, for how long."""
    return "  ·  ".join(
        [
            units_of(path.teacher),
            plural(path.teacher.units, "proton"),
            plural(len(path.bound), "electron"),
            f"time 0 to {short(float(path.times[-1]))}",
        ]
    )


def view_of(path: Path) -> tuple[View, list[np.ndarray]]:
    """The view of a simulation, and the way of each electron."""
    ways = [path.positions[:, unit] for unit in range(path.positions.shape[1])]
    span = float(path.times[-1]) or 1.0
    protons = np.asarray(path.teacher.positions)
    view = choose_view(path.teacher.manifold.name, protons, ways, label="time", span=span)
    return view, ways


def _title(figure: Figure, path: Path) -> None:
    figure.text(0.03, 0.955, headline(path), fontsize=17, fontweight="bold", va="center")
    line = facts(path)
    figure.text(0.03, 0.915, line, fontsize=fitting(line, 10, 90), va="center", color=PALE)


def draw_ways(path: Path, axes: Any) -> None:
    """The ways of the electrons alone, in axes of the user's own."""
    with matplotlib.rc_context(RC):
        _draw_trajectories(axes.figure, path, axes)


def _draw_trajectories(figure: Any, path: Path, own: Any = None) -> None:
    view, ways = view_of(path)
    protons, weights = np.asarray(path.teacher.positions), np.asarray(path.teacher.weights)
    box = (0.0, 0.115, 0.57, 0.78) if view.deep else (0.07, 0.15, 0.475, 0.73)
    axes: Any = panel(figure, own, box, view.deep)
    shades = _draw_potential(axes, path, view)
    view.furnish(axes)
    axes.set_axisbelow(True)
    charges.draw_levels(axes, view, protons)
    bound = path.bound >= 0
    colours = [ELECTRON if held else ASTRAY for held in bound]
    when = path.times / (float(path.times[-1]) or 1.0)
    charges.draw_ways(axes, view, ways, colours, [when] * len(ways))
    charges.draw_starts(axes, view, path.positions[0], colours)
    charges.draw_protons(axes, view, protons, weights)
    rings = charges.ring_areas(weights)
    held_by, ends = path.bound[bound], path.positions[-1][bound]
    charges.draw_rings(axes, view, ends, rings[held_by])
    opposite = np.sum(ends * protons[held_by], axis=1) < 0
    opposite &= path.teacher.manifold.name == "sphere"
    areas = charges.marker_areas(weights, len(weights))[held_by]
    charges.draw_antipodes(axes, view, ends[opposite], areas[opposite])
    charges.draw_electrons(axes, view, path.positions[-1][~bound], path.weights[-1][~bound])
    handles = charges.legend_handles(
        rings="electron, bound" if np.any(bound) else "",
        free=not np.all(bound),
        antipodes=bool(np.any(opposite)),
    )
    if own is not None:
        own.legend(handles=handles, loc="best", fontsize=9)
        return
    figure.legend(
        handles=handles,
        loc="center left",
        bbox_to_anchor=(0.06, 0.065),
        ncols=len(handles),
        fontsize=9,
        handletextpad=0.3,
        columnspacing=1.4,
    )
    if shades is not None:
        what = "potential over time" if isinstance(view, Line) else "potential at time 0"
        _draw_key(figure, shades, what)


def _draw_potential(axes: Any, path: Path, view: View) -> Shades | None:
    """Of the charges at time 0; on the line at all times."""
    grid = view.grid(GRID)
    if grid is None:
        return None
    axes.grid(False)
    moments = np.zeros(1)
    if isinstance(view, Line):
        moments = np.linspace(0, view.span, MOMENTS)
    values = potentials(path.teacher, grid.points, *path.at(moments))
    shades = Shades(values)
    paint(axes, view, grid, values.T if isinstance(view, Line) else values[0], shades)
    return shades


def _draw_key(figure: Figure, shades: Shades, what: str) -> None:
    """A small colour bar below the legend."""
    axes = figure.add_axes((0.087, 0.025, 0.13, 0.012))
    bar = shades.colours(np.arange(shades.colours.N))[None]
    axes.imshow(bar, aspect="auto", interpolation="nearest")
    axes.set_axis_off()
    style: dict[str, Any] = {"fontsize": 8.5, "color": PALE, "va": "center"}
    style["transform"] = axes.transAxes
    axes.text(-0.04, 0.4, "−", ha="right", **style)
    axes.text(1.04, 0.4, f"+   {what}", ha="left", **style)


def _draw_energy(axes: Any, path: Path) -> None:
    decay = Decay(path.times, path.energy)
    decay.draw(axes)
    for event in path.events:
        edge, face = DOTS[event.kind]
        axes.plot(
            event.time,
            decay.at(event.time),
            "o",
            mec=edge,
            mfc=face,
            ms=6.5,
            mew=1.4,
            zorder=4,
            gid=event.kind,
        )
    axes.set_title("Energy", loc="left")
    before, after = short(float(path.energy[0])), short(decay.rounded(float(path.energy[-1])))
    axes.set_title(f"{before} → {after}", loc="right", color=ELECTRON)
    axes.set_xlabel("time")
    if not decay.log and len(decay.y):
        low, high = float(np.min(decay.y)), float(np.max(decay.y))
        axes.set_ylim(min(low, 0.0) - 0.06 * (high - min(low, 0.0) or 1.0), None)


def _footer(figure: Figure, path: Path) -> None:
    what = f"Ended after {plural(path.steps, 'step')}, {path.stop}: {ENDINGS[path.stop]}"
    for number, line in enumerate(textwrap.wrap(what, 78, max_lines=2, placeholder=" …")):
        figure.text(LEFT, 0.065 - 0.026 * number, line, fontsize=8.5, va="center", color=PALE)
