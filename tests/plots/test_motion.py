"""The picture of a simulation: ways, potential, energy and encounters are those of the path."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import earnshaw as ew
from earnshaw.dynamics.path import Encounter, Path
from earnshaw.plots._decay import Decay
from earnshaw.plots._field import Shades, potentials
from earnshaw.plots.motion import draw_path
from earnshaw.plots.style import save

pytestmark = pytest.mark.slow


def make_path(teacher, starts, energy=None, bound=None, events=(), stop="time", steps=41):
    """Electrons of weight 1 that go straight to the first protons."""
    starts = np.asarray(starts, dtype=float)
    times = np.linspace(0, 2, steps)
    part = (times / 2)[:, None, None]
    positions = (1 - part) * starts + part * np.asarray(teacher.positions)[: len(starts)]
    if teacher.manifold.name == "sphere":
        positions /= np.linalg.norm(positions, axis=-1, keepdims=True)
    return Path(
        times=times,
        positions=positions,
        weights=np.ones(positions.shape[:2]),
        energy=np.linspace(3, 1, steps) if energy is None else energy,
        bound=np.full(len(starts), -1) if bound is None else np.asarray(bound),
        group=np.arange(len(starts)),
        teacher=teacher,
        events=tuple(events),
        stop=stop,
        steps=steps,
    )


def two_protons(**options):
    teacher = ew.Teacher([[0.0, 0.0], [1.0, 1.0]], [1.0, -1.0], "gaussian")
    return make_path(teacher, [[-1.0, 0.5], [1.5, -1.0]], **options)


def marks(figure, name):
    return [c for axes in figure.axes for c in axes.collections if c.get_gid() == name]


def test_potentials_are_sums_over_all_charges():
    path = two_protons()
    points = np.random.default_rng(0).normal(size=(7, 2))
    positions, weights = path.at([0.0, 1.3])
    found = potentials(path.teacher, points, positions, weights)

    def gaussian(centre):
        return np.exp(-np.sum((points - centre) ** 2, axis=1) / 2)

    protons = np.asarray(path.teacher.positions)
    for row, electrons in zip(found, positions, strict=True):
        exact = gaussian(protons[0]) - gaussian(protons[1]) - sum(map(gaussian, electrons))
        np.testing.assert_allclose(row, exact, atol=1e-12)


def test_shades_are_symmetric_and_finite():
    shades = Shades(np.array([-1.0, 0.0, 5.0, np.inf, np.nan]))
    np.testing.assert_allclose(shades.levels, -shades.levels[::-1])
    red, white, blue = (shades.colours(shades.norm(v)) for v in (5.0, 0.0, -5.0))
    assert red[0] > red[2]
    assert blue[0] < blue[2]
    np.testing.assert_allclose(white[:3], 1.0, atol=0.02)
    assert np.all(np.isfinite(shades.pixels(np.array([np.inf, np.nan]), (1, 2))))


def test_charges_and_ways_are_where_the_path_says():
    path = two_protons(bound=[0, -1])
    figure = draw_path(path)
    (protons,), (rings,), (free,) = (marks(figure, n) for n in ("protons", "landed", "electrons"))
    np.testing.assert_allclose(protons.get_offsets(), path.teacher.positions)
    np.testing.assert_allclose(rings.get_offsets(), path.positions[-1][:1])
    np.testing.assert_allclose(free.get_offsets(), path.positions[-1][1:])
    (ways,) = marks(figure, "ways")
    ends = np.array(ways.get_segments())
    np.testing.assert_allclose(ends[0, 0], path.positions[0, 0])
    np.testing.assert_allclose(ends[-1, 1], path.positions[-1, 1])
    opacity = ways.get_colors()[: len(ends) // 2, 3]
    assert np.all(np.diff(opacity) > 0)


def test_events_are_marked_and_listed():
    events = (Encounter(0.5, "bind", 0, 1), Encounter(1.5, "release", 0, 1))
    figure = draw_path(two_protons(events=events, bound=[-1, -1]))
    axes = next(axes for axes in figure.axes if axes.get_title("left") == "Energy")
    (bind,) = (line for line in axes.get_lines() if line.get_gid() == "bind")
    np.testing.assert_allclose([bind.get_xdata()[0], bind.get_ydata()[0]], [0.5, 2.5])
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "electron 0 binds to proton 1" in texts
    assert "electron 0 leaves proton 1" in texts


def test_many_events_are_cut():
    events = [Encounter(0.1 * i, "merge", 0, 1, -1) for i in range(15)]
    texts = [
        t.get_text() for axes in draw_path(two_protons(events=events)).axes for t in axes.texts
    ]
    assert texts.count("electron 0 joins the antipode of electron 1") == 12
    assert "… and 3 more" in texts


@pytest.mark.parametrize(
    ("energy", "scale"),
    [
        (np.geomspace(10, 1e-6, 41), "log"),
        (np.linspace(3, 1, 41), "linear"),
        (np.append(np.linspace(3, 1, 40), 0.0), "linear"),  # a last plunge
        (np.linspace(3, -1, 41), "linear"),
        (np.zeros(41), "linear"),
    ],
)
def test_the_energy_is_logarithmic_where_it_falls_over_decades(energy, scale):
    figure = draw_path(two_protons(energy=energy))
    axes = next(axes for axes in figure.axes if axes.get_title("left") == "Energy")
    assert axes.get_yscale() == scale


def test_a_curve_without_finite_values_is_empty():
    assert len(Decay(np.arange(3), np.full(3, np.nan)).x) == 0


@pytest.mark.parametrize("values", [[1.7e308, 1.0, 1e-300], [5e-324, 1e-310, 0.0], [1e308, -1e308]])
def test_numbers_at_the_end_of_the_range_make_a_picture(values):
    """Found by fuzzing: the limits of the axis were infinite, and Matplotlib says so."""
    axes = Figure().add_subplot()
    Decay(np.arange(len(values)), np.array(values)).draw(axes)
    assert np.all(np.isfinite(axes.get_ylim()))


@pytest.mark.parametrize(
    ("name", "dim", "on"),
    [("gaussian", 1, None), ("gaussian", 3, None), ("gaussian", 6, None)]
    + [("sign", dim, "sphere") for dim in (2, 3, 4)],
)
def test_every_space_draws(name, dim, on, tmp_path):
    teacher = ew.random_teacher(name, dim, 3, on=on)
    starts = np.asarray(ew.random_student(teacher, 2).positions)
    file = tmp_path / "path.png"
    save(draw_path(make_path(teacher, starts, bound=[-1, 1])), file)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_on_the_line_the_picture_has_all_times():
    teacher = ew.Teacher([[0.0]], [1.0], "gaussian")
    figure = draw_path(make_path(teacher, [[-2.0]]))
    (image,) = figure.axes[0].get_images()
    assert figure.axes[0].get_xlabel() == "time"
    # At the end the electron is on the proton, and nothing is left of the potential.
    np.testing.assert_allclose(np.asarray(image.get_array())[:, -1], 0, atol=1e-9)
    assert np.max(np.abs(np.asarray(image.get_array())[:, 0])) > 0.5


def test_a_unit_bound_to_an_antipode_is_shown_there():
    teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "sign", on="sphere")
    path = make_path(teacher, [[0.0, -1.0]])
    still = np.repeat(path.positions[:1], len(path.times), axis=0)
    path = Path(**{**vars(path), "positions": still, "bound": np.array([1])})
    (antipodes,) = marks(draw_path(path), "antipodes")
    np.testing.assert_allclose(antipodes.get_offsets(), [[0.0, -1.0]])
