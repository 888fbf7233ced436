"""Paths as files: enough to look at and to go on; NPZ, never pickle.

format      "earnshaw-path"
version     1
times, positions, weights, energy, bound, group, steps, stop, events: as in `Path`
teacher.*   the fields of a teacher's file (`charges/storage.py`)
pause.*     what `go_on` needs
settings    whatever the writer adds, as JSON text
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from earnshaw.charges.network import Teacher
from earnshaw.charges.storage import TEACHER, fields_of, network_of
from earnshaw.dynamics.path import Encounter, Path, Pause
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable, write_whole

FORMAT, VERSION, ENDING = "earnshaw-path", 1, ".npz"
ARRAYS = ("times", "positions", "weights", "energy", "bound", "group")


def save_path(
    file: str | os.PathLike[str], path: Path, settings: dict[str, Any] | None = None
) -> None:
    """Write a path, whole or not at all."""
    place = FilePath(file)
    check_writable(place, (ENDING,))
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    fields |= {name: getattr(path, name) for name in (*ARRAYS, "steps", "stop")}
    fields["events"] = json.dumps([event._asdict() for event in path.events])
    fields["settings"] = json.dumps(settings or {})
    fields |= {f"teacher.{key}": value for key, value in fields_of(path.teacher).items()}
    if path.pause is not None:
        fields |= {f"pause.{key}": value for key, value in path.pause._asdict().items()}
    arrays = {
        key: np.asarray(json.dumps(value) if isinstance(value, dict) else value)
        for key, value in fields.items()
    }

    def write(name: str) -> None:
        with open(name, "wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]

    write_whole(place, write)


def load_path(file: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """The path in a file and its settings, or one line on what is wrong with it."""
    try:
        return _parsed(FilePath(file).read_bytes())
    except FileNotFoundError:
        why = "there is no such file"
    except OSError as error:
        why = error.strerror or str(error)
    except EarnshawError as error:
        why = str(error)
    except (KeyError, TypeError, ValueError):
        why = "it is not a path of earnshaw"
    raise EarnshawError(f"cannot read {str(file)!r}: {why}")


def _parsed(content: bytes) -> tuple[Path, dict[str, Any]]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            fields = {name: _plain(archive[name]) for name in archive.files}
    except Exception:
        # Foreign bytes: whatever the decoders of zip, deflate and NPY make of them.
        raise EarnshawError("not an NPZ file, a damaged one, or one with pickled objects") from None
    if fields["format"] != FORMAT:
        raise EarnshawError(f"its format is {fields['format']!r}; allowed: {FORMAT}")
    if fields["version"] != VERSION:
        raise EarnshawError(f"its version is {fields['version']}; allowed: {VERSION}")
    about = {name.removeprefix("teacher."): fields[name] for name in _under(fields, "teacher.")}
    if isinstance(text := about.get("parameters"), str):
        about["parameters"] = json.loads(text)
    teacher = network_of(about, (TEACHER,))
    assert isinstance(teacher, Teacher)
    held = {name.removeprefix("pause."): fields[name] for name in _under(fields, "pause.")}
    path = Path(
        **{name: fields[name] for name in (*ARRAYS, "steps", "stop")},
        teacher=teacher,
        events=tuple(Encounter(**event) for event in json.loads(fields["events"])),
        pause=Pause(**held) if held else None,
    )
    return path, json.loads(fields["settings"])


def _under(fields: dict[str, Any], prefix: str) -> list[str]:
    return [name for name in fields if name.startswith(prefix)]


def _plain(array: np.ndarray) -> Any:
    return array.item() if array.ndim == 0 else array
