"""Files of teachers and students: every bit comes back, everything foreign is one line."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import pickle
import zipfile
from fractions import Fraction

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import earnshaw as ew
from earnshaw.errors import EarnshawError

ENDINGS = pytest.mark.parametrize("ending", [".json", ".npz", ".csv", ".JSON", ".NPZ"])
POSITIONS = np.array([[0.1, 1 / 3, -0.0], [1e-320, -1e300, math.pi]])
WEIGHTS = np.array([2 / 3, -1e-17])
TEACHER = ew.Teacher(POSITIONS, WEIGHTS, "almost-harmonic", radius=0.2, core="ball", width=1.5)


def made_of(activation, **more) -> ew.Teacher:
    return ew.Teacher(np.eye(2, 3), WEIGHTS, activation, **more)


def same_bits(a, b) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def refused(path, words: str, load=ew.load) -> None:
    """Loading says what is wrong, and where, in one line."""
    with pytest.raises(EarnshawError) as caught:
        load(path)
    assert words in str(caught.value)
    assert repr(str(path)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@ENDINGS
@pytest.mark.parametrize(
    "teacher",
    [
        TEACHER,
        made_of("relu", on="sphere"),
        made_of("hermite-3"),
        made_of("polynomial", coefficients=[0.1, 2, 1 / 3]),
        made_of("harmonic"),
        made_of(None, potential="exp(-r**2/3)"),
        made_of(None, potential="exp(rho - 1)", on="sphere", width=0.5),
    ],
    ids=lambda teacher: teacher.species.name,
)
def test_teachers_come_back(tmp_path, teacher, ending):
    path = tmp_path / f"teacher{ending}"
    ew.save(path, teacher)
    for found in (ew.load(path), ew.load_teacher(str(path))):
        assert isinstance(found, ew.Teacher)
        assert same_bits(found.positions, teacher.positions)
        assert same_bits(found.weights, teacher.weights)
        assert found.manifold.name == teacher.manifold.name
        for name in ("origin", "name", "parameters"):
            assert getattr(found.species, name) == getattr(teacher.species, name)
        assert found.species.inputs.width == teacher.species.inputs.width
        x = np.array([0.3, 0.7])
        np.testing.assert_array_equal(found.potential(x), teacher.potential(x))
    refused(path, "allowed: earnshaw-student", ew.load_student)
    assert os.listdir(tmp_path) == [path.name]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    positions=arrays.arrays(
        np.float64,
        st.tuples(st.integers(0, 4), st.integers(1, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    ending=st.sampled_from([".json", ".npz", ".csv"]),
)
def test_students_come_back_to_the_last_bit(tmp_path, positions, ending):
    path = tmp_path / f"student{ending}"
    student = ew.Student(positions, positions[:, 0])
    ew.save(path, student)
    found = ew.load_student(path)
    assert found.positions.shape == positions.shape
    assert same_bits(found.positions, student.positions)
    assert same_bits(found.weights, student.weights)
    assert isinstance(ew.load(path), ew.Student)


def test_students_files_hold_positions_and_weights_only(tmp_path):
    path = tmp_path / "student.json"
    ew.save(path, ew.Student(POSITIONS, WEIGHTS))
    fields = json.loads(path.read_text())
    assert set(fields) == {"format", "version", "dim", "positions", "weights"}
    assert fields["positions"] == POSITIONS.tolist()
    refused(path, "it has no activation", ew.load_teacher)


def test_npz_needs_no_pickle(tmp_path):
    path = tmp_path / "teacher.npz"
    ew.save(path, TEACHER)
    with np.load(path, allow_pickle=False) as archive:
        assert {name: archive[name].dtype.kind for name in archive.files} == {
            "format": "U",
            "version": "i",
            "dim": "i",
            "positions": "f",
            "weights": "f",
            "activation": "U",
            "parameters": "U",
            "width": "f",
            "on": "U",
        }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "words"),
    [
        (lambda: made_of(jnp.tanh), "object or a function"),
        (lambda: made_of(ew.activation("relu")), "object or a function"),
        (lambda: made_of(ew.potential("gaussian", dim=3)), "object or a function"),
        (lambda: made_of("almost-harmonic", radius=Fraction(1, 4)), "'radius' cannot be stored"),
        (lambda: eqx.tree_at(lambda t: t.weights, TEACHER, jnp.array([1.0, jnp.nan])), "NaN"),
        (lambda: ew.Student(np.ones((2, 2, 3)), np.ones((2, 2))), "allowed: (units, dimension)"),
        (lambda: {"positions": []}, "cannot save a dict"),
    ],
)
@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_what_cannot_be_stored_leaves_an_older_file_alone(tmp_path, network, words, ending):
    path = tmp_path / f"network{ending}"
    path.write_text("older")
    with pytest.raises(EarnshawError) as caught:
        ew.save(path, network())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_text() == "older"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("teacher.txt", "allowed endings: .json, .npz"),
        ("teacher", "allowed endings"),
        ("missing/teacher.json", "there is no folder"),
        ("folder.json", "not a writable file"),
        ("a" * 300 + ".json", "cannot write"),
        ("a\0.json", "allowed: the path of a file"),
    ],
)
def test_paths_that_cannot_be_written(tmp_path, name, words):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(EarnshawError) as caught:
        ew.save(str(tmp_path / name), TEACHER)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["folder.json"]


def test_a_failed_write_leaves_an_older_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "teacher.npz"
    path.write_text("older")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(EarnshawError, match="No space left"):
        ew.save(path, TEACHER)
    assert path.read_text() == "older"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.json", "no such file"),
        ("missing.npz", "no such file"),
        ("folder.json", "it is a folder"),
        ("a" * 300 + ".npz", "name too long"),
    ],
)
def test_files_that_are_not_there(tmp_path, name, words):
    (tmp_path / "folder.json").mkdir()
    refused(tmp_path / name, words)


def test_paths_that_are_no_paths(tmp_path):
    for bad in (3, None, "a\0.json"):
        with pytest.raises(EarnshawError, match="allowed: the path of a file"):
            ew.load(bad)
    with pytest.raises(EarnshawError, match="allowed endings"):
        ew.load(tmp_path / "teacher.pkl")


def json_fields() -> dict:
    return {
        "format": "earnshaw-teacher",
        "version": 1,
        "dim": 2,
        "positions": [[1.0, 0.0], [0.0, 1.0]],
        "weights": [1.0, -1.0],
        "activation": "elu",
        "parameters": {"alpha": 0.5},
        "on": "space",
        "width": 1,
    }


GONE = object()
CHANGES = [
    ({"format": GONE, "positions": GONE, "weights": GONE}, "no field 'format'"),
    ({"format": GONE, "weights": GONE}, "no field 'weights'"),
    ({"format": GONE, "radius": 0.1}, "it has a field 'radius'; allowed: positions, weights,"),
    ({"format": "earnshaw-run"}, "'earnshaw-run'; allowed: earnshaw-teacher or"),
    ({"format": 3}, "its format is a int; allowed: text"),
    ({"version": 2}, "its version is 2; allowed: 1"),
    ({"version": 1.0}, "its version is a float"),
    ({"version": True}, "its version is a bool"),
    ({"dim": GONE}, "no field 'dim'"),
    ({"dim": 3}, "its positions have shape (2, 2), its dim is 3"),
    ({"dim": 0}, "its dim is 0"),
    ({"dim": 10**40}, "an integer beyond 2^64"),
    ({"dim": -1, "positions": []}, "its dim is -1"),
    ({"positions": GONE}, "no field 'positions'"),
    ({"positions": []}, "its weights have shape (2,), its positions (0, 2)"),
    ({"positions": [], "weights": []}, "no units"),
    ({"positions": [[1.0, 0.0], [1.0]]}, "rows of different lengths"),
    ({"positions": [1.0, 2.0]}, "shape (2,)"),
    ({"positions": [[["x"]]]}, "positions are not an array of numbers"),
    ({"positions": [["1", "2"], ["3", "4"]]}, "positions are not an array of numbers"),
    ({"positions": [[None, 1.0], [1.0, 1.0]]}, "positions are not an array of numbers"),
    ({"positions": [[10**400, 1.0], [1.0, 1.0]]}, "an integer beyond 2^64"),
    ({"positions": {"x": 1}}, "positions are not an array of numbers"),
    ({"weights": 3.0}, "weights are not an array of numbers"),
    ({"weights": [True, False]}, "weights are not an array of numbers"),
    ({"weights": [1.0]}, "its weights have shape (1,), its positions (2, 2)"),
    ({"weights": [1.0, math.nan]}, "NaN"),
    ({"weights": [1.0, -math.inf]}, "finite"),
    ({"activation": GONE}, "either an activation or a potential"),
    ({"potential": "exp(-r)"}, "either an activation or a potential"),
    ({"activation": "ellu"}, "unknown activation"),
    ({"activation": ["elu"]}, "its activation is a list"),
    ({"parameters": GONE}, "no field 'parameters'"),
    ({"parameters": [1]}, "its parameters is a list"),
    ({"parameters": {"alpha": math.nan}}, "finite"),
    ({"parameters": {"alpha": {"x": 1}}}, "'alpha' cannot be stored"),
    ({"parameters": {"alpha": [[1]]}}, "'alpha' cannot be stored"),
    ({"parameters": {"alpha": "x"}}, "alpha"),
    ({"parameters": {"alpha": 10**400}}, "an integer beyond 2^64"),
    ({"parameters": {"beta": 1.0}}, "no parameter 'beta'"),
    ({"parameters": {"width": 1.0}}, "no parameter 'width'"),
    ({"parameters": {"self": 1.0}}, "no parameter 'self'"),
    ({"parameters": {"name": "elu"}}, "no parameter 'name'"),
    ({"parameters": {"dim": 2}}, "no parameter 'dim'"),
    ({"on": "torus"}, "its on is 'torus'; allowed: space, sphere"),
    ({"on": 1}, "its on is a int"),
    ({"on": "sphere", "positions": [[2.0, 0.0], [0.0, 1.0]]}, "off the sphere"),
    ({"width": -1.0}, "width is -1.0"),
    ({"width": 10**400}, "an integer beyond 2^64"),
    ({"width": "1"}, "its width is a str"),
    ({"activation": GONE, "potential": "import os"}, "cannot use the formula"),
    ({"activation": GONE, "potential": "exp(\n-q)"}, "cannot use the formula"),
    ({"activation": GONE, "potential": "(" * 5000 + "r" + ")" * 5000}, "up to 10000 characters"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_json_that_is_not_a_network(tmp_path, change, words):
    fields = {k: v for k, v in (json_fields() | change).items() if v is not GONE}
    path = tmp_path / "file.json"
    path.write_text(json.dumps(fields))
    refused(path, words)


def test_the_file_that_was_changed_is_good(tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(json_fields() | {"comment": "by hand"}))
    teacher = ew.load_teacher(path)
    np.testing.assert_allclose(teacher([[-1.0, 0.0]]), 0.5 * math.expm1(-1), rtol=1e-14)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b'{"format": "earnshaw-teacher", "version": 1, "positions": [[1.0, 2.',
        b"[1, 2, 3]",
        b"null",
        b"\xff\xfe\x00\x81 binary",
        b"[" * 100_000,
        b"1" * 10_000,
        pickle.dumps({"positions": [1.0]}),
    ],
)
@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_files_of_something_else(tmp_path, content, ending):
    path = tmp_path / f"file{ending}"
    path.write_bytes(content)
    refused(path, "cannot read")


def npz_fields() -> dict:
    fields = json_fields()
    return fields | {"width": 1.0, "parameters": json.dumps(fields["parameters"])}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"positions": np.array([[1.0, "x"], [2.0, 3.0]], dtype=object)}, "has the type object"),
        ({"format": np.array(["earnshaw-teacher"])}, "its format is a ndarray"),
        ({"format": np.array(b"earnshaw-teacher")}, "'format' has the type |S16"),
        ({"positions": np.eye(2) * 1j}, "'positions' has the type complex128"),
        ({"positions": np.full((2, 2), np.nan)}, "NaN"),
        ({"positions": np.zeros((0, 5))}, "shape (0, 5)"),
        ({"positions": np.zeros((0, 2)), "weights": np.zeros(0)}, "no units"),
        ({"weights": np.ones((3, 1))}, "its weights have shape (3, 1)"),
        ({"weights": np.array(["1", "2"])}, "weights are not an array of numbers"),
        ({"version": 2}, "its version is 2"),
        ({"format": GONE, "alpha": 0.5}, "it has a field 'alpha'; allowed: positions, weights,"),
        ({"parameters": "{"}, "its parameters are not JSON"),
        ({"parameters": "[]"}, "its parameters is a list"),
        ({"parameters": '{"alpha": NaN}'}, "finite"),
        ({"parameters": 3}, "its parameters is a int"),
    ],
)
def test_npz_that_is_not_a_network(tmp_path, change, words):
    path = tmp_path / "file.npz"
    np.savez(path, **{k: v for k, v in (npz_fields() | change).items() if v is not GONE})
    refused(path, words)


def test_npz_of_other_kinds_of_numbers(tmp_path):
    path = tmp_path / "file.npz"
    change = {"positions": np.eye(2, dtype=">f4"), "weights": np.array([1, -1], dtype=np.int8)}
    np.savez_compressed(path, **npz_fields() | change)
    teacher = ew.load_teacher(path)
    np.testing.assert_array_equal(teacher.positions, np.eye(2))
    assert teacher.weights.dtype == jnp.float64


def test_damaged_archives(tmp_path):
    """Cut anywhere, or with any byte changed: one line, or (an unread byte) the same network."""
    whole, path = io.BytesIO(), tmp_path / "file.npz"
    np.savez(whole, **npz_fields())
    content = whole.getvalue()
    for cut in range(0, len(content) - 1, 97):
        path.write_bytes(content[:cut])
        refused(path, "cannot read")
    for place in range(0, len(content), 53):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :])
        with contextlib.suppress(EarnshawError):
            np.testing.assert_array_equal(ew.load_teacher(path).positions, np.eye(2))


def test_archives_that_claim_too_much(tmp_path):
    """A header of 10^15 numbers over a few bytes; an array file under an archive's name."""
    path = tmp_path / "file.npz"
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("positions.npy", header.getvalue())
    refused(path, "does not have the 1000000000000000 entries of its header")
    with open(path, "wb") as file:
        np.save(file, np.ones(3))
    refused(path, "cannot read")
