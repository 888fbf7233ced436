"""Points of R^d on paper: each `View` shows one kind of space.

    R^1          `Line`        position against progress or time
    R^2, S^1     `Plane`, `Circle`
    R^3          `Volume`      in perspective (mplot3d)
    S^2          `Globe`       in perspective, what is behind it faded
    the others   `Components`  the two principal components

A view places points, prepares its axes, and where a potential can be shown has a grid to take it on
(`Grid`, with `_field.py`). It is as large as protons and usual starts need: what goes farther is
cut at the edge, where `_excursions.py` has an arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from earnshaw.plots.formatting import RAISED
from earnshaw.plots.style import INK, NEGATIVE, PALE, POSITIVE

MARGIN = 1.14  # of the frame around all that is shown
FARTHEST = 2.0  # what is this much farther out than protons and the usual start is not shown
CAMERA = 4.0  # the distance of the eye from the centre of the globe
INSIDE = 0.5  # the radius at which ways on the circle begin; they end on it


class Grid(NamedTuple):
    """Where a potential is taken for a picture: points (n, d), and how they lie on the paper.

    They fill a picture of `shape` row by row, in the `box` (left, right, bottom, top).
    """

    points: np.ndarray
    shape: tuple[int, int]
    box: tuple[float, float, float, float]


class View:
    """R^d in the plane of its first two coordinates; the others derive from it."""

    deep = False  # whether it needs axes of mplot3d
    labels: tuple[str, ...] = ("$x_1$", "$x_2$")
    note = ""  # what a reader should know of the projection

    def __init__(self, centre: np.ndarray, reach: float) -> None:
        self.centre, self.reach = centre, reach

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest place on paper, infinite where all is shown."""
        return self.centre - self.reach, self.centre + self.reach

    def inside(self, places: np.ndarray) -> np.ndarray:
        """Which places (n, 2) or (n, 3) on paper are shown, (n,)."""
        low, high = self.limits
        return np.all((places >= low) & (places <= high), axis=1)

    def place(self, points: np.ndarray, when: Any = 1.0) -> np.ndarray:
        """Points (n, d) on paper, (n, 2) or (n, 3); `when` in [0, 1] is their part of the way."""
        return np.asarray(points, dtype=float)

    def behind(self, points: np.ndarray) -> np.ndarray:
        """Which points are hidden behind something, (n,)."""
        return np.zeros(len(points), dtype=bool)

    def grid(self, size: int) -> Grid | None:
        """A grid of about size x size points, or None where no potential can be shown."""
        return None

    def furnish(self, axes: Any) -> None:
        """Labels, limits, and what stands for the space itself."""
        for name, label in zip("xyz", self.labels, strict=False):
            getattr(axes, f"set_{name}label")(label)
        x, y = self.centre[:2]
        axes.set_xlim(x - self.reach, x + self.reach)
        axes.set_ylim(y - self.reach, y + self.reach)
        axes.set_aspect("equal")


class Plane(View):
    """R^2 as it is, with a square grid for the potential behind the charges."""

    def grid(self, size: int) -> Grid:
        x, y = (np.linspace(c - self.reach, c + self.reach, size) for c in self.centre)
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return Grid(points, (size, size), (x[0], x[-1], y[0], y[-1]))


class Line(View):
    """R^1: positions against time, which ends at `span`."""

    def __init__(self, centre: np.ndarray, reach: float, label: str, span: float = 1.0) -> None:
        super().__init__(centre, reach)
        self.labels, self.span = (label, "position"), span

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        reach = np.array([np.inf, self.reach])
        return self.centre[0] - reach, self.centre[0] + reach

    def place(self, points: np.ndarray, when: Any = 1.0) -> np.ndarray:
        return np.stack(np.broadcast_arrays(self.span * np.asarray(when), points[:, 0]), axis=-1)

    def grid(self, size: int) -> Grid:
        """One column: the line itself."""
        x = np.linspace(self.centre[0] - self.reach, self.centre[0] + self.reach, size)
        return Grid(x[:, None], (size, 1), (0.0, self.span, x[0], x[-1]))

    def furnish(self, axes: Any) -> None:
        axes.set_xlabel(self.labels[0])
        axes.set_ylabel(self.labels[1])
        axes.set_xlim(-0.03 * self.span, 1.06 * self.span)
        axes.set_ylim(self.centre[0] - self.reach, self.centre[0] + self.reach)


class Landscape(View):
    """R^1 at one moment: charges on the line, and their potential as a curve over it."""

    labels = ("position", "potential")

    def __init__(self, line: Line) -> None:
        super().__init__(line.centre, line.reach)
        self.line = line

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        reach = np.array([self.reach, np.inf])
        return self.centre[0] - reach, self.centre[0] + reach

    def place(self, points: np.ndarray, when: Any = 1.0) -> np.ndarray:
        return np.stack([points[:, 0], np.zeros(len(points))], axis=-1)

    def grid(self, size: int) -> Grid:
        return self.line.grid(6 * size)

    def furnish(self, axes: Any) -> None:
        axes.set_xlabel(self.labels[0])
        axes.set_ylabel(self.labels[1])
        axes.set_xlim(self.centre[0] - self.reach, self.centre[0] + self.reach)
        axes.axhline(0, color=INK, lw=0.8)

    def draw(self, axes: Any, grid: Grid, values: np.ndarray) -> list[Any]:
        """The curve, filled where it is positive and where it is negative."""
        x, values = grid.points[:, 0], np.nan_to_num(values)
        (curve,) = axes.plot(x, values, color=INK, lw=1.2, zorder=2)
        sides = ((np.maximum(values, 0), POSITIVE[3]), (np.minimum(values, 0), NEGATIVE[3]))
        fills = [axes.fill_between(x, 0, y, color=colour, lw=0, zorder=1) for y, colour in sides]
        return [curve, *fills]


class Circle(View):
    """S^1. Ways begin inside the circle and end on it, so that they do not cover each other."""

    def __init__(self) -> None:
        super().__init__(np.zeros(2), 1.32)

    def inside(self, places: np.ndarray) -> np.ndarray:
        return np.ones(len(places), dtype=bool)

    def place(self, points: np.ndarray, when: Any = 1.0) -> np.ndarray:
        return points * (INSIDE + (1 - INSIDE) * np.broadcast_to(when, len(points)))[:, None]

    def grid(self, size: int) -> Grid:
        """One row: all angles, around the circle."""
        angle = np.linspace(-np.pi, np.pi, 8 * size)
        points = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return Grid(points, (1, len(angle)), (-np.pi, np.pi, 1.13, 1.25))

    def furnish(self, axes: Any) -> None:
        super().furnish(axes)
        _bare(axes)
        turn = np.linspace(0, 2 * np.pi, 361)
        for radius, width, colour in ((1.0, 1.2, INK), (INSIDE, 0.8, PALE)):
            x, y = radius * np.cos(turn), radius * np.sin(turn)
            axes.plot(x, y, color=colour, lw=width, alpha=0.7, zorder=0.5)


class Volume(View):
    """R^3 in perspective, on axes of mplot3d."""

    deep = True
    labels = ("$x_1$", "$x_2$", "$x_3$")
    note = "R³ in perspective; its potential is not drawn"

    def furnish(self, axes: Any) -> None:
        for name, label, middle in zip("xyz", self.labels, self.centre, strict=True):
            getattr(axes, f"set_{name}label")(label)
            getattr(axes, f"set_{name}lim")(middle - self.reach, middle + self.reach)
            getattr(axes, f"{name}axis").set_pane_color((0.965, 0.97, 0.98, 1.0))
        axes.set_box_aspect((1, 1, 1), zoom=1.0)
        axes.set_proj_type("persp", focal_length=0.6)
        axes.computed_zorder = False  # rings stay on top of what they surround
        axes.view_init(elev=22, azim=-55)


class Globe(View):
    """S^2, seen from the side on which most of `points` are."""

    note = "what is behind the globe is pale"

    def __init__(self, points: np.ndarray) -> None:
        self.edge = CAMERA / np.sqrt(CAMERA**2 - 1)  # the radius of the outline
        super().__init__(np.zeros(2), 1.06 * self.edge)
        towards = np.sum(points, axis=0)
        flat = np.hypot(towards[0], towards[1])
        azimuth = np.arctan2(towards[1], towards[0]) if flat > 1e-9 else -0.9
        height = np.clip(np.arctan2(towards[2], flat), np.radians(12), np.radians(50))
        out = np.array([np.cos(azimuth), np.sin(azimuth)])
        self.eye = np.array([*(np.cos(height) * out), np.sin(height)])
        self.right = np.array([-out[1], out[0], 0.0])
        self.up = np.cross(self.eye, self.right)

    def inside(self, places: np.ndarray) -> np.ndarray:
        return np.ones(len(places), dtype=bool)

    def place(self, points: np.ndarray, when: Any = 1.0) -> np.ndarray:
        points = np.asarray(points, dtype=float)
        flat = np.stack([points @ self.right, points @ self.up], axis=-1)
        return flat * (CAMERA / (CAMERA - points @ self.eye))[:, None]

    def behind(self, points: np.ndarray) -> np.ndarray:
        return points @ self.eye < 1 / CAMERA

    def grid(self, size: int) -> Grid:
        """Where the rays of the eye first meet the globe; those that miss it, its outline."""
        u = np.linspace(-self.edge, self.edge, size)
        flat = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
        outside = np.linalg.norm(flat, axis=1, keepdims=True) / self.edge
        flat = flat / np.maximum(outside, 1.0)
        square = np.sum(flat**2, axis=1) + CAMERA**2
        root = np.sqrt(np.maximum(CAMERA**4 - square * (CAMERA**2 - 1), 0.0))
        along = (CAMERA**2 - root) / square
        points = (along[:, None] * flat) @ np.stack([self.right, self.up])
        points += np.outer(CAMERA * (1 - along), self.eye)
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        return Grid(points, (size, size), (u[0], u[-1], u[0], u[-1]))

    def furnish(self, axes: Any) -> None:
        super().furnish(axes)
        _bare(axes)
        turn = np.linspace(0, 2 * np.pi, 361)
        axes.plot(self.edge * np.cos(turn), self.edge * np.sin(turn), color=INK, lw=1, alpha=0.6)
        flat = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=-1)
        rings = [np.cos(t) * flat + [0, 0, np.sin(t)] for t in np.radians(np.arange(-60, 61, 30))]
        for t in np.radians(np.arange(0, 180, 30)):
            rings.append(np.outer(np.cos(turn), [np.cos(t), np.sin(t), 0]))
            rings[-1][:, 2] = np.sin(turn)
        for ring in rings:
            seen = np.where(self.behind(ring)[:, None], np.nan, self.place(ring))
            axes.plot(*seen.T, color=INK, lw=0.5, alpha=0.22, zorder=0.6)


class Components(View):
    """The two principal components of `points` (n, d); `shares` are their parts of the variance.

    `left_out` says how many protons, starts and ends are too far out to be among the points.
    """

    def __init__(self, points: np.ndarray, left_out: int = 0) -> None:
        self.mean = np.mean(points, axis=0)
        # Two more rows of zeros, so that there are two components even of a single point.
        spread = np.pad(points - self.mean, ((0, 2), (0, 0)))
        _, sizes, rows = np.linalg.svd(spread, full_matrices=False)
        # The sign of a component is arbitrary: let its largest entry be positive.
        signs = [np.sign(row[np.argmax(np.abs(row))]) for row in rows[:2]]
        self.axes = rows[:2] * np.array(signs)[:, None]
        total = float(np.sum(np.square(sizes)))
        self.shares = np.square(sizes[:2]) / total if total > 0 else np.zeros(2)
        super().__init__(*_box((points - self.mean) @ self.axes.T))
        self.labels = tuple(
            f"principal component {i + 1} ({_percent(share)})"
            for i, share in enumerate(self.shares)
        )
        self.note = (
            f"a plane of R{str(points.shape[1]).translate(RAISED)}, with "
            f"{_percent(float(np.sum(self.shares)))} of the variance of protons, starts and ends"
            f"{f' but {left_out} far out' if left_out else ''}; the potential is not drawn"
        )

    def place(self, points: np.ndarray, when: Any = 1.0) -> np.ndarray:
        return (np.asarray(points, dtype=float) - self.mean) @ self.axes.T


def choose_view(
    on: str,
    protons: np.ndarray,
    paths: Sequence[np.ndarray],
    *,
    label: str = "progress",
    span: float = 1.0,
) -> View:
    """The view that suits the manifold named `on`, for protons (k, d) and ways of shape (m, d)."""
    dim = protons.shape[1]
    if on == "sphere" and dim == 2:
        return Circle()
    if on == "sphere" and dim == 3:
        return Globe(protons)
    paths = [path[np.all(np.isfinite(path), axis=1)] for path in paths]
    paths = [path for path in paths if len(path)]
    starts = np.array([path[0] for path in paths]).reshape(-1, dim)
    if dim > 3:
        ends = np.array([path[-1] for path in paths]).reshape(-1, dim)
        everything = np.concatenate([protons, starts, ends])
        usual = _usual(protons, starts, everything)
        return Components(usual, len(everything) - len(usual))
    centre, reach = _box(_usual(protons, starts, np.concatenate([protons, *paths])))
    if dim == 1:
        return Line(centre, reach, label, span)
    return Plane(centre, reach) if dim == 2 else Volume(centre, reach)


def _usual(protons: np.ndarray, starts: np.ndarray, everything: np.ndarray) -> np.ndarray:
    """`everything` (n, d) but what is far from where protons and half of the starts are."""
    middle = np.mean(protons, axis=0)
    size = lambda points: np.linalg.norm(points - middle, axis=1)  # noqa: E731
    usual = float(np.max(size(protons)))
    if len(starts):
        usual = max(usual, float(np.median(size(starts))))
    return everything[size(everything) <= FARTHEST * usual * (1 + 1e-9)]


def _box(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre and half width of a square (a cube) around points, with a margin."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    reach = 0.5 * float(np.max(high - low))
    return (low + high) / 2, MARGIN * (reach or max(1.0, float(np.max(np.abs(low + high))) / 2))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or share < 5e-4 else f"{100 * share:.1f} %"


def _bare(axes: Any) -> None:
    axes.set_axis_off()
