"""Networks' files as people write them: positions, weights, the name of an activation; no more."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError

POSITIONS, WEIGHTS = [[0.6, 0.8], [-1.0, 0.5]], [1.5, -2.0]
X = np.array([[1.0, 2.0], [-3.0, 0.25]])
RELU = np.maximum(X @ np.array(POSITIONS).T, 0) @ np.array(WEIGHTS)
TABLE = "x1,x2,weight\n0.6,0.8,1.5\n-1,0.5,-2\n"


def write(path, **fields):
    """The file that somebody would write."""
    if path.suffix == ".json":
        path.write_text(json.dumps(fields))
    elif path.suffix == ".npz":
        np.savez(path, **fields)
    else:
        said = {k: v for k, v in fields.items() if k not in ("positions", "weights")}
        path.write_text("".join(f"# {k}: {v}\n" for k, v in said.items()) + TABLE)
    return path


@pytest.mark.parametrize("ending", [".json", ".npz", ".csv"])
def test_positions_weights_and_a_name_are_enough(tmp_path, ending):
    charges = {"positions": POSITIONS, "weights": WEIGHTS}
    path = write(tmp_path / f"net{ending}", **charges, activation="relu")
    for teacher in (ew.load(path), ew.load_teacher(path)):
        assert isinstance(teacher, ew.Teacher)
        np.testing.assert_allclose(teacher(X), RELU, rtol=1e-15)
    np.testing.assert_allclose(ew.load_student(path)(X), RELU, rtol=1e-15)

    # Without a name it is a student, or whatever is said beside the file.
    path = write(tmp_path / f"bare{ending}", **charges)
    assert isinstance(ew.load(path), ew.Student)
    np.testing.assert_allclose(ew.load_teacher(path, "relu")(X), RELU, rtol=1e-15)
    with pytest.raises(EarnshawError, match=r"it has no activation; allowed: .*--activation"):
        ew.load_teacher(path)
    path = write(tmp_path / f"sphere{ending}", **charges, activation="erf", on="space", width=2.0)
    assert ew.load_teacher(path).species.inputs.width == 2.0
    with pytest.raises(EarnshawError, match=r"it says itself .*: activation"):
        ew.load_teacher(path, "relu")


def test_parameters_by_hand(tmp_path):
    """A leaky relu of slope 1/4 below 0, by its formula."""
    below = np.array(POSITIONS) @ X.T
    want = np.array(WEIGHTS) @ np.where(below > 0, below, 0.25 * below)
    path = tmp_path / "net.csv"
    path.write_text('# activation: leaky-relu\n# parameters: {"negative_slope": 0.25}\n' + TABLE)
    np.testing.assert_allclose(ew.load_teacher(path)(X), want, rtol=1e-15)
    path.write_text(TABLE)
    found = ew.load_teacher(path, "leaky-relu", negative_slope=0.25)
    np.testing.assert_allclose(found(X), want, rtol=1e-15)


def test_columns_in_any_order_and_remarks(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("# drawn on Monday\nweight, x2, x1\n\n1.5, 0.8, 0.6\n-2, 0.5, -1\n")
    student = ew.load_student(path)
    np.testing.assert_array_equal(student.positions, POSITIONS)
    np.testing.assert_array_equal(student.weights, WEIGHTS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("x1,x3,weight\n1,2,3\n", "its columns are others; allowed: x1, x2, ... and weight"),
        ("x1,x2\n1,2\n", "its columns are others"),
        ("x1,x1,weight\n1,2,3\n", "its columns are others"),
        ("weight\n1\n", "its columns are others"),
        ("x1,weight\n1,2\n1,2,3\n", "its line 3 has 3 cells; allowed: 2"),
        ("x1,weight\n1,a\n", "its line 2 has a cell that is no number"),
        ("x1,weight\n1,nan\n", "NaN or infinite"),
        ("# radius: 0.1\nx1,weight\n1,2\n", "its line 1 says 'radius'; allowed: activation,"),
        ("# width: 1\n# width: 2\nx1,weight\n1,2\n", "its line 2 says its width again"),
        ("# width: wide\nx1,weight\n1,2\n", "its width in line 1 is no number"),
        ("# parameters: {\nx1,weight\n1,2\n", "its parameters in line 1 are no JSON"),
        ("# format: earnshaw-run\n# version: 1\nx1,weight\n1,2\n", "its format is 'earnshaw-run'"),
        ("x1,weight\n\xff\n", "it is not text in UTF-8"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, text, words):
    path = tmp_path / "net.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(EarnshawError) as caught:
        ew.load(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", [".json", ".npz", ".csv"])
def test_a_student_of_a_teacher_is_stored_with_its_activation(tmp_path, ending):
    teacher = ew.Teacher(POSITIONS, WEIGHTS, "leaky-relu", negative_slope=0.25, width=2.0)
    student, path = ew.random_student(teacher, 3, seed=1), tmp_path / f"student{ending}"
    ew.save(path, student)
    as_student, as_teacher = ew.load_student(path), ew.load_teacher(path)
    assert np.asarray(as_student.positions).tobytes() == np.asarray(student.positions).tobytes()
    for found in (as_student, as_teacher, ew.load(path)):
        np.testing.assert_array_equal(found(X), student(X))
    assert as_teacher.species.parameters == (("negative_slope", 0.25),)
    assert as_teacher.species.inputs.width == 2.0
    # One whose activation has no name is stored as before.
    ew.save(path, ew.Teacher(POSITIONS, WEIGHTS, ew.activation("tanh")).student())
    assert ew.load_student(path).unit_kind is None


def test_the_examples_of_the_page(tmp_path, monkeypatch):
    """JSON, CSV and NPZ of docs/files.md are what it says they are."""
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text()
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", page, re.S))
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(blocks["json"])
    Path("net.csv").write_text(blocks["csv"])
    exec(blocks["python"], {"np": np})
    for name in ("net.json", "net.csv", "net.npz"):
        np.testing.assert_allclose(ew.load_teacher(name)(X), RELU, rtol=1e-15)
