"""The estimators as people use them, and against scikit-learn's own where they must agree."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.sklearn import NodewiseClassifier, NodewiseRegressor
from learning.fitting.cases import answers, teacher_data

DIM = 3


@pytest.fixture(scope="module")
def data():
    truth, x, y = teacher_data("tanh", 2, DIM, 200, seed=4)
    return truth, x, y[:, 0]


@pytest.fixture(scope="module")
def model(data):
    return NodewiseRegressor().fit(*data[1:])


def test_attributes_teacher_and_pickle(data, model):
    truth, x, y = data
    assert model.n_units_ == 2
    assert model.units_.shape == (2, DIM)
    assert model.weights_.shape == (2,)
    by_hand = np.tanh(x @ model.units_.T + model.biases_) @ model.weights_
    by_hand += x @ model.linear_ + model.intercept_
    np.testing.assert_allclose(model.predict(x), by_hand, rtol=1e-12)
    teacher = ew.Teacher(truth.tilted, truth.weights[:, 0], "tanh")
    matching = model.match(teacher)
    assert max(matching.distance.max(), matching.weight_error.max()) < 1e-8
    again = clone(model).fit(x, y, teacher=teacher)
    np.testing.assert_array_equal(again.matching_.distance, matching.distance)
    there = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(there.predict(x), model.predict(x))
    assert {"action", "units", "error", "criterion"} <= set(model.history_[0])


@pytest.mark.slow
def test_one_network_that_explains_all_is_found_to_the_last_digit(data):
    truth, x, y = data
    model = NodewiseRegressor(n_networks=1).fit(x, y)
    matching = model.match(ew.Teacher(truth.tilted, truth.weights[:, 0], "tanh"))
    assert model.n_units_ == 2
    assert max(matching.distance.max(), matching.weight_error.max()) < 1e-8


@pytest.mark.slow
def test_pictures_and_plain_values(data, model, tmp_path):
    _, x, y = data
    found = json.loads(model.to_json())
    assert found == model.to_dict()
    assert (found["units"], found["activation"], found["kind"]) == (2, "tanh", "regression")
    assert found["network"]["positions"] == model.units_.tolist()
    assert [step["units"] for step in found["history"]] == [e["units"] for e in model.history_]
    figure = model.plot(x, y, tmp_path / "fit.png")
    assert "on these 200 rows" in " ".join(text.get_text() for text in figure.texts)
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")
    axes = Figure().add_subplot()
    model.plot(x, y, ax=axes)
    (points,) = (one for one in axes.collections if one.get_gid() == "rows")
    np.testing.assert_allclose(points.get_offsets(), np.column_stack([y, model.predict(x)]))
    with pytest.raises(EarnshawError, match="X has 200 rows, y has 3"):
        model.plot(x, y[:3])
    classes = NodewiseClassifier(n_units=0, linear=True).fit(x, y > 0)
    assert classes.to_dict()["classes"] == ["False", "True"]
    assert "accuracy" in classes.plot(x, y > 0).texts[0].get_text()
    with pytest.raises(EarnshawError, match="knows no class 3"):
        classes.plot(x, np.full(200, 3))


def test_pipeline_grid_search_and_names(data):
    _, x, y = data
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    searched = GridSearchCV(NodewiseRegressor(), {"n_units": [0, 2]}, cv=2).fit(table, y)
    assert searched.best_params_ == {"n_units": 2}
    best = searched.best_estimator_
    assert list(best.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        best.predict(table[["b", "a", "c"]])
    piped = make_pipeline(StandardScaler(), NodewiseRegressor()).fit(table, y)
    assert piped.score(table, y) > 1 - 1e-12


@pytest.mark.slow
def test_several_outputs(data):
    _, x, y = data
    both = np.column_stack([y, np.tanh(x[:, 0] - 1)])
    found = NodewiseRegressor(n_units=3).fit(x, both)
    assert found.weights_.shape == (3, 2)
    assert found.predict(x).shape == both.shape
    np.testing.assert_allclose(found.predict(x), both, atol=1e-6)


@pytest.mark.slow
def test_without_units_it_is_ridge_and_logistic_regression(data):
    _, x, y = data
    weight = np.random.default_rng(1).uniform(0.5, 2, len(x))
    y = y + 0.3 * np.random.default_rng(2).standard_normal(len(x))
    alpha, total = 0.05, weight.sum()
    settings = {"n_units": 0, "linear": True, "scale": False, "alpha": alpha}
    mine = NodewiseRegressor(**settings).fit(x, y, weight)
    theirs = Ridge(alpha=alpha * total).fit(x, y, weight)
    # Answers are standardised inside, which a penalty of the linear part does not notice.
    np.testing.assert_allclose(mine.linear_, theirs.coef_, rtol=1e-8)
    assert mine.intercept_ == pytest.approx(theirs.intercept_, rel=1e-8)

    for labels in (np.where(y > 0, "up", "down"), np.digitize(y, [-0.5, 0.5])):
        mine = NodewiseClassifier(**settings).fit(x, labels, weight)
        theirs = LogisticRegression(C=1 / (alpha * total), tol=1e-12, max_iter=5000)
        theirs.fit(x, labels, weight)
        np.testing.assert_array_equal(mine.classes_, theirs.classes_)
        np.testing.assert_allclose(mine.predict_proba(x), theirs.predict_proba(x), atol=1e-6)
        np.testing.assert_array_equal(mine.predict(x), theirs.predict(x))


@pytest.mark.slow
def test_classes_that_no_line_separates():
    """Inside and outside of a band: two units find it, a line does not."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((400, DIM))
    inside = np.abs(x[:, 0] - x[:, 1]) < 0.8
    found = NodewiseClassifier().fit(x, inside)
    assert found.n_units_ >= 1
    new = rng.standard_normal((2000, DIM))
    truth = np.abs(new[:, 0] - new[:, 1]) < 0.8
    assert found.score(new, truth) > 0.95
    assert NodewiseClassifier(n_units=0).fit(x, inside).score(new, truth) < 0.7


def test_verbose_goes_to_standard_error(data, capsys):
    _, x, y = data
    NodewiseRegressor(verbose=2, random_state=None).fit(x, y)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "add on 200 samples: 1 unit," in printed.err
    NodewiseRegressor(verbose=1).fit(x, y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (np.where(x > 2, np.nan, x), y), "contains NaN"),
        (lambda x, y: (x.astype(str) + "a", y), "could not convert string"),
        (lambda x, y: (x[:1], y[:1]), "1 sample"),
        (lambda x, y: (x[:5], y), "inconsistent numbers of samples"),
    ],
)
def test_bad_data(data, change, message):
    with pytest.raises(ValueError, match=message):
        NodewiseRegressor().fit(*change(*data[1:]))


def test_other_bad_input(data, model):
    _, x, y = data
    with pytest.raises(ValueError, match="allowed: at most"):
        NodewiseRegressor(n_units=100).fit(x, y)
    with pytest.raises(ValueError, match="weights"):
        NodewiseRegressor().fit(x, y, np.zeros(len(x)))
    with pytest.raises(ValueError, match="dot-product activations"):
        NodewiseRegressor(activation="gaussian", activation_params={"dim": DIM}).fit(x, y)
    with pytest.raises(ValueError, match="did you mean tanh"):
        NodewiseRegressor(activation="tahn").fit(x, y)
    with pytest.raises(ValueError, match="1 class"):
        NodewiseClassifier().fit(x, np.zeros(len(x)))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(x[:, :2])


@pytest.mark.slow
def test_constant_columns_do_not_matter(data, model):
    truth, x, y = data
    found = NodewiseRegressor().fit(np.column_stack([x, np.full(len(x), 7.0)]), y)
    assert found.n_units_ == 2
    assert np.all(found.units_[:, 3] == 0)
    new = np.random.default_rng(5).standard_normal((20, DIM))
    right = answers("tanh", truth, new)[:, 0]
    np.testing.assert_allclose(
        found.predict(np.column_stack([new, np.full(20, 7.0)])), right, atol=1e-8
    )
    # Without biases and intercept, a column of ones stands for both.
    ones = np.column_stack([x, np.ones(len(x))])
    plain = NodewiseRegressor(biases=False, fit_intercept=False).fit(ones, y)
    assert plain.n_units_ == 2
    np.testing.assert_allclose(plain.predict(np.column_stack([new, np.ones(20)])), right, atol=1e-8)


def noisy(rows=45, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, 2))
    return x, np.tanh(2 * x[:, 0]) + 0.3 * rng.standard_normal(rows)


@pytest.mark.slow
def test_committees_have_error_bars():
    x, y = noisy()
    model = NodewiseRegressor(max_units=2).fit(x, y)
    said, deviation = model.predict(x, return_std=True)
    np.testing.assert_array_equal(said, model.predict(x))
    low, high = model.predict_interval(x, 0.9)
    assert np.all((low < said) & (said < high) & (deviation > 0))
    np.testing.assert_allclose((low + high) / 2, said)
    assert np.mean((low <= y) & (y <= high)) > 0.8
    assert model.relevance_[0] > 0.8 > 0.2 > model.relevance_[1]
    assert list(model.outside([[0.0, 0.0], [1e6, 0.0]])) == [False, True]
    assert model.units_std_.shape == model.units_.shape
    assert model.linear_std_.shape == model.linear_.shape
    there = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(there.predict(x), said)
    with pytest.raises(ValueError, match=r"level is 1.5; allowed"):
        model.predict_interval(x, 1.5)
    grown = NodewiseRegressor(criterion="bic", max_units=1).fit(x, y)
    with pytest.raises(ValueError, match="error bars are those of the evidence"):
        grown.predict(x, return_std=True)


def test_one_network_by_evidence_is_the_network():
    x, y = noisy(seed=1)
    model = NodewiseRegressor(n_networks=1, max_units=2).fit(x, y)
    np.testing.assert_allclose(model.predict(x), model.network_(x)[:, 0], rtol=1e-9)
    assert len(model.estimators_) == 1


def test_a_perfect_network_has_no_error_bars(data, model):
    _, x, _ = data
    assert model.committee_ is None
    assert not model.predict(x, return_std=True)[1].any()


def test_data_frames_of_any_kind():
    x, y = noisy(60, 2)
    group = np.where(x[:, 1] > 0, "up", "down")
    frame = pd.DataFrame({"a": np.where(np.arange(60) % 7, x[:, 0], np.nan), "group": group})
    model = NodewiseRegressor(max_units=0).fit(frame, y)
    assert model.columns_.inputs == ["a", "a missing", "group=down", "group=up"]
    assert model.relevance_.shape == (2,)
    np.testing.assert_allclose(model.predict(frame.iloc[:5]), model.predict(frame)[:5], rtol=1e-9)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["group", "a"]])
    classes = NodewiseClassifier(max_units=0).fit(frame, group)
    assert classes.score(frame, group) > 0.95


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (np.tanh, "no function that JAX can follow"),
        (lambda x: x, "cannot be pickled"),
        (np.sum, "no function that JAX can follow|not elementwise"),
    ],
)
def test_functions_are_refused_before_the_fit(data, function, message):
    with pytest.raises(ValueError, match=message):
        NodewiseRegressor(activation=function).fit(*data[1:])


def test_a_sample_of_weight_two_is_two_samples_to_the_last_bit():
    (x, y), rng = noisy(40, 3), np.random.default_rng(5)
    weight = rng.integers(0, 4, len(x))
    again = rng.permutation(np.repeat(np.arange(len(x)), weight))
    asked = {"max_units": 0, "random_state": 0}
    weighted = NodewiseRegressor(**asked).fit(x, y, weight)
    repeated = NodewiseRegressor(**asked).fit(x[again], y[again])
    np.testing.assert_array_equal(weighted.predict(x), repeated.predict(x))


def test_class_weights_are_sample_weights():
    x, y = noisy(40, 3)
    labels = np.where(y > 0.5, "a", "b")
    weight = np.where(labels == "a", 3.0, 1.0)
    asked = NodewiseClassifier(max_units=0, class_weight={"a": 3.0, "b": 1.0}).fit(x, labels)
    by_hand = NodewiseClassifier(max_units=0).fit(x, labels, weight)
    np.testing.assert_array_equal(asked.predict_proba(x), by_hand.predict_proba(x))


@pytest.mark.slow
def test_a_committee_can_be_distilled():
    x, y = noisy(60, 4)
    model = NodewiseRegressor(max_units=4).fit(x, y)
    network, lost = model.distill(x, 3)
    assert network.units == 3
    said = model.predict(x)
    by_hand = np.sum((network(x)[:, 0] - said) ** 2) / np.sum((said - said.mean()) ** 2)
    assert lost == pytest.approx(by_hand)
    assert lost < 0.1
