"""Ways that begin or end beyond the edge of a picture: an arrow where they cross it.

A picture is as large as protons and usual starts need (`_projection.py`). One far start, or one
electron that flies away, would else leave all others a corner of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from earnshaw.plots._projection import View

LENGTH = 18.0  # of an arrow, in points


class Excursions(NamedTuple):
    """Where, on its axis, the farthest start and the farthest end beyond the edge are; or None."""

    starts: float | None = None
    ends: float | None = None


NONE = Excursions()


def draw_excursions(
    axes: Any,
    view: View,
    paths: Sequence[np.ndarray],
    colours: Sequence[str],
    when: np.ndarray | None = None,
) -> tuple[Excursions, list[Any]]:
    """An arrow outwards for each way (m, d) that begins (open) or ends (filled) beyond the edge."""
    farthest: dict[str, tuple[float, float]] = {}
    artists: list[Any] = []
    for path, colour in zip(paths, colours, strict=True):
        good = np.all(np.isfinite(path), axis=1)
        progress = (np.linspace(0, 1, len(path)) if when is None else when)[good]
        places = view.place(path[good], progress)
        for which, way in (("starts", places[::-1]), ("ends", places)):
            if not len(way) or view.inside(way[-1:])[0]:
                continue
            low, high = view.limits
            out = np.maximum(way[-1] - high, low - way[-1])
            axis = int(np.argmax(out))
            place = (float(out[axis]), float(way[-1][axis]))
            farthest[which] = max(farthest.get(which, place), place)
            face = "white" if which == "starts" else colour
            artists.append(_arrow(axes, view, *_crossing(view, way), colour, face, which))
    return Excursions(**{which: place for which, (_, place) in farthest.items()}), artists


def _crossing(view: View, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a way (m, 2) or (m, 3) on paper leaves for good, and in which direction."""
    low, high = np.broadcast_arrays(*view.limits)
    within = np.flatnonzero(view.inside(way))
    if len(within):
        inner, outer = way[within[-1]], way[within[-1] + 1]
    else:
        outer = way[-1]
        inner = np.where(np.isfinite(high), np.nan_to_num(low) / 2 + np.nan_to_num(high) / 2, outer)
    step = outer - inner
    with np.errstate(divide="ignore", invalid="ignore"):  # along what has no edge
        parts = np.where(step > 0, (high - inner) / step, (low - inner) / step)
    part = float(np.min(parts[np.isfinite(parts) & (step != 0)], initial=1.0))
    return inner + part * step, step / max(float(np.linalg.norm(step)), 1e-300)


def _arrow(
    axes: Any,
    view: View,
    place: np.ndarray,
    direction: np.ndarray,
    colour: str,
    face: str,
    which: str,
) -> Any:
    if view.deep:
        style = {"marker": "^", "s": 40, "facecolors": face, "edgecolors": colour}
        return axes.scatter(
            *place[:, None], depthshade=False, zorder=8, gid=f"far {which}", **style
        )
    if not np.isfinite(view.limits[0][0]):  # time has no edge: out is up or down
        direction = np.array([0.0, np.sign(direction[1])])
    return axes.annotate(
        "",
        place,
        xytext=tuple(-LENGTH * direction),
        textcoords="offset points",
        arrowprops={"arrowstyle": "-|>", "color": colour, "fc": face, "lw": 1.6, "shrinkB": 0},
        zorder=8,
        gid=f"far {which}",
    )
