"""Files that hold a teacher among other things: runs and paths. NPZ, never pickle.

An archive has the fields `format` and `version`, those of a teacher's file (`storage.py`) under
names that begin with "teacher.", and whatever else its kind needs. Dictionaries and lists are held
as JSON text, numbers and texts as arrays of no dimension.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.charges.network import Teacher
from earnshaw.charges.storage import TEACHER, fields_of, network_of
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable, reading_file, write_whole

ENDING, VERSION = ".npz", 1
PREFIX = "teacher."


def teacher_fields(teacher: Teacher) -> dict[str, Any]:
    """The fields of a teacher under their names in an archive; refused if it cannot be stored."""
    return {PREFIX + name: value for name, value in fields_of(teacher).items()}


def write_archive(path: str | os.PathLike[str], kind: str, fields: dict[str, Any]) -> None:
    """Write the fields of an archive of this kind, whole or not at all."""
    path = Path(path)
    check_writable(path, (ENDING,))
    everything = {"format": kind, "version": VERSION} | fields
    arrays = {name: _array(value) for name, value in everything.items()}

    def write(name: str) -> None:
        with open(name, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    write_whole(path, write)


@contextmanager
def reading(path: str | os.PathLike[str], kind: str) -> Iterator[tuple[Teacher, dict[str, Any]]]:
    """The teacher and all fields of an archive; what is wrong with it becomes one line.

    Also what goes wrong inside the ``with``, where the fields are made into something.
    """
    with reading_file(path, f"it is not an {kind} file"):
        fields = _fields(Path(path).read_bytes(), kind)
        about = {
            name.removeprefix(PREFIX): value
            for name, value in fields.items()
            if name.startswith(PREFIX)
        }
        if isinstance(text := about.get("parameters"), str):
            about["parameters"] = json.loads(text)
        teacher = network_of(about, (TEACHER,))
        assert isinstance(teacher, Teacher)
        yield teacher, fields


def _array(value: Any) -> np.ndarray:
    return np.asarray(json.dumps(value) if isinstance(value, (dict, list)) else value)


def _fields(content: bytes, kind: str) -> dict[str, Any]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception:
        # Foreign bytes: whatever the decoders of zip, deflate and NPY make of them.
        raise EarnshawError("not an NPZ file, a damaged one, or one with pickled objects") from None
    fields = {name: a.item() if a.ndim == 0 else a for name, a in arrays.items()}
    if fields["format"] != kind:
        raise EarnshawError(f"its format is {fields['format']!r}; allowed: {kind}")
    if fields["version"] != VERSION:
        raise EarnshawError(f"its version is {fields['version']}; allowed: {VERSION}")
    return fields
