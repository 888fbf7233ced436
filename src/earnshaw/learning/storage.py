"""Runs as files: enough to go on, and to look at; NPZ, never pickle.

    format       "earnshaw-run"
    version      1
    settings     all that was asked for, as JSON text
    teacher.*    the fields of a teacher's file (`charges/storage.py`)
    start.*      the student that the run was given to start from, if any
    state.0 ...  the arrays of the run's state, in order

A run goes on from its file to the last bit as if it had never stopped.
"""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.storage import TEACHER, fields_of, network_of
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable, write_whole
from earnshaw.learning.settings import Settings, settings_of

FORMAT, VERSION, ENDING = "earnshaw-run", 1, ".npz"
EVERY = 5.0  # seconds between checkpoints


@dataclass(frozen=True)
class Stored:
    """What a run file holds."""

    settings: Settings
    teacher: Teacher
    start: Student | None
    leaves: list[np.ndarray]


class Keeper:
    """Writes the state of a run to its file, now and then and at the end."""

    def __init__(
        self, path: str | os.PathLike[str], settings: Settings, teacher: Teacher, start: Any
    ) -> None:
        self.path = Path(path)
        check_writable(self.path, (ENDING,))
        fields = {f"teacher.{key}": value for key, value in fields_of(teacher).items()}
        if start is not None:
            fields |= {"start.positions": start.positions, "start.weights": start.weights}
        self.head = {"format": FORMAT, "version": VERSION, "settings": settings.text()} | fields
        self.last = time.monotonic()

    def now_and_then(self, state: Any) -> None:
        """Write, if the last time is long enough ago."""
        if time.monotonic() - self.last >= EVERY:
            self.write(state)

    def write(self, state: Any) -> None:
        """Write the whole file anew, or leave the old one as it is."""
        leaves = {f"state.{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
        arrays = {key: _plain(value) for key, value in (self.head | leaves).items()}

        def write(name: str) -> None:
            with open(name, "wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]

        try:
            write_whole(self.path, write)
        except OSError as error:
            why = error.strerror or str(error)
            raise EarnshawError(f"cannot write {str(self.path)!r}: {why}") from None
        self.last = time.monotonic()


def read_run(path: str | os.PathLike[str]) -> Stored:
    """What a run file holds, or one line on what is wrong with it."""
    path = Path(path)
    try:
        return _parsed(path.read_bytes())
    except FileNotFoundError:
        raise EarnshawError(f"cannot read {str(path)!r}: there is no such file") from None
    except OSError as error:
        raise EarnshawError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except (EarnshawError, KeyError, TypeError, ValueError) as error:
        why = str(error) if isinstance(error, EarnshawError) else "it is not a run of earnshaw"
        raise EarnshawError(f"cannot read {str(path)!r}: {why}") from None


def restored(begun: Any, leaves: list[np.ndarray]) -> Any:
    """The state with the structure of `begun` and the stored arrays."""
    wanted, structure = jax.tree.flatten(begun)
    fits = len(wanted) == len(leaves) and all(
        old.ndim == new.ndim and old.dtype == new.dtype
        for old, new in zip(wanted, leaves, strict=True)
    )
    if not fits:
        raise EarnshawError("the stored state does not fit its settings")
    return jax.tree.unflatten(structure, [jax.numpy.asarray(leaf) for leaf in leaves])


def _plain(value: Any) -> np.ndarray:
    return np.asarray(json.dumps(value) if isinstance(value, dict) else value)


def _parsed(content: bytes) -> Stored:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception:
        # Foreign bytes: whatever the decoders of zip, deflate and NPY make of them.
        raise EarnshawError("not an NPZ file, a damaged one, or one with pickled objects") from None
    if str(arrays["format"]) != FORMAT:
        raise EarnshawError(f"its format is {str(arrays['format'])!r}; allowed: {FORMAT}")
    if int(arrays["version"]) != VERSION:
        raise EarnshawError(f"its version is {int(arrays['version'])}; allowed: {VERSION}")
    settings = settings_of(str(arrays["settings"]))
    fields = {
        name.removeprefix("teacher."): value.item() if value.ndim == 0 else value
        for name, value in arrays.items()
        if name.startswith("teacher.")
    }
    if isinstance(text := fields.get("parameters"), str):
        fields["parameters"] = json.loads(text)
    teacher = network_of(fields, (TEACHER,))
    assert isinstance(teacher, Teacher)
    start = None
    if "start.positions" in arrays:
        start = Student(arrays["start.positions"], arrays["start.weights"])
    leaves: list[np.ndarray] = []
    while (name := f"state.{len(leaves)}") in arrays:
        leaves.append(arrays[name])
    return Stored(settings, teacher, start, leaves)
