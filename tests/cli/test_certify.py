"""`earnshaw certify`: of a student, of a run, with a proof, and what it refuses."""

import json

import numpy as np
import pytest

import earnshaw as ew


@pytest.fixture
def files(tmp_path):
    """A teacher of two far Gaussians, and the perfect student."""
    teacher = ew.Teacher([[3.0, 0.0], [-3.0, 0.0]], [1.0, -1.0], "gaussian")
    ew.save(tmp_path / "teacher.json", teacher)
    ew.save(tmp_path / "student.json", teacher.student())
    return tmp_path


def test_a_perfect_student_in_json(invoke, files):
    code, printed, _ = invoke(
        "certify",
        "--teacher",
        str(files / "teacher.json"),
        "--student",
        str(files / "student.json"),
        "--json",
    )
    assert code == 0
    found = json.loads(printed)
    assert found["kind"] == "minimum"
    assert found["gradient_norm"] < 1e-12
    assert found["smallest_eigenvalue"] > 0
    assert found["rigorous"] is None
    parts = [np.ravel(found["direction"][name]) for name in ("positions", "weights")]
    assert np.linalg.norm(np.concatenate(parts)) == pytest.approx(1)
    assert any("F.4" in one["sources"] for one in found["theorems"])


@pytest.mark.slow
def test_a_run_is_certified_as_it_was_left(invoke, tmp_path):
    path = tmp_path / "run.npz"
    teacher = ew.random_teacher("gaussian", 2, 2, seed=1)
    run = ew.learn(teacher, "gd", iterations=3, save=path)
    code, printed, _ = invoke("certify", str(path), "--json")
    assert code == 0
    found = json.loads(printed)
    assert found["kind"] == run.certificate.kind
    assert found["gradient_norm"] == pytest.approx(run.certificate.gradient_norm, rel=1e-9)
    code, printed, _ = invoke("certify", str(path))
    assert code == 0
    assert found["kind"] in printed


@pytest.mark.slow
def test_a_proof_is_written_and_checked_and_no_digit_may_change(invoke, refuse, tmp_path):
    """Two almost harmonic charges and the units that found them."""
    teacher = ew.Teacher([[2.0, 0, 0], [-2.0, 0, 0]], [0.8, -0.6], "almost-harmonic")
    ew.save(tmp_path / "teacher.json", teacher)
    ew.save(tmp_path / "student.json", teacher.student())
    proof = tmp_path / "proof.json"
    given = ("--teacher", str(tmp_path / "teacher.json"))
    given += ("--student", str(tmp_path / "student.json"), "--proof", str(proof))
    code, printed, _ = invoke("certify", *given, "--json")
    assert code == 0
    assert json.loads(printed)["rigorous"]["kind"] == "cusp-minimum"
    code, printed, _ = invoke("certify", "--check", str(proof), "--json")
    assert code == 0
    assert json.loads(printed)["kind"] == "cusp-minimum"
    text = proof.read_text()
    place = next(i for i, letter in enumerate(text) if letter in "12345678")
    proof.write_text(text[:place] + "9" + text[place + 1 :])
    assert refuse("certify", "--check", str(proof))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "a run's FILE, or --student"),
        (("nowhere.npz",), "cannot read"),
        (("nowhere.npz", "--activation", "relu"), "a run has its teacher"),
        (("--student", "nowhere.json", "--activation", "gaussian", "--dim", "2"), "nowhere.json"),
        (("--check", "nowhere.json"), "nowhere.json"),
        (("--check", "nowhere.json", "--dim", "3"), "not allowed with: --dim"),
        (("--student", "s.json", "--fixed-charges", "--wrt", "both"), "one of them"),
    ],
)
def test_bad_input_is_one_line(refuse, arguments, words):
    assert words in refuse("certify", *arguments)


def test_shapes_that_do_not_fit(refuse, files):
    ew.save(files / "flat.json", ew.Student([[1.0, 0, 0]], [1.0]))
    line = refuse(
        "certify",
        "--teacher",
        str(files / "teacher.json"),
        "--student",
        str(files / "flat.json"),
    )
    assert "dimension 3" in line


def test_a_run_of_a_newer_version(refuse, tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, format="earnshaw-run", version=99)
    assert "version" in refuse("certify", str(path))


@pytest.mark.slow
def test_a_symmetry_explains_a_minimum_that_is_not_strict(invoke, tmp_path):
    """relu units may be longer and lighter: the eigenvalue across that is positive all the same."""
    teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0], "relu")
    ew.save(tmp_path / "teacher.json", teacher)
    ew.save(tmp_path / "student.json", teacher.student())
    code, printed, _ = invoke(
        "certify",
        "--teacher",
        str(tmp_path / "teacher.json"),
        "--student",
        str(tmp_path / "student.json"),
        "--rigorous",
    )
    assert code == 0
    assert "not a strict one: the loss is flat along its symmetries" in printed
    assert "not proved" in printed
    assert "within inf" not in printed
