"""The numbers of charges beside their marks: those by which tables call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]

from earnshaw.plots._projection import View

MOST = 40  # charges that are all numbered; of more, only those that a table has
APART = 6.5  # points between the edge of a mark and the middle of its number
ANGLES = np.radians([45, 135, -45, -135, 0, 90, 180, -90])


class Numbers:
    """Numbers for marks in one picture, each on the side of its mark where there is most room.

    `taken` are all marks, places (n, 2) or (n, 3) on paper, with their areas in square points.
    """

    def __init__(self, axes: Any, view: View, taken: Sequence[tuple[np.ndarray, Any]]) -> None:
        self.axes, self.view = axes, view
        axes.apply_aspect()
        self.points = 72 / axes.get_figure().dpi
        where = [self._pixels(places) for places, _ in taken]
        sizes = [np.broadcast_to(areas, len(places)) for places, areas in taken]
        self.marks = np.concatenate([*where, np.zeros((0, 2))])
        self.radii = np.sqrt(np.concatenate([*sizes, np.zeros(0)]) / np.pi)
        self.frame = np.array(axes.bbox.get_points()) * self.points

    def draw(
        self, places: np.ndarray, names: Iterable[int], colour: str, areas: Any = 60.0
    ) -> list[Any]:
        """Numbers beside places on paper, if these are shown."""
        artists: list[Any] = []
        if not len(places):
            return artists
        shown = self.view.inside(places)
        radii = np.sqrt(np.broadcast_to(areas, len(places)) / np.pi)
        for at, name, radius, good in zip(self._flat(places), names, radii, shown, strict=True):
            if not good:
                continue
            middle = self._pixels(at[None])[0]
            offset = self._offset(middle, radius + APART)
            self.marks = np.concatenate([self.marks, (middle + offset)[None]])
            self.radii = np.append(self.radii, APART)
            artists.append(
                self.axes.annotate(
                    str(name),
                    at,
                    xytext=tuple(offset),
                    textcoords="offset points",
                    ha="center",
                    va="center",
                    fontsize=8,
                    fontweight="bold",
                    color=colour,
                    path_effects=[withStroke(linewidth=2.2, foreground="white")],
                    zorder=9,
                    gid="number",
                )
            )
        return artists

    def _offset(self, middle: np.ndarray, radius: float) -> np.ndarray:
        """The side on which nothing else is near, the upper right if all are alike."""
        choices = radius * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
        there = middle + choices
        gaps = np.linalg.norm(there[:, None] - self.marks, axis=2) - self.radii
        room = np.min(gaps, axis=1, initial=3 * APART)  # more room than this is no better
        room -= 100.0 * np.any((there < self.frame[0] + 4) | (there > self.frame[1] - 4), axis=1)
        return choices[int(np.argmax(np.round(room, 1)))]

    def _flat(self, places: np.ndarray) -> np.ndarray:
        """Places of axes in perspective, on the paper itself."""
        if not self.view.deep or not len(places):
            return np.asarray(places)[:, :2]
        x, y, _ = proj3d.proj_transform(*np.asarray(places).T, self.axes.get_proj())
        return np.stack([x, y], axis=-1)

    def _pixels(self, places: np.ndarray) -> np.ndarray:
        """In points from the corner of the picture."""
        places = np.asarray(places)
        flat = self._flat(places) if places.shape[1] == 3 else places
        return np.asarray(self.axes.transData.transform(flat)).reshape(-1, 2) * self.points
