"""The picture of the way between two students: the loss along it, and where it goes."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from earnshaw.charges.network import Teacher
from earnshaw.energy.objective import Objective
from earnshaw.errors import EarnshawError
from earnshaw.landscape.barrier import Barrier
from earnshaw.landscape.slices import Slice, flat, loss_slice
from earnshaw.landscape.spectrum import loss_of
from earnshaw.plots.formatting import plural, short
from earnshaw.plots.page import Page
from earnshaw.plots.slices import draw_contours
from earnshaw.plots.style import ASTRAY, ELECTRON, INK, PALE, RC

BODY = 4.9  # inches


def draw_barrier(found: Barrier, plane: Slice | None = None) -> Figure:
    """The loss along the line and the path; beside it the `plane` of `barrier_plane`, if any."""
    with matplotlib.rc_context(RC):
        width = 12.4 if plane is not None else 8.4
        page = Page(BODY, headline(found), _facts(found), [_note(found, plane)], width=width)
        axes = page.axes(0.95, 0.3, 5.9 if plane is not None else 7.0, BODY - 0.95)
        _draw_profile(axes, found)
        if plane is not None:
            beside = page.axes(7.7, 0.3, 4.3, BODY - 0.95)
            draw_contours(beside, plane, ("start", "end", "saddle"))
            images = np.concatenate(
                [found.positions.reshape(len(found.positions), -1), found.weights], axis=1
            )
            origin, axes_of = images[0], [flat(axis.motion) for axis in plane.axes]
            x, y = ((images - origin) @ axis for axis in axes_of)
            beside.plot(plane.points[:2, 0], plane.points[:2, 1], "--", color=ASTRAY, zorder=3)
            beside.plot(x, y, "o-", color=INK, ms=3.5, lw=1.4, mfc="white", zorder=4, gid="images")
            beside.set_title("The plane of start, end and saddle", loc="left")
            beside.set_xlabel("towards the end")
            beside.set_ylabel("towards the saddle")
    return page.figure


def barrier_plane(teacher: Teacher | Objective, found: Barrier, **loss: str | None) -> Slice | None:
    """The plane through start, end and saddle; None where there is none."""
    if found.saddle is None:
        return None
    objective = loss_of(teacher, **loss)  # type: ignore[arg-type]
    try:
        return loss_slice(objective, found.start, found.end, found.saddle, match=False)
    except EarnshawError:
        return None  # all on one line


def headline(found: Barrier) -> str:
    """How high the path climbs, with its error."""
    size = max(abs(found.line_top), 1e-300)
    if found.height <= 1e-9 * size:
        return "Nothing to climb: the loss never exceeds that of the start"
    words = f"A barrier of at most {short(found.height, 2)}"
    if found.line_height > 1.001 * found.height:
        words += f"; the straight line climbs {short(found.line_height, 2)}"
    return words


def _facts(found: Barrier) -> list[str]:
    ends = f"loss {_loss(found.losses[0], found)} at the start, {_loss(found.losses[-1], found)} "
    facts = [ends + "at the end", f"{len(found.losses)} images", f"{found.iterations} steps"]
    if found.saddle_loss is not None:
        facts.append(f"saddle of index 1 at loss {short(found.saddle_loss, 4)}")
    return facts


def _loss(value: float, found: Barrier) -> str:
    return "0" if abs(value) <= 1e-13 * max(abs(found.line_top), 1e-300) else short(float(value), 3)


def _note(found: Barrier, plane: Slice | None) -> str:
    first = "Units were matched first, up to the symmetries of the loss."
    note = f"{first if found.matched else 'Units keep their order.'} The path is a polygon through "
    note += (
        f"{plural(len(found.losses), 'image')} (string method), so its top bounds the lowest pass "
    )
    note += "from above; another path may be lower."
    if found.error is not None and found.saddle is not None:
        note += f" This one's top is {short(found.error)} above its own saddle."
    if plane is not None:
        note += " On the right the images are projected onto the plane."
    return note


def _draw_profile(axes: matplotlib.axes.Axes, found: Barrier) -> None:
    parts = np.linspace(0, 1, len(found.line))
    axes.plot(parts, found.line, "--", color=ASTRAY, lw=1.8, label="straight line", gid="line")
    axes.plot(
        found.places,
        found.losses,
        "o-",
        color=ELECTRON,
        ms=4.5,
        label="relaxed path, by its images",
        gid="path",
    )
    if found.saddle_loss is not None:
        place = found.places[int(np.argmax(found.losses))]
        axes.plot(place, found.saddle_loss, "D", color=INK, ms=8, mec="white", label="saddle")
    axes.axhline(found.top, color=PALE, lw=0.9, ls=":", zorder=1)
    axes.set_xlabel("part of the way")
    axes.set_ylabel("loss")
    axes.set_xlim(-0.02, 1.02)
    low, high = min(np.min(found.losses), np.min(found.line)), max(found.line_top, found.top)
    room = 0.07 * (high - low) or 0.5
    axes.set_ylim(low - room, high + 3 * room)
    axes.legend(loc="upper right", fontsize=9, ncols=3)
