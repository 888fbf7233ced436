"""Basins in d <= 3: every start where it began, in the colour of where it ended.

A single unit is a place, so that the plane, circle or globe itself is painted too, each point in
the pale colour of the nearest start. Rings show the ends, and red dots the protons.

Units are folded by the activation's exact symmetries, as in the picture of `learn`: one that ends
at -w with the weight that this asks for is the unit at w, and is drawn there, its start with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle as Disc
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree

from earnshaw.charges.matching import symmetries_of
from earnshaw.charges.network import Student
from earnshaw.landscape.hunting.critical_points import Landscape
from earnshaw.plots import _charges as charges
from earnshaw.plots._numbers import MOST, Numbers
from earnshaw.plots._projection import Circle, Globe, Plane, View, choose_view
from earnshaw.plots.formatting import plain, plural, shortened
from earnshaw.plots.page import Legend
from earnshaw.plots.style import ELECTRON, PALE, PROTON

SHOWN = 3000  # starts in the picture of the basins
GRID = 241
LOST = "#d5d8de"  # of starts that have not ended
SAME_PLACE = 1e-3  # ends nearer than this are one
# Ends of single units, told apart by hue alone.
HUES = ("#2166ac", "#d98200", "#2f8f5b", "#6a51a3", "#c05299", "#5aa5a8", "#8c6d31", "#7f7f7f")


def draw_basins(figure: Figure, landscape: Landscape, colours: list[str], most: int) -> None:
    """Where starts began, in the colour of where they ended; rings for `most` ends at most."""
    teacher = landscape.teacher
    protons, weights = np.asarray(teacher.positions), np.asarray(teacher.weights)
    folds = fold(landscape, landscape.ends[:SHOWN], landscape.weights[:SHOWN])
    folds[landscape.reached[:SHOWN] < 0] = 1.0
    begun = folds[..., None] * landscape.begun[:SHOWN]
    ends = folds[..., None] * landscape.ends[:SHOWN]
    alone = begun.shape[1] == 1
    reached, palette, places = _destinations(landscape, ends, colours)
    dim = protons.shape[1]
    flat = [begun.reshape(-1, dim), places.reshape(-1, dim)]
    view = choose_view(teacher.manifold.name, protons, list(np.concatenate(flat)[:, None]))
    box = (0.0, 0.12, 0.57, 0.78) if view.deep else (0.07, 0.155, 0.475, 0.71)
    axes: Any = figure.add_axes(box, projection="3d" if view.deep else None)
    if alone:
        _paint_basins(axes, view, begun[:, 0], reached, palette)
    view.furnish(axes)
    axes.set_axisbelow(True)
    shades = np.array([to_rgb(palette[r]) if r >= 0 else to_rgb(LOST) for r in reached])
    opacity = 0.9 if alone else float(np.clip(400 / max(begun[..., 0].size, 1), 0.12, 0.6))
    flat = begun.reshape(-1, dim)
    hidden = view.behind(flat)
    rgba = np.column_stack([np.repeat(shades, begun.shape[1], axis=0), np.where(hidden, 0.0, 1.0)])
    rgba[:, 3] *= opacity
    where = view.place(flat, 0.12 if dim == 1 else 1.0)
    extra = {"depthshade": False} if view.deep else {}
    axes.scatter(*where.T, s=11, c=rgba, linewidths=0, zorder=2, gid="begun", **extra)
    charges.draw_levels(axes, view, protons)
    charges.draw_protons(axes, view, protons, weights)
    _draw_ends(axes, view, palette, places[:most])
    _basin_legend(figure, alone, weights, len(places) > 0, bool(np.any(reached < 0)))
    numbers = Numbers(axes, view, [(view.place(protons), charges.ring_areas(weights))])
    if len(protons) <= MOST:
        numbers.draw(view.place(protons), range(len(protons)), PROTON, 230.0)
    folded = int(np.sum(np.any(np.abs(folds - 1) > 1e-9, axis=1)))
    notes = [view.note.replace("; its potential is not drawn", "")] if view.note else []
    if folded:
        name = shortened(teacher.species.name, 24)
        notes.append(f"{plural(folded, 'start')} drawn mirrored or rescaled, as {name} allows")
    note = plain("; ".join(notes))
    figure.text(0.06, 0.018, note[:1].upper() + note[1:], fontsize=8.5, color=PALE)


def fold(landscape: Landscape, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Factors (s, k) of units at positions (s, k, d): what to multiply each with to draw it.

    Of a unit and its flip (theta, c) ~ (-theta, flip c), where that leaves nothing behind, the one
    with a proton nearer; a homogeneous unit at that proton's length. With fixed charges only what
    leaves c alone is the same unit.
    """
    teacher, fixed = landscape.teacher, bool(landscape.settings.get("fixed_charges"))
    allowed = symmetries_of(teacher.species)
    w, b = np.asarray(teacher.positions), np.asarray(teacher.weights)
    exact = allowed.flip is not None and not allowed.constant and not allowed.linear
    flips = exact and (allowed.flip == 1 or not fixed)
    degree = None if teacher.manifold.name == "sphere" else allowed.degree
    scales = degree is not None and (degree == 0 or not fixed)
    lengths = np.linalg.norm(positions, axis=-1)
    far = np.linalg.norm(w, axis=1)
    units, targets = positions, w
    if scales:
        units = positions / np.maximum(lengths, 1e-300)[..., None]
        targets = w / np.maximum(far, 1e-300)[:, None]
    gaps = [np.linalg.norm(s * units[..., None, :] - targets, axis=-1) for s in (1.0, -1.0)]
    # A proton whose weight has the other sign is not where this unit belongs.
    for gap, sign in zip(gaps, (1.0, float(allowed.flip or 1)), strict=True):
        gap += np.where(sign * weights[..., None] * b < 0, 1e-3, 0.0) * np.max(gap, initial=1.0)
    mirrored = flips & (np.min(gaps[1], axis=-1) < np.min(gaps[0], axis=-1) - 1e-9)
    factors = np.where(mirrored, -1.0, 1.0)
    if scales:
        nearest = np.argmin(np.where(mirrored[..., None], gaps[1], gaps[0]), axis=-1)
        factors *= np.where(lengths > 0, far[nearest] / np.where(lengths > 0, lengths, 1.0), 1.0)
    return factors


def towards(colour: str, other: str, part: float) -> Any:
    """A mixture of two colours, `part` of it the other."""
    return tuple((1 - part) * np.array(to_rgb(colour)) + part * np.array(to_rgb(other)))


def _destinations(
    landscape: Landscape, folded: np.ndarray, colours: list[str]
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Which destination each start has reached, their colours, and their places (n, k, d).

    `folded` (s, k, d) are the ends of the starts that are shown.

    A single unit is told apart by where it ended, since symmetric ends have basins of their own;
    several units by the point found, of which one representative is shown.
    """
    reached = landscape.reached[:SHOWN]
    if landscape.begun.shape[1] > 1 or not np.any(reached >= 0):
        shape = (0, *landscape.begun.shape[1:])
        students = [point.student for point in landscape.found]
        ends = [_folded(landscape, one) for one in students]
        return reached, colours, np.stack(ends) if ends else np.zeros(shape)
    (arrived,) = np.nonzero(reached >= 0)
    where = folded[arrived, 0]
    size = float(np.max(np.abs(where))) or 1.0
    labels = np.ones(1, dtype=int)
    if len(where) > 1:
        labels = fcluster(linkage(where, "single"), SAME_PLACE * size, "distance")
    order = np.argsort(-np.bincount(labels)[1:], kind="stable")
    rank = np.argsort(order)
    destination = np.full(len(reached), -1)
    destination[arrived] = rank[labels - 1]
    places = np.stack([where[labels == label + 1][0] for label in order])[:, None]
    found = [reached[arrived][labels == label + 1][0] for label in order]
    if len(set(found)) == len(found):
        palette = [colours[index] for index in found]
    else:
        palette = [HUES[i % len(HUES)] for i in range(len(order))]
    return destination, palette, places


def _folded(landscape: Landscape, student: Student) -> np.ndarray:
    """The units of one student where they are drawn, (k, d)."""
    x, c = np.asarray(student.positions), np.asarray(student.weights)
    return fold(landscape, x[None], c[None])[0][:, None] * x


def _paint_basins(
    axes: Any, view: View, begun: np.ndarray, reached: np.ndarray, palette: list[str]
) -> None:
    """Every point of the plane, circle or globe in a pale colour: that of the nearest start."""
    grid = view.grid(GRID) if isinstance(view, (Plane, Circle, Globe)) else None
    if grid is None:
        return
    _, nearest = cKDTree(begun).query(grid.points)
    pale = np.array([towards(colour, "#ffffff", 0.72) for colour in [*palette, LOST]])
    picture = pale[reached[nearest]].reshape(*grid.shape, 3)
    if isinstance(view, Circle):
        angle = np.linspace(-np.pi, np.pi, grid.shape[1])
        x, y = (np.outer(grid.box[2:], wave(angle)) for wave in (np.cos, np.sin))
        axes.pcolormesh(x, y, picture[:, :-1], rasterized=True, zorder=0)
        return
    axes.grid(False)
    image = axes.imshow(picture, origin="lower", extent=grid.box, interpolation="nearest", zorder=0)
    if isinstance(view, Globe):
        disc = Disc((0, 0), view.edge, transform=axes.transData, fill=False, linewidth=0)
        axes.add_patch(disc)
        image.set_clip_path(disc)


def _draw_ends(axes: Any, view: View, palette: list[str], places: np.ndarray) -> None:
    """Where starts ended: rings in their colours, larger for later ones so that none is hidden."""
    for number, (colour, units) in enumerate(zip(palette, places, strict=False)):
        style: dict[str, Any] = {"depthshade": False} if view.deep else {}
        hidden = view.behind(units)
        edges = [(*to_rgb(colour), 0.35 if behind else 1.0) for behind in hidden]
        axes.scatter(
            *view.place(units).T,
            s=230 + 60 * (number if len(units) > 1 else 0),
            facecolors="none",
            edgecolors=edges,
            linewidths=2.0,
            zorder=6,
            gid="ends",
            **style,
        )


def _basin_legend(
    figure: Figure, alone: bool, weights: np.ndarray, ended: bool, lost: bool
) -> None:
    def mark(label: str, **style: Any) -> Line2D:
        return Line2D([], [], linestyle="none", label=label, **style)

    dot = {"marker": "o", "markersize": 5, "markeredgewidth": 0}
    ring = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.8}
    what = "start" if alone else "unit of a start"
    handles = []
    if ended:
        handles.append(mark(f"{what}, coloured by where it ended", markerfacecolor=ELECTRON, **dot))
    if lost:
        handles.append(mark(f"{what} without an end yet", markerfacecolor=LOST, **dot))
    if ended:
        words = "end" if alone else "unit of a critical point"
        handles.append(mark(words, markeredgecolor=ELECTRON, **ring))
    handles += charges.legend_handles(weights)
    legend = Legend(handles, 0.54 * figure.get_figwidth())
    legend.draw(figure, 0.06, (0.34 + legend.height) / figure.get_figheight())
