"""`earnshaw realize` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture
def answer(invoke):
    """The JSON of `earnshaw realize`."""

    def run(*arguments: str) -> dict:
        outcome = invoke("realize", *arguments, "--json")
        assert outcome.code == 0, outcome.stderr
        return json.loads(outcome.stdout)

    return run


@pytest.mark.slow
def test_a_realizable_potential(answer, tmp_path):
    picture = tmp_path / "exp.png"
    result = answer("--potential", "exp(rho-1)", "--dim", "3", "--plot", str(picture))
    assert result["realizable"] is True
    assert result["check_error"] < 1e-9
    assert picture.stat().st_size > 5000


def test_the_witness_in_the_json_can_be_checked_by_hand(answer):
    result = answer("--potential", "cos(3*rho)", "--dim", "3")
    assert result["realizable"] is False
    points = np.array(result["obstruction"]["points"])
    weights = np.array(result["obstruction"]["weights"])
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-12)
    gram = np.cos(3 * np.clip(points @ points.T, -1, 1))
    assert weights @ gram @ weights < 0
    assert np.linalg.eigvalsh(gram)[0] < -1e-9


@pytest.mark.slow
def test_an_inconclusive_answer_is_null_and_its_picture_says_so(answer, tmp_path):
    picture = tmp_path / "cos.svg"
    result = answer("--potential", "cos(r)", "--on", "space", "--dim", "1", "--plot", str(picture))
    assert result["realizable"] is None
    assert picture.exists()


def test_a_box_in_the_plane_is_not_realizable(answer):
    result = answer("--potential", "heaviside(1-r)", "--on", "space", "--dim", "2")
    assert result["realizable"] is False
    points, weights = (np.array(result["obstruction"][key]) for key in ("points", "weights"))
    distances = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    assert weights @ (distances < 1) @ weights < 0


@pytest.mark.parametrize(
    ("formula", "dim", "answer_is"),
    [
        ("exp(-x1^2)", 500, True),  # a Gaussian in one coordinate; the others do not occur
        ("exp(-r)", 100_000, True),  # a mixture of Gaussians: Schoenberg
        ("exp(-r^4)", 1_000_000, False),
        ("exp(-x7^2-x999999^2-x7*x999999)", 1_000_000, None),
        ("exp(-r*1e300)", 11, True),
    ],
)
def test_no_dimension_is_too_high(answer, formula, dim, answer_is):
    result = answer("--potential", formula, "--on", "space", "--dim", str(dim))
    assert result["realizable"] is answer_is
    assert len(str(result)) < 10**6


def test_a_budget_that_is_too_small_is_the_reason(answer):
    text = "asin(" * 50 + "rho/2" + ")" * 50
    result = answer("--potential", text, "--dim", "3", "--seconds", "0.01")
    assert result["realizable"] is None
    assert "did not end within 0.01 s" in result["reason"]
    assert "--seconds" in result["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "on"),
    [("exp(1000-r)", "space"), ("exp(-r*1e300)", "space"), ("log(rho-2)", "sphere")],
)
def test_a_picture_without_finite_values_is_drawn(answer, tmp_path, formula, on):
    picture = tmp_path / "empty.svg"
    answer("--potential", formula, "--on", on, "--dim", "3", "--plot", str(picture))
    assert picture.exists()


def test_a_picture_of_a_million_coordinates_is_refused(refuse, tmp_path):
    given = ["--potential", "exp(-x1^2)", "--on", "space", "--dim", "1000000"]
    assert "picture" in refuse("realize", *given, "--plot", str(tmp_path / "a.svg"))


def test_an_estimate_is_called_one(invoke):
    bound = invoke("realize", "--potential", "rho^3")
    assert "differs by at most" in bound.stdout
    estimate = invoke("realize", "--potential", "exp(-r)", "--on", "space", "--dim", "1")
    assert "an estimate" in estimate.stdout


ALONE = """
import sys
for name in ("earnshaw", "jax", "scipy", "torch"):
    sys.modules[name] = None
import exported
print(exported.activation([0.0, 2.0]).tolist(), exported.derivative([0.0, 2.0]).tolist())
"""


def test_an_exported_file_runs_alone(answer, tmp_path):
    path = tmp_path / "exported.py"
    result = answer("--potential", "exp(rho)", "--export", str(path))
    assert result["export"] == str(path)
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    printed = json.loads(f"[{done.stdout.replace('] [', '], [')}]")
    # sum_n he_n(x)/sqrt(n!) = exp(x - 1/2) is the generating function of Hermite polynomials.
    value = np.exp(np.array([0.0, 2.0]) - 0.5)
    np.testing.assert_allclose(printed, [value, value], rtol=1e-8)


def test_an_activation_by_name_is_exported(answer, invoke, tmp_path):
    path = tmp_path / "unit.py"
    given = ["--activation", "gaussian", "--dim", "2", "--width", "2", "-p", "rate=0.5"]
    result = answer(*given, "--export", str(path))
    assert result == {"activation": "gaussian", "kind": "translation", "export": str(path)}
    names: dict = {}
    exec(path.read_text(), names)
    # At x = w = 0: (2 rate/pi)^(d/4) (2 pi width^2)^(d/4), d = 2.
    assert names["unit"](np.zeros(2), np.zeros(2)) == pytest.approx(np.sqrt(8), rel=1e-14)
    assert "exported: " in invoke("realize", *given, "--export", str(path)).stdout


def test_without_an_activation_nothing_is_exported(invoke, tmp_path):
    path = tmp_path / "none.py"
    result = invoke("realize", "--potential", "cos(3*rho)", "--export", str(path))
    assert result.code == 0
    assert "not exported: there is no activation" in result.stdout
    assert not path.exists()


def test_plain_output_says_the_answer_first(invoke):
    result = invoke("realize", "--potential", "1-r^2", "--on", "space", "--dim", "4")
    assert result.code == 0
    assert result.stdout.startswith("not realizable")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--potential", "exp(rho"], "exp(rho"),
        (["--potential", "foo(rho)"], "foo"),
        (["--potential", "__import__('os')"], "allowed"),
        (["--potential", "exp(-r)"], "rho"),
        (["--potential", "exp(-r)", "--on", "space"], "dim"),
        (["--potential", "exp(rho)", "--on", "moon"], "sphere or space"),
        (["--potential", "exp(-r)", "--on", "space", "--dim", "0"], "integer from 1 to"),
        (["--potential", "exp(-r)", "--on", "space", "--dim", "2", "--width", "-1"], "width"),
        (["--potential", "rho", "--seconds", "0"], "seconds"),
        (["--potential", "rho", "--seconds", "nan"], "seconds"),
        (["--potential", "x501^2", "--on", "space", "--dim", "500"], "x1 to x500"),
        ([], "--potential"),
        (["--potential", "exp(rho)", "--activation", "relu"], "--potential"),
        (["--activation", "relu"], "--export"),
        (["--potential", "exp(rho)", "-p", "alpha=1"], "--activation"),
        (["--potential", "exp(rho)", "--export", "s.c"], ".py"),
        (["--activation", "rellu", "--export", "s.py"], "relu"),
        (["--activation", "relu", "--width", "2", "--export", "s.py"], "width"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refuse, arguments, words):
    assert words in refuse("realize", *arguments)


def test_what_is_missing_is_named_as_an_option(invoke):
    for typed in ("realize --potential exp(-r^2) --on space", "potential gaussian"):
        outcome = invoke(*typed.split())
        assert outcome.code == 2
        assert "--dim" in outcome.stderr


def test_a_dual_is_a_kernel_without_a_dimension(invoke):
    """Positive semidefinite on every sphere, so none need be named."""
    assert "on every sphere" in invoke("realize", "--potential", "rho^2").stdout
    assert "depends on the dimension" in invoke("realize", "--potential", "cos(rho)").stdout
