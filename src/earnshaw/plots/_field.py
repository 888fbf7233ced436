"""The potential that an electron feels behind a picture of charges, where a view can show it.

It feels all charges but its own: with its own, every rest would look like the bottom of a well.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap
from matplotlib.patches import Circle as Disc

from earnshaw.charges.network import Student, Teacher, UnitKind
from earnshaw.dynamics.path import Path
from earnshaw.energy.population import population_loss
from earnshaw.plots._projection import Circle, Globe, Grid, Line, View
from earnshaw.plots.style import NEGATIVE, POSITIVE

STEPS = 9  # shades on each side of 0
USUAL = 0.97  # the largest shade begins where all but 3 % of the points are below
BEND = 1.6  # shades are finer near 0


def potentials(
    teacher: Teacher,
    points: np.ndarray,
    positions: np.ndarray,
    weights: np.ndarray,
    kind: UnitKind | None = None,
) -> np.ndarray:
    """C at points (n, d) for each of m students, positions (m, k, d) and weights (m, k): (m, n).

    As units of `kind` feel it, the students' own; else of the teacher's.
    """
    # The objective without constants is the one that is finite for every potential.
    loss = population_loss(teacher, "without-constants")
    if kind is not None:
        loss = loss.suited_to(Student(positions[0], weights[0]).of(kind))
    where = jnp.asarray(points)

    def one(student: tuple[jax.Array, jax.Array]) -> jax.Array:
        return loss.potential(where, Student(*student))

    found = jax.lax.map(one, (jnp.asarray(positions), jnp.asarray(weights)))
    return np.asarray(found)


def felt_potentials(
    path: Path, points: np.ndarray, positions: np.ndarray, weights: np.ndarray, unit: int
) -> np.ndarray:
    """The same among the electrons of a path but `unit`: what that unit feels, (m, n)."""
    others = np.delete(positions, unit, axis=1), np.delete(weights, unit, axis=1)
    return potentials(path.teacher, points, *others, path.kind)


class Shades:
    """Pale red where the potential is positive, pale blue where it is negative, in steps."""

    def __init__(self, values: np.ndarray) -> None:
        size = np.abs(values[np.isfinite(values)])
        limit = float(np.quantile(size, USUAL)) if size.size else 0.0
        limit = limit or float(np.max(size, initial=0.0)) or 1.0
        side = limit * (np.arange(1, STEPS + 1) / STEPS) ** BEND
        self.limit = limit
        self.levels = np.concatenate([-side[::-1], side])
        ends = [*NEGATIVE[::-1], *POSITIVE[1:]]
        smooth = LinearSegmentedColormap.from_list("potential", ends)
        self.colours = ListedColormap(smooth(np.linspace(0, 1, 2 * STEPS + 1)))
        self.norm = BoundaryNorm(self.levels, 2 * STEPS + 1, extend="both")

    def pixels(self, values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        """Values in the shape of a picture, all of them finite."""
        finite = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return np.clip(finite, -4 * self.limit, 4 * self.limit).reshape(shape)


def paint(axes: Any, view: View, grid: Grid, values: np.ndarray, shades: Shades) -> Any:
    """The potential `values` (n,) behind the charges; for `Line` (n, m), one column a time."""
    colours: dict[str, Any] = {"cmap": shades.colours, "norm": shades.norm, "zorder": 0}
    if isinstance(view, Circle):
        angle = np.linspace(-np.pi, np.pi, len(values))
        x, y = (np.outer(grid.box[2:], wave(angle)) for wave in (np.cos, np.sin))
        middle = shades.pixels(0.5 * (values[1:] + values[:-1]), (1, len(values) - 1))
        return axes.pcolormesh(x, y, middle, rasterized=True, **colours)
    along_time = isinstance(view, Line)
    image = axes.imshow(
        shades.pixels(values, values.shape if along_time else grid.shape),
        origin="lower",
        extent=grid.box,
        interpolation="bilinear",
        interpolation_stage="data",
        aspect="auto" if along_time else "equal",
        **colours,
    )
    if isinstance(view, Globe):
        disc = Disc((0, 0), view.edge, transform=axes.transData, fill=False, linewidth=0)
        axes.add_patch(disc)
        image.set_clip_path(disc)
    return image
