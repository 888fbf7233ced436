"""The picture and the film of `earnshaw demo`: an electron at a saddle, and its way out.

Both show what the electron feels: its energy in the field of the fixed protons, without its own.
"""

from __future__ import annotations

import pathlib
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image

from earnshaw.dynamics.path import Path
from earnshaw.files.atomic import check_writable, write_whole
from earnshaw.plots.animation import frame_times
from earnshaw.plots.page import Page
from earnshaw.plots.style import ASTRAY, ELECTRON, INK, PALE, PROTON, RC

BODY = 5.5  # inches
GRID = 241
FRAMES, EACH, HOLD = 72, 60, 1500  # of the film, milliseconds
SIZE, DPI = (7.6, 4.9), 100
HILLS = LinearSegmentedColormap.from_list("energy", ["#2166ac", "#82b0d5", "#d2e3f1", "#fbf3ec"])
HEADLINE = "Earnshaw's theorem: no charge rests stably in empty space"


class Escape(NamedTuple):
    """What the demo shows: the motion, and the resting places with their curvatures.

    `saddles` (n, 2) are all of them, the first the one that the electron leaves; `curvatures` (2,)
    and `directions` (2, 2) are those of its energy there, the falling one first. `energy` is that
    of an electron at places (m, 2).
    """

    path: Path
    saddles: np.ndarray
    curvatures: np.ndarray
    directions: np.ndarray
    energy: Callable[[np.ndarray], np.ndarray]


def draw_demo(escape: Escape, sentences: Sequence[str]) -> Figure:
    """The map with the way out, the energy through the saddle, and the theorem in words."""
    with matplotlib.rc_context(RC):
        lines = [textwrap.wrap(sentence, 142) for sentence in sentences]
        words = 0.24 * sum(map(len, lines)) + 0.1 * len(lines)
        facts = ["one electron, four equal protons", "potential −ln r, harmonic in the plane"]
        page = Page(BODY + words + 0.1, HEADLINE, facts)
        axes = page.axes(0.75, 0.05, 6.6, BODY - 0.8)
        _draw_map(axes, escape)
        way = escape.path.positions[:, 0]
        axes.plot(*way.T, color=INK, lw=2.0, zorder=4, gid="way")
        axes.plot(*way[-1], "o", color=ELECTRON, mec="white", ms=9, mew=1.4, zorder=8)
        _draw_cut(page.axes(8.35, 0.45, 3.65, BODY - 1.6), escape)
        down = 0.95 + BODY + 0.1
        for sentence in lines:
            for line in sentence:
                page.text(0.37, down, line, 11)
                down += 0.24
            down += 0.1
    return page.figure


def animate_demo(
    escape: Escape, file: pathlib.Path, report: Callable[[float, str], None] | None = None
) -> None:
    """Write the electron's escape to a ``.gif``, whole or not at all."""
    file = pathlib.Path(file)
    check_writable(file, (".gif",))
    with matplotlib.rc_context(RC):
        images = [Image.fromarray(frame) for frame in _frames(escape, report)]
    palette = images[-1].quantize(colors=255, method=Image.Quantize.MEDIANCUT)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    table = np.array(palette.getpalette(), dtype=int).reshape(-1, 3)
    table[np.asarray(flat[0])[0, 0]] = 255  # the paper, which is not quite white otherwise
    for image in flat:
        image.putpalette(table.ravel().tolist())
    times = [HOLD // 2] + [EACH] * (len(flat) - 2) + [HOLD]
    style: dict[str, Any] = {"format": "GIF", "save_all": True, "loop": 0, "duration": times}
    write_whole(file, lambda name: flat[0].save(name, append_images=flat[1:], **style))


def _frames(escape: Escape, report: Callable[[float, str], None] | None) -> list[np.ndarray]:
    figure = Figure(figsize=SIZE, dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.07, 0.125, 0.9, 0.745))
    _draw_map(axes, escape, film=True)
    figure.text(0.07, 0.945, "An electron leaves a saddle", fontsize=13, fontweight="bold")
    words: dict[str, Any] = {"fontsize": 9.5, "va": "center"}
    figure.text(0.07, 0.9, "Earnshaw: no resting place in empty space is stable", **words)
    path = escape.path
    times = frame_times(path, FRAMES)
    places = path.at(times)[0][:, 0]
    clock = figure.text(0.97, 0.945, "", ha="right", fontsize=12, fontweight="bold", animated=True)
    (trail,) = axes.plot([], [], color=INK, lw=2.0, zorder=6, animated=True)
    (dot,) = axes.plot([], [], "o", color=ELECTRON, mec="white", ms=12, mew=1.5, animated=True)
    dot.set_zorder(9)
    canvas.draw()
    background, frames = canvas.copy_from_bbox(figure.bbox), []
    for number, time in enumerate(times):
        canvas.restore_region(background)
        past = path.positions[path.times <= time, 0]
        trail.set_data(*np.concatenate([past, places[number : number + 1]]).T)
        dot.set_data(places[number, :1], places[number, 1:])
        clock.set_text(f"time {time:.2f}")
        for artist in (trail, dot):
            axes.draw_artist(artist)
        figure.draw_artist(clock)
        frames.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
        if report is not None:
            report((number + 1) / FRAMES, f"frame {number + 1} of {FRAMES}")
    return frames


def _draw_map(axes: Any, escape: Escape, film: bool = False) -> None:
    """The electron's energy, the protons, every resting place, and the directions at the first."""
    protons = np.asarray(escape.path.teacher.positions)
    low, high = protons.min(axis=0) - 0.75, protons.max(axis=0) + 0.75
    x, y = (np.linspace(low[i], high[i], GRID) for i in (0, 1))
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = escape.energy(places).reshape(GRID, GRID)
    here = escape.energy(escape.saddles)
    levels = np.unique(
        np.concatenate([here, np.linspace(np.quantile(values, 0.03), np.max(values), 22)])
    )
    axes.contourf(x, y, values, levels=levels, cmap=HILLS, extend="min", zorder=0)
    axes.contour(x, y, values, levels=levels, colors="white", linewidths=0.6, zorder=1)
    axes.contour(x, y, values, levels=[here[0]], colors=[PALE], linewidths=1.2, zorder=2)
    axes.plot(*protons.T, "o", color=PROTON, ms=15, ls="none", zorder=5, label="proton, fixed")
    axes.plot(*protons.T, "+", color="white", ms=8, mew=1.6, ls="none", zorder=5.5)
    axes.plot(
        *escape.saddles.T,
        "X",
        color=ASTRAY,
        mec="white",
        ms=10,
        ls="none",
        zorder=4.5,
        label="resting place: a saddle, unstable",
        gid="saddles",
    )
    style: dict[str, Any] = {"arrowstyle": "-|>", "lw": 2, "mutation_scale": 13}
    arrows = ((0, ASTRAY, 0.14, 0.52), (1, PALE, 0.52, 0.14))  # out along one, back along the other
    for row, colour, tail, tip in arrows:
        for side in (-1, 1):
            ends = [escape.saddles[0] + side * far * escape.directions[row] for far in (tip, tail)]
            axes.annotate(
                "", ends[0], ends[1], arrowprops=style | {"color": colour}, zorder=4, gid="force"
            )
    marks = {"mec": "white", "ms": 9, "ls": "none"}
    axes.plot([], [], "o", color=ELECTRON, label="electron", **marks)
    axes.plot([], [], color=ASTRAY, marker=">", lw=2, label="driven out")
    axes.plot([], [], color=PALE, marker=">", lw=2, label="pulled back")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.grid(False)
    axes.tick_params(labelsize=8)
    size = 8 if film else 9
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.06)}
    axes.legend(
        ncols=5, fontsize=size, columnspacing=1.1, handletextpad=0.5, markerscale=0.8, **place
    )


def _draw_cut(axes: Any, escape: Escape) -> None:
    """The energy on two lines through the saddle: it falls on one as it rises on the other."""
    reach = np.linspace(-0.5, 0.5, 101)
    origin = escape.energy(escape.saddles[:1])[0]
    for row, colour, name in ((0, ASTRAY, "falls"), (1, INK, "rises")):
        line = escape.saddles[0] + reach[:, None] * escape.directions[row]
        value = f"{escape.curvatures[row]:+.3f}".replace("-", "−")
        axes.plot(
            reach, escape.energy(line) - origin, color=colour, label=f"{name}: curvature {value}"
        )
    axes.plot(0, 0, "X", color=ASTRAY, mec="white", ms=11, zorder=5)
    total = f"{abs(escape.curvatures.sum()):.0e}" if escape.curvatures.sum() else "0"
    axes.set_title(f"The curvatures add up to 0 (here {total})", loc="left", fontsize=10)
    axes.set_xlabel("distance from the resting place")
    axes.set_ylabel("energy of the electron")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.3 * (high - low))
    axes.legend(loc="upper center", fontsize=9)
