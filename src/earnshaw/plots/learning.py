"""The picture of `earnshaw learn`: the ways of the electrons, the loss, and what was recovered."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.energy.population import population_loss
from earnshaw.learning.run import Run
from earnshaw.plots import _charges as charges
from earnshaw.plots._arrivals import Arrivals
from earnshaw.plots._decay import FLOOR, Decay, whole_numbers
from earnshaw.plots._excursions import draw_excursions
from earnshaw.plots._field import Shades, paint, potentials
from earnshaw.plots._numbers import MOST, Numbers
from earnshaw.plots._projection import Line, View, choose_view
from earnshaw.plots._small_table import Column, draw_rows, height_of
from earnshaw.plots.formatting import fitting, plain, plural, short, shortened, units_of
from earnshaw.plots.page import Legend, fitting_in
from earnshaw.plots.style import ASTRAY, ELECTRON, INK, PALE, PROTON, RC, panel

WIDTH, HEIGHT = 12.4, 7.8  # inches
LEFT, TOP = 0.62, 0.925  # the corner of the right column
ROWS = 16
GRID = 161
COLUMNS = (
    Column("unit", 0.11),
    Column("distance", 0.36),
    Column("weight", 0.64),
    Column("weight error", 0.97),
)


def draw_run(run: Run) -> Figure:
    """Trajectories, loss on a logarithmic axis, and the recovered units with the certificate."""
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        arrivals = Arrivals(run)
        _title(figure, run, arrivals)
        _draw_trajectories(figure, run, arrivals)
        rows, dots, rest = _table(run, arrivals)
        tall = height_of(len(rows), rest)
        part = tall / HEIGHT
        low = max(0.135 + part + 0.1, 0.5)  # the lower edge of the loss
        _draw_loss(figure.add_axes((LEFT, low, 0.36, TOP - low)), run)
        axes = figure.add_axes((LEFT, low - 0.1 - part, 0.36, part))
        draw_rows(axes, tall, COLUMNS, rows, dots, rest)
        _footer(figure, run)
    return figure


def _title(figure: Figure, run: Run, arrivals: Arrivals) -> None:
    units = run.teacher.units
    figure.text(0.03, 0.958, arrivals.headline, fontsize=17, fontweight="bold", va="center")
    facts = [units_of(run.teacher), plural(units, "unit")]
    if run.student.units != units:
        facts.append(plural(run.student.units, "student unit"))
    facts.append(shortened(run.method, 24))
    if run.settings.get("seed") is not None:
        facts.append(f"seed {run.settings['seed']}")
    line = "  ·  ".join(facts)
    figure.text(0.03, 0.92, plain(line), fontsize=fitting(line, 10, 90), va="center", color=PALE)


def draw_ways(run: Run, axes: Any) -> None:
    """The ways of the electrons alone, in axes of the user's own."""
    with matplotlib.rc_context(RC):
        _draw_trajectories(axes.figure, run, Arrivals(run), axes)


def _draw_trajectories(figure: Any, run: Run, arrivals: Arrivals, own: Any = None) -> None:
    protons, weights = np.asarray(run.teacher.positions), np.asarray(run.teacher.weights)
    view = choose_view(run.teacher.manifold.name, protons, arrivals.paths)
    axes: Any = panel(figure, own, (0, 0, 1, 1), view.deep)
    _draw_background(axes, run, view)
    view.furnish(axes)
    axes.set_axisbelow(True)
    charges.draw_levels(axes, view, protons)

    order = np.argsort(~arrivals.arrived, kind="stable")  # those astray on top
    colours = [ELECTRON if good else ASTRAY for good in arrivals.arrived]
    ways, shades = [arrivals.paths[i] for i in order], [colours[i] for i in order]
    charges.draw_ways(axes, view, ways, shades, widest=2.2 * charges.crowding(len(ways)))
    begun = [colour for colour, path in zip(colours, arrivals.paths, strict=True) if len(path) > 1]
    charges.draw_starts(axes, view, arrivals.starts, begun)
    far, _ = draw_excursions(axes, view, ways, shades)

    charges.draw_protons(axes, view, protons, weights)
    rings = charges.ring_areas(weights)
    reached = arrivals.landed
    electrons = arrivals.ends[run.matching.permutation[reached]]
    charges.draw_rings(axes, view, electrons, rings[reached])
    charges.draw_vacant(axes, view, protons[~reached], rings[~reached])
    charges.draw_astray(axes, view, arrivals.ends[~arrivals.arrived])
    handles = charges.legend_handles(
        weights,
        astray=not np.all(arrivals.arrived),
        vacant=not np.all(reached),
        rings="electron, landed" if np.any(reached) else "",
        starts=bool(np.any(view.inside(view.place(arrivals.starts, 0.0)))),
        far=far,
    )
    if own is not None:
        own.legend(handles=handles, loc="best", fontsize=9)
        return
    notes = [view.note] if view.note else []
    if view.grid(2) is not None:
        notes.append("colours: the teacher's potential, red where it is positive")
    if arrivals.turned:
        turned = plural(arrivals.turned, "unit")
        name = shortened(run.teacher.species.name, 24)
        notes.append(f"{turned} drawn mirrored or rescaled, as {name} allows")
    legend = Legend(handles, 0.53 * WIDTH)
    below = 0.06 + 0.17 * len(notes) + legend.height
    legend.draw(figure, 0.06, (below + 0.04) / HEIGHT)
    for number, note in enumerate(notes):
        line, y = plain(note[:1].upper() + note[1:]), (0.06 + 0.17 * number) / HEIGHT
        figure.text(0.06, y, line, fontsize=fitting_in(0.54 * WIDTH, note, 8.5), color=PALE)
    bottom = (below + (0.25 if view.deep else 0.55)) / HEIGHT
    axes.set_position(
        (0.0, bottom, 0.57, 0.9 - bottom) if view.deep else (0.07, bottom, 0.475, 0.885 - bottom)
    )
    order = _order(arrivals)
    named = order if len(order) <= MOST else order[:ROWS]
    numbers = Numbers(axes, view, [(view.place(protons), rings)])
    numbers.draw(view.place(protons[named]), named, PROTON, rings[named])


def _draw_background(axes: Any, run: Run, view: View) -> None:
    """The teacher's own potential: what a first electron feels; of several outputs none."""
    grid = view.grid(GRID)
    if grid is None or run.teacher.outputs is not None:
        return
    nobody = np.zeros((1, 0, run.teacher.dim)), np.zeros((1, 0))
    (values,) = potentials(run.teacher, grid.points, *nobody)
    axes.grid(False)
    table = np.repeat(values[:, None], 2, axis=1) if isinstance(view, Line) else values
    paint(axes, view, grid, table, Shades(values))


def _draw_loss(axes: Any, run: Run) -> None:
    """Relative to the empty student; a step a unit for node-wise methods."""
    history = run.history
    node_wise = history.node_iterations is not None
    empty = float(population_loss(run.teacher).empty_value())
    known = np.isfinite(empty) and empty > 0
    x = np.arange(len(history.losses)) if node_wise else history.iterations
    Decay(x, history.losses, empty if known else 1.0, always_log=True).draw(axes, steps=node_wise)
    axes.set_title("Loss / loss of the empty student" if known else "Loss", loc="left")
    axes.set_xlabel("units placed" if node_wise else "iteration")
    whole_numbers(axes)
    left = run.relative_loss if known else run.loss
    words = short(left) if np.isfinite(left) else "not finite"
    if known and abs(left) <= FLOOR * 10:
        words = "0 to rounding"
    axes.set_title(words, loc="right", color=ELECTRON)


def _order(arrivals: Arrivals) -> np.ndarray:
    """The numbers of the teacher's units, those not found first where there are many."""
    if arrivals.units <= ROWS:
        return np.arange(arrivals.units)
    return np.argsort(arrivals.exact, kind="stable")


def _table(run: Run, arrivals: Arrivals) -> tuple[list[list[str]], list[tuple[str, str]], str]:
    """At most ROWS rows, those not found first if there are more; dots; a line for the rest."""
    matching, order = run.matching, _order(arrivals)
    rows, dots = [], []
    for unit in order[:ROWS]:
        weight = arrivals.weights[unit]
        plain = f"{weight:.4f}" if 1e-3 <= abs(weight) < 1e3 else short(weight, 3)
        distance, error = matching.distance[unit], matching.weight_error[unit]
        plain = f"−{plain[1:]}" if plain.startswith("-") else plain
        rows.append([str(unit), short(distance), plain, short(error)])
        edge = ELECTRON if arrivals.landed[unit] else ASTRAY
        dots.append((edge, edge if arrivals.exact[unit] else "white"))
    remarks = []
    if len(others := order[ROWS:]):
        found = matching.distance[others][np.isfinite(matching.distance[others])]
        largest = f", largest distance {short(np.max(found))}" if len(found) else ", none found"
        remarks.append(f"… and {len(others)} more{largest}")
    if len(matching.unmatched):
        remarks.append(f"{plural(len(matching.unmatched), 'student unit')} without a proton")
    return rows, dots, "; ".join(remarks)


def _footer(figure: Figure, run: Run) -> None:
    """The certificate, and why the run ended."""
    numbers = run.certificate.summary()
    parts = [f"gradient norm {short(numbers['gradient_norm'])}"]
    if numbers["smallest_margin"] is not None:
        parts.append(f"smallest margin {short(numbers['smallest_margin'])}")
    if numbers["smallest_eigenvalue"] is not None:
        parts.append(f"smallest eigenvalue {short(numbers['smallest_eigenvalue'])}")
    stop = f"Stopped after {plural(run.iterations, 'iteration')}: {run.stop.meaning}"
    why = textwrap.wrap(stop, 72, max_lines=2, placeholder=" …")
    lines = [f"Certificate: {numbers['kind']}", ",  ".join(parts), *why]
    for number, line in enumerate(lines):
        weight = "bold" if number == 0 else "normal"
        y = 0.105 - 0.024 * number
        style: dict[str, Any] = {"fontsize": 8.5, "va": "center"}
        style["color"] = INK if number < 2 else PALE
        figure.text(LEFT, y, line, fontweight=weight, **style)
