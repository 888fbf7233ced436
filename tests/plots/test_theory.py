"""Spectra, slices, barriers and the demo: what is in the pictures is what was computed."""

import numpy as np
import pytest

from double_well import Toy, at
from earnshaw.cli.demo import PROTONS, SENTENCES, resting_places
from earnshaw.landscape.barrier import barrier
from earnshaw.landscape.slices import loss_slice
from earnshaw.landscape.spectrum import Spectrum
from earnshaw.plots.barrier import barrier_plane, draw_barrier
from earnshaw.plots.slices import draw_slice
from earnshaw.plots.spectrum import draw_spectrum


def words(figure):
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    named = [text.get_text() for legend in legends for text in legend.get_texts()]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return " | ".join([text.get_text() for text in figure.texts] + inside + named + titles)


def line(figure, name):
    (found,) = [one for axes in figure.axes for one in axes.lines if one.get_gid() == name]
    return np.stack(found.get_data(), axis=1)


def made(values, of_symmetry):
    vectors = np.eye(len(values), 3)
    return Spectrum(at(0, 0), 0.5, 0.0, np.array(values), vectors, np.array(of_symmetry), 1e-6)


def test_a_spectrum_marks_zeros_of_symmetries_and_what_is_negative():
    figure = draw_spectrum(made([-2.0, 1e-9, 3.0], [False, True, False]))
    said = words(figure)
    assert "3 eigenvalues: 1 negative, 1 zero by symmetry, 1 positive" in said
    assert "zero, by symmetry (1)" in said
    assert "not by symmetry" not in said  # nothing in the legend that is not there
    assert "logarithmic" not in said
    np.testing.assert_allclose(line(figure, "negative"), [[1, -2]])
    np.testing.assert_allclose(line(figure, "zero, by symmetry"), [[2, 0]])
    np.testing.assert_allclose(line(figure, "positive"), [[3, 3]])
    wide = words(draw_spectrum(made([1e-9, 1e-4, 3.0], [False] * 3)))
    assert "1 zero otherwise" in wide
    assert "logarithmic" in wide


def test_a_minimum_has_only_positive_eigenvalues():
    assert "All 2 eigenvalues are positive" in words(draw_spectrum(made([1.0, 2.0], [False] * 2)))


def test_no_smooth_direction_is_said():
    assert "every unit sits on a cusp" in words(draw_spectrum(made([], np.zeros(0, dtype=bool))))


def test_a_slice_says_which_directions_it_shows():
    figure = draw_slice(loss_slice(Toy(), at(0, 1), reach=0.5, grid=11))
    labels = figure.axes[0].get_xlabel() + figure.axes[0].get_ylabel()
    assert "smallest eigenvalue (curvature −4" in labels
    assert "largest eigenvalue (curvature 10" in labels
    assert "the student, 1" in words(figure)
    three = words(draw_slice(loss_slice(Toy(), at(-1, 0), at(1, 0), at(0, 1), grid=11)))
    assert "3 students" in three
    assert "student 2, 1" in three


@pytest.mark.slow
def test_a_barrier_shows_line_path_and_saddle():
    found = barrier(Toy(), at(-1, 0), at(1, 0))
    figure = draw_barrier(found, barrier_plane(Toy(), found))
    said = words(figure)
    assert "A barrier of at most 1" in said
    assert "the straight line climbs 6" in said
    assert "21 images" in said
    assert "bounds the lowest pass" in said
    np.testing.assert_allclose(line(figure, "line")[:, 1], found.line)
    np.testing.assert_allclose(line(figure, "path")[:, 1], found.losses)
    # The plane is that of the toy: images are where they are, counted from the start.
    np.testing.assert_allclose(
        line(figure, "images"), found.positions[:, 0] - found.positions[0, 0], atol=1e-9
    )
    same = barrier(Toy(), at(-1, 0), at(-1, 0))
    assert "Nothing to climb" in words(draw_barrier(same))
    assert "keep their order" in words(
        draw_barrier(barrier(Toy(), at(-1, 0), at(1, 0), match=False))
    )


def test_the_resting_places_of_the_demo_are_all_there_are():
    """The field sum (x - w_j)/|x - w_j|^2 is 0 at three places, and curvatures add up to 0."""
    protons = np.array(PROTONS)
    places = resting_places(protons)
    assert len(places) == 3
    for x in places:
        gaps = x - protons
        np.testing.assert_allclose(
            np.sum(gaps / np.sum(gaps**2, axis=1)[:, None], axis=0), 0, atol=1e-12
        )
    middle = np.linalg.norm(places - protons.mean(axis=0), axis=1)
    assert np.argmin(middle) == 0


def test_the_theorem_is_three_sentences():
    assert len(SENTENCES) == 3
    assert all(one.endswith(".") and one[:-1].count(". ") == 0 for one in SENTENCES)
    assert "no stable resting place in empty space" in SENTENCES[0]
    assert "loss" in SENTENCES[1]


@pytest.mark.slow
def test_the_demo_draws_the_way_from_the_saddle_to_a_proton(invoke_demo):
    escape, figure = invoke_demo
    way = line(figure, "way")
    np.testing.assert_allclose(way[0], escape.saddles[0], atol=0.02)
    assert np.min(np.linalg.norm(way[-1] - np.array(PROTONS), axis=1)) < 1e-3
    np.testing.assert_allclose(line(figure, "saddles"), escape.saddles)
    said = words(figure)
    assert "no charge rests stably in empty space" in said
    assert "resting place: a saddle, unstable" in said
    assert "driven out" in said
    low, high = escape.curvatures
    assert low < 0 < high
    assert low + high == pytest.approx(0, abs=1e-12)
    # The energy of the map is what the electron feels: 2 sum ln r, without its own.
    x = np.array([[0.3, -0.2]])
    gaps = np.linalg.norm(x - np.array(PROTONS), axis=1)
    assert escape.energy(x)[0] == pytest.approx(2 * np.sum(np.log(gaps)))
    # Along the way it falls.
    assert np.all(np.diff(escape.energy(way[:-1])) < 0)


@pytest.fixture
def invoke_demo():
    from earnshaw.cli.demo import _escape
    from earnshaw.plots.demo import draw_demo

    escape, found = _escape()
    assert found.kind == "strict-saddle"
    return escape, draw_demo(escape, SENTENCES)
