"""The picture of a fit shows what was fitted: every row, class, unit and step."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import earnshaw as ew
from earnshaw.learning.fitting.fitted import Fitted
from earnshaw.learning.fitting.growth import Event
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import scores_of
from earnshaw.learning.fitting.validation import Validation, folds_of
from earnshaw.plots.fitting import draw_fit
from earnshaw.plots.style import save
from looking import axes_of, cell_patch, cell_words, check_words

pytestmark = pytest.mark.slow

NAMES = [f"a rather long name of the input number {j}" for j in range(40)]


def made(units, dim, outputs=1, classes=(), rows=90, linear=True, names=None, noise=0.1, seed=0):
    """A problem, a network for it, and what its folds would say; nothing is fitted."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, dim)) * rng.uniform(0.1, 100, dim)
    network = FittedNetwork(
        activation=ew.activation("tanh"),
        positions=rng.normal(size=(units, dim)) / np.std(x, axis=0),
        biases=rng.normal(size=units),
        weights=rng.normal(size=(units, outputs)) * 10,
        linear=rng.normal(size=(dim, outputs)) / np.std(x, axis=0)[:, None] * linear,
        intercept=rng.normal(size=outputs),
    )
    g = network(x)
    y = g + noise * rng.normal(size=g.shape)
    if classes:
        numbers = np.arange(rows) % len(classes)
        y = numbers[:, None].astype(float) if len(classes) == 2 else np.eye(len(classes))[numbers]
        g = np.where(y > 0, 1.0, -1.0) + rng.normal(size=y.shape)
    names = tuple(names[:dim] if names else [f"x{j + 1}" for j in range(dim)])
    targets = ("species",) if classes else tuple(f"y{j + 1}" for j in range(outputs))
    problem = Problem(x, y, np.ones(rows), names, targets, tuple(classes))
    fold = folds_of(problem, 3, 0)
    each = [scores_of(problem.take(fold == k), g[fold == k]) for k in range(3)]
    validation = Validation(fold, g, [units, units + 1, units], each)
    scores = {name: validation.mean(name) for name in each[0]}
    scores |= {f"{name} spread": validation.spread(name) for name in each[0]}
    model = Model(network, "tanh", {}, names, targets, tuple(classes), scores, {"criterion": "bic"})
    history = [
        Event("add", k, 0.5**k, -rows * 0.7 * k + 20.0 * k, 9, rows)
        for k in range(1 if units else 0, units + 3)
    ]
    history.append(Event("polish", units, 0.5**units, -rows * 0.69 * units, 9, rows))
    fitted = Fitted(network, 0.1, -1.0, history, "lm", True)
    return model, problem, fitted, validation


CASES = {
    "regression": lambda: made(3, 4),
    "five targets": lambda: made(2, 3, outputs=5),
    "four classes": lambda: made(
        3, 5, outputs=4, classes=("a", "setosa", "versicolor", "a very long name of a class")
    ),
    "many classes": lambda: made(1, 2, 30, tuple(f"class {j}" for j in range(30)), rows=600),
    "only linear": lambda: made(0, 3, classes=("no", "yes")),
    "nothing": lambda: made(0, 3, linear=False),
    "too large": lambda: made(33, 40, names=NAMES, linear=False, rows=5000),
    "exact": lambda: made(2, 1, noise=1e-13),
}


@pytest.mark.parametrize("case", CASES)
def test_no_word_is_cut_off_or_lies_on_another(case):
    check_words(draw_fit(*CASES[case]()))


def test_every_row_is_drawn_where_it_belongs():
    model, problem, fitted, validation = made(3, 4)
    figure = draw_fit(model, problem, fitted, validation)
    drawn = {c.get_gid(): c.get_offsets() for axes in figure.axes for c in axes.collections}
    np.testing.assert_allclose(drawn["rows"], np.c_[problem.y, validation.outputs])
    left = problem.y - validation.outputs
    np.testing.assert_allclose(drawn["misses"], np.c_[validation.outputs, left])
    # Without folds the points are those of the network itself.
    alone = draw_fit(model, problem, fitted, None)
    (points,) = [c for a in alone.axes for c in a.collections if c.get_gid() == "rows"]
    np.testing.assert_allclose(points.get_offsets(), np.c_[problem.y, model.network(problem.x)])
    assert "fitted to" in alone.texts[0].get_text()
    assert f"{np.mean([s['r2'] for s in validation.scores]):.4g}" in figure.texts[0].get_text()


def test_the_heat_map_shows_slopes_in_standard_deviations_largest_unit_first():
    model, problem, fitted, validation = made(3, 4)
    axes = axes_of(draw_fit(model, problem, fitted, validation), "units")
    network, x = model.network, problem.x
    response = np.tanh(x @ network.positions.T + network.biases)
    order = np.argsort(-np.abs(network.weights[:, 0]) * response.std(axis=0))
    slopes = (network.positions * x.std(axis=0))[order]
    for row in range(3):
        for column in range(4):
            (words,) = cell_words(axes, row, column) or ["0"]
            assert abs(float(words.replace("−", "-")) - slopes[row, column]) < 0.0501
            red, _, blue = to_rgb(cell_patch(axes, row, column).get_facecolor()[:3])
            if abs(slopes[row, column]) > 0.1:
                assert (red > blue) == (slopes[row, column] > 0)
    assert cell_patch(axes, 3, 0) is not None  # the linear part
    assert cell_patch(axes, 4, 0) is None


def test_the_confusion_counts_rows_by_class():
    model, problem, fitted, validation = CASES["four classes"]()
    axes = axes_of(draw_fit(model, problem, fitted, validation), "confusion")
    found = np.argmax(validation.outputs, axis=1)
    for true in range(4):
        for taken in range(4):
            count = np.sum((np.argmax(problem.y, axis=1) == true) & (found == taken))
            assert cell_words(axes, true, taken) == [str(count)]


def test_growth_marks_the_network_that_was_kept(tmp_path):
    model, problem, fitted, validation = made(3, 4)
    figure = draw_fit(model, problem, fitted, validation)
    last = fitted.history[-1]
    for name, value in (("error", last.error), ("criterion", last.criterion / problem.count)):
        lines = {line.get_gid(): line.get_xydata() for line in axes_of(figure, name).lines}
        np.testing.assert_allclose(lines["chosen"], [[3, value]])
        assert list(lines["curve"][:, 0]) == [1, 2, 3, 4, 5]
    save(figure, tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").read_text().lstrip().startswith("<?xml")


def test_one_unit_in_every_fold_is_one_unit():
    model, problem, fitted, validation = made(1, 3)
    same = dataclasses.replace(validation, units=[1, 1, 1])
    texts = [text.get_text() for text in draw_fit(model, problem, fitted, same).texts]
    assert any("1 unit in 3 folds" in text for text in texts)
    assert not any("1 units" in text for text in texts)
