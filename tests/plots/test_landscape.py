"""The picture of a hunt shows what the hunt holds: every point, every start, every number."""

import dataclasses

import numpy as np
import pytest

from earnshaw.charges.network import Student, Teacher
from earnshaw.descent.method import Stop
from earnshaw.landscape.hunting.critical_points import CriticalPoint, Landscape, interval
from earnshaw.landscape.hunting.pairing import Pairing
from earnshaw.plots._basins import fold
from earnshaw.plots.landscape import draw_landscape, point_colours
from earnshaw.plots.style import ASTRAY, ELECTRON, FIELD, save

pytestmark = pytest.mark.slow


def made(
    dim=2, units=1, on="space", points=((0.0, "minimum", 7), (0.3, "minimum", 5)), lost=0, near=0
):
    """A hunt with so many starts at each loss, made by hand."""
    rng = np.random.default_rng(0)
    total = sum(count for *_, count in points) + lost + near
    begun = rng.normal(size=(total, units, dim))
    places = rng.normal(size=(max(len(points), 1), units, dim))
    w = np.eye(2, dim) if dim > 1 else np.array([[1.0], [-1.0]])
    if on == "sphere":
        begun, places = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (begun, places))
    ends, losses, found, first = begun.copy(), np.full(total, 0.9), [], 0
    for place, (loss, kind, count) in zip(places, points, strict=False):
        members = np.arange(first, first + count)
        first += count
        ends[members], losses[members] = place, loss
        found.append(
            CriticalPoint(
                kind=kind,
                reason="",
                loss=2 * loss,
                relative_loss=loss,
                smallest_eigenvalue=0.25,
                gradient_norm=1e-12,
                count=count,
                frequency=count / total,
                interval=interval(count, total),
                student=Student(place, np.ones(units)),
                starts=members,
                pairing=Pairing(units - 1, 1, 2) if loss else Pairing(units, 0, 0),
            )
        )
    losses[total - near :] = 1e-5
    return Landscape(
        teacher=Teacher(w, np.ones(2), "relu", on=on),
        found=tuple(found),
        starts=total,
        undecided=lost,
        stop=Stop.STATIONARY,
        settings={"units": units, "fixed_charges": True, "seed": 0, "init_scale": None},
        begun=begun,
        ends=ends,
        weights=np.ones((total, units)),
        relative_losses=losses,
        iterations=np.full(total, 10),
        approaching=np.arange(total - near, total),
    )


def texts(figure):
    words = [text.get_text() for text in figure.texts]
    return words + [text.get_text() for axes in figure.axes for text in axes.texts]


def bars(figure, name):
    """The heights of the bars with that mark, in the order they were drawn."""
    patches = [patch for axes in figure.axes for patch in axes.patches]
    return [patch.get_height() for patch in patches if patch.get_gid() == name]


@pytest.mark.parametrize(
    ("dim", "units", "on"),
    [(1, 1, "space"), (2, 1, "space"), (2, 1, "sphere"), (3, 1, "sphere"), (3, 2, "space"),
     (2, 3, "space"), (6, 6, "space")],
)  # fmt: skip
def test_every_start_and_every_bar_is_there(dim, units, on, tmp_path):
    landscape = made(dim, units, on)
    figure = draw_landscape(landscape)
    assert bars(figure, "zero") == [7]
    assert bars(figure, "point") == [5]
    words = " ".join(texts(figure))
    assert "7\n58.3 %" in words
    assert "5\n41.7 %" in words
    begun = [c for axes in figure.axes for c in axes.collections if c.get_gid() == "begun"]
    assert len(begun) == (1 if dim <= 3 else 0)
    if begun:
        assert len(begun[0].get_offsets()) == 12 * units
    save(figure, tmp_path / "hunt.png")


def test_kinds_have_hues_and_points_have_shades():
    points = [(0.0, "minimum", 3), (0.1, "minimum", 2), (0.2, "cusp-minimum", 2)]
    found = made(points=[*points, (0.3, "strict-saddle", 1)]).found
    colours = point_colours(found)
    assert colours[0] == ELECTRON
    assert colours[1] == ASTRAY
    assert colours[3] == FIELD
    assert len(set(colours)) == 4


def test_losses_over_decades_leave_zero_its_own_place():
    points = [(0.0, "minimum", 400), (1e-4, "minimum", 3), (0.5, "degenerate", 2)]
    figure = draw_landscape(made(6, 6, points=points, lost=4))
    side = next(axes for axes in figure.axes if any(p.get_gid() == "zero" for p in axes.patches))
    assert [label.get_text() for label in side.get_xticklabels()] == ["0"]
    assert side.get_yscale() == "log"
    assert bars(figure, "lost") == [4]
    assert any("4 starts undecided" in words for words in texts(figure))


def test_many_points_are_stacked():
    points = [(0.01 + 0.001 * i, "minimum", 2) for i in range(40)]
    figure = draw_landscape(made(5, 2, points=points))
    assert sum(bars(figure, "point")) == 80
    assert any("and 26 more, of 52 starts" in words for words in texts(figure))


def test_nothing_found_is_said():
    figure = draw_landscape(made(points=(), lost=5))
    assert "No start has ended" in texts(figure)


def test_what_creeps_to_zero_is_called_so():
    figure = draw_landscape(made(6, 6, points=[(0.0, "minimum", 4)], lost=1, near=5))
    assert bars(figure, "approaching") == [5]
    assert bars(figure, "lost") == [1]
    words = texts(figure)
    assert any("5 starts approaching 0; 1 start undecided" in line for line in words)
    assert "40 % of starts reached loss 0, 50 % approach loss 0" in words
    legend = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "approaching 0" in legend


def test_the_table_says_how_units_pair_with_teachers():
    words = texts(draw_landscape(made(6, 6)))
    assert {"found", "shared", "6 of 6", "6 of 8"} <= set(words)


def test_flipped_units_are_folded_and_others_are_not():
    """erf is odd: (-w, -c) is the unit (w, c). With fixed charges it is another."""
    teacher = Teacher(np.eye(2), np.ones(2), "erf")
    landscape = dataclasses.replace(
        made(units=2), teacher=teacher, settings=made().settings | {"fixed_charges": False}
    )
    ends, weights = np.array([[[-1.0, 0.0], [0.0, 1.0]]]), np.array([[-1.0, 1.0]])
    np.testing.assert_array_equal(fold(landscape, ends, weights), [[-1.0, 1.0]])
    fixed = dataclasses.replace(landscape, settings=made().settings)
    np.testing.assert_array_equal(fold(fixed, ends, weights), [[1.0, 1.0]])
    # relu(-x) = relu(x) - x leaves a linear function: no flip; but (t w, c/t) is the same unit.
    relu = dataclasses.replace(landscape, teacher=Teacher(2 * np.eye(2), np.ones(2), "relu"))
    found = fold(relu, np.array([[[0.5, 0.0], [0.0, -1.0]]]), np.array([[4.0, 1.0]]))
    np.testing.assert_allclose(found, [[4.0, 2.0]])


def test_folded_ends_and_starts_are_drawn_on_their_proton():
    points = [(0.0, "minimum", 7)]
    landscape = made(points=points)
    w = np.eye(2)
    ends = np.repeat(-w[:1][None], 7, axis=0)
    point = dataclasses.replace(landscape.found[0], student=Student(ends[0], -np.ones(1)))
    landscape = dataclasses.replace(
        landscape,
        teacher=Teacher(w, np.ones(2), "erf"),
        found=(point,),
        ends=ends,
        weights=-np.ones((7, 1)),
        settings=landscape.settings | {"fixed_charges": False},
    )
    figure = draw_landscape(landscape)
    (rings,) = (c for axes in figure.axes for c in axes.collections if c.get_gid() == "ends")
    np.testing.assert_allclose(rings.get_offsets(), w[:1])
    (begun,) = (c for axes in figure.axes for c in axes.collections if c.get_gid() == "begun")
    np.testing.assert_allclose(begun.get_offsets(), -landscape.begun[:, 0])
    assert any("7 starts drawn mirrored or rescaled, as erf allows" in t for t in texts(figure))
