"""Basins in d <= 3: every start where it began, in the colour of where it ended.

A single unit is a place, so that the plane, circle or globe itself is painted too, each point in
the pale colour of the nearest start. Rings show the ends, and red dots the protons.
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

from earnshaw.landscape.hunting.critical_points import Landscape
from earnshaw.plots import _charges as charges
from earnshaw.plots._projection import Circle, Globe, Plane, View, choose_view
from earnshaw.plots.style import ELECTRON, PROTON

SHOWN = 3000  # starts in the picture of the basins
GRID = 241
SAME_PLACE = 1e-3  # ends nearer than this are one
# Ends of single units, told apart by hue alone.
HUES = ("#2166ac", "#d98200", "#2f8f5b", "#6a51a3", "#c05299", "#5aa5a8", "#8c6d31", "#7f7f7f")


def draw_basins(figure: Figure, landscape: Landscape, colours: list[str], most: int) -> None:
    """Where starts began, in the colour of where they ended; rings for `most` ends at most."""
    teacher = landscape.teacher
    protons, weights = np.asarray(teacher.positions), np.asarray(teacher.weights)
    begun = landscape.begun[:SHOWN]
    alone = begun.shape[1] == 1
    reached, palette, places = _destinations(landscape, colours)
    dim = protons.shape[1]
    frame = [begun.reshape(-1, dim), places.reshape(-1, dim)]
    view = choose_view(teacher.manifold.name, protons, frame)
    box = (0.0, 0.12, 0.57, 0.78) if view.deep else (0.07, 0.155, 0.475, 0.71)
    axes: Any = figure.add_axes(box, projection="3d" if view.deep else None)
    if alone:
        _paint_basins(axes, view, begun[:, 0], reached, palette)
    view.furnish(axes)
    axes.set_axisbelow(True)
    shades = np.array([to_rgb(palette[r]) if r >= 0 else to_rgb("#d5d8de") for r in reached])
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
    _basin_legend(figure, alone)


def towards(colour: str, other: str, part: float) -> Any:
    """A mixture of two colours, `part` of it the other."""
    return tuple((1 - part) * np.array(to_rgb(colour)) + part * np.array(to_rgb(other)))


def _destinations(
    landscape: Landscape, colours: list[str]
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Which destination each start has reached, their colours, and their places (n, k, d).

    A single unit is told apart by where it ended, since symmetric ends have basins of their own;
    several units by the point found, of which one representative is shown.
    """
    reached = landscape.reached[:SHOWN]
    if landscape.begun.shape[1] > 1 or not np.any(reached >= 0):
        shape = (0, *landscape.begun.shape[1:])
        ends = [np.asarray(point.student.positions) for point in landscape.found]
        return reached, colours, np.stack(ends) if ends else np.zeros(shape)
    (arrived,) = np.nonzero(reached >= 0)
    where = landscape.ends[arrived, 0]
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


def _paint_basins(
    axes: Any, view: View, begun: np.ndarray, reached: np.ndarray, palette: list[str]
) -> None:
    """Every point of the plane, circle or globe in a pale colour: that of the nearest start."""
    grid = view.grid(GRID) if isinstance(view, (Plane, Circle, Globe)) else None
    if grid is None:
        return
    _, nearest = cKDTree(begun).query(grid.points)
    pale = np.array([towards(colour, "#ffffff", 0.72) for colour in [*palette, "#d5d8de"]])
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


def _basin_legend(figure: Figure, alone: bool) -> None:
    def mark(label: str, **style: Any) -> Line2D:
        return Line2D([], [], linestyle="none", label=label, **style)

    dot = {"marker": "o", "markersize": 5, "markeredgewidth": 0}
    ring = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.8}
    what = "start" if alone else "unit of a start"
    handles = [
        mark(f"{what}, coloured by where it ended", markerfacecolor=ELECTRON, **dot),
        mark("end" if alone else "unit of a critical point", markeredgecolor=ELECTRON, **ring),
        mark("proton", marker="o", markersize=8, markerfacecolor=PROTON, markeredgecolor=PROTON),
    ]
    figure.legend(handles=handles, loc="center left", bbox_to_anchor=(0.06, 0.062), ncols=3,
                  fontsize=9, handletextpad=0.3, columnspacing=1.4)  # fmt: skip
