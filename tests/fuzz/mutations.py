"""Damaged and hostile files: pure functions from the bytes of a file, and a generator, to others.

`damaged` knows no format: bits flip, ends and middles are lost, pieces are copied to where they do
not belong. The others know one, and change a value in a file that is otherwise in order: that is
what gets past a reader which only looks whether a file can be parsed.
"""

from __future__ import annotations

import copy
import io
import json
import sqlite3
import tempfile
import tomllib
import warnings
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator
Mutation = Callable[[bytes, Rng], bytes]


class Raw(str):
    """A value that is written as it is, whether the format has such a value or not."""


DEEP = 100_000  # lists in each other: no reader goes there
NUMBERS = [
    *(0, 1, -1, 2, 3, 7, 2**31, -(2**31), 2**40, 2**53 + 1, 2**62, 2**63, 2**64 + 1, 10**30),
    *(0.0, -0.0, 0.5, 1.5, -0.5, 1e-17, 5e-324, 1e-300, 1e100, 1e300, 1.7e308, -1e308),
    *(Raw("1e400"), Raw("-1e400"), Raw("NaN"), Raw("Infinity"), Raw("-Infinity")),
    *(Raw("9" * 5000), Raw("1e-400"), Raw("-" + "9" * 400)),
]
TEXTS = [
    *("", " ", "x", "name", "self", "width", "nan", "1", "space", "sphere", "full", "both", "gd"),
    *("node-wise", "relu", "gaussian", "hermite-4", "sin", "rho^2", "exp(", "r", "x1", "a\nb"),
    *("\ud800", "\0", "x" * 20_000, "[/b]", "\u2028", "../../x", "weights", "positions"),
    *("'; DROP TABLE runs; --", "__import__('os')", "\u202e", "\U0001f600"),
]
NAMES = ["name", "self", "units", "seed", "activation", "width", "dim", "kinks", "max_norm", "x"]
BOXES = [
    *(None, True, False, [], {}, [[]], [None], [1, 2], [[1.0], [2.0, 3.0]], ["a"], {"a": 1}),
    *({"name": 1}, {"self": 1}, {"width": 2.0}, {"radius": 0.3}, [0.0] * 300, list(range(40))),
    *([[0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], {"": None}, {"x": {"x": {"x": []}}}, "x" * 300_000),
]


def damaged(content: bytes, rng: Rng) -> bytes:
    """Some bytes other than they were."""
    data, size = bytearray(content), len(content)
    which = rng.integers(6)
    if which == 0:
        for _ in range(rng.integers(1, 9)):
            data[rng.integers(size)] ^= 1 << int(rng.integers(8))
    elif which == 1:
        return bytes(data[: rng.integers(size)])
    elif which == 2:
        start, length = rng.integers(size), rng.integers(1, 200)
        data[start : start + length] = rng.bytes(length)
    elif which == 3:  # a piece of it somewhere else
        start, length, to = rng.integers(size), rng.integers(1, 500), rng.integers(size)
        data[to:to] = data[start : start + length]
    elif which == 4:
        start = rng.integers(size)
        del data[start : start + rng.integers(1, 500)]
    else:
        start = rng.integers(size)
        data[start : start + rng.integers(1, 200)] = b"\0" * int(rng.integers(1, 200))
    return bytes(data)


# --- trees of values, as in JSON and TOML ---------------------------------------------------------


def _one(choices: list[Any], rng: Rng) -> Any:
    return choices[rng.integers(len(choices))]


def _places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value of a tree is; of long lists the first and last few only."""
    found = [path] if path else []
    if isinstance(tree, dict):
        for key, value in tree.items():
            found += _places(value, (*path, key))
    elif isinstance(tree, list):
        for i in {*range(min(3, len(tree))), *range(max(0, len(tree) - 2), len(tree))}:
            found += _places(tree[i], (*path, i))
    return found


def near(value: Any, rng: Rng) -> Any:
    """Another number close to a number: its last bit, its sign, ten times as much."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int):
        return _one([value + 1, value - 1, -value, 10 * value, float(value)], rng)
    return _one(
        [float(np.nextafter(value, np.inf)), -value, 10 * value, value / 3, int(value)], rng
    )


def hostile(value: Any, rng: Rng) -> Any:
    """Something else in place of a value; often of its own type, so that it gets further."""
    which = rng.integers(10)
    if which < 2:
        return near(value, rng)
    if which == 2:
        return _one(NUMBERS, rng)
    if which < 6:
        same = {str: TEXTS, int: NUMBERS, float: NUMBERS}.get(type(value), BOXES)
        return copy.deepcopy(_one(same, rng))  # what is changed further must not be the table's own
    if which == 6:
        return _one(TEXTS, rng)
    if which == 7:
        depth = int(_one([3, 20, 40, 900, DEEP], rng))
        return Raw("[" * depth + "]" * depth)
    if which == 8:
        return [value, value] if rng.integers(2) else {"x": value}
    return copy.deepcopy(_one(BOXES, rng))


def changed(tree: Any, rng: Rng) -> Any:
    """The tree with one to three values changed, taken away, doubled, renamed or moved."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = _places(tree)
        if not places:
            return hostile(tree, rng)
        *path, last = _one(places, rng)
        inner = tree
        for step in path:
            inner = inner[step]
        which = rng.integers(10)
        if which < 7:
            inner[last] = hostile(inner[last], rng)
        elif which == 7:
            del inner[last]
        elif which == 8 and isinstance(inner, dict):
            inner[_one([*NAMES, *inner], rng)] = inner.pop(last)
        elif isinstance(inner, dict):
            inner[_one(NAMES, rng)] = hostile(inner[last], rng)
        else:
            inner.insert(int(rng.integers(len(inner) + 1)), inner[last])
    return tree


def written(tree: Any, twice: str | None = None) -> str:
    """A tree as JSON; the name `twice` occurs twice wherever it does once."""
    if isinstance(tree, Raw):
        return str(tree)
    if isinstance(tree, dict):
        pairs = [(key, value) for key, value in tree.items() for _ in range(1 + (key == twice))]
        body = ", ".join(f"{json.dumps(str(key))}: {written(value, twice)}" for key, value in pairs)
        return "{" + body + "}"
    if isinstance(tree, (list, tuple)):
        return "[" + ", ".join(written(value, twice) for value in tree) + "]"
    return json.dumps(tree)


def in_json(content: bytes, rng: Rng) -> bytes:
    """JSON with other values."""
    tree = changed(json.loads(content), rng)
    twice = None
    if rng.integers(20) == 0 and isinstance(tree, dict) and tree:
        twice = _one(list(tree), rng)
    return written(tree, twice).encode(errors="surrogatepass")


# --- NPZ ------------------------------------------------------------------------------------------

DTYPES = ["f4", "f2", ">f8", "i8", ">i4", "u8", "i1", "?", "c16", "U5", "S3", "O", "M8[s]", "f16"]
FILLS = [
    *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 1e308, -1e308, 1e-308, 5e-324, 1e17),
    *(2**31, 2**40, 2.0**62, -(2.0**62), 1e4),
]
SMALL = [-5, -2, -1, 0, 1, 2, 3, 4, 5, 7, 10, 64, 300]  # for integers, which count something


def other_array(array: np.ndarray, rng: Rng) -> np.ndarray:
    """An array of another type or shape, or with other numbers in it."""
    which = rng.integers(10)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if array.dtype.kind == "U" and array.ndim == 0 and which:
            return _other_text(array, rng)
        if which == 0 or array.dtype.kind not in "biuf":
            return _cast(array, str(_one(DTYPES, rng)))
        if which < 3:
            return _reshaped(array, rng)
        if which < 9 and array.size:
            return _refilled(array, rng)
        return rng.permutation(array.ravel()).reshape(array.shape)


def _refilled(array: np.ndarray, rng: Rng) -> np.ndarray:
    """With other numbers in some places; mostly of a size that gets past the first look."""
    array = array.copy()
    some = rng.integers(array.size, size=int(_one([1, 1, 1, 2, array.size], rng)))
    if array.dtype.kind == "f" and rng.integers(2):
        array.flat[some] *= _one([-1.0, 0.0, 1.0 + 1e-15, 1.1, 10.0, 1e-8, 1e8, 1e150], rng)
        return array
    fill = _one(FILLS if array.dtype.kind == "f" or rng.integers(4) == 0 else SMALL, rng)
    if array.dtype.kind != "f" and not np.isfinite(fill):
        fill = -1.0
    array.flat[some] = np.asarray(fill).astype(array.dtype)
    return array


def _cast(array: np.ndarray, dtype: str) -> np.ndarray:
    try:
        return array.astype(dtype)
    except (TypeError, ValueError, RuntimeError):
        return np.zeros(array.shape, dtype)


def _reshaped(array: np.ndarray, rng: Rng) -> np.ndarray:
    return _one(
        [
            array.ravel(),
            array[None],
            array[..., None],
            array.T,
            np.asfortranarray(array),
            np.zeros(()),
            np.zeros((0, *array.shape[1:])),
            array[:-1] if array.ndim else array,
            np.concatenate([array, array]) if array.ndim else array,
            np.zeros((1,) * 12),
            np.resize(array, 5000),
        ],
        rng,
    )


def _other_text(array: np.ndarray, rng: Rng) -> np.ndarray:
    """JSON inside of an NPZ file, or a plain text."""
    text = str(array)
    if text[:1] in "{[":
        try:
            text = in_json(text.encode(), rng).decode(errors="replace")
            return np.asarray(text if len(text) < 200_000 else text[:200_000])
        except json.JSONDecodeError:
            pass
    return np.asarray(_one([t for t in TEXTS if t != "\ud800"], rng))


def in_npz(content: bytes, rng: Rng) -> bytes:
    """An archive with other arrays, or with one less, twice, or under another name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    for _ in range(rng.choice([1, 1, 2])):
        if not entries:
            break
        which, i = rng.integers(12), int(rng.integers(len(entries)))
        name, data = entries[i]
        if which < 8:
            with io.BytesIO(data) as file:
                try:
                    array = np.lib.format.read_array(file)
                except Exception:  # its header was damaged just before, and NumPy may say so anyhow
                    continue
            entries[i] = name, _npy(other_array(array, rng))
        elif which == 8:
            del entries[i]
        elif which == 9:
            entries[i] = _one(entries, rng)[0], data
        elif which == 10:  # a header that lies
            digits = [at for at, byte in enumerate(data[10:128], 10) if chr(byte).isdigit()]
            spoilt = bytearray(data)
            if digits:
                spoilt[_one(digits, rng)] = ord(str(rng.integers(10)))
            entries[i] = name, bytes(spoilt)
        else:
            entries[i] = name, damaged(data, rng)
    out = io.BytesIO()
    packing = zipfile.ZIP_DEFLATED if rng.integers(4) == 0 else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", packing) as archive:
        warnings.simplefilter("ignore")  # of a name that occurs twice
        for name, data in entries:
            entry = zipfile.ZipInfo(name)  # of 1980: the same bytes at any time of day
            entry.compress_type = packing
            archive.writestr(entry, data)
    return out.getvalue()


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, allow_pickle=True)
    return out.getvalue()


# --- stores, TOML, tables -------------------------------------------------------------------------

SQL_VALUES = [
    *(None, -1, 0, 1, 2**62, 1e308, float("inf"), "", "x", "{", "[]", "{}", "null", "1e999"),
    *('{"a": 1}', '{"error": "x"}', '{"width": {}}', "[" * 3000, "NaN", b"", b"PK\x03\x04", b"x"),
    *('{"error": [1]}', '{"error": NaN}', "\x00", "[/b]", "x" * 50_000, b"\x80\xff"),
]


def in_sqlite(content: bytes, rng: Rng) -> bytes:
    """A store with other values in it, or another schema."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        path.write_bytes(content)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            for _ in range(rng.choice([1, 1, 2])):
                try:
                    _alter(db, rng)
                except sqlite3.Error:
                    continue
            db.execute("PRAGMA journal_mode = DELETE")
        return path.read_bytes()


def _alter(db: sqlite3.Connection, rng: Rng) -> None:
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = _one(names, rng)
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    which = rng.integers(16)
    if which < 9:
        value = _one(SQL_VALUES, rng)
        some = "" if rng.integers(2) else " WHERE rowid % 2 = 0"
        db.execute(f"UPDATE OR IGNORE {table} SET {_one(columns, rng)} = ?{some}", (value,))
    elif which == 9:
        pragma = _one(["user_version", "application_id"], rng)
        db.execute(f"PRAGMA {pragma} = {_one([0, 1, 2, -1, 99, 2**31 - 1], rng)}")
    elif which == 10:
        db.execute(f"DELETE FROM {table}")
    elif which == 11:
        db.execute(f"DROP TABLE {table}")
    elif which == 12:
        db.execute(f"ALTER TABLE {table} RENAME TO old")
        db.execute(f"CREATE VIEW {table} AS SELECT * FROM old")
    elif which == 13:
        db.execute(f"ALTER TABLE {table} RENAME COLUMN {_one(columns, rng)} TO other")
    elif which == 14:
        db.execute(f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END")
    else:
        db.execute(f"DROP TABLE {table}")
        db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")


def in_toml(content: bytes, rng: Rng) -> bytes:
    """TOML with other values."""
    tree = changed(tomllib.loads(content.decode()), rng)
    if rng.integers(6) == 0 and isinstance(tree, dict):
        tree[_one([*tree, *NAMES], rng)] = Raw(
            _one(["1979-05-27", "07:32:00", "nan", "-inf", "0xff", "1_000", "'''a\nb'''"], rng)
        )
    return _toml(tree).encode(errors="surrogatepass")


def _toml(tree: Any) -> str:
    if not isinstance(tree, dict):
        return f"x = {_inline(tree)}\n"
    return "".join(f"{json.dumps(str(key))} = {_inline(value)}\n" for key, value in tree.items())


def _inline(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value).replace("NaN", "nan").replace("Infinity", "inf")
    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(str(k))} = {_inline(v)}" for k, v in value.items())
        return "{" + pairs + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return '"none"' if value is None else json.dumps(value, ensure_ascii=False)


CELLS = [
    "",
    "NaN",
    "inf",
    "1e400",
    "-",
    "x",
    "1_0",
    '"',
    '""',
    "\0",
    "9" * 400,
    "0x1",
    "\u00b2",
    ";",
]


def in_csv(content: bytes, rng: Rng) -> bytes:
    """A table with other cells."""
    rows = [line.split(",") for line in content.decode().splitlines()]
    for _ in range(rng.integers(1, 4)):
        row = _one(rows, rng)
        which = rng.integers(5)
        if which < 3 and row:
            row[rng.integers(len(row))] = _one(CELLS, rng)
        elif which == 3 and row:
            row.pop()
        else:
            row.append(_one([*CELLS, "y" * 100_000], rng))
    return "\n".join(",".join(row) for row in rows).encode()
