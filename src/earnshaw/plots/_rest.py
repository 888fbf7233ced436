"""Marks of equilibria: where an electron could rest, whether it would stay, and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from earnshaw.charges.network import Student
from earnshaw.dynamics.path import Path
from earnshaw.landscape.equilibria import Equilibrium, RestingPlace, is_harmonic, resting_places
from earnshaw.plots._projection import Plane, View
from earnshaw.plots.style import FIELD, INK

LENGTH = 23.0  # of an arrow, in points
FEELS_IT = 0.2  # of the largest: units whose part of the way out is smaller have no arrow
SAME = 0.03  # of half the width: a resting place so near to an electron is where that rests
MARKS = {
    "stable": ("D", INK),
    "saddle": ("X", FIELD),
    "top": ("s", FIELD),
    "degenerate": ("P", INK),
}
WORDS = {
    "stable": "stable equilibrium",
    "saddle": "saddle: unstable",
    "top": "top: unstable",
    "degenerate": "equilibrium, degenerate",
}


class Rests:
    """The equilibria of a picture: of electron `unit` in the field of the others, and of all.

    The field is that of the path's entry `moment`, 0 or -1; `rest` is `rest_of` the path.
    """

    def __init__(
        self, path: Path, view: View, unit: int, moment: int, rest: Equilibrium | None
    ) -> None:
        self.view, self.ends = view, path.positions[-1]
        self.harmonic = path.kind is None and is_harmonic(path.teacher)
        self.of_all = rest
        self.places: list[RestingPlace] = []
        weight = float(path.weights[moment, unit])
        if isinstance(view, Plane) and weight and path.of_one_activation:
            others = Student(
                np.delete(path.positions[moment], unit, axis=0),
                np.delete(path.weights[moment], unit),
            ).of(path.unit_kind)
            found = resting_places(path.teacher, others, weight, view.centre, view.reach)
            self.places = [one for one in found if not self._taken(one.place)]

    def _taken(self, place: np.ndarray) -> bool:
        """Whether the electrons themselves rest there."""
        near = np.linalg.norm(self.ends - place, axis=1) <= SAME * self.view.reach
        return self.of_all is not None and bool(np.any(near))

    def draw(self, axes: Any) -> None:
        """Marks, and arrows along the ways out."""
        for one in self.places:
            marker, colour = MARKS[one.kind]
            axes.scatter(
                *one.place,
                s=52,
                marker=marker,
                facecolors=colour,
                edgecolors="white",
                linewidths=0.9,
                zorder=5,
                gid=one.kind,
            )
            if one.way_out is not None:
                self._arrows(axes, one.place, one.way_out, both=one.both)
        if self.of_all is None or self.of_all.way_out is None:
            return
        sizes = np.linalg.norm(self.of_all.way_out, axis=1)
        both = self.of_all.kind == "strict-saddle"
        for unit in np.flatnonzero(sizes >= FEELS_IT * np.max(sizes)):
            self._arrows(axes, self.ends[unit], self.of_all.way_out[unit], both)

    def _arrows(self, axes: Any, place: np.ndarray, direction: np.ndarray, both: bool) -> None:
        """On paper; in perspective a short line instead."""
        view, small = (
            self.view,
            1e-4 * self.view.reach / max(float(np.linalg.norm(direction)), 1e-300),
        )
        near = np.stack([place, place + small * direction])
        start, end = view.place(near)
        step = end - start
        size = float(np.linalg.norm(step))
        if not size > 0:
            return
        for side in (1.0, -1.0) if both else (1.0,):
            if view.deep:
                far = start + side * 0.25 * view.reach * step / size
                axes.plot(*np.stack([start, far]).T, color=FIELD, lw=2, gid="way out", zorder=8)
                continue
            # The arrow's tip carries the offset, its tail the place.
            axes.annotate(
                "",
                start,
                xytext=tuple(side * LENGTH * step / size),
                textcoords="offset points",
                arrowprops={
                    "arrowstyle": "<|-",
                    "color": FIELD,
                    "lw": 1.8,
                    "shrinkA": 0,
                    "shrinkB": 5,
                },
                zorder=8,
                gid="way out",
            )

    @property
    def handles(self) -> list[Line2D]:
        """For the legend: what is there."""
        kinds = [kind for kind in MARKS if any(one.kind == kind for one in self.places)]
        made = []
        for kind in kinds:
            marker, colour = MARKS[kind]
            because = " (Earnshaw)" if self.harmonic and kind == "saddle" else ""
            made.append(_mark(WORDS[kind] + because, marker, colour, 7))
        ways: Sequence[Any] = [one for one in self.places if one.way_out is not None]
        if ways or (self.of_all is not None and self.of_all.way_out is not None):
            made.append(_mark("way out: the energy falls", "$→$", FIELD, 11))
        return made


def _mark(label: str, marker: str, colour: str, size: float) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        markersize=size,
        markerfacecolor=colour,
        markeredgecolor="white" if size < 10 else colour,
        markeredgewidth=0.5,
        label=label,
    )
