"""The pictures of Table 2 and Figures 1 and 2 show the numbers given, where they belong."""

import numpy as np
import pytest
from scipy.optimize import minimize

from earnshaw.papers.plots.figure1 import draw_figure_one
from earnshaw.papers.plots.figure2 import draw_figure_two
from earnshaw.papers.plots.table2 import draw_table_two
from earnshaw.papers.reproductions.reproduction import Curve, Reproduction
from earnshaw.plots.page import inches, spread
from earnshaw.plots.style import save
from looking import axes_of, cell_patch, cell_words, check_words, value, words

LONG = "reading " + "a long remark that goes on; " * 12


def row(depth, width, median, printed, low=None, high=None, seeds=10):
    """A row as `papers.networks` makes it."""
    low, high = median if low is None else low, median if high is None else high
    ratio = None if median is None or printed is None else median / printed
    return {"depth": depth, "width": width, "median": median, "low": low, "high": high,
            "seeds": seeds if median is not None else 0, "printed": printed,
            "ratio": ratio}  # fmt: skip


def rows_of(depths=(2, 3, 17), widths=(5, 10, 40)):
    rng = np.random.default_rng(0)
    rows = []
    for depth in depths:
        for width in widths:
            median = float(np.exp(rng.uniform(-7, 0)))
            printed = round(float(np.exp(rng.uniform(-6, -0.5))), 4)
            rows.append(row(depth, width, median, printed, 0.31 * median, 2.7 * median))
    return rows


def made(name, rows, curves=(), complete=True):
    return Reproduction(
        name=name,
        preset="quick",
        title="Test error after training, by depth and width",
        rows=rows,
        remarks=(LONG, "median and range over 10 seeds"),
        complete=complete,
        code="0.1.0-1a2b3c4d jax 0.10.2 numpy 2.4.0",
        shown=rows,
        curves=curves,
    )


def lines(axes, name):
    return [line for line in axes.lines if line.get_gid() == name]


# -- Table 2 --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_table_two_has_every_number_in_its_cell(tmp_path):
    rows = rows_of()
    figure = draw_table_two(made("table2", rows))
    ours, printed, ratio = (axes_of(figure, name) for name in ("ours", "printed", "ratio"))
    for number, one in enumerate(rows):
        place = divmod(number, 3)
        median, ends = cell_words(ours, *place)
        assert value(median) == pytest.approx(one["median"], rel=0.005)
        low, high = ends.split("–")
        assert value(low) == pytest.approx(one["low"], rel=0.05)
        assert value(high) == pytest.approx(one["high"], rel=0.05)
        assert [value(text) for text in cell_words(printed, *place)] == [one["printed"]]
        (text,) = cell_words(ratio, *place)
        assert value(text) == pytest.approx(one["ratio"], rel=0.05)
    assert [label.get_text() for label in ours.get_yticklabels()] == [
        "depth 2", "depth 3", "depth 17"]  # fmt: skip
    check_words(figure)
    save(figure, tmp_path / "table.png")


def test_table_two_has_one_scale_for_both_and_white_for_equal():
    rows = [
        row(2, 5, 0.01, 0.01),
        row(2, 10, 0.2, 0.02),
        row(3, 5, 0.02, 0.2),
        row(3, 10, 0.5, 0.1),
    ]
    figure = draw_table_two(made("table2", rows))
    ours, printed, ratio = (axes_of(figure, name) for name in ("ours", "printed", "ratio"))

    def colour(axes, *place):
        return cell_patch(axes, *place).get_facecolor()

    assert colour(ours, 0, 0) == colour(printed, 0, 0)
    assert colour(ours, 0, 1) == colour(printed, 1, 0)
    light = [sum(colour(ours, *place)) for place in ((0, 0), (1, 0), (0, 1), (1, 1))]
    assert light == sorted(light, reverse=True)  # 0.01 < 0.02 < 0.2 < 0.5
    assert colour(ratio, 0, 0) == pytest.approx((1, 1, 1, 1), abs=0.01)
    red, _, blue, _ = colour(ratio, 0, 1)
    assert red > blue  # ours is larger
    red, _, blue, _ = colour(ratio, 1, 0)
    assert blue > red
    facts = " ".join(text.get_text() for text in figure.texts)
    assert "1 of 4 errors within a factor 3" in facts


def test_table_two_shows_what_is_missing_diverged_or_not_printed():
    rows = [row(2, 5, None, 0.0015), row(2, 80, 0.3, None), row(9, 5, np.inf, 0.0085)]
    figure = draw_table_two(made("table2", rows, complete=False))
    ours, printed, ratio = (axes_of(figure, name) for name in ("ours", "printed", "ratio"))
    assert cell_words(ours, 0, 0) == ["missing"]
    assert cell_patch(ours, 0, 0).get_hatch()
    assert cell_patch(ratio, 0, 0).get_hatch()
    assert not cell_patch(printed, 0, 0).get_hatch()
    assert cell_words(printed, 0, 1) == ["not printed"]
    assert cell_patch(printed, 0, 1).get_hatch()
    assert cell_words(ours, 1, 0)[0] == cell_words(ratio, 1, 0)[0] == "∞"
    assert cell_patch(ours, 1, 1) is None  # depth 9, width 80 was not asked for
    assert any("incomplete" in text.get_text() for text in words(figure))
    check_words(figure)


def test_one_cell_is_not_made_to_look_extreme():
    figure = draw_table_two(made("table2", [row(2, 5, 0.0016, 0.0015, seeds=1)]))
    near = [cell_patch(axes_of(figure, name), 0, 0).get_facecolor() for name in ("ours", "printed")]
    assert np.max(np.abs(np.subtract(*near))) < 0.1
    assert any("1 seed " in f"{text.get_text()} " for text in words(figure))
    check_words(figure)


# -- Figure 1 -------------------------------------------------------------------------------------


def curve(panel, depth, width, end, records=30):
    iterations = np.unique([0, *np.round(10 ** np.linspace(0, 5, records)).astype(int)])
    median = end + 0.9 * np.exp(-((iterations / (200 * width)) ** 0.7))
    return Curve(panel, depth, width, iterations, median, 0.5 * median, 1.9 * median)


def test_figure_one_draws_every_curve_with_its_band_and_end():
    curves = [curve("depth 2", 2, w, 0.0016 + 1e-5 * w) for w in (5, 10, 20, 40, 80, 125)]
    curves += [curve("width 20", d, 20, 0.03 * d) for d in (2, 3, 5, 9, 17)]
    figure = draw_figure_one(made("figure1", rows_of(), tuple(curves)))
    for panel in ("depth 2", "width 20"):
        axes = axes_of(figure, panel)
        group = [one for one in curves if one.panel == panel]
        drawn = [line for line in axes.lines if line.get_gid() not in ("leader", "printed")]
        assert len(drawn) == len(axes.collections) == len(axes.texts) - (panel == "depth 2")
        for one, line, band in zip(group, drawn, axes.collections, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), one.iterations[1:])
            np.testing.assert_array_equal(line.get_ydata(), one.median[1:])
            corners = band.get_paths()[0].vertices
            for edge in (one.low, one.high):
                points = np.column_stack([one.iterations, edge])[1:]
                near = np.abs(corners[:, None] / points - 1).max(axis=2).min(axis=0)
                assert near.max() < 1e-12
            varied = f"width {one.width}:" if panel == "depth 2" else f"depth {one.depth}:"
            (text,) = [t for t in axes.texts if t.get_text().startswith(varied)]
            assert value(text.get_text().split(":")[1]) == pytest.approx(one.median[-1], rel=0.005)
        x, y = axes.get_xlim(), axes.get_ylim()
        assert axes.get_xscale() == axes.get_yscale() == "log"
        assert x[1] == 1e5
        for one in group:  # nothing happens left of the axes, and all is between their ends
            before = one.median[one.iterations <= x[0]]
            assert np.all(np.abs(before / one.median[0] - 1) <= 0.05)
            assert y[0] < one.low.min()
            assert one.high.max() < y[1]
    assert [line.get_ydata() for line in lines(axes_of(figure, "depth 2"), "printed")] == [
        [0.002] * 2
    ]
    assert not lines(axes_of(figure, "width 20"), "printed")
    check_words(figure)


def test_figure_one_labels_stand_where_curves_end():
    ends = (0.5, 0.05, 0.005)
    curves = [curve("width 80", d, 80, end) for d, end in zip((9, 5, 3), ends, strict=True)]
    axes = axes_of(draw_figure_one(made("figure1", [], tuple(curves))), "width 80")
    low, high = np.log(axes.get_ylim())
    for one, text in zip(curves, axes.texts, strict=True):
        place = (np.log(one.median[-1]) - low) / (high - low)
        assert text.get_position()[1] == pytest.approx(place, abs=1e-9)


def test_figure_one_of_a_diverged_curve_and_of_none():
    good, bad = curve("width 20", 2, 20, 0.01), curve("width 20", 9, 20, 0.5)
    for array in (bad.median, bad.high):
        array[-8:] = np.inf
    figure = draw_figure_one(made("figure1", [], (good, bad)))
    assert "depth 9:  ∞" in [text.get_text() for text in words(figure)]
    check_words(figure)
    figure = draw_figure_one(made("figure1", [], ()))
    assert "No curve yet" in [text.get_text() for text in words(figure)]


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_spread_as_little_as_possible(seed):
    places = np.random.default_rng(seed).uniform(0.0, 1.0, 6)
    gap, low, high = 0.13, 0.05, 0.95
    found = spread(places, gap, low, high)
    assert np.array_equal(np.argsort(found), np.argsort(places))
    assert np.all(np.diff(np.sort(found)) >= gap - 1e-12)
    assert found.min() >= low - 1e-12
    assert found.max() <= high + 1e-12
    order = np.argsort(places)
    apart = {"type": "ineq", "fun": lambda y: np.diff(y) - gap}
    best = minimize(
        lambda y: np.sum((y - places[order]) ** 2),
        np.linspace(low, high, 6),
        bounds=[(low, high)] * 6,
        constraints=[apart],
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(found[order], best.x, atol=1e-5)


def test_labels_that_are_apart_stay_and_too_many_share_the_room():
    np.testing.assert_allclose(spread([0.9, 0.1, 0.5], 0.2, 0.0, 1.0), [0.9, 0.1, 0.5])
    np.testing.assert_allclose(np.sort(spread([0.5] * 5, 1.0, 0.0, 1.0)), np.linspace(0, 1, 5))
    assert len(spread([], 0.1, 0.0, 1.0)) == 0


# -- Figure 2 -------------------------------------------------------------------------------------


def test_figure_two_draws_ours_with_ranges_and_theirs_dashed():
    rows = rows_of()
    figure = draw_figure_two(made("figure2", rows))
    for depth in (2, 3, 17):
        axes = axes_of(figure, f"depth {depth}")
        group = [one for one in rows if one["depth"] == depth]
        *others, ours = lines(axes, "median")
        assert len(others) == 2
        np.testing.assert_array_equal(ours.get_xdata(), [5, 10, 40])
        np.testing.assert_array_equal(ours.get_ydata(), [one["median"] for one in group])
        (printed,) = lines(axes, "printed")
        assert printed.get_linestyle() == "--"
        np.testing.assert_array_equal(printed.get_ydata(), [one["printed"] for one in group])
        ranges = lines(axes, "range")
        assert [tuple(line.get_xdata()) for line in ranges] == [(5, 5), (10, 10), (40, 40)]
        for one, line in zip(group, ranges, strict=True):
            np.testing.assert_allclose(line.get_ydata(), [one["low"], one["high"]])
            assert line.get_solid_capstyle() == "butt"  # ends where the range ends
        assert axes.get_ylim() == figure.axes[0].get_ylim()
    check_words(figure)


def test_figure_two_of_missing_and_diverged_cells():
    rows = [row(3, 5, 0.1, 0.2), row(3, 10, None, 0.3), row(3, 20, np.inf, None, low=0.2)]
    figure = draw_figure_two(made("figure2", rows))
    axes = axes_of(figure, "depth 3")
    marks = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert marks == {"missing": 10, "∞": 20}
    (ours,) = lines(axes, "median")
    np.testing.assert_array_equal(np.isfinite(ours.get_ydata()), [True, False, False])
    assert len(lines(axes, "range")) == 2
    check_words(figure)


def test_words_are_as_wide_as_they_are_measured():
    figure = draw_figure_two(made("figure2", [row(2, 5, 0.1, 0.2)]))
    check_words(figure)
    for text in figure.texts:
        drawn = text.get_window_extent().width / figure.dpi
        measured = inches(text.get_text(), text.get_fontsize(), text.get_fontweight())
        assert drawn <= measured <= 1.08 * drawn
