"""Files that were made to break their reader: one line each, at once, and without the memory."""

from __future__ import annotations

import io
import json
import resource
import shutil
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.sweeps.toml import load_plan
from earnshaw.files.fields import (
    Group,
    array,
    arrays,
    integer,
    integers,
    number,
    parts,
    table,
    text,
)
from earnshaw.files.json_text import parsed
from earnshaw.files.kind import Kind
from earnshaw.files.npz import Archive, unpacked
from earnshaw.learning.fitting.model_file import load_model
from earnshaw.learning.fitting.tables import read_table
from earnshaw.papers.claims.results_file import load_results
from earnshaw.papers.claims.witness import load_witness

DATA = Path(__file__).parents[1] / "data"


def one_line(error: pytest.ExceptionInfo) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


# --- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested too deep"),
        ('{"a": ' * 40 + "1" + "}" * 40, "nested too deep"),
        ("[1e400]", "beyond 1e308"),
        ("[-1e999]", "beyond 1e308"),
        ("[NaN]", "the number NaN"),
        ("9" * 5000, "not JSON"),
        ("9" * 100, "beyond 2\\^64"),
        ('{"a": 1, "a": 2}', "a name twice"),
        ('"\\ud800"', "half of a character"),
        ('{"\\udfff": 1}', "half of a character"),
        (b"\xff\xfe\x00", "not JSON"),
        (b'{"a": \x00}', "not JSON"),
    ],
)
def test_json(content, words):
    with pytest.raises(EarnshawError, match=words) as error:
        parsed(content, "it is not JSON")
    one_line(error)


def test_what_json_may_be():
    deep = [1.0]
    for _ in range(30):
        deep = [deep]
    for value in (deep, -0.0, 5e-324, 1.7e308, 2**63, "naïve \U0001f600", {"": None}, [True]):
        assert parsed(json.dumps(value), "") == value
    assert parsed("[NaN, Infinity]", "", finite=False)[1] == np.inf


# --- NPZ ------------------------------------------------------------------------------------------


def archive(*entries: tuple[str, bytes], packed: bool = False) -> bytes:
    out = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", how) as file:
        warnings.simplefilter("ignore")
        for name, data in entries:
            file.writestr(name, data)
    return out.getvalue()


def npy(values, header: bytes | None = None) -> bytes:
    """The bytes of an NPY entry; with another header of the same length, if given."""
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(values), allow_pickle=True)
    data = out.getvalue()
    return data if header is None else data[:10] + header.ljust(117) + b"\n" + data[128:]


def lying(shape: str, descr: str = "'<f8'") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()


def bomb() -> bytes:
    """An archive that says of itself that it unpacks to 8 GiB of zeros."""
    packed = bytearray(archive(("x.npy", npy(np.zeros(10**6))), packed=True))
    size = (len(npy(np.zeros(10**6)))).to_bytes(4, "little")
    for _ in range(packed.count(size)):
        packed[(at := packed.find(size)) : at + 4] = (2**32 - 2).to_bytes(4, "little")
    return bytes(packed)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (archive(("x.npy", npy(np.array([{}], dtype=object)))), "type object"),
        (archive(("x.npy", npy(np.zeros(2, dtype=[("a", "f8")])))), "type \\[\\('a'"),
        (archive(("x.npy", npy(np.zeros(2, dtype=complex)))), "type complex128"),
        (archive(("x.npy", npy(np.zeros(2, dtype="M8[s]")))), "type datetime64"),
        (archive(("x.npy", npy(np.zeros((1,) * 12)))), "up to 8 axes"),
        (archive(("x.npy", npy(np.zeros(2), lying("(1000000000000,)")))), "does not have the"),
        (archive(("x.npy", npy(np.zeros(2), lying("(-2,)")))), "has shape|does not have"),
        (archive(("x.npy", npy(np.zeros(2), lying("(" * 50 + "2" + ")" * 50)))), "damaged|shape"),
        (archive(("x.npy", npy(np.zeros(2), b"__import__('os').getcwd()"))), "damaged"),
        (archive(("x.npy", npy(np.zeros(2))), ("x.npy", npy(np.ones(2)))), "twice"),
        (archive(("x.npy", npy(np.zeros(2))), ("x", npy(np.ones(2)))), "twice"),
        (archive(("x.npy", npy(np.zeros(2))[:-3])), "does not have"),
        (archive(("x.npy", b"")), "damaged"),
        (archive(("x.npy", npy(np.array(["ab"]).view(np.uint32) * 99999))), None),
        (b"PK\x03\x04", "not an NPZ file"),
        (npy(np.zeros(3)), "not an NPZ file"),
        (bomb(), "need 16 GiB of memory; allowed: 4 GiB"),
    ],
)
def test_npz(content, words):
    if words is None:  # numbers that are no text are numbers
        assert unpacked(content)["x"].dtype == np.uint32
        return
    with pytest.raises(EarnshawError, match=words) as error:
        unpacked(content)
    one_line(error)


def test_texts_that_are_none():
    codes = np.array([0xD800, 0x41], dtype=np.uint32)
    for bad in (codes, codes + 0x110000):
        with pytest.raises(EarnshawError, match="texts that are none"):
            unpacked(archive(("x.npy", npy(bad.view("<U2")))))


def test_arrays_come_as_they_are():
    """In any order of bytes and of axes."""
    values = np.arange(6.0).reshape(2, 3)
    for stored in (values, values.astype(">f8"), np.asfortranarray(values), values[:, :0]):
        found = unpacked(archive(("x.npy", npy(stored)), packed=True))["x"]
        assert found.dtype == float
        assert found.flags.writeable
        np.testing.assert_array_equal(found, stored)
    assert unpacked(archive(("x.npy", npy("text"))))["x"].item() == "text"


def test_what_is_not_asked_for_is_not_read():
    content = archive(("x.npy", npy(1.0)), ("other.npy", npy(np.array([{}], dtype=object))))
    assert Archive(io.BytesIO(content))["x"] == 1.0


def test_a_file_larger_than_memory_allows(tmp_path, monkeypatch):
    """By the limit that EARNSHAW_MEMORY sets, and by its size alone: it is not read."""
    path = tmp_path / "teacher.npz"
    with open(path, "wb") as file:
        file.truncate(2**40)  # a hole
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(EarnshawError, match=r"cannot read .* need 4 TiB of memory; allowed: 4 GiB"):
        ew.load_teacher(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**16  # KiB
    shutil.copy(DATA / "teacher.npz", path)
    monkeypatch.setenv("EARNSHAW_MEMORY", "1e-6")
    with pytest.raises(EarnshawError, match="EARNSHAW_MEMORY"):
        ew.load_teacher(path)


@pytest.mark.parametrize("load", [ew.load_teacher, ew.load_run, read_table, load_plan])
def test_devices_have_no_end(load, tmp_path):
    ending = {read_table: ".csv", load_plan: ".toml"}.get(load, ".npz")
    (tmp_path / f"zero{ending}").symlink_to("/dev/zero")
    with pytest.raises(EarnshawError, match="it is not a file"):
        load(tmp_path / f"zero{ending}")


# --- fields ---------------------------------------------------------------------------------------

KIND = Kind(
    (
        integer("count", low=0, high=9),
        number("size", low=0.0, high=2.0),
        text("name", allowed=("a", "b")),
        array("row", "n"),
        integers("index", "n", low=-1, high=3),
        parts("events", Group((number("time", low=0.0), integer("unit", low=0)))),
        table("free"),
        arrays("state"),
    ),
    "earnshaw-test",
    endings=(".npz",),
)
GOOD = {
    "count": 3,
    "size": 1.5,
    "name": "a",
    "row": np.ones(2),
    "index": np.array([-1, 3]),
    "events": [{"time": 0.5, "unit": 1}],
    "free": {"x": [1, None]},
    "state": [np.ones(3), np.arange(2)],
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 10}, "its count is 10; allowed: an integer from 0 to 9"),
        ({"size": 2.5}, "its size is 2.5; allowed: a number in \\[0, 2\\]"),
        ({"size": np.nan}, "its size is nan"),
        ({"size": -1e-300}, "its size is -1e-300"),
        ({"name": "c"}, "its name is 'c'; allowed: a, b"),
        ({"row": np.array(["1", "2"])}, "its row are not an array of numbers"),
        ({"row": np.array([True, False])}, "its row are not an array of numbers"),
        ({"row": np.array([1, np.longdouble("1e400")])}, "its row have NaN or infinite"),
        ({"index": np.array([-2, 0])}, "its index is -2"),
        ({"index": np.array([0, 2**63], dtype=np.uint64)}, "its index is 9223372036854775808"),
        ({"events": [{"time": -1.0, "unit": 0}]}, "its events: its time is -1.0"),
        ({"events": [{"time": 1.0}]}, "its events: it has no field 'unit'"),
        ({"events": [1]}, "its events: not a list of objects"),
        ({"events": {"time": 1}}, "its events is a dict"),
        ({"state": [np.array(["x"])]}, "its state are not arrays of numbers"),
    ],
)
def test_ranges(change, words, tmp_path):
    path = tmp_path / "file.npz"
    KIND.save(path, GOOD)
    found = KIND.load(path, dict)
    assert found["events"] == GOOD["events"]
    KIND.save(path, GOOD | change)
    with pytest.raises(EarnshawError, match=words) as error:
        KIND.load(path, dict)
    one_line(error)


# --- files whose fields do not fit together -------------------------------------------------------


def with_arrays(name: str, folder: Path, **changes) -> Path:
    with np.load(DATA / name) as file:
        fields = {key: file[key] for key in file.files} | changes
    np.savez(folder / name, **{key: value for key, value in fields.items() if value is not None})
    return folder / name


def held(name: str, key: str) -> np.ndarray:
    with np.load(DATA / name) as file:
        return file[key]


def settings(name: str, **changes) -> np.ndarray:
    return np.asarray(json.dumps(json.loads(str(held(name, "settings"))) | changes))


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"settings": settings("run-gd.npz", method=["gd"])},
        {"settings": settings("run-gd.npz", seed="0")},
        {"settings": settings("run-gd.npz", samples=1.5)},
        {"settings": settings("run-gd.npz", iterations=True)},
        {"settings": settings("run-gd.npz", starts=2**40)},
        {"state.0": np.zeros((1, 2, 2))},
        {"state.0": np.full((1, 1, 2), np.nan)},
        {"state.7": np.array([99])},
        {"state.7": np.array([-1])},
        {"state.12": np.asarray(0)},  # snapshots every 0 iterations: no end
        {"state.13": np.asarray(10**6)},
        {"state.14": np.asarray(-5)},
        {"state.15": np.array([-1])},
        {"state.16": np.zeros(3, dtype=np.uint32)},
        {"state.16": np.zeros(2)},
        {"state.8": np.zeros((300, 1, 1, 2))},
        {"state.3": None},
    ],
)
def test_runs(changes, tmp_path):
    with pytest.raises(EarnshawError, match="cannot read") as error:
        ew.load_run(with_arrays("run-gd.npz", tmp_path, **changes))
    one_line(error)


@pytest.mark.parametrize(
    "changes",
    [
        {"bound": np.array([0, 2])},
        {"group": np.array([0, 2])},
        {"stop": np.asarray("never")},
        {"energy": np.full(108, np.nan)},
        {"times": held("path.npz", "times")[::-1]},
        {"times": held("path.npz", "times") - 1},
        {"positions": np.full((108, 2, 2), np.inf)},
        {"positions": np.zeros((108, 2, 3))},
        {"events": np.asarray('[{"time": 1, "kind": "bind", "unit": 7, "partner": 0, "side": 1}]')},
        {"events": np.asarray('[{"time": 1, "kind": "eat", "unit": 0, "partner": 0, "side": 1}]')},
        {"events": np.asarray("[" * 2000 + "]" * 2000)},
        {"pause.leader": np.array([0, 1, 2, 9])},
        {"pause.leader": np.array([0, 1, 2])},
        {"pause.side": np.zeros(4)},
        {"pause.next_step": np.asarray(-1.0)},
        {"pause.time": np.asarray(1e-3)},
        {"pause.rtol": np.asarray(0.5)},
        {"pause.wrt": np.asarray("all")},
        {"pause.speeds": np.full(2, np.nan)},
        {"pause.speeds": np.zeros(3)},
        {"steps": np.asarray(-3)},
    ],
)
def test_paths(changes, tmp_path):
    with pytest.raises(EarnshawError, match="cannot read") as error:
        ew.load_path(with_arrays("path.npz", tmp_path, **changes))
    one_line(error)


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": settings("hunt.npz", starts=5)},
        {"settings": settings("hunt.npz", units=3)},
        {"settings": settings("hunt.npz", fixed_charges=1)},
        {"settings": settings("hunt.npz", tolerance="small")},
        {"status": np.array([0, 1, 2, 3])},
        {"iterations": np.full(4, -1)},
        {"next_try": np.array([0.5] * 4)},
        {"step_size": np.array([1.0, 1.0, np.nan, 1.0])},
        {"step_size": np.array([1.0, 1.0, 1.0, -1.0])},
        {"positions": np.full((4, 2, 2), np.nan)},
        {"positions": np.ones((4, 2, 2))},  # not on the sphere
        {"teacher.dim": np.asarray(3)},
        {"teacher.weights": np.ones(3)},
        {"teacher.parameters": np.asarray('{"name": "x"}')},
        {"teacher.parameters": np.asarray('{"self": 1}')},
    ],
)
def test_hunts(changes, tmp_path):
    with pytest.raises(EarnshawError, match="cannot read") as error:
        ew.hunt(resume=with_arrays("hunt.npz", tmp_path, **changes))
    one_line(error)


def with_fields(name: str, folder: Path, **changes) -> Path:
    fields = json.loads((DATA / name).read_text())
    (folder / name).write_text(json.dumps(fields | changes))
    return folder / name


@pytest.mark.parametrize(
    ("name", "load", "changes"),
    [
        ("teacher.json", ew.load_teacher, {"parameters": {"radius": [[0.1]]}}),
        ("teacher.json", ew.load_teacher, {"parameters": {"positions": 1}}),
        ("teacher.json", ew.load_teacher, {"parameters": {"core": 3}}),
        ("teacher.json", ew.load_teacher, {"width": 1e400}),
        ("teacher.json", ew.load_teacher, {"on": ["space"]}),
        ("teacher.json", ew.load_teacher, {"dim": 10**12}),
        ("teacher.json", ew.load_teacher, {"activation": "x" * 10**6}),
        ("formula-teacher.json", ew.load_teacher, {"potential": "(" * 5000}),
        ("model.json", load_model, {"scores": {"r2": "good"}}),
        ("model.json", load_model, {"inputs": ["x", "x"]}),
        ("witness.json", load_witness, {"instance": {"rate": 1.0}}),
        ("witness.json", load_witness, {"instance": {"rate": [1.0], "distance": 1.0}}),
        ("witness.json", load_witness, {"instance": {"rate": "1", "distance": 1.0}}),
        ("witness.json", load_witness, {"seed": -1}),
        ("witness.json", load_witness, {"index": 2**70}),
        ("witness.json", load_witness, {"statement": "none"}),
    ],
)
def test_json_files(name, load, changes, tmp_path):
    with pytest.raises(EarnshawError, match="cannot read") as error:
        load(with_fields(name, tmp_path, **changes))
    one_line(error)


@pytest.mark.parametrize(
    "outcome",
    [
        [1],
        {"name": "x"},
        [{"numbers": {"a": [1]}}],
        [{"numbers": {"a": ["x", "y"]}}],
        [{"held": -1}],
        [{"role": "theirs"}],
        [{"notes": [1]}],
        [{"witness": 5}],
        [],
    ],
)
def test_claims(outcome, tmp_path):
    claims = json.loads((DATA / "claims.json").read_text())["claims"]
    name = "psd-necessary"
    if isinstance(outcome, list) and outcome and isinstance(outcome[0], dict):
        outcome = [claims[name][0] | outcome[0], *claims[name][1:]]
    path = with_fields("claims.json", tmp_path, claims=claims | {name: outcome})
    with pytest.raises(EarnshawError, match="cannot read") as error:
        load_results(path, {"preset": "quick", "instances": 2, "seed": 0})
    one_line(error)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('""\n', "columns"),
        (",,,\n1,2,3,4\n", "numbers only"),
        ("x,x\n1,2\n", "2 columns 'x'"),
        ("x," * 100_001 + "y\n1\n", "columns; allowed: from 1 to 100000"),
        ("x,y\n" + "1,a\n" * 30_000 + f"1,{'z' * 100_000}\n", "need .* of memory"),
        ("x\n" + "z" * 200_000 + "\n", "not a table"),
    ],
)
def test_tables(content, words, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(EarnshawError, match=words) as error:
        read_table(path)
    one_line(error)


@pytest.mark.parametrize(
    "content",
    [
        "x = " + "[" * 20_000 + "]" * 20_000,
        "x = " + "[" * 60 + "]" * 60,
        "kind = 'train'\nseeds = " + "9" * 5000,
        "kind = 'train'\nseeds = 10000000000",
        "kind = 'train'\nname = 1979-05-27",
        "kind = 1979-05-27",
        "kind = ['train']",
        "kind = 'train'\nseeds = nan",
        "kind = 'train'\nseeds = {a = 1}",
        "kind = 'train'\n[grid]\nself = [1]",
        "kind = 'train'\n[grid]\nwidth = [[1]]",
        "kind = 'train'\n[fixed]\nwidth = 'x'",
        "kind = 'learn'\n[fixed]\nparameters = {name = 'x'}",
        "kind = 'learn'\n[fixed]\nparameters = {units = 3}",
        "kind = 'learn'\n[fixed]\nparameters = {self = 3}",
        "kind = 'learn'\n[fixed]\nparameters = {seed = 3}",
        "kind = 'learn'\n[fixed]\nparameters = 3",
        "kind = 'learn'\n[fixed]\nseed = 1",
        "kind = 'learn'\n[fixed]\nunits = 'all'",
        "kind = 'train'\nname = '" + "x" * 2**20 + "'",
    ],
)
def test_sweeps(content, tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(content)
    with pytest.raises(EarnshawError, match=r"cannot (read|use)") as error:
        load_plan(path)
    one_line(error)
