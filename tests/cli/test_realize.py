"""`earnshaw realize` as a user meets it."""

from __future__ import annotations

import json

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
        (["--potential", "exp(-r)", "--on", "space", "--dim", "0"], "integer >= 1"),
        (["--potential", "exp(-r)", "--on", "space", "--dim", "2", "--width", "-1"], "width"),
        ([], "--potential"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refuse, arguments, words):
    assert words in refuse("realize", *arguments)
