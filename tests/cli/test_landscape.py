"""`earnshaw landscape` as the shell sees it."""

import json

import numpy as np
import pytest

HERMITE = ("--activation", "hermite-4", "--on", "sphere", "--teacher", "orthonormal", "--dim", "3")
ONE = (*HERMITE, "--units", "3", "--student-units", "1", "--fixed-charges")


@pytest.fixture
def hunted(invoke):
    """The JSON of a run that went well."""

    def run(*arguments):
        outcome = invoke("landscape", *arguments, "--json")
        assert outcome.code == 0, outcome
        return json.loads(outcome.stdout)

    return run


@pytest.mark.slow
def test_orthonormal_polynomials(hunted, invoke, tmp_path):
    """One unit of charge 1 ends on +-w_j, where 2 of 3 units are left, from every start."""
    saved, picture = tmp_path / "hunt.npz", tmp_path / "hunt.png"
    found = hunted(*ONE, "--starts", "12", "--save", str(saved), "--plot", str(picture))
    assert (found["starts"], found["undecided"]) == (12, 0)
    (point,) = found["found"]
    assert (point["kind"], point["count"]) == ("minimum", 12)
    assert point["relative_loss"] == pytest.approx(2 / 3, abs=1e-9)
    assert point["smallest_eigenvalue"] == pytest.approx(8.0, abs=1e-5)
    assert point["interval"][0] == pytest.approx(0.025 ** (1 / 12))  # Clopper and Pearson, 12 of 12
    assert picture.stat().st_size > 10_000

    more = hunted("--resume", str(saved), "--starts", "20")
    assert more["found"][0]["count"] == 20
    table = invoke("landscape", "--resume", str(saved), "--starts", "20")
    assert table.code == 0
    assert "minimum" in table.stdout
    assert "undecided: 0 of 20 starts" in table.stdout


@pytest.mark.slow
def test_no_point_at_all_is_said(invoke):
    """After one iteration no start is anywhere."""
    outcome = invoke("landscape", *ONE, "--starts", "2", "--iterations", "1")
    assert outcome.code == 0
    assert "no critical point was reached" in outcome.stdout
    assert "undecided: 2 of 2 starts" in outcome.stdout


def test_resuming_with_other_settings_is_refused(refuse, tmp_path):
    path = tmp_path / "foreign.npz"
    np.savez(path, format="earnshaw-run", version=1)
    assert "its format is 'earnshaw-run'" in refuse("landscape", "--resume", str(path))
    np.savez(path, format="earnshaw-landscape", version=99)
    assert "its version is 99; allowed: 1" in refuse("landscape", "--resume", str(path))
    path.write_text("no archive")
    assert "not an NPZ file" in refuse("landscape", "--resume", str(path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--starts", "0"), "starts is 0"),
        (("--seed", "-1"), "seed is -1"),
        (("--tolerance", "nan"), "tolerance is nan"),
        (("--objective", "best"), "objective is 'best'"),
        (("--init-scale", "2"), "starts on the sphere are uniform"),
        (("--units", "4"), "cannot be orthonormal"),
        (("--weights", "uniform", "--student-units", "2", "--fixed-charges"), "cannot share"),
        (("--save", "hunt.txt"), "allowed endings: .npz"),
        (("--plot", "hunt.txt"), "allowed endings: .png, .svg, .pdf"),
    ],
)
def test_bad_input_is_one_line(refuse, arguments, words):
    known = HERMITE if "--units" in arguments else (*HERMITE, "--units", "3")
    assert words in refuse("landscape", *known, *arguments)


@pytest.mark.slow
def test_points_are_written_for_certify(invoke, tmp_path):
    given = ("--activation", "gaussian", "--dim", "1", "--units", "2", "--student-units", "1")
    folder = str(tmp_path)
    code, printed, _ = invoke("landscape", *given, "--starts", "8", "--points", folder, "--json")
    assert code == 0
    found = json.loads(printed)["found"]
    for number, point in enumerate(found):
        student = str(tmp_path / f"point-{number}.json")
        teacher = str(tmp_path / "teacher.json")
        code, printed, _ = invoke("certify", "--teacher", teacher, "--student", student, "--json")
        assert code == 0
        assert json.loads(printed)["kind"] == point["kind"]


@pytest.mark.slow
def test_no_number_is_broken_at_80_columns(invoke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    typed = "landscape --activation relu --teacher orthonormal --units 2 --dim 2 --starts 10"
    printed = invoke(*typed.split(), "--fixed-charges").stdout
    found = json.loads(invoke(*typed.split(), "--fixed-charges", "--json").stdout)["found"]
    words = printed.replace("│", " ").split()
    assert {"eigenvalue", *(f"{point['smallest_eigenvalue']:.4g}" for point in found)} <= {*words}
