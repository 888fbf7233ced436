"""The moving charges as a GIF or an MP4: over the potential that one of them feels.

Frames are drawn by Matplotlib's Agg, only what moves anew each time, and go to Pillow or ffmpeg
(the binary that comes with imageio-ffmpeg) as they are. Their times are evenly spaced in the mean
of the time and of the distance that all electrons have gone, so that a long wait does not fill the
film; the clock and the mark on the energy show the true time.
"""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from earnshaw.dynamics.path import Path
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable, write_whole
from earnshaw.limits import check_integer
from earnshaw.plots import _charges as charges
from earnshaw.plots._decay import Decay
from earnshaw.plots._excursions import Excursions, draw_excursions
from earnshaw.plots._field import Shades, felt_potentials, paint
from earnshaw.plots._numbers import MOST, Numbers
from earnshaw.plots._projection import Landscape, Line
from earnshaw.plots.formatting import fitting
from earnshaw.plots.motion import DOTS, check_felt_by, facts, felt_in_words, view_of
from earnshaw.plots.page import Legend, fitting_in
from earnshaw.plots.style import ELECTRON, PALE, PROTON, RC

ENDINGS = (".gif", ".mp4")
FRAMES, MOST_FRAMES = 96, 120
SIZE, DPI = (8.8, 4.96), 100  # even numbers of pixels, as H.264 wants
GRID = 72
HOLD = 1.2  # seconds that the last frame stays
Progress = Callable[[float, str], None]


def check_animation(file: pathlib.Path) -> None:
    """Refuse, before any work is done, an animation that could not be written."""
    check_writable(file, ENDINGS)


def animate_path(
    path: Path,
    file: pathlib.Path,
    *,
    frames: int | None = None,
    fps: int = 16,
    felt_by: int = 0,
    on_progress: Progress | None = None,
) -> None:
    """Write the motion to a ``.gif`` or ``.mp4``, whole or not at all.

    Args:
        path: what `simulate` returned.
        file: the ending says the format.
        frames: how many, 2 to 120; 96.
        fps: frames a second, 1 to 50.
        felt_by: the electron whose potential is drawn: that of all charges but its own.
        on_progress: called with the part of the frames that are drawn, and a note.
    """
    file = pathlib.Path(file)
    check_animation(file)
    frames = check_integer("number of frames", frames or FRAMES, 2, MOST_FRAMES)
    fps = check_integer("frames a second", fps, 1, 50)
    felt_by = check_felt_by(path, felt_by)
    write = _write_gif if file.suffix.lower() == ".gif" else _write_mp4
    with matplotlib.rc_context(RC):
        film = Film(path, frames, felt_by)
        write_whole(file, lambda name: write(name, film.frames(on_progress), fps))


def frame_times(path: Path, frames: int) -> np.ndarray:
    """Times (frames,) from 0 to the end, evenly in the mean of time and distance gone."""
    gone = np.sum(np.linalg.norm(np.diff(path.positions, axis=0), axis=-1), axis=-1)
    clock = path.times / (path.times[-1] or 1.0)
    total = float(np.sum(gone))
    if total > 0 and np.isfinite(total):
        clock = (clock + np.concatenate([[0.0], np.cumsum(gone)]) / total) / 2
    rising = np.concatenate([[True], np.diff(np.maximum.accumulate(clock)) > 0])
    return np.interp(np.linspace(0, clock[-1], frames), clock[rising], path.times[rising])


class Film:
    """All that the frames of a film have in common, drawn once; and then the frames."""

    def __init__(self, path: Path, frames: int, felt_by: int = 0) -> None:
        self.path, self.times, self.felt_by = path, frame_times(path, frames), felt_by
        self.positions, self.weights = path.at(self.times)
        self.figure = Figure(figsize=SIZE, dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)
        view, self.ways = view_of(path)
        self.view = Landscape(view) if isinstance(view, Line) and path.of_one_activation else view
        box = (0.0, 0.12, 0.58, 0.78) if view.deep else (0.085, 0.225, 0.44, 0.67)
        self.axes: Any = self.figure.add_axes(box, projection="3d" if view.deep else None)
        self.energy_axes: Any = self.figure.add_axes((0.64, 0.225, 0.335, 0.6))
        self._furnish_charges()
        self.decay = Decay(path.times, path.energy)
        self._furnish_energy()
        line = facts(path)
        size = fitting(line, 9, 84)
        self.figure.text(0.035, 0.955, line, fontsize=size, color=PALE, va="center")
        longest = float(path.times[-1])
        self.decimals = int(np.clip(2 - np.floor(np.log10(longest)), 0, 12)) if longest > 0 else 0
        self.label = self.figure.text(
            0.975, 0.955, "", fontsize=13, fontweight="bold", ha="right", va="center", animated=True
        )
        self._legend()

    def _legend(self) -> None:
        """What the marks and the colours mean, below all frames."""
        start = self.view.inside(self.view.place(self.path.positions[0], 0.0))
        handles = charges.legend_handles(
            np.asarray(self.path.teacher.weights),
            free="electron",
            shows_free=True,
            starts=bool(np.any(start)) and not isinstance(self.view, Landscape),
            far=self.far,
        )
        note = self.view.note
        if self.fields is not None:
            colours = "" if isinstance(self.view, Landscape) else ": red +, blue −"
            note = felt_in_words(self.path, self.felt_by, "") + colours
        legend = Legend(handles, 0.93 * SIZE[0], 8.5)
        legend.draw(self.figure, 0.035, (0.3 + legend.height) / SIZE[1])
        size = fitting_in(0.93 * SIZE[0], note, 8.5)
        self.figure.text(0.035, 0.024, note[:1].upper() + note[1:], fontsize=size, color=PALE)

    def _furnish_charges(self) -> None:
        """Everything behind the charges, and the potential of all frames at once."""
        self.grid = self.view.grid(GRID) if self.path.of_one_activation else None
        self.fields: np.ndarray | None = None
        if self.grid is not None:
            self.axes.grid(False)
            then = self.positions, self.weights
            self.fields = felt_potentials(self.path, self.grid.points, *then, self.felt_by)
            self.shades = Shades(self.fields)
        self.view.furnish(self.axes)
        self.axes.set_axisbelow(True)
        self.still = [*self.axes.lines, *self.axes.patches]
        if isinstance(self.view, Landscape):
            self.axes.set_ylim(-1.5 * self.shades.limit, 1.5 * self.shades.limit)
        # Starts and arrows to what is beyond the edge are the same in all frames.
        self.far = Excursions()
        if not isinstance(self.view, Landscape):
            when = self.path.times / (float(self.path.times[-1]) or 1.0)
            blue = [ELECTRON] * len(self.ways)
            self.far, arrows = draw_excursions(self.axes, self.view, self.ways, blue, when)
            begun = charges.draw_starts(self.axes, self.view, self.path.positions[0], blue)
            self.still += [*arrows, *begun]
        for artist in [self.axes] if self.view.deep else self.still:
            artist.set_animated(True)

    def _furnish_energy(self) -> None:
        axes = self.energy_axes
        self.decay.draw(axes, colour=PALE)
        for event in self.path.events:
            edge, face = DOTS[event.kind]
            y = self.decay.at(event.time)
            axes.plot(event.time, y, "o", mec=edge, mfc=face, ms=5, mew=1.2, zorder=4)
        axes.set_title("Energy", loc="left")
        axes.set_xlabel("time")

    def frames(self, on_progress: Progress | None) -> Iterator[np.ndarray]:
        """Each frame as pixels (height, width, 3)."""
        self.canvas.draw()
        background = self.canvas.copy_from_bbox(self.figure.bbox)
        for number in range(len(self.times)):
            self.canvas.restore_region(background)
            moving, passing = self._draw_charges(number), self._draw_now(number)
            if self.view.deep:
                self.figure.draw_artist(self.axes)
            else:
                for artist in sorted([*self.still, *moving], key=lambda a: a.get_zorder()):
                    self.axes.draw_artist(artist)
            for artist in passing:
                self.energy_axes.draw_artist(artist)
            self.figure.draw_artist(self.label)
            yield np.asarray(self.canvas.buffer_rgba())[..., :3].copy()
            for artist in [*moving, *passing]:
                artist.remove()
            if on_progress is not None:
                part = (number + 1) / len(self.times)
                on_progress(part, f"frame {number + 1} of {len(self.times)}")

    def _draw_charges(self, number: int) -> list[Any]:
        axes, view, teacher = self.axes, self.view, self.path.teacher
        moving: list[Any] = []
        if self.fields is not None and self.grid is not None:
            if isinstance(view, Landscape):
                moving += view.draw(axes, self.grid, self.fields[number])
            else:
                before = len(axes.patches)
                moving.append(paint(axes, view, self.grid, self.fields[number], self.shades))
                moving += axes.patches[before:]
        now = self.path.times <= self.times[number]
        last = self.positions[number][None]
        trail = np.concatenate([self.path.positions[now], last])
        if not isinstance(view, Landscape):
            ways = [trail[:, unit] for unit in range(trail.shape[1])]
            when = np.append(self.path.times[now], self.times[number])
            when = when / (float(self.path.times[-1]) or 1.0)
            colours = [ELECTRON] * len(ways)
            moving += charges.draw_ways(axes, view, ways, colours, [when] * len(ways), 1.8, 60)
        protons, weights = np.asarray(teacher.positions), np.asarray(teacher.weights)
        moving += charges.draw_protons(axes, view, protons, weights)
        part = float(self.times[number] / (self.path.times[-1] or 1.0))
        shown = view.inside(view.place(last[0], part))
        electrons, then = last[0][shown], self.weights[number][shown]
        moving += charges.draw_electrons(axes, view, electrons, then, part)
        places, now_at = view.place(protons), view.place(electrons, part)
        areas = charges.marker_areas(weights, len(weights))
        numbers = Numbers(axes, view, [(places, areas), (now_at, 60.0)])
        if max(len(protons), len(last[0])) <= MOST:
            moving += numbers.draw(places, range(len(protons)), PROTON, areas)
            moving += numbers.draw(now_at, np.flatnonzero(shown).tolist(), ELECTRON, 60.0)
        return moving

    def _draw_now(self, number: int) -> list[Any]:
        """The energy so far, and the time."""
        time, axes = float(self.times[number]), self.energy_axes
        self.label.set_text(f"time {time:.{self.decimals}f}")
        past = self.decay.x <= time
        x, y = (
            np.append(self.decay.x[past], time),
            np.append(self.decay.y[past], self.decay.at(time)),
        )
        (line,) = axes.plot(x, y, color=ELECTRON, zorder=3)
        (dot,) = axes.plot(time, y[-1], "o", color=ELECTRON, mec="white", mew=1.2, ms=9, zorder=6)
        return [line, dot]


def _write_gif(name: str, frames: Iterator[np.ndarray], fps: int) -> None:
    """One palette for all frames and no dithering: half the size, and no flicker."""
    images = [Image.fromarray(frame) for frame in frames]
    chosen = [images[round(i)] for i in np.linspace(0, len(images) - 1, min(len(images), 6))]
    sheet = Image.new("RGB", (images[0].width, images[0].height * len(chosen)))
    for row, image in enumerate(chosen):
        sheet.paste(image, (0, row * image.height))
    palette = sheet.quantize(colors=255, method=Image.Quantize.MEDIANCUT)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    table = np.array(flat[0].getpalette(), dtype=int).reshape(-1, 3)
    table[np.asarray(flat[0])[0, 0]] = 255  # the paper, which is not quite white otherwise
    for image in flat:
        image.putpalette(table.ravel().tolist())
    each = round(1000 / fps)
    durations = [each] * (len(flat) - 1) + [round(1000 * HOLD)]
    flat[0].save(
        name, format="GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0
    )


def _write_mp4(name: str, frames: Iterator[np.ndarray], fps: int) -> None:
    """Raw pixels into ffmpeg's standard input; H.264 that every browser plays.

    Not by `imageio_ffmpeg.write_frames` (0.7): it does not look at ffmpeg's exit code, so that a
    film cut short by a full disk would pass for whole; what ffmpeg says goes to the terminal, not
    into an error of one line; and it forks (`preexec_fn`), which a process with JAX's threads must
    not.
    """
    import imageio_ffmpeg

    first = next(frames)
    size = f"{first.shape[1]}x{first.shape[0]}"
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(fps), "-i", "-"),
        *("-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20"),
        *("-movflags", "+faststart", name),
    ]
    # Its own session: Ctrl-C ends this program, which then ends ffmpeg.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as coder:
        assert coder.stdin is not None
        assert coder.stderr is not None
        try:
            last = first
            coder.stdin.write(first.tobytes())
            for last in frames:
                coder.stdin.write(last.tobytes())
            coder.stdin.write(round(HOLD * fps) * last.tobytes())
            coder.stdin.close()
        except BrokenPipeError:
            pass  # it says why itself
        except BaseException:
            coder.kill()
            raise
        said = coder.stderr.read().decode(errors="replace")
    if coder.returncode != 0:
        raise EarnshawError(f"ffmpeg could not write the film: {said.strip() or 'no reason given'}")
