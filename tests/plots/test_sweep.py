"""The picture of a sweep shows what the sweep holds: every cell, in its panel and place."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.learning import Learning
from earnshaw.experiments.kinds.registry import KINDS
from earnshaw.experiments.store.store import Cell
from earnshaw.experiments.sweeps.plan import Plan
from earnshaw.experiments.sweeps.sweep import Sweep
from earnshaw.experiments.training.settings import Training
from earnshaw.plots.style import save
from earnshaw.plots.sweep import draw_sweep
from looking import axes_of, cell_patch, cell_words, check_words, value, words

pytestmark = pytest.mark.slow

CODE = "0.1.0-1a2b3c4d jax 0.10.2 numpy 2.4.0"
LONG = "an-activation-with-a-very-long-name-indeed-and-more"


def made(kind, grid, number, seeds=4, fixed=None, name=None):
    """A sweep made by hand; `number(settings, seed)` is a cell's numbers, an error, or None."""
    defaults = dataclasses.asdict(Training() if kind == "train" else Learning()) | (fixed or {})
    places = [
        defaults | dict(zip(grid, values, strict=True))
        for values in itertools.product(*grid.values())
    ]
    cells = []
    for settings, seed in itertools.product(places, range(seeds)):
        found = number(settings, seed)
        failed = isinstance(found, str)
        if isinstance(found, dict):  # what every result has
            found = found | dict.fromkeys(KINDS[kind].numbers - set(found), 0.0)
        cells.append(
            Cell(settings, seed, None if failed else found, error=found if failed else None)
        )
    plan = Plan(name or kind, kind, tuple(places), tuple(range(seeds)), tuple(grid))
    return Sweep(plan, 1, CODE, tuple(cells))


def error(settings, seed):
    size = 1e-3 * settings["depth"] ** 2 * settings["width"] ** 0.5
    return {"error": size * (1 + 0.37 * seed), "diverged": False}


def success(settings, seed):
    return {"success": seed < settings["units"], "found": 0.1 * seed, "relative_loss": 0.0}


def said(figure):
    return " ".join(text.get_text() for text in figure.texts)


def test_medians_and_ranges_stand_in_their_cells(tmp_path):
    depths, widths = [2, 3, 9], [5, 10, 40, 80]
    done = made("train", {"depth": depths, "width": widths}, error, fixed={"iterations": 777})
    figure = draw_sweep(done)
    axes = axes_of(figure, "")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2", "3", "9"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["5", "10", "40", "80"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("width", "depth")
    light = {}
    for (i, depth), (j, width) in itertools.product(enumerate(depths), enumerate(widths)):
        errors = [error({"depth": depth, "width": width}, seed)["error"] for seed in range(4)]
        median, ends = cell_words(axes, i, j)
        assert value(median) == pytest.approx(np.median(errors), rel=0.006)
        assert [value(end) for end in ends.split("–")] == [
            pytest.approx(min(errors), rel=0.06), pytest.approx(max(errors), rel=0.06)]  # fmt: skip
        light[np.median(errors)] = sum(cell_patch(axes, i, j).get_facecolor())
    shades = [light[median] for median in sorted(light)]
    assert shades == sorted(shades, reverse=True)  # the larger, the darker
    assert "iterations 777" in said(figure)
    assert "dim" not in said(figure)  # the default
    assert "4 seeds" in said(figure)
    assert CODE in said(figure)
    check_words(figure)
    save(figure, tmp_path / "sweep.png")


def test_a_sweep_draws_and_describes_itself(tmp_path):
    done = made("train", {"depth": [2, 3], "width": [5, 10]}, error)
    figure = done.plot(tmp_path / "sweep.png")
    assert [text.get_text() for text in figure.texts] == [
        text.get_text() for text in draw_sweep(done).texts
    ]
    assert "16" in repr(done)
    assert len(repr(done).splitlines()) <= 5
    found = done.to_dict()
    assert (found["cells"], found["done"], found["failed"]) == (16, 16, 0)
    by_hand = [1e-3 * d**2 * w**0.5 * (1 + 0.37 * 1.5) for d in (2, 3) for w in (5, 10)]
    np.testing.assert_allclose([row["median"] for row in found["rows"]], by_hand, rtol=1e-12)
    assert "values" not in found["rows"][0]


def test_rates_are_percentages_on_a_scale_from_0_to_1():
    grid = {"activation": ["relu", LONG], "dim": [2, 5], "units": [0, 1, 4]}
    figure = draw_sweep(made("learn", grid, success))
    relu, other = [axes for axes in figure.axes if axes.get_xlabel() == "units"]
    assert relu.get_gid() == "activation relu"
    begin, end = other.get_gid().removeprefix("activation ").split("…")
    assert LONG.startswith(begin)
    assert LONG.endswith(end)
    for axes in (relu, other):
        for row, column in itertools.product(range(2), range(3)):
            rate = grid["units"][column] / 4
            assert cell_words(axes, row, column) == [
                f"{100 * rate:g} %", f"{grid['units'][column]} of 4"]  # fmt: skip
    (bar,) = [axes for axes in figure.axes if axes.get_xlabel() == "success rate"]
    assert bar.get_xlim() == (0.0, 1.0)
    check_words(figure)


def test_failed_missing_and_partly_done_cells():
    def number(settings, seed):
        state = settings["depth"], settings["width"]
        if state == (2, 5):
            return "it failed"
        if state == (2, 10):
            return None
        return None if state == (3, 5) and seed else error(settings, seed)

    figure = draw_sweep(made("train", {"depth": [2, 3], "width": [5, 10]}, number))
    axes = axes_of(figure, "")
    assert cell_words(axes, 0, 0) == ["failed"]
    assert cell_words(axes, 0, 1) == ["missing"]
    hatched = [bool(cell_patch(axes, *divmod(n, 2)).get_hatch()) for n in range(4)]
    assert hatched == [True, True, False, False]
    assert cell_words(axes, 1, 0)[1] == "(1)"  # of how many seeds
    assert "5 of 16 cells are done, 4 failed" in said(figure)
    check_words(figure)


def test_zero_and_diverged_have_colours_of_their_own():
    values = {5: 0.0, 10: 1e-9, 20: 1e-2, 40: None}
    grid = {"depth": [2], "width": list(values)}
    done = made("train", grid, lambda settings, seed: {"error": values[settings["width"]]})
    axes = axes_of(draw_sweep(done), "")
    assert [cell_words(axes, 0, j)[0] for j in range(4)] == ["0", "1.0e−9", "0.01", "∞"]
    colours = [cell_patch(axes, 0, j).get_facecolor() for j in range(4)]
    assert colours[0] == colours[1]  # the lower end
    assert len(set(colours)) == 3


def test_many_panels_wrap_and_long_names_fold():
    grid = {
        "activation": ["relu", LONG],
        "start": [None, "small"],
        "parameters": [{}, {"radius": 0.25, "lam": 1}],
        "positions": ["random"],
        "units": [1, 3],
        "dim": [2],
    }
    figure = draw_sweep(made("learn", grid, success, name="n" * 90))
    panels = [axes for axes in figure.axes if axes.patches and axes.get_xlabel() == "dim"]
    assert len(panels) == 8
    names = " ".join(axes.get_gid().replace("\n", ", ") for axes in panels)
    assert "start default" in names
    assert "parameters radius 0.25, lam 1" in names
    assert all(cell_words(axes, 1, 0) == ["75 %", "3 of 4"] for axes in panels)
    assert len({round(axes.get_position().y0, 6) for axes in panels}) > 1
    assert figure.get_figwidth() <= 12.4
    titles = [text for text in figure.texts if "activation" in text.get_text()]
    assert min(text.get_fontsize() for text in titles) >= 8  # not made to fit by being tiny
    check_words(figure)


def test_yes_and_no_as_values_and_long_labels_across():
    grid = {"bias": [True, False], "activation": ["tanh", LONG, "relu"]}
    figure = draw_sweep(made("train", grid, error))
    axes = axes_of(figure, "")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["yes", "no"]
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {90.0}
    check_words(figure)


def test_one_axis_is_a_row_a_value():
    def number(settings, seed):
        return "it failed" if settings["width"] == 10 else error(settings, seed)

    figure = draw_sweep(made("train", {"width": [5, 10, 40]}, number))
    (axes,) = figure.axes
    dots, ends = (
        {line.get_ydata()[0]: line.get_xdata() for line in axes.lines if line.get_gid() == name}
        for name in ("dot", "range")
    )
    assert set(dots) == set(ends) == {0, 2}
    for place, width in ((0, 5), (2, 40)):
        errors = [error({"depth": 2, "width": width}, seed)["error"] for seed in range(4)]
        assert dots[place] == [pytest.approx(np.median(errors))]
        np.testing.assert_allclose(ends[place], [min(errors), max(errors)])
        text = axes.texts[place].get_text().split()[0]
        assert value(text) == pytest.approx(np.median(errors), rel=0.006)
    assert axes.texts[1].get_text() == "failed"
    assert axes.get_xscale() == "log"
    check_words(figure)


def test_a_rate_alone_has_its_exact_interval():
    figure = draw_sweep(made("learn", {"units": [3]}, success, seeds=10))
    (axes,) = figure.axes
    (line,) = [line for line in axes.lines if line.get_gid() == "range"]
    exact = binomtest(3, 10).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(line.get_xdata(), [exact.low, exact.high], atol=1e-9)
    assert axes.texts[0].get_text().split() == ["30", "%", "3", "of", "10"]
    low, high = axes.get_xlim()
    assert low <= 0 < 1 <= high


def test_no_axis_is_one_number():
    figure = draw_sweep(made("train", {}, error, seeds=1))
    expected = error({"depth": 2, "width": 10}, 0)["error"]
    title = max(figure.texts, key=lambda text: text.get_fontsize()).get_text()
    assert value(title.split(":")[1]) == pytest.approx(expected, rel=0.006)
    check_words(figure)


def test_one_cell_and_nothing_done():
    figure = draw_sweep(made("train", {"depth": [2], "width": [5]}, lambda *_: None))
    assert cell_words(axes_of(figure, ""), 0, 0) == ["missing"]
    check_words(figure)
    assert "Median error: missing" in said(draw_sweep(made("train", {}, lambda *_: None)))


def test_another_measure_and_an_unknown_one():
    grid = {"dim": [2, 5], "units": [1, 2]}
    done = made("learn", grid, success)
    figure = draw_sweep(done, "found")
    assert cell_words(axes_of(figure, ""), 0, 0) == ["15 %", "0–30"]
    with pytest.raises(EarnshawError, match="allowed: success, found, relative_loss"):
        draw_sweep(done, "beauty")
    assert any("Mean found by dim and units" in text.get_text() for text in words(figure))


def test_numbers_too_many_to_read_leave_the_colours():
    wide = list(range(1, 61))
    figure = draw_sweep(made("train", {"depth": [2], "width": wide}, error, seeds=1))
    axes = axes_of(figure, "")
    assert not axes.texts
    assert len(axes.patches) == 60
    assert figure.get_figwidth() <= 12.41
