"""Films: as many frames as asked for, small, whole or not at all."""

from __future__ import annotations

from itertools import pairwise

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

import earnshaw as ew
from earnshaw.dynamics.path import Path
from earnshaw.errors import EarnshawError
from earnshaw.plots import animation
from earnshaw.plots.animation import animate_path, frame_times

pytestmark = pytest.mark.slow

SIZE = (880, 496)


def make_path(dim: int = 2, on: str | None = None, steps: int = 30) -> Path:
    teacher = ew.random_teacher("sign" if on else "gaussian", dim, 3, on=on)
    times = np.linspace(0, 1, steps) ** 2
    starts = np.asarray(ew.random_student(teacher, 2).positions)
    part = np.linspace(0, 1, steps)[:, None, None]
    positions = (1 - part) * starts + part * np.asarray(teacher.positions)[:2]
    if on:
        positions /= np.linalg.norm(positions, axis=-1, keepdims=True)
    return Path(
        times=times,
        positions=positions,
        weights=np.ones((steps, 2)),
        energy=np.linspace(2, 1, steps),
        bound=np.array([0, -1]),
        group=np.arange(2),
        teacher=teacher,
        events=(),
        stop="time",
        steps=steps,
    )


def test_gif(tmp_path):
    file, seen = tmp_path / "film.gif", []
    animate_path(make_path(), file, frames=8, fps=10, on_progress=lambda p, _: seen.append(p))
    with Image.open(file) as film:
        assert (film.format, film.n_frames, film.size) == ("GIF", 8, SIZE)
        pictures = []
        for frame in range(film.n_frames):
            film.seek(frame)
            assert film.info["duration"] == (100 if frame < 7 else 1200)
            pictures.append(np.asarray(film.convert("RGB"), dtype=int))
    assert all(np.any(a != b) for a, b in pairwise(pictures))
    assert tuple(pictures[0][2, 2]) == (255, 255, 255)
    np.testing.assert_allclose(seen, np.arange(1, 9) / 8)
    assert file.stat().st_size < 8 * 3e6 / 120
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]


@pytest.mark.filterwarnings("ignore:os.fork")  # the reader's; the writer does not fork
def test_mp4(tmp_path):
    file = tmp_path / "film.mp4"
    animate_path(make_path(3, "sphere"), file, frames=6, fps=10)
    reader = imageio_ffmpeg.read_frames(str(file))
    about = next(reader)
    assert (about["size"], about["fps"], about["codec"]) == (SIZE, 10.0, "h264")
    frames = [np.frombuffer(frame, np.uint8) for frame in reader]
    assert len(frames) == 6 + 12  # the last one stays
    assert np.mean(frames[0]) > 200


@pytest.mark.parametrize(("dim", "on"), [(1, None), (3, None), (5, None), (2, "sphere")])
def test_every_space_moves(dim, on, tmp_path):
    file = tmp_path / "film.gif"
    animate_path(make_path(dim, on), file, frames=3)
    with Image.open(file) as film:
        assert film.n_frames == 3


def test_the_frames_share_time_and_distance():
    path = make_path()
    times = frame_times(path, 20)
    assert (times[0], times[-1]) == (0.0, 1.0)
    assert np.all(np.diff(times) > 0)
    # Here distance is the root of time: (t + sqrt(t)) / 2 is even.
    np.testing.assert_allclose((times + np.sqrt(times)) / 2, np.linspace(0, 1, 20), atol=2e-3)


def test_a_path_at_rest_can_be_filmed(tmp_path):
    path = make_path()
    still = Path(**{**vars(path), "positions": np.repeat(path.positions[:1], 30, axis=0)})
    np.testing.assert_allclose(frame_times(still, 5), np.linspace(0, 1, 5))
    alone = {key: getattr(path, key)[:1] for key in ("times", "positions", "weights", "energy")}
    animate_path(Path(**{**vars(path), **alone}), tmp_path / "film.gif", frames=2)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("film.avi", {}, "allowed endings: .gif, .mp4"),
        ("nowhere/film.gif", {}, "there is no folder"),
        ("film.gif", {"frames": 500}, "number of frames is 500"),
        ("film.gif", {"fps": 0}, "frames a second is 0"),
    ],
)
def test_refusals_come_before_any_work(name, options, words, tmp_path, monkeypatch):
    monkeypatch.setattr(animation, "Film", None)
    with pytest.raises(EarnshawError, match=words):
        animate_path(make_path(), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_an_older_film_survives_a_failure(ending, tmp_path):
    file = tmp_path / f"film.{ending}"
    file.write_bytes(b"older")

    def interrupt(part, note):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        animate_path(make_path(5), file, frames=3, on_progress=interrupt)
    assert file.read_bytes() == b"older"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_what_ffmpeg_says_is_said(tmp_path, monkeypatch):
    failing = tmp_path / "ffmpeg"
    failing.write_text("#!/bin/sh\necho no such codec >&2\nexit 3\n")
    failing.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(failing))
    with pytest.raises(EarnshawError, match="no such codec"):
        animate_path(make_path(5), tmp_path / "film.mp4", frames=3)
    assert not (tmp_path / "film.mp4").exists()


def test_films_have_a_legend_and_a_clock():
    film = animation.Film(make_path(), 3, felt_by=1)
    (legend,) = film.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert {"electron", "start"} <= set(names)
    assert any("that electron 1 feels" in text.get_text() for text in film.figure.texts)
    clocks = []
    for _ in film.frames(None):
        clocks.append(film.label.get_text())
    assert clocks[0] == "time 0.00"
    assert clocks[-1] == "time 1.00"
    # What the second electron feels is the protons and the first.
    protons, weights = (
        np.asarray(x) for x in (film.path.teacher.positions, film.path.teacher.weights)
    )

    def gaussian(centre):
        return np.exp(-np.sum((film.grid.points - centre) ** 2, axis=1) / 2)

    exact = sum(b * gaussian(w) for w, b in zip(protons, weights, strict=True))
    exact = exact - gaussian(film.positions[-1, 0])
    np.testing.assert_allclose(film.fields[-1], exact, atol=1e-12)
