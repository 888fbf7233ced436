"""What may be asked of a fit besides accuracy: rising answers, going on, little time."""

import numpy as np
import pandas as pd
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.learning.estimators._monotone import rising_of
from earnshaw.learning.evidence.assembling import fit_committee
from earnshaw.sklearn import NodewiseClassifier, NodewiseRegressor

TANH = ew.activation("tanh")


def noisy(rows, seed):
    """Answers that rise with the first input and fall with the second, under much noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (rows, 3))
    y = np.tanh(2 * x[:, 0]) - 0.3 * x[:, 1] + np.sin(3 * x[:, 2])
    return x, y + 0.7 * rng.standard_normal(rows)


def steps(model, column, rows=60):
    """How much outputs change from each of 40 places along one input to the next, (rows, 39)."""
    rng = np.random.default_rng(3)
    along = np.linspace(-4, 4, 40)
    x = np.repeat(rng.uniform(-3, 3, (rows, 1, 3)), len(along), axis=1)
    x[:, :, column] = along
    return np.diff(model(x.reshape(-1, 3)).reshape(rows, len(along)), axis=1)


@pytest.mark.parametrize("loss", ["squares", "logistic"])
def test_answers_rise_and_fall_everywhere_as_asked(loss):
    x, _ = noisy(48, 0)
    y = np.sin(2.5 * x[:, 0]) - np.sin(2 * x[:, 1])  # rises and falls
    y = y if loss == "squares" else (y > 0).astype(float)
    given = (x, y[:, None], np.ones(len(y)), TANH, loss)
    free = fit_committee(*given, sizes=(0, 4), fields=False)
    assert steps(free.outputs, 0).min() < -0.01
    held = fit_committee(*given, sizes=(0, 4), rising=(1, -1, 0))
    assert steps(held.outputs, 0).min() > -1e-9
    assert steps(held.outputs, 1).max() < 1e-9
    assert np.ptp(held.outputs(x)) > 0.1


def test_which_inputs_rise():
    names, inputs = ["a", "b", "c"], ["a", None, None, "c"]
    assert rising_of(None, names, inputs, TANH, 1) == ()
    assert rising_of([0, 0, 0], names, inputs, TANH, 3) == ()
    assert rising_of([1, 0, -1], names, inputs, TANH, 1) == (1, 0, 0, -1)
    assert rising_of({"c": 1}, names, inputs, ew.activation("relu"), 1) == (0, 0, 0, 1)
    wrong = {
        "has 2 entries": ([1, 0], TANH, 1),
        "none of -1, 0, 1": ([1, 0, 2], TANH, 1),
        "'b' is no number": ([0, 1, 0], TANH, 1),
        "names 'd'": ({"d": 1}, TANH, 1),
        "one output": ([1, 0, 0], TANH, 2),
        "does not rise everywhere": ([1, 0, 0], ew.activation("sin"), 1),
    }
    for words, (asked, sigma, outputs) in wrong.items():
        with pytest.raises(EarnshawError, match=words):
            rising_of(asked, names, inputs, sigma, outputs)
    with pytest.raises(EarnshawError, match="fitted by evidence"):
        NodewiseRegressor(2, monotonic_cst=[1, 0, 0]).fit(*noisy(40, 1))


@pytest.mark.slow
def test_estimators_rise_go_on_and_end_in_time():
    x, y = noisy(150, 1)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(d=np.where(x[:, 0] > 0, "yes", "no"))
    model = NodewiseRegressor(monotonic_cst={"b": -1}).fit(frame, y)
    more = frame.assign(b=frame["b"] + 0.5)
    assert np.all(model.predict(more) <= model.predict(frame) + 1e-9)
    model = NodewiseClassifier(monotonic_cst=[1, -1, 0], max_time=5).fit(x, y > 0)
    assert np.all(steps(model.decision_function, 0) > -1e-9)

    model = NodewiseRegressor(warm_start=True).fit(x, y)
    sizes = [one.units for one in model.estimators_]
    new, answers = noisy(300, 2)
    before = model.predict(new)
    again = model.fit(new, answers)
    assert sorted(one.units for one in again.estimators_) == sorted(sizes)
    assert np.mean((again.predict(new) - answers) ** 2) < np.mean((before - answers) ** 2)

    quick = NodewiseRegressor(max_time=1e-3).fit(x, y)  # the linear network is always there
    assert np.corrcoef(quick.predict(x), y)[0, 1] > 0.3
    one = NodewiseRegressor(criterion="bic", max_time=1e-3).fit(x, y)
    assert one.history_[-1]["action"] == "late"
    assert np.mean((one.predict(x) - y) ** 2) < np.var(y)
