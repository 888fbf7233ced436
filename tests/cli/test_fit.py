"""`earnshaw fit` and `earnshaw predict`, as the shell sees them."""

import csv
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

ROWS = 80


def write(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def data():
    """One tanh unit on two inputs, a third that never changes, and a text."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(3, 2, ROWS), rng.normal(-1, 0.1, ROWS)
    y = 5 * np.tanh(0.7 * (a - 3) - 8 * (b + 1) + 0.4) + 2
    noise = rng.normal(size=ROWS)
    return {
        "a": a,
        "b": b,
        "same": np.full(ROWS, 7.1),
        "y": y,
        "noisy": y + 0.3 * noise,
        "side": np.where(y + noise > 2, "over", "under"),
    }


@pytest.mark.slow
def test_a_table_becomes_a_model_that_predicts(invoke, tmp_path):
    columns = data()
    write("data.csv", columns)
    asked = ("--target", "y", "--drop", "noisy,side", "--folds", "2", "--max-units", "1")
    outcome = invoke("fit", "data.csv", *asked, "--json", "--export", "f.py", "--plot", "f.png")
    assert outcome.code == 0, outcome.stderr
    (line,) = outcome.stdout.splitlines()
    found = json.loads(line)
    assert found["units"] == 1
    assert 1 - 1e-9 < found["score"] <= 1
    assert found["score"] == np.mean([fold["r2"] for fold in found["folds"]])
    assert [fold["units"] for fold in found["folds"]] == [1, 1]
    assert found["inputs"] == ["a", "b", "same"]
    assert found["saved"] == "data.model.npz"
    assert any("same" in note for note in found["notes"])
    # The unit that made the data, up to its sign, and nothing of the column that never changes.
    network = {name: np.array(values) for name, values in found["network"].items()}
    sign = np.sign(network["weights"][0, 0])
    np.testing.assert_allclose(sign * network["positions"], [[0.7, -8, 0]], atol=1e-6)
    np.testing.assert_allclose(sign * network["biases"], [0.4 - 2.1 - 8], atol=1e-5)
    assert not network["linear"].any()
    assert Path("f.png").read_bytes().startswith(b"\x89PNG")

    # Other rows, columns in another order and more of them: matched by name.
    rng = np.random.default_rng(1)
    new = {
        "b": rng.normal(-1, 0.1, 9),
        "z": ["?"] * 9,
        "same": np.arange(9),
        "a": rng.normal(3, 2, 9),
    }
    truth = 5 * np.tanh(0.7 * (new["a"] - 3) - 8 * (new["b"] + 1) + 0.4) + 2
    write("new.csv", new)
    outcome = invoke("predict", "data.model.npz", "new.csv")
    assert outcome.code == 0
    assert outcome.stderr.strip() == "9 rows"
    rows = list(csv.DictReader(outcome.stdout.splitlines()))
    predicted = np.array([float(row["predicted_y"]) for row in rows])
    np.testing.assert_allclose(predicted, truth, atol=1e-5)
    x = np.column_stack([new["a"], new["b"], new["same"]])
    taken = runpy.run_path("f.py")
    assert taken["INPUTS"] == ["a", "b", "same"]
    np.testing.assert_allclose(taken["predict"](x), predicted, rtol=1e-12)

    # With the target in the table there is a score.
    write("new.csv", new | {"y": truth + 0.1 * np.arange(9)})
    outcome = invoke("predict", "data.model.npz", "new.csv", "--json", "--out", "p.npz")
    scored = json.loads(outcome.stdout)
    assert scored["units"] == 1
    expected = metrics.r2_score(truth + 0.1 * np.arange(9), predicted)
    assert scored["score"] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_array_equal(np.load("p.npz")["predicted_y"], predicted)
    assert set(os.listdir()) == {"data.csv", "data.model.npz", "f.py", "f.png", "new.csv", "p.npz"}


@pytest.mark.slow
def test_what_is_replaced_is_said_and_advice_can_be_followed(invoke, refuse):
    """A straight line through numbers with decimal commas, which are recognised or said."""
    lines = [f"{x / 2},{1 + x}".replace(".", "_") for x in range(8)]
    text = "a;y\n" + "\n".join(line.replace(",", ";").replace("_", ",") for line in lines)
    Path("data.csv").write_text(text)
    asked = ("fit", "data.csv", "--target", "y", "--units", "0", "--linear", "yes", "--folds", "0")
    unasked = json.loads(invoke(*asked, "--save", "unasked.npz", "--json").stdout)
    first = invoke(*asked, "--decimal", ",")
    assert "saved: data.model.npz\n" in first.stdout
    again = invoke(*asked, "--decimal", ",")
    assert "saved: data.model.npz (replaced an older one)\n" in again.stdout
    asked_again = json.loads(invoke(*asked, "--decimal", ",", "--json").stdout)
    assert asked_again["replaced"] is True
    assert asked_again["network"] == unasked["network"]
    found = json.loads(
        invoke("predict", "data.model.npz", "data.csv", "--decimal", ",", "--json").stdout
    )
    np.testing.assert_allclose(found["predictions"]["predicted_y"], np.arange(1, 9), rtol=1e-9)
    for cell in ("much", "nan"):
        Path("new.csv").write_text(f"a\n1\n{cell}\n")
        line = refuse("predict", "data.model.npz", "new.csv")
        assert "column 'a'" in line
        assert "--drop" not in line


@pytest.mark.slow
def test_texts_are_classes(invoke):
    columns = data()
    write("data.csv", columns)
    options = ("--features", "a,b", "--units", "0", "--linear", "yes", "--folds", "2")
    outcome = invoke("fit", "data.csv", "--target", "side", *options, "--save", "m.json",
                     "--export", "m.py")  # fmt: skip
    assert outcome.code == 0, outcome.stderr
    for words in ("units: 0 (in the folds: 0, 0)", "accuracy", "log-loss", "linear part", "m.json"):
        assert words in outcome.stdout
    assert "what is positive speaks for 'under', against 'over'" in outcome.stdout
    outcome = invoke("predict", "m.json", "data.csv", "--out", "p.parquet")
    assert "accuracy" in outcome.stdout
    import pandas as pd

    found = pd.read_parquet("p.parquet")
    assert list(found) == ["predicted_side", "probability_over", "probability_under"]
    over = found["probability_over"].to_numpy()
    assert list(found["predicted_side"]) == ["over" if chance > 0.5 else "under" for chance in over]
    np.testing.assert_allclose(over + found["probability_under"], 1)
    # At a maximum of the likelihood with an intercept, probabilities add up to the rows there are.
    assert np.sum(over) == pytest.approx(np.sum(columns["side"] == "over"), abs=1e-3)
    right = np.mean(found["predicted_side"] == columns["side"])
    assert f"accuracy {right:.4g}" in outcome.stdout
    taken = runpy.run_path("m.py")
    x = np.column_stack([columns["a"], columns["b"]])
    np.testing.assert_allclose(taken["probabilities"](x)[:, 0], over, rtol=1e-12)
    np.testing.assert_array_equal(np.ravel(taken["predict"](x)) > 0, over < 0.5)
    assert list(taken["classify"](x)) == list(found["predicted_side"])


BASE = """
import os, signal, sys
for name in ("sklearn", "pandas", "pyarrow"):
    sys.modules[name] = None
from earnshaw.cli.main import main
sys.argv = ["earnshaw", "fit", "data.csv", "--target", "y", "--features", "a", "--units", "0",
            "--linear", "no", "--folds", "0", "--json"]
try:
    main()
except SystemExit as ended:
    assert ended.code == 0
import earnshaw.learning.fitting.validation as validation
def endless(*_):
    os.kill(os.getpid(), signal.SIGINT)
    while True: pass
validation.fit = endless
sys.argv += ["--save", "other.npz", "--plot", "other.png"]
main()
"""


@pytest.mark.slow
def test_the_base_install_is_enough_and_an_interrupt_leaves_nothing_behind():
    write("data.csv", data())
    run = [sys.executable, "-c", BASE]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.stderr == "earnshaw: interrupted\n"
    assert done.returncode == 130
    (first,) = done.stdout.splitlines()
    assert json.loads(first)["score"] is None
    assert sorted(os.listdir()) == ["data.csv", "data.model.npz"]


@pytest.mark.slow
@pytest.mark.parametrize("fold", [False, True])
def test_ctrl_c_keeps_the_best_network_so_far(invoke, monkeypatch, fold):
    """After the first unit, or in the cross-validation, when the network of all rows is there."""
    from earnshaw.learning.fitting import validation

    plain, fits = validation.fit, []

    def fit(*given):
        fits.append(1)
        *rest, on_event = given

        def told(event):
            on_event(event)
            if event.action == "add" and len(fits) == 1 + fold:
                raise KeyboardInterrupt

        return plain(*rest, told)

    monkeypatch.setattr(validation, "fit", fit)
    write("data.csv", data())
    asked = ("--target", "y", "--features", "a,b", "--max-units", "1", "--folds", "2")
    outcome = invoke("fit", "data.csv", *asked)
    assert outcome.code == 130
    kept = "the network of all rows" if fold else "the best network so far"
    assert f"interrupted: this is {kept}, without a cross-validation" in outcome.stdout
    assert "units: 1" in outcome.stdout
    assert "y by 1 tanh unit " in outcome.stdout
    outcome = invoke("predict", "data.model.npz", "data.csv", "--json")
    assert outcome.code == 0, outcome.stderr
    fits.clear()
    found = json.loads(invoke("fit", "data.csv", *asked, "--json").stdout)
    assert found["interrupted"] is True
    assert found["scores"] == {}
    assert found["scores_on_fitted_rows"]["r2"] > 0.99


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "none.csv", "--target", "y"), "no such file"),
        (("fit", "data.csv", "--target", "yy"), "did you mean y?"),
        (("fit", "data.csv"), "--target is missing"),
        (("fit", "data.csv", "--target", "y", "--networks", "x"), "auto, or an integer >= 1"),
        (("fit", "data.csv", "--target", "y", "--weights", "side"), "'side' is text ('"),
        (("fit", "one.csv", "--target", "y"), "1 row"),
        (("fit", "data.csv", "--target", "y", "--units", "x", "--drop", "side"), "auto"),
        (("fit", "data.csv", "--target", "y", "--units", "99", "--drop", "side"), "identify"),
        (
            ("fit", "data.csv", "--target", "y", "--linear", "x", "--drop", "side"),
            "auto, yes or no",
        ),
        (("fit", "data.csv", "--target", "y", "--folds", "1", "--drop", "side"), "0 for none"),
        (("fit", "data.csv", "--target", "y", "--activation", "qqq", "--drop", "side"), "known:"),
        (("fit", "data.csv", "--target", "y", "--activation", "bessel", "--drop", "side"), "dot"),
        (("fit", "data.csv", "--target", "y", "--save", "no/m.npz"), "no folder"),
        (("fit", "data.csv", "--target", "y", "--save", "m.pickle"), "allowed endings"),
        (("fit", "xy.npz", "--save", "xy.npz"), "overwrite the data"),
        (("predict", "xy.npz", "data.csv"), "not a file of earnshaw; allowed: earnshaw-model"),
        (("predict", "data.csv", "data.csv"), "allowed endings"),
        (("predict", "m.npz", "one.csv", "--out", "one.csv"), "overwrite"),
    ],
)
def test_bad_input_is_one_line(refuse, arguments, words):
    write("data.csv", data())
    write("one.csv", {"a": [1], "y": [2]})
    np.savez("xy.npz", x=np.zeros((3, 2)), y=np.zeros(3))
    before = sorted(os.listdir())
    assert words in refuse(*arguments)
    assert sorted(os.listdir()) == before


@pytest.mark.slow
def test_columns_of_any_kind(invoke):
    """Texts, dates and gaps: what was done is said, kept, and done again; strangers are flagged."""
    rng = np.random.default_rng(2)
    kind = rng.choice(["wood", "steel"], 60)
    size = rng.normal(size=60)
    y = size + 2 * (kind == "steel") + 0.1 * rng.normal(size=60)
    gaps = ["" if i % 9 == 0 else repr(float(v)) for i, v in enumerate(size)]
    days = [f"2024-03-{1 + i % 28:02d}" for i in range(60)]
    write("data.csv", {"kind": kind, "size": gaps, "day": days, "y": y})
    asked = ("fit", "data.csv", "--target", "y", "--folds", "0", "--max-units", "2")
    outcome = invoke(*asked, "--report", "report.html")
    assert outcome.code == 0, outcome.stderr
    for words in ("kind: text, 2 levels", "size: number, missing entries", "day: date",
                  "predictions are a committee's", "inputs by relevance: ", "the data identify",
                  "±"):  # fmt: skip
        assert words in outcome.stdout
    page = Path("report.html").read_text()
    for words in ("How good it is", "Which inputs count", "kind=steel", "size missing", "<svg",
                  "error on unseen rows", "identifiable", "The network as charges"):  # fmt: skip
        assert words in page
    assert "<script" not in page
    found = json.loads(invoke("predict", "data.model.npz", "data.csv", "--json").stdout)
    assert found["score"] > 0.9
    assert found["outside"] == []
    predicted = np.array(found["predictions"]["predicted_y"])
    low, high = (np.array(found["predictions"][f"{end}_y"]) for end in ("low", "high"))
    assert np.all((low < predicted) & (predicted < high))
    assert np.mean((low <= y) & (y <= high)) > 0.8
    write("new.csv", {"kind": ["wood", "glass"], "size": [-5e4, 1.0], "day": days[:2]})
    outcome = invoke("predict", "data.model.npz", "new.csv")
    assert (
        "far outside the data of the fit, so predictions are guesses: line 2, 3" in outcome.stderr
    )
