"""All kinds of files say the same in the same words, and a declared shape is checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.files.fields import Group, array, integer, integers, part, texts
from earnshaw.files.kind import Kind
from earnshaw.learning.fitting.model_file import load_model
from earnshaw.papers.claims.results_file import load_results
from earnshaw.papers.claims.witness import load_witness

DATA = Path(__file__).parents[1] / "data"


def load_claims(path):
    return load_results(path, {"preset": "quick", "instances": 2, "seed": 0})


LOADED = {
    "teacher.json": ew.load_teacher,
    "teacher.npz": ew.load_teacher,
    "student.json": ew.load_student,
    "student.npz": ew.load_student,
    "run-gd.npz": ew.load_run,
    "path.npz": ew.load_path,
    "hunt.npz": lambda path: ew.hunt(resume=path),
    "model.json": load_model,
    "model.npz": load_model,
    "proof-minimum.json": ew.load_proof,
    "claims.json": load_claims,
    "witness.json": load_witness,
}


def changed(name: str, folder: Path, **changes) -> Path:
    """A copy with other fields; None takes one away."""
    path = folder / name
    if name.endswith(".json"):
        fields = json.loads((DATA / name).read_text()) | changes
        path.write_text(json.dumps({k: v for k, v in fields.items() if v is not None}))
    else:
        with np.load(DATA / name) as archive:
            fields = {key: archive[key] for key in archive.files} | changes
        np.savez(path, **{k: v for k, v in fields.items() if v is not None})
    return path


@pytest.mark.parametrize("name", LOADED)
def test_headers(name, tmp_path):
    """A newer version, another format, no header at all, half a file: one line each."""
    load = LOADED[name]
    for changes, words in (
        ({"version": 2}, "its version is 2; allowed: 1 (a newer earnshaw wrote it)"),
        ({"version": 0}, "its version is 0; allowed: 1"),
        ({"format": "earnshaw-other"}, "its format is 'earnshaw-other'; allowed: earnshaw-"),
        # A network without a header may have been written by hand; not one without units.
        ({"format": None, "positions": None, "weights": None}, "it has no field 'format'"),
        ({"version": None}, "it has no field 'version'"),
    ):
        path = changed(name, tmp_path, **changes)
        with pytest.raises(EarnshawError) as error:
            load(path)
        assert str(error.value).startswith(f"cannot read {str(path)!r}: {words}")
        assert "\n" not in str(error.value)
    content = (DATA / name).read_bytes()
    path.write_bytes(content[: len(content) // 2])
    words = "it is not JSON" if name.endswith(".json") else "not an NPZ file, a damaged one"
    with pytest.raises(EarnshawError, match=f"cannot read .*: {words}"):
        load(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(EarnshawError, match="cannot read"):
        load(path)


@pytest.mark.parametrize("name", ["run-gd.npz", "path.npz", "hunt.npz"])
def test_a_part_has_a_header_of_its_own(name, tmp_path):
    path = changed(name, tmp_path, **{"teacher.version": 3})
    with pytest.raises(EarnshawError, match="its teacher: its version is 3; allowed: 1"):
        LOADED[name](path)


def test_names_that_only_npz_readers_know_are_read_under_any_name(tmp_path):
    """Runs, paths and hunts are NPZ whatever their file is called."""
    shutil.copy(DATA / "path.npz", tmp_path / "path.backup")
    assert ew.load_path(tmp_path / "path.backup")[1] == {"note": "mine"}


INNER = Group((integers("inner", "n"),))
KIND = Kind(
    (
        integer("n", low=0),
        texts("names"),
        array("matrix", "n", "names"),
        array("row", "m"),
        array("column", "m", finite=False),
        part("more", INNER, optional=True),
    ),
    "earnshaw-test",
)
GOOD = {
    "n": 2,
    "names": ["a", "b", "c"],
    "matrix": np.arange(6.0).reshape(2, 3),
    "row": np.ones(4),
    "column": np.ones(4),
}


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_letters_mean_one_number(ending, tmp_path):
    path = tmp_path / f"file{ending}"
    inner = {"inner": np.array([1, 2, 3])}  # an n of its own
    KIND.save(path, GOOD | {"more": inner})
    found = KIND.load(path, dict)
    np.testing.assert_array_equal(found["matrix"], GOOD["matrix"])
    np.testing.assert_array_equal(found["more"]["inner"], [1, 2, 3])
    assert found["more"]["inner"].dtype == np.int64
    KIND.save(path, GOOD)
    assert "more" not in KIND.load(path, dict)
    for change, words in (
        ({"n": 3}, "its matrix have shape (2, 3), its n is 3; allowed: (n, names)"),
        ({"names": ["a"]}, "its matrix have shape (2, 3), it has 1 names; allowed: (n, names)"),
        ({"column": np.ones(3)}, "its column have shape (3,), its row (4,); allowed: (m)"),
        ({"row": np.ones((2, 2))}, "its row have shape (2, 2); allowed: (m)"),
        ({"n": -1}, "its n is -1; allowed: an integer from 0 to 2147483647"),
        ({"n": 1.5}, "its n is a float; allowed: an integer"),
        ({"more": {"inner": np.array([0.5])}}, "its more: its inner are not an array of integers"),
    ):
        KIND.save(path, GOOD | change)
        with pytest.raises(EarnshawError) as error:
            KIND.load(path, dict)
        assert str(error.value) == f"cannot read {str(path)!r}: {words}"


def test_numbers_that_json_lacks(tmp_path):
    with pytest.raises(EarnshawError, match="column cannot be stored"):
        KIND.save(tmp_path / "file.json", GOOD | {"column": np.full(4, np.nan)})
    assert not list(tmp_path.iterdir())
    KIND.save(tmp_path / "file.npz", GOOD | {"column": np.full(4, np.nan)})
    assert np.isnan(KIND.load(tmp_path / "file.npz", dict)["column"]).all()
    KIND.save(tmp_path / "file.npz", GOOD | {"row": np.full(4, np.inf)})
    with pytest.raises(EarnshawError, match="its row have NaN or infinite entries"):
        KIND.load(tmp_path / "file.npz", dict)
