"""The picture of a simulation: ways, potential, energy and encounters are those of the path."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import earnshaw as ew
from earnshaw.dynamics.path import Encounter, Path
from earnshaw.errors import EarnshawError
from earnshaw.plots._decay import Decay
from earnshaw.plots._field import Shades, potentials
from earnshaw.plots.motion import draw_path
from earnshaw.plots.style import save
from looking import check_words

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
    # A lone electron feels the proton only, at all times.
    x = np.linspace(*figure.axes[0].get_ylim(), len(image.get_array()))
    for column in np.asarray(image.get_array()).T:
        np.testing.assert_allclose(column, np.exp(-(x**2) / 2), atol=1e-9)


def test_a_unit_bound_to_an_antipode_is_shown_there():
    teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "sign", on="sphere")
    path = make_path(teacher, [[0.0, -1.0]])
    still = np.repeat(path.positions[:1], len(path.times), axis=0)
    path = Path(**{**vars(path), "positions": still, "bound": np.array([1])})
    (antipodes,) = marks(draw_path(path), "antipodes")
    np.testing.assert_allclose(antipodes.get_offsets(), [[0.0, -1.0]])


FOUR = np.array([[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -1.0]])


def alone_amid_four(place=(0.0, 0.0), stop="equilibrium", protons=FOUR):
    """One electron amid four protons under -log r, at rest or on its way to `place`."""
    teacher = ew.Teacher(protons, np.ones(4), potential="-log(r)")
    still = np.zeros((3, 1, 2))
    still[1:] = place
    return Path(
        times=np.linspace(0, 1, 3),
        positions=still,
        weights=np.ones((3, 1)),
        energy=np.array([1.0, 0.5, 0.2]),
        bound=np.array([-1]),
        group=np.arange(1),
        teacher=teacher,
        events=(),
        stop=stop,
        steps=3,
        pause=None,
    )


def all_words(figure):
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    legend = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return [*inside, *legend, *(text.get_text() for text in figure.texts)]


def arrows(figure, name):
    return [t for axes in figure.axes for t in axes.texts if t.get_gid() == name]


@pytest.fixture
def without_constants(monkeypatch):
    """`at_rest` with the objective that unbounded potentials need."""
    from earnshaw.landscape import equilibria

    usual = equilibria.at_rest
    monkeypatch.setattr(
        equilibria,
        "at_rest",
        lambda teacher, student, *_: usual(teacher, student, "without-constants"),
    )


def test_the_map_is_what_the_electron_feels_not_its_own_well(without_constants):
    """C = -log|p(z)|, p the polynomial with the protons as its zeros."""
    figure = draw_path(alone_amid_four())
    (image,) = figure.axes[0].get_images()
    values = np.asarray(image.get_array())
    left, right, low, high = image.get_extent()
    x, y = np.linspace(left, right, values.shape[1]), np.linspace(low, high, values.shape[0])
    z = x + 1j * y[:, None]
    exact = -np.log(np.abs((z**2 - 4) * (z**2 + 1)))
    seen = np.abs(exact) < 2.0  # the largest are cut
    np.testing.assert_allclose(values[seen], exact[seen], atol=1e-9)


def test_a_saddle_is_called_unstable_and_has_ways_out(without_constants):
    figure = draw_path(alone_amid_four())
    words = all_words(figure)
    assert "The electron rests: saddle, unstable: Earnshaw" in words
    assert any("Where the potential is harmonic, no equilibrium is stable" in w for w in words)
    # Its own two ways out are along x2; beside it are the other two zeros of p', +-sqrt(3/2).
    at_the_electron = [a for a in arrows(figure, "way out") if np.allclose(a.xy, 0)]
    directions = np.array([a.xyann for a in at_the_electron])
    np.testing.assert_allclose(np.sort(np.sign(directions[:, 1])), [-1, 1])
    np.testing.assert_allclose(directions[:, 0], 0, atol=1e-6)
    saddles = np.concatenate([mark.get_offsets() for mark in marks(figure, "saddle")])
    np.testing.assert_allclose(
        saddles[np.argsort(saddles[:, 0])], [[-np.sqrt(1.5), 0], [np.sqrt(1.5), 0]], atol=1e-6
    )
    assert "saddle: unstable (Earnshaw)" in words
    check_words(figure)


def test_a_flat_saddle_is_unstable_too(without_constants):
    """Amid a square the Hessian vanishes: E = log|z^4 - 1|, which falls along the axes."""
    square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    figure = draw_path(alone_amid_four(protons=square))
    assert "The electron rests: saddle, unstable: Earnshaw" in all_words(figure)
    assert arrows(figure, "way out")


def test_which_electron_feels_it_can_be_chosen():
    path = two_protons()
    images = [draw_path(path, felt_by=unit).axes[0].get_images()[0] for unit in (0, 1)]
    first, second = (np.asarray(image.get_array()) for image in images)
    left, right, low, high = images[0].get_extent()
    x, y = (np.linspace(*ends, len(first)) for ends in ((left, right), (low, high)))
    points = np.stack(np.meshgrid(x, y), axis=-1)

    def gaussian(centre):
        return np.exp(-np.sum((points - centre) ** 2, axis=-1) / 2)

    # They differ by the two electrons themselves: each feels the other.
    other = gaussian(path.positions[0, 0]) - gaussian(path.positions[0, 1])
    np.testing.assert_allclose(first - second, other, atol=1e-9)
    assert any("potential that electron 1 feels" in w for w in all_words(draw_path(path, 1)))
    with pytest.raises(EarnshawError, match="felt_by is 2"):
        draw_path(path, 2)


def test_a_collision_is_told_once_and_everywhere():
    path = alone_amid_four(place=(1e-9, 1.0), stop="collision")
    figure = draw_path(path)
    words = all_words(figure)
    assert "Electron 0 met proton 1" in words
    assert "electron 0 meets proton 1" in words
    assert "electron, met a charge" in words
    for wrong in ("0 of 1 electron bound", "no electron met another charge", "electron, free"):
        assert wrong not in words


def test_the_legend_has_what_is_there_and_nothing_else():
    words = all_words(draw_path(two_protons(bound=[0, 1])))
    assert {"proton, +", "proton, −", "electron, bound", "start"} <= set(words)
    assert "electron, free" not in words
    teacher = ew.Teacher([[0.0, 0.0], [1.0, 1.0]], [1.0, 1.0], "gaussian")
    words = all_words(draw_path(make_path(teacher, [[-1.0, 0.5]])))
    assert "proton, −" not in words
    assert "electron, bound" not in words
    assert "electron, free" in words


def test_charges_carry_the_numbers_of_the_table():
    figure = draw_path(two_protons(bound=[0, -1]))
    numbers = [t for t in figure.axes[0].texts if t.get_gid() == "number"]
    # Protons 0 and 1, electrons 0 and 1 where they begin, and 1 where it is free at the end.
    assert sorted(t.get_text() for t in numbers) == ["0", "0", "1", "1", "1"]
    places = {(t.get_text(), tuple(np.round(t.xy, 6))) for t in numbers}
    assert {("0", (0.0, 0.0)), ("1", (1.0, 1.0)), ("0", (-1.0, 0.5)), ("1", (1.5, -1.0))} <= places


def test_one_that_flies_away_does_not_squash_the_stage():
    path = two_protons()
    flown = path.positions.copy()
    flown[:, 1] += np.linspace(0, 1, len(flown))[:, None] * [300.0, 0.0]
    figure = draw_path(Path(**{**vars(path), "positions": flown}))
    low, high = figure.axes[0].get_xlim()
    assert high - low < 8
    (arrow,) = arrows(figure, "far ends")
    assert arrow.xy[0] == pytest.approx(high)
    assert low <= arrow.xy[1] <= high
    assert "electron beyond the edge, at 301" in all_words(figure)


def test_the_projection_says_how_much_it_shows():
    teacher = ew.random_teacher("gaussian", 6, 3)
    starts = np.asarray(ew.random_student(teacher, 2).positions)
    path = make_path(teacher, starts)
    cloud = np.concatenate([teacher.positions, path.positions[0], path.positions[-1]])
    variances = np.sort(np.linalg.eigvalsh(np.cov(cloud.T)))[::-1]
    part = 100 * np.sum(variances[:2]) / np.sum(variances)
    assert any(f"R⁶, with {part:.0f} % of the variance" in w for w in all_words(draw_path(path)))


def test_an_electron_that_stays_is_numbered_once_and_its_energy_is_inside_the_axes():
    teacher = ew.Teacher([[0.0, 0.0], [3.0, 1.0]], [1.0, 1.0], "gaussian")
    starts = np.array([[1e-4, 0.0], [1.0, -2.0]])  # the first is nearly where it ends
    figure = draw_path(make_path(teacher, starts, energy=np.full(41, 6.0)))
    (marks,) = (c for axes in figure.axes for c in axes.collections if c.get_gid() == "starts")
    np.testing.assert_allclose(marks.get_offsets(), starts[1:])
    for axes in figure.axes:
        if axes.get_xlabel() == "time":
            assert axes.get_ylim()[1] > 6.0


def test_a_path_makes_its_own_film(tmp_path):
    teacher = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    path = make_path(teacher, [[1.0, 1.0]])
    path.animate(tmp_path / "film.gif", frames=2)
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF8")
    with pytest.raises(EarnshawError, match=r"\.gif, \.mp4"):
        path.animate("film.avi")
