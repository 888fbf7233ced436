"""The picture of a plane of students: the loss over two directions, as contours."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from earnshaw.landscape.slices import Slice
from earnshaw.plots.formatting import plural, short
from earnshaw.plots.page import Page
from earnshaw.plots.style import INK, RC

BODY = 6.0  # inches
LEVELS = 22
ZERO = 1e-12  # of the highest loss: what is below is rounding
USUAL = 0.9  # levels are dense up to where all but 10 % of the losses are
LOW_HIGH = LinearSegmentedColormap.from_list(
    "loss", ["#16325c", "#2166ac", "#82b0d5", "#d2e3f1", "#fdf6ee", "#f5bfae", "#c8362f"]
)


def draw_slice(slice_: Slice, names: tuple[str, ...] | None = None) -> Figure:
    """Contours of the loss over the plane; `names` of the students that are marked in it."""
    with matplotlib.rc_context(RC):
        title = "The loss on a plane through this student"
        if len(slice_.points) > 1:
            title = f"The loss on a plane through {plural(len(slice_.points), 'student')}"
        units = slice_.origin
        facts = [f"{plural(units.units, 'unit')} in d = {units.dim}"]
        facts += [f"lowest {short(float(np.min(slice_.losses)), 2)}"]
        facts += [f"highest {short(float(np.max(slice_.losses)), 2)}"]
        page = Page(BODY, title, facts, [_note(slice_)], width=8.4)
        axes = page.axes(0.95, 0.1, 5.9, BODY - 0.75)
        image = draw_contours(axes, slice_, names)
        for which, axis in (("x", slice_.axes[0]), ("y", slice_.axes[1])):
            words = axis.words
            if axis.curvature is not None:
                words += f" (curvature {short(axis.curvature, 2).replace('-', '−')})"
            getattr(axes, f"set_{which}label")(words)
        bar = page.figure.colorbar(image, cax=page.axes(7.15, 0.1, 0.16, BODY - 0.75))
        bar.set_label("loss")
        bar.outline.set_visible(False)
        bar.formatter = lambda value, _: short(float(value), 1)  # type: ignore[assignment]
        bar.update_ticks()
    return page.figure


def draw_contours(axes: Any, slice_: Slice, names: tuple[str, ...] | None = None) -> Any:
    """Filled contours, denser where the loss is low, and the students of the plane."""
    losses = slice_.losses
    low, high = float(np.min(losses)), float(np.max(losses))
    usual = float(np.quantile(losses, USUAL))
    inner = low + (usual - low) * np.linspace(0, 1, LEVELS) ** 1.7
    levels = np.unique(np.concatenate([inner, np.linspace(usual, high, 7)[1:]]))
    if len(levels) < 3 or not high > low:
        levels = low + np.linspace(-1, 1, 5) * max(abs(low), 1.0) * 1e-6
    norm = matplotlib.colors.BoundaryNorm(levels, 256)
    image = axes.contourf(
        slice_.rights, slice_.ups, losses, levels=levels, cmap=LOW_HIGH, norm=norm, zorder=0
    )
    axes.contour(
        slice_.rights,
        slice_.ups,
        losses,
        levels=levels[::2],
        colors="white",
        linewidths=0.5,
        alpha=0.6,
        zorder=1,
    )
    names, right = names or _names(len(slice_.points)), float(np.mean(slice_.rights))
    for number, ((x, y), name) in enumerate(zip(slice_.points, names, strict=True)):
        axes.plot(x, y, "o", mec="white", mfc=INK, ms=8, mew=1.5, zorder=5, gid="student")
        loss = float(slice_.point_losses[number])
        words = f"{name}, {'0' if abs(loss) <= ZERO * high else short(loss, 2)}"
        side = -1 if (x > right) != (number == 2) and number else 1  # the third: away from the way
        axes.annotate(
            words,
            (x, y),
            xytext=(8 * side, 11 if number == 2 else -17),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            fontsize=9,
            zorder=6,
            bbox={"boxstyle": "round,pad=0.25", "fc": "white", "ec": "none", "alpha": 0.85},
        )
    axes.grid(False)
    axes.set_aspect("equal")
    return image


def _names(count: int) -> tuple[str, ...]:
    return ("the student",) if count == 1 else tuple(f"student {i}" for i in range(count))


def _note(slice_: Slice) -> str:
    note = (
        "Distances are those of all positions and weights together. Contours are denser where the "
    )
    note += "loss is low."
    if len(slice_.points) > 1:
        note += " Units were matched first, up to the symmetries of the loss."
    return note
