"""Models predict what their arrays say, and files give them back to the last bit."""

import dataclasses
import json

import numpy as np
import pytest
from scipy.special import softmax
from sklearn import metrics

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting import validation
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.model_file import load_model, save_model
from earnshaw.learning.fitting.network import FittedNetwork, empty_network
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import scores_of
from earnshaw.learning.fitting.tables import Table

ARRAYS = ("positions", "biases", "weights", "linear", "intercept")


def made(units=3, dim=2, targets=("y",), classes=(), activation="tanh", seed=0, **parameters):
    outputs = len(targets) if not classes else 1 if len(classes) == 2 else len(classes)
    rng = np.random.default_rng(seed)
    shapes = ((units, dim), (units,), (units, outputs), (dim, outputs), (outputs,))
    numbers = [rng.normal(size=shape) for shape in shapes]
    sigma = ew.activation(activation, **parameters)
    network = FittedNetwork(activation=sigma, **dict(zip(ARRAYS, numbers, strict=True)))
    inputs = tuple(f"x {j}" for j in range(dim))
    scores = {"r2": 0.1 + 0.2, "r2 spread": float("nan")}
    return Model(network, activation, parameters, inputs, targets, classes, scores, {"seed": 3})


@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize(
    "model",
    [
        made(),
        made(0, 4, ("y", "another, with 'quotes' and ü")),
        made(2, 1, classes=("no", "yes")),
        made(1, 3, classes=("a", "b", "c"), activation="leaky-relu", negative_slope=1 / 3),
        made(1, 3, activation="polynomial", coefficients=[0.1, 0.0, 1 / 7]),
    ],
)
def test_files_give_every_bit_back(tmp_path, ending, model):
    odd = model.network.intercept.copy()
    odd[0] = -5e-324
    model = dataclasses.replace(model, network=dataclasses.replace(model.network, intercept=odd))
    path = tmp_path / f"m.{ending}"
    save_model(path, model)
    found = load_model(path)
    for name in ARRAYS:
        one, other = getattr(model.network, name), getattr(found.network, name)
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    for name in ("activation", "parameters", "inputs", "targets", "classes", "settings", "kind"):
        assert getattr(found, name) == getattr(model, name)
    assert found.scores["r2"] == 0.1 + 0.2
    assert np.isnan(found.scores["r2 spread"])
    x = np.random.default_rng(1).normal(size=(5, len(model.inputs)))
    np.testing.assert_array_equal(found.outputs(x), model.outputs(x))
    if ending == "json":
        assert json.loads(path.read_text())["format"] == "earnshaw-model"


def test_what_is_no_model_is_refused(tmp_path):
    save_model(tmp_path / "good.json", made())
    save_model(tmp_path / "good.npz", made())
    good = json.loads((tmp_path / "good.json").read_text())
    path = tmp_path / "m.json"
    for change, words in (
        ({"format": "earnshaw-teacher"}, "earnshaw-teacher"),
        ({"version": 2}, r"its version is 2; allowed: 1 \(a newer earnshaw wrote it\)"),
        ({"version": "1"}, "its version is a str"),
        ({"positions": None}, "positions"),
        ({"positions": [[1.0, 2.0]]}, r"positions have shape \(1, 2\)"),
        ({"linear": []}, "linear"),
        ({"intercept": ["a"]}, "intercept are not an array of numbers"),
        ({"weights": [[1.0], [2.0, 3.0], [4.0]]}, "different lengths"),
        ({"inputs": ["x 0", "x 0"]}, "not different texts"),
        ({"activation": "tahn"}, "did you mean tanh"),
        ({"activation": "leaky-relu", "parameters": {"negative_slope": "x"}}, "cannot read"),
        ({"activation": "gaussian", "parameters": {"dim": 2}}, "dot-product"),
    ):
        path.write_text(json.dumps(good | change))
        with pytest.raises(EarnshawError, match=words) as error:
            load_model(path)
        assert "\n" not in str(error.value)
    del good["biases"]
    for text, words in (
        (json.dumps(good), "no field 'biases'"),
        ("[1]", "not a file of earnshaw"),
        ("{", "not JSON"),
        ("", "not JSON"),
    ):
        path.write_text(text)
        with pytest.raises(EarnshawError, match=words):
            load_model(path)
    content = (tmp_path / "good.npz").read_bytes()
    for cut in (0, 100, len(content) // 2, len(content) - 1):
        (tmp_path / "m.npz").write_bytes(content[:cut])
        with pytest.raises(EarnshawError, match="damaged"):
            load_model(tmp_path / "m.npz")
    for name, words in (("none.npz", "no such file"), ("m.pickle", "allowed endings")):
        with pytest.raises(EarnshawError, match=words):
            load_model(tmp_path / name)


def test_functions_without_a_name_and_broken_numbers_are_not_stored(tmp_path):
    import jax.numpy as jnp

    own = ew.activation(lambda z: jnp.tanh(z) ** 3)
    network = dataclasses.replace(made().network, activation=own)
    path = tmp_path / "m.npz"
    path.write_bytes(b"older")
    for model in (
        dataclasses.replace(made(), network=network),
        dataclasses.replace(made(), network=network, activation=own),
        dataclasses.replace(
            made(), network=dataclasses.replace(network, intercept=np.array([np.nan]))
        ),
        dataclasses.replace(made(), settings={"seed": object()}),
    ):
        with pytest.raises(EarnshawError, match="store"):
            save_model(path, model)
    assert path.read_bytes() == b"older"
    assert [file.name for file in tmp_path.iterdir()] == ["m.npz"]


def test_predictions_are_those_of_the_formula_and_columns_go_by_name():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6, 2))
    columns = {"x 1": x[:, 1], "more": np.array(list("abcdef")), "x 0": x[:, 0]}
    data = Table(columns, np.arange(6))
    model = made(targets=("y", "z"))
    net = model.network
    g = np.tanh(x @ net.positions.T + net.biases) @ net.weights + x @ net.linear + net.intercept
    np.testing.assert_allclose(model.predict(data), g, rtol=1e-13)
    np.testing.assert_array_equal(model.predict(x), model.predict(data))
    three, two = made(classes=("a", "b", "c")), made(classes=("no", "yes"))
    np.testing.assert_allclose(three.probabilities(data), softmax(three.outputs(x), axis=1))
    chance = 1 / (1 + np.exp(-two.outputs(x)[:, 0]))
    np.testing.assert_allclose(two.probabilities(data), np.c_[1 - chance, chance])
    assert list(two.predict(data)) == ["yes" if p > 0.5 else "no" for p in chance]
    with pytest.raises(EarnshawError, match="no column 'x 0'; the model needs: x 0, x 1"):
        model.predict(Table({"x 1": x[:, 1]}, np.arange(6)))
    for wrong in (x[:, :1], np.full((1, 2), np.nan)):
        with pytest.raises(EarnshawError, match="allowed"):
            model.predict(wrong)
    with pytest.raises(EarnshawError, match="allowed for probabilities"):
        model.probabilities(x)
    # Scores, where the table has the answers; why not, where it does not.
    truth = {"y": g[:, 0] + 1, "z": g[:, 1]}
    scores, why = model.score(Table(columns | truth, np.arange(6)), model.outputs(x))
    assert why == ""
    assert scores["rmse y"] == pytest.approx(1.0)
    assert scores["rmse z"] < 1e-12
    assert "no column 'y'" in model.score(data, g)[1]
    strange = Table({"y": np.array(["no", "yes", "no", "no", "maybe", "no"])}, np.arange(6))
    assert "no class 'maybe'" in two.score(strange, two.outputs(x))[1]


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    x, weight = rng.normal(size=(40, 1)), rng.uniform(0.1, 3, 40)
    y, g = rng.normal(size=(40, 2)) * [1, 100], rng.normal(size=(40, 2))
    found = scores_of(Problem(x, y, weight, ("x",), ("y", "z")), g)
    assert found["r2"] == pytest.approx(metrics.r2_score(y, g, sample_weight=weight))
    each = metrics.mean_squared_error(y, g, sample_weight=weight, multioutput="raw_values")
    assert [found["rmse y"], found["rmse z"]] == pytest.approx(np.sqrt(each))
    same = scores_of(Problem(x, np.ones((40, 1)), weight, ("x",), ("y",)), np.ones((40, 1)))
    assert same == {"r2": 1.0, "rmse": 0.0}
    for classes in (("a", "b"), ("a", "b", "c")):
        numbers = np.arange(40) % len(classes)
        y = numbers[:, None].astype(float) if len(classes) == 2 else np.eye(3)[numbers]
        g = rng.normal(size=y.shape) * 3
        found = scores_of(Problem(x, y, weight, ("x",), ("y",), classes), g)
        chances = softmax(g if len(classes) == 3 else np.c_[0 * g, g], axis=1)
        loss = metrics.log_loss(numbers, chances, sample_weight=weight)
        assert found["log_loss"] == pytest.approx(loss)
        guess = np.argmax(chances, axis=1)
        right = metrics.accuracy_score(numbers, guess, sample_weight=weight)
        assert found["accuracy"] == pytest.approx(right)


def test_folds_share_the_rows_and_the_classes_evenly():
    numbers = np.repeat([0, 1, 2], [21, 7, 2])
    problem = Problem(
        np.zeros((30, 1)), np.eye(3)[numbers], np.ones(30), ("x",), ("y",), tuple("abc")
    )
    fold = validation.folds_of(problem, 4, seed=0)
    assert sorted(np.bincount(fold)) == [7, 7, 8, 8]
    for number in range(3):
        counts = np.bincount(fold[numbers == number], minlength=4)
        assert max(counts) - min(counts) <= 1
    assert not np.array_equal(fold, validation.folds_of(problem, 4, seed=1))
    assert [validation.number_of_folds(None, n) for n in (2, 3, 4, 7, 100)] == [0, 0, 2, 3, 5]
    for asked, count in ((1, 100), (-1, 100), (51, 100), (2, 3)):
        with pytest.raises(EarnshawError, match="allowed: 0"):
            validation.number_of_folds(asked, count)


def test_rows_are_predicted_by_networks_that_have_not_seen_them(monkeypatch):
    """With a fit that only knows the mean, a row's prediction is the mean of the other folds."""
    from earnshaw.learning.fitting.fitted import Fitted
    from earnshaw.learning.fitting.settings import Settings

    def mean(x, y, weight, activation, settings, watch):
        network = empty_network(activation, x.shape[1], y.shape[1])
        average = np.average(y, axis=0, weights=weight)
        return Fitted(
            dataclasses.replace(network, intercept=average, linear=network.linear + 1e-9),
            0.0, 0.0, [], "", True,
        )  # fmt: skip

    monkeypatch.setattr(validation, "fit", mean)
    rng = np.random.default_rng(4)
    x, y, weight = rng.normal(size=(20, 3)), rng.normal(size=(20, 1)), rng.uniform(1, 2, 20)
    problem = Problem(x, y, weight, ("a", "b", "c"), ("y",))
    found = validation.cross_validate(problem, ew.activation("tanh"), Settings(), 4)
    for row in range(20):
        others = found.fold != found.fold[row]
        expected = np.average(y[others, 0], weights=weight[others])
        assert found.outputs[row, 0] == pytest.approx(expected, abs=1e-8)
    means = [score["rmse"] for score in found.scores]
    assert found.mean("rmse") == pytest.approx(np.mean(means))
    assert found.spread("rmse") == pytest.approx(np.std(means, ddof=1))
