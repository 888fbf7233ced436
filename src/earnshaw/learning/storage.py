"""Runs as files: enough to go on, and to look at.

An archive (`charges/archive.py`) of the kind "earnshaw-run" with the fields

    settings     all that was asked for, as JSON text
    teacher.*    the teacher
    start.*      the student that the run was given to start from, if any
    state.0 ...  the arrays of the run's state, in order

A run goes on from its file to the last bit as if it had never stopped.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from earnshaw.charges.archive import ENDING, reading, teacher_fields, write_archive
from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable
from earnshaw.learning.settings import Settings, settings_of

KIND = "earnshaw-run"
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
        self,
        path: str | os.PathLike[str],
        settings: Settings,
        teacher: Teacher,
        start: Student | None,
    ) -> None:
        self.path = Path(path)
        check_writable(self.path, (ENDING,))
        self.head = {"settings": settings.text(), **teacher_fields(teacher)}
        if start is not None:
            self.head |= {"start.positions": start.positions, "start.weights": start.weights}
        self.last = time.monotonic()

    def now_and_then(self, state: Any) -> None:
        """Write, if the last time is long enough ago."""
        if time.monotonic() - self.last >= EVERY:
            self.write(state)

    def write(self, state: Any) -> None:
        """Write the whole file anew, or leave the old one as it is."""
        leaves = {f"state.{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
        write_archive(self.path, KIND, self.head | leaves)
        self.last = time.monotonic()


def read_run(path: str | os.PathLike[str]) -> Stored:
    """What a run file holds, or one line on what is wrong with it."""
    with reading(path, KIND) as (teacher, fields):
        start = None
        if "start.positions" in fields:
            start = Student(fields["start.positions"], fields["start.weights"])
        leaves: list[np.ndarray] = []
        while (name := f"state.{len(leaves)}") in fields:
            leaves.append(np.asarray(fields[name]))
        return Stored(settings_of(fields["settings"]), teacher, start, leaves)


def restored(begun: Any, leaves: list[np.ndarray]) -> Any:
    """The state with the structure of `begun` and the stored arrays."""
    wanted, structure = jax.tree.flatten(begun)
    fits = len(wanted) == len(leaves) and all(
        old.ndim == new.ndim and np.can_cast(new.dtype, old.dtype, "same_kind")
        for old, new in zip(wanted, leaves, strict=True)
    )
    if not fits:
        raise EarnshawError("the stored state does not fit its settings")
    return jax.tree.unflatten(
        structure,
        [jax.numpy.asarray(new, old.dtype) for old, new in zip(wanted, leaves, strict=True)],
    )
