"""The picture of `earnshaw simulate`: the ways of the charges over their potential, the energy."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.dynamics.path import Collision, Encounter, Path
from earnshaw.landscape.equilibria import Equilibrium, rest_of
from earnshaw.limits import check_integer
from earnshaw.plots import _charges as charges
from earnshaw.plots._decay import Decay
from earnshaw.plots._excursions import draw_excursions
from earnshaw.plots._field import Shades, felt_potentials, paint
from earnshaw.plots._numbers import MOST, Numbers
from earnshaw.plots._projection import Line, View, choose_view
from earnshaw.plots._rest import Rests
from earnshaw.plots._small_table import Column, draw_rows, height_of
from earnshaw.plots.formatting import ENDINGS, fitting, plural, short, units_of
from earnshaw.plots.page import Legend, fitting_in
from earnshaw.plots.style import ASTRAY, ELECTRON, FIELD, INK, PALE, PROTON, RC, panel

UNMOVED = 0.01  # part of the stage within which a start is its end, and not marked
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
MEETINGS = {
    "proton": "electron {unit} meets proton {partner}",
    "electron": "electron {unit} meets electron {partner}",
    "origin": "electron {unit} comes to the origin",
}


def draw_path(path: Path, felt_by: int = 0) -> Figure:
    """Trajectories over the potential that one electron feels, the energy, and all encounters.

    Args:
        path: what `simulate` returned.
        felt_by: the electron whose potential is drawn: that of all charges but its own. At time 0;
            at the end if the electrons rest there.
    """
    felt_by = check_felt_by(path, felt_by)
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        rest = rest_of(path)
        _title(figure, path, rest)
        _draw_trajectories(figure, path, felt_by, rest)
        met = path.collisions
        rows = [[f"{event.time:.4g}", in_words(event)] for event in path.events]
        rows += [[f"{path.times[-1]:.4g}", in_words(one)] for one in met]
        dots = [DOTS[event.kind] for event in path.events] + [DOTS["bind"] for _ in met]
        rest_line = f"… and {len(rows) - ROWS} more" if len(rows) > ROWS else ""
        rest_line = rest_line or ("" if rows else "no electron met another charge")
        tall = height_of(min(len(rows), ROWS), rest_line)
        part = tall / HEIGHT
        low = max(0.12 + part + 0.11, 0.5)  # the lower edge of the energy
        _draw_energy(figure.add_axes((LEFT, low, 0.36, TOP - low)), path)
        axes = figure.add_axes((LEFT, low - 0.11 - part, 0.36, part))
        draw_rows(axes, tall, COLUMNS, rows[:ROWS], dots[:ROWS], rest_line)
        _footer(figure, path, rest)
    return figure


def check_felt_by(path: Path, unit: int) -> int:
    """The number of an electron of the path, or an error that says which there are."""
    return check_integer("felt_by", unit, 0, len(path.bound) - 1)


def in_words(event: Encounter | Collision) -> str:
    """Such as "electron 2 binds to proton 0"."""
    if isinstance(event, Collision):
        return MEETINGS[event.what].format(unit=event.unit, partner=event.partner)
    antipode = "the antipode of " if event.side < 0 else ""
    return WORDS[event.kind].format(unit=event.unit, partner=event.partner, antipode=antipode)


def headline(path: Path, rest: Equilibrium | None) -> str:
    """How many electrons are bound; what they have met; whether they rest, and will stay."""
    bound, units = int(np.sum(path.bound >= 0)), len(path.bound)
    if met := path.collisions:
        if len(met) == 1:
            words = in_words(met[0]).replace("meets", "met").replace("comes", "came")
            return words[:1].upper() + words[1:]
        return f"{len(met)} of {plural(units, 'electron')} met a charge at once"
    if rest is not None and bound < units:
        if bound:
            who = f"{bound} of {units} electrons bound, {units - bound} at rest"
        else:
            who = f"All {units} electrons rest" if units > 1 else "The electron rests"
        return f"{who}: {rest.words}"
    if bound == units:
        return f"All {units} electrons bound" if units > 1 else "The electron is bound"
    return f"{bound} of {plural(units, 'electron')} bound"


def facts(path: Path) -> str:
    """What moved among what, for how long."""
    return "  ·  ".join(
        [
            units_of(path.teacher),
            plural(path.teacher.units, "proton"),
            plural(len(path.bound), "electron")
            + ("" if path.kind is None else f" of {path.kind.name}"),
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


def felt_in_words(path: Path, unit: int, when: str) -> str:
    """What the colours are, such as "potential that electron 1 feels, at time 0 (drawn to +)"."""
    who = f"electron {unit}" if len(path.bound) > 1 else "the electron"
    weight = float(path.weights[0, unit])
    goes = "" if not weight else " (drawn to +)" if weight > 0 else " (drawn to −)"
    return f"potential that {who} feels{when}{goes}"


def _title(figure: Figure, path: Path, rest: Equilibrium | None) -> None:
    words = headline(path, rest)
    size = fitting_in(0.57 * WIDTH, words, 17, "bold")
    figure.text(0.03, 0.955, words, fontsize=size, fontweight="bold", va="center")
    line = facts(path)
    figure.text(0.03, 0.915, line, fontsize=fitting(line, 10, 90), va="center", color=PALE)


def draw_ways(path: Path, axes: Any) -> None:
    """The ways of the electrons alone, in axes of the user's own."""
    with matplotlib.rc_context(RC):
        _draw_trajectories(axes.figure, path, 0, rest_of(path), axes)


def _draw_trajectories(
    figure: Any, path: Path, felt_by: int, rest: Equilibrium | None, own: Any = None
) -> None:
    view, ways = view_of(path)
    protons, weights = np.asarray(path.teacher.positions), np.asarray(path.teacher.weights)
    axes: Any = panel(figure, own, (0, 0, 1, 1), view.deep)
    moment = -1 if rest is not None else 0
    shades = _draw_potential(axes, path, view, felt_by, moment)
    view.furnish(axes)
    axes.set_axisbelow(True)
    charges.draw_levels(axes, view, protons)
    colours = [ELECTRON] * len(ways)
    when = path.times / (float(path.times[-1]) or 1.0)
    charges.draw_ways(axes, view, ways, colours, [when] * len(ways))
    away = np.linalg.norm(path.positions - path.positions[0], axis=-1).max(axis=0)
    everything = np.concatenate([protons, *path.positions])
    moved = away > UNMOVED * np.linalg.norm(np.ptp(everything, axis=0))
    charges.draw_starts(axes, view, path.positions[0][moved], [ELECTRON] * int(np.sum(moved)))
    far, _ = draw_excursions(axes, view, ways, colours, when)
    charges.draw_protons(axes, view, protons, weights)

    bound, met = path.bound >= 0, np.zeros(len(ways), dtype=bool)
    met[[one.unit for one in path.collisions]] = True
    met[[one.partner for one in path.collisions if one.what == "electron"]] = True
    rings = charges.ring_areas(weights)
    held_by, ends = path.bound[bound], path.positions[-1][bound]
    charges.draw_rings(axes, view, ends, rings[held_by])
    charges.draw_rings(axes, view, path.positions[-1][met], np.full(int(np.sum(met)), max(rings)))
    opposite = np.sum(ends * protons[held_by], axis=1) < 0
    opposite &= path.teacher.manifold.name == "sphere"
    areas = charges.marker_areas(weights, len(weights))[held_by]
    charges.draw_antipodes(axes, view, ends[opposite], areas[opposite])
    free = ~bound & ~met & view.inside(view.place(path.positions[-1]))
    charges.draw_electrons(axes, view, path.positions[-1][free], path.weights[-1][free])
    rests = Rests(path, view, felt_by, moment, rest)
    rests.draw(axes)

    where = "electron, bound" if np.any(bound) else "electron, met a charge" if any(met) else ""
    handles = charges.legend_handles(
        weights,
        rings=where,
        free="electron, at rest" if rest is not None else "electron, free",
        shows_free=bool(np.any(free)),
        antipodes=bool(np.any(opposite)),
        starts=bool(np.any(moved & view.inside(view.place(path.positions[0], 0.0)))),
        far=far,
    )
    if own is not None:
        own.legend(handles=[*handles, *rests.handles], loc="best", fontsize=9)
        return
    legend = Legend([*handles, *rests.handles], 0.53 * WIDTH)
    below = 0.32 + legend.height  # inches: the line at the bottom, and the legend
    legend.draw(figure, 0.06, (below + 0.04) / HEIGHT)
    bottom = (below + (0.25 if view.deep else 0.55)) / HEIGHT
    box = (0.0, bottom, 0.57, 0.89 - bottom) if view.deep else (0.07, bottom, 0.475, 0.88 - bottom)
    axes.set_position(box)
    _draw_numbers(axes, view, path, free, moved)
    if shades is not None:
        moment_words = ", at the end" if moment else ", at time 0"
        moment_words = "" if isinstance(view, Line) or len(ways) == 1 else moment_words
        words = felt_in_words(path, felt_by, moment_words)
        _draw_key(figure, shades, f"{words}; {view.note}" if view.note else words)
    elif view.note:
        figure.text(0.06, 0.022, view.note[:1].upper() + view.note[1:], fontsize=8.5, color=PALE)


def _draw_numbers(axes: Any, view: View, path: Path, free: np.ndarray, moved: np.ndarray) -> None:
    """Red for protons; blue for electrons where they begin, and where they are free at the end."""
    protons, weights = np.asarray(path.teacher.positions), np.asarray(path.teacher.weights)
    areas = charges.ring_areas(weights)
    ends, begun = view.place(path.positions[-1]), view.place(path.positions[0], 0.0)
    taken = [(view.place(protons), areas), (begun[moved], 14.0), (ends[free], 60.0)]
    numbers = Numbers(axes, view, taken)
    if len(protons) <= MOST:
        numbers.draw(view.place(protons), range(len(protons)), PROTON, areas)
    if len(ends) <= MOST:
        (left,), (loose,) = np.nonzero(moved), np.nonzero(free)
        numbers.draw(begun[left], left, ELECTRON, 14.0)
        numbers.draw(ends[loose], loose, ELECTRON, 60.0)


def _draw_potential(axes: Any, path: Path, view: View, felt_by: int, moment: int) -> Shades | None:
    """That one electron feels at the path's entry `moment`; on the line at all times."""
    grid = view.grid(GRID) if path.of_one_activation else None
    if grid is None:
        return None
    axes.grid(False)
    charges_then = path.positions[moment][None], path.weights[moment][None]
    if isinstance(view, Line):
        charges_then = path.at(np.linspace(0, view.span, MOMENTS))
    values = felt_potentials(path, grid.points, *charges_then, felt_by)
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
    words = f"{before} → {after}".replace("-", "−")
    axes.set_title(words, loc="right", color=ELECTRON)
    axes.set_xlabel("time")
    if not decay.log and len(decay.y):
        low, high = min(float(np.min(decay.y)), 0.0), float(np.max(decay.y))
        margin = 0.06 * (high - low or 1.0)
        axes.set_ylim(low - margin, high + margin)


def _footer(figure: Figure, path: Path, rest: Equilibrium | None) -> None:
    """What kind of rest it is, and why the path ended."""
    ended = f"Ended after {plural(path.steps, 'step')}, {path.stop}: {ENDINGS[path.stop]}"
    lines = [(line, PALE) for line in textwrap.wrap(ended, 72, max_lines=2, placeholder=" …")]
    if rest is not None:
        value = short(rest.smallest_eigenvalue).replace("-", "−")
        kind = f"At rest: {rest.words}; certificate {rest.kind}, smallest eigenvalue {value}"
        lines = [(kind, INK), *lines]
        if rest.unstable and rest.harmonic:
            lines.insert(1, ("Where the potential is harmonic, no equilibrium is stable.", INK))
    top = 0.065 + 0.026 * max(len(lines) - 2, 0)
    for number, (line, colour) in enumerate(lines):
        size = fitting_in(0.365 * WIDTH, line, 8.5)
        figure.text(LEFT, top - 0.026 * number, line, fontsize=size, va="center", color=colour)
