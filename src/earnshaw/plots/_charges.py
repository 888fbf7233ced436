"""Protons, electrons and their ways, in any view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

from earnshaw.plots._excursions import NONE, Excursions
from earnshaw.plots._projection import Circle, Globe, Line, View
from earnshaw.plots.style import ASTRAY, ELECTRON, PROTON

CROWD = 16  # beyond this number of units markers shrink
HIDDEN = 0.3  # the opacity of what is behind the globe
PIECES = 160  # of which a way is drawn
FAINTEST = 0.25  # the opacity at which ways begin


def crowding(count: int) -> float:
    """How much marks shrink: 1 for few units, less for many."""
    return min(1.0, float(np.sqrt(CROWD / max(count, 1))))


def one_number(weights: np.ndarray) -> np.ndarray:
    """Weights (k,) as they are; of several outputs, (k, m), their lengths."""
    found = np.asarray(weights, dtype=float)
    return found if found.ndim == 1 else np.linalg.norm(found, axis=1)


def marker_areas(weights: np.ndarray, count: int) -> np.ndarray:
    """Areas in square points: from 55 for weight 0 to 210 for the largest, less in a crowd."""
    size = np.abs(one_number(weights))
    largest = float(np.max(size, initial=0.0)) or 1.0
    return crowding(count) * (55 + 155 * size / largest)


def ring_areas(weights: np.ndarray) -> np.ndarray:
    """Areas of rings around the protons of such weights."""
    areas = marker_areas(weights, len(weights))
    return 2.7 * areas


def draw_protons(axes: Any, view: View, positions: np.ndarray, weights: np.ndarray) -> list[Any]:
    """Red discs with a plus for positive, hollow with a minus for negative weights."""
    charges = one_number(weights)
    return _discs(axes, view, positions, charges, PROTON, "protons", len(positions), order=4)


def draw_electrons(
    axes: Any, view: View, positions: np.ndarray, weights: np.ndarray, when: float = 1.0
) -> list[Any]:
    """Blue discs that show their charges, the negatives of the weights."""
    count = len(positions)
    charges = -one_number(weights)
    return _discs(axes, view, positions, charges, ELECTRON, "electrons", count, 0.5, 7, when)


def draw_rings(axes: Any, view: View, positions: np.ndarray, areas: np.ndarray) -> list[Any]:
    """Blue rings around places that electrons have reached."""
    if not len(positions):
        return []
    style = {"facecolors": "none", "linewidths": 1.8, "zorder": 6, "gid": "landed"}
    colours = _faded(ELECTRON, view.behind(positions))
    return [_scatter(axes, view.place(positions), areas, edgecolors=colours, **style)]


def draw_astray(axes: Any, view: View, positions: np.ndarray) -> list[Any]:
    """Amber crosses for electrons that reached no proton."""
    if not len(positions):
        return []
    style = {"marker": "X", "edgecolors": "white", "linewidths": 0.9, "zorder": 7, "gid": "astray"}
    colours = _faded(ASTRAY, view.behind(positions))
    return [_scatter(axes, view.place(positions), 80, facecolors=colours, **style)]


def draw_vacant(axes: Any, view: View, positions: np.ndarray, areas: np.ndarray) -> list[Any]:
    """Dotted amber rings around protons that no electron reached."""
    if not len(positions):
        return []
    style = {"facecolors": "none", "linewidths": 1.6, "linestyles": ":", "zorder": 6}
    colours = _faded(ASTRAY, view.behind(positions))
    where = view.place(positions)
    return [_scatter(axes, where, areas, edgecolors=colours, gid="vacant", **style)]


def draw_antipodes(axes: Any, view: View, positions: np.ndarray, areas: np.ndarray) -> list[Any]:
    """Dotted red circles at the antipodes of protons, which even activations cannot tell apart."""
    if not len(positions):
        return []
    style = {"facecolors": "none", "linewidths": 1.4, "linestyles": ":", "zorder": 4}
    colours = _faded(PROTON, view.behind(positions))
    where = view.place(positions)
    return [_scatter(axes, where, areas, edgecolors=colours, gid="antipodes", **style)]


def draw_ways(
    axes: Any,
    view: View,
    paths: Sequence[np.ndarray],
    colours: Sequence[str],
    when: Sequence[np.ndarray] | None = None,
    widest: float = 2.2,
    pieces: int = PIECES,
) -> list[Any]:
    """Ways (m, d) that grow from faint and thin to full; `when` (m,) in [0, 1], else evenly."""
    segments, shades, widths = [], [], []
    for index, (path, colour) in enumerate(zip(paths, colours, strict=True)):
        progress = np.linspace(0, 1, len(path)) if when is None else when[index]
        places, hidden = _even(view, path, progress, pieces)
        if len(places) < 2:
            continue
        part = np.linspace(0, 1, len(places) - 1)
        opacity = (FAINTEST + (0.95 - FAINTEST) * part) * np.where(hidden[1:], HIDDEN, 1.0)
        # What leaves the picture is cut by flat axes, but not by those in perspective.
        kept = view.inside(places[:-1]) & view.inside(places[1:]) if view.deep else part >= 0
        segments.append(np.stack([places[:-1], places[1:]], axis=1)[kept])
        shades.append([(*to_rgb(colour), alpha) for alpha in opacity[kept]])
        widths.append((0.9 + (widest - 0.9) * part)[kept])
    if not segments:
        return []
    kind = Line3DCollection if view.deep else LineCollection
    lines = kind(
        list(np.concatenate(segments)),
        colors=[shade for way in shades for shade in way],
        linewidths=np.concatenate(widths),
        capstyle="butt",
        zorder=3,
        gid="ways",
    )
    axes.add_collection(lines, autolim=False)
    return [lines]


def _even(
    view: View, path: np.ndarray, when: np.ndarray, pieces: int
) -> tuple[np.ndarray, np.ndarray]:
    """Points on paper that divide a way into pieces of equal length there; and which are hidden.

    So a way fades evenly, also where one step was most of it.
    """
    good = np.all(np.isfinite(path), axis=1)
    path, when = path[good], np.asarray(when)[good]
    if len(path) < 2:
        return np.zeros((0, 2)), np.zeros(0, dtype=bool)
    steps = np.diff(view.place(path, when), axis=0)
    if isinstance(view, Line):
        steps = steps / np.array([view.span, view.reach])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
    if not length[-1] > 0:
        return np.zeros((0, 2)), np.zeros(0, dtype=bool)
    wanted = np.linspace(0, length[-1], pieces + 1)
    after = np.clip(np.searchsorted(length, wanted), 1, len(length) - 1)
    step = length[after] - length[after - 1]
    part = np.where(step > 0, (wanted - length[after - 1]) / np.where(step > 0, step, 1.0), 1.0)
    points = path[after - 1] + part[:, None] * (path[after] - path[after - 1])
    if isinstance(view, (Circle, Globe)):
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    moments = when[after - 1] + part * (when[after] - when[after - 1])
    return view.place(points, moments), view.behind(points)


def draw_starts(axes: Any, view: View, positions: np.ndarray, colours: Sequence[str]) -> list[Any]:
    """Small dots where ways begin, if that is in the picture."""
    shown = view.inside(view.place(positions, 0.0)) if len(positions) else np.zeros(0, bool)
    if not np.any(shown):
        return []
    positions = positions[shown]
    colours = [colour for colour, good in zip(colours, shown, strict=True) if good]
    hidden = view.behind(positions)
    shades = [_faded(c, hidden[i : i + 1])[0] for i, c in enumerate(colours)]
    style = {"facecolors": "white", "linewidths": 1.0, "zorder": 3.5, "gid": "starts"}
    return [_scatter(axes, view.place(positions, 0.0), 14, edgecolors=shades, **style)]


def draw_levels(axes: Any, view: View, positions: np.ndarray) -> None:
    """On the line, where time is the other axis, protons are lines too."""
    if isinstance(view, Line):
        for x in positions[:, 0]:
            axes.axhline(x, color=PROTON, lw=0.9, alpha=0.45, zorder=1)


def legend_handles(
    weights: np.ndarray,
    *,
    astray: bool = False,
    vacant: bool = False,
    rings: str = "",
    free: str = "electron, free",
    shows_free: bool = False,
    antipodes: bool = False,
    starts: bool = False,
    far: Excursions = NONE,
) -> list[Line2D]:
    """What the marks mean that are there; `weights` are the protons'."""

    def mark(label: str, **style: Any) -> Line2D:
        return Line2D([], [], linestyle="none", label=label, **style)

    red = {"marker": "o", "markersize": 8, "markeredgecolor": PROTON}
    handles = []
    charges = one_number(weights)
    if np.any(charges > 0):
        handles.append(mark("proton, +", markerfacecolor=PROTON, **red))
    if np.any(charges <= 0):
        handles.append(mark("proton, −", markerfacecolor="white", **red))
    if antipodes:
        dotted = {"marker": "$◌$", "markersize": 10, "markeredgecolor": PROTON}
        handles.append(mark("antipode of a proton", markerfacecolor=PROTON, **dotted))
    blue = {"marker": "o", "markersize": 10, "markeredgecolor": ELECTRON}
    if rings:
        handles.append(mark(rings, markerfacecolor="none", markeredgewidth=1.8, **blue))
    if shows_free:
        handles.append(mark(free, markerfacecolor=ELECTRON, **(blue | {"markersize": 7})))
    if astray:
        amber = {"marker": "X", "markersize": 8, "markeredgecolor": "white"}
        handles.append(mark("electron, astray", markerfacecolor=ASTRAY, **amber))
    if vacant:
        amber = {"marker": "$◌$", "markersize": 10, "markeredgecolor": ASTRAY}
        handles.append(mark("proton not found", markerfacecolor=ASTRAY, **amber))
    small = {"marker": "o", "markersize": 4, "markeredgecolor": ELECTRON}
    if starts:
        handles.append(mark("start", markerfacecolor="white", **small))
    arrow = {"marker": ">", "markersize": 7, "markeredgecolor": ELECTRON}
    if far.starts is not None:
        words = f"start beyond the edge, at {far.starts:.3g}".replace("-", "−")
        handles.append(mark(words, markerfacecolor="white", **arrow))
    if far.ends is not None:
        words = f"electron beyond the edge, at {far.ends:.3g}".replace("-", "−")
        handles.append(mark(words, markerfacecolor=ELECTRON, **arrow))
    return handles


def _discs(
    axes: Any,
    view: View,
    positions: np.ndarray,
    charges: np.ndarray,
    colour: str,
    name: str,
    count: int,
    part: float = 1.0,
    order: float = 4,
    when: float = 1.0,
) -> list[Any]:
    """Discs filled where the charge is positive (for electrons: negative), with its sign."""
    if not len(positions):
        return []
    charges = np.asarray(charges)
    places, hidden = view.place(positions, when), view.behind(positions)
    areas = part * marker_areas(charges, count)
    usual = charges > 0 if name == "protons" else charges < 0
    edges = _faded(colour, hidden)
    faces = [
        edge if full else (1.0, 1.0, 1.0, edge[3]) for edge, full in zip(edges, usual, strict=True)
    ]
    artists = [
        _scatter(
            axes,
            places,
            areas,
            facecolors=faces,
            edgecolors=edges,
            linewidths=1.4,
            zorder=order,
            gid=name,
        )
    ]
    for sign, marker in ((1, "+"), (-1, "_")):
        chosen = (np.sign(charges) == sign) & ~hidden
        if not np.any(chosen):
            continue
        strokes = ["white" if full else colour for full in usual[chosen]]
        artists.append(
            _scatter(
                axes,
                places[chosen],
                0.34 * areas[chosen],
                marker=marker,
                facecolors=strokes,
                linewidths=1.3,
                zorder=order + 0.5,
            )
        )
    return artists


def _scatter(axes: Any, places: np.ndarray, areas: Any, **style: Any) -> Any:
    if places.shape[1] == 3:
        style["depthshade"] = False
    return axes.scatter(*places.T, s=areas, **style)


def _faded(colour: str, hidden: np.ndarray) -> list[tuple[float, float, float, float]]:
    return [(*to_rgb(colour), HIDDEN if dim else 1.0) for dim in hidden]
