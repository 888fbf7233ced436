"""Runs as files: enough to go on, and to look at. NPZ.

The fields of the file, beside its header:

    settings     all that was asked for
    teacher.*    the teacher
    start.*      the student that the run was given to start from, if any
    state.0 ...  the arrays of the run's state, in order

A run goes on from its file to the last bit as if it had never stopped.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.network_file import TEACHER, network_fields, student_of, teacher_of
from earnshaw.descent.loop import Loop
from earnshaw.errors import EarnshawError
from earnshaw.files.checkpoints import Checkpoints
from earnshaw.files.fields import Group, array, arrays, part, table
from earnshaw.files.kind import Fields, Kind
from earnshaw.learning.settings import Settings
from earnshaw.settings import settings_of

START = Group((array("positions", "units", "dim"), array("weights", "units")))
RUN = Kind(
    (
        table("settings"),
        part("teacher", TEACHER),
        part("start", START, optional=True),
        arrays("state"),
    ),
    "earnshaw-run",
    endings=(".npz",),
)
ROOM = 8  # the place of `State.room` among the arrays of a `Loop`; files of old have none


@dataclass(frozen=True)
class Stored:
    """What a run file holds."""

    settings: Settings
    teacher: Teacher
    start: Student | None
    leaves: list[np.ndarray]


def run_checkpoints(
    path: str | os.PathLike[str], settings: Settings, teacher: Teacher, start: Student | None
) -> Checkpoints[Any]:
    """What keeps the state of a run, a pytree, in its file."""
    head: Fields = {"settings": dataclasses.asdict(settings), "teacher": network_fields(teacher)}
    if start is not None:
        head["start"] = {"positions": start.positions, "weights": start.weights}
    return Checkpoints(RUN, path, lambda state: head | {"state": jax.tree.leaves(state)})


def read_run(path: str | os.PathLike[str]) -> Stored:
    """What a run file holds, or one line on what is wrong with it."""
    return RUN.load(path, _stored)


def _stored(fields: Fields) -> Stored:
    start = student_of(fields["start"]) if "start" in fields else None
    settings = settings_of(Settings, fields["settings"], "a run")
    return Stored(settings, teacher_of(fields["teacher"]), start, fields["state"])


def restored(begun: Any, leaves: list[np.ndarray]) -> Any:
    """The state with the structure of `begun` and the stored arrays.

    Their shapes are those of `begun`, but that a run which has made room for more units, or began
    with room for fewer, has so many more or fewer rows in every array.
    """
    wanted, structure = jax.tree.flatten(begun)
    if isinstance(begun, Loop) and len(leaves) == len(wanted) - 1:
        leaves = [*leaves[:ROOM], np.asarray(wanted[ROOM]), *leaves[ROOM:]]
    pairs = list(zip(wanted, leaves, strict=False))
    more = {new.shape[0] - old.shape[0] for old, new in pairs if old.ndim and new.ndim}
    fits = (
        len(wanted) == len(leaves)
        and len(more) == 1
        and all(new.shape[0] for new in leaves if new.ndim)
        and all(
            old.ndim == new.ndim
            and old.shape[1:] == new.shape[1:]
            and np.can_cast(new.dtype, old.dtype, "same_kind")
            for old, new in pairs
        )
    )
    if not fits:
        raise EarnshawError("the stored state does not fit its settings")
    return jax.tree.unflatten(structure, [jnp.asarray(new, old.dtype) for old, new in pairs])
