"""Paths as files: enough to look at and to go on. NPZ.

The fields of the file, beside its header:

    times, positions, weights, energy, bound, group, steps, stop, events   as in `Path`
    teacher.*   the teacher
    pause.*     what is needed to go on, as in `Pause`; a path that cannot go on has none
    settings    whatever the writer adds
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from earnshaw.charges.network_file import TEACHER, network_fields, teacher_of
from earnshaw.dynamics.path import Encounter, Path, Pause
from earnshaw.files.checkpoints import Checkpoints
from earnshaw.files.fields import Group, array, integer, number, part, table, text, values
from earnshaw.files.kind import Fields, Kind

PLAIN = (  # fields of the file that are fields of a `Path`; a path may have diverged
    array("times", "times"),
    array("positions", "times", "units", "dim", finite=False),
    array("weights", "times", "units", finite=False),
    array("energy", "times", finite=False),
    array("bound", "units", integers=True),
    array("group", "units", integers=True),
    integer("steps"),
    text("stop"),
)
PAUSE = Group(
    (
        array("leader", "charges", integers=True),
        array("side", "charges"),
        array("speeds", "units", finite=False),
        array("top_speeds", "units", finite=False),
        number("next_step"),
        number("time"),
        text("wrt"),
        text("objective"),
        number("rtol"),
        number("atol"),
    )
)
PATH = Kind(
    (
        *PLAIN,
        part("teacher", TEACHER),
        values("events"),
        table("settings"),
        part("pause", PAUSE, optional=True),
    ),
    "earnshaw-path",
    endings=(".npz",),
    finite=False,
)


def save_path(
    file: str | os.PathLike[str], path: Path, settings: dict[str, Any] | None = None
) -> None:
    """Write a path, whole or not at all."""
    PATH.save(file, _fields(path, settings or {}))


def path_checkpoints(
    file: str | os.PathLike[str], settings: dict[str, Any]
) -> Checkpoints[Callable[[], Path]]:
    """What keeps a path in its file while it grows, as the `checkpoint` of `simulate`."""
    return Checkpoints(PATH, file, lambda path_so_far: _fields(path_so_far(), settings))


def _fields(path: Path, settings: dict[str, Any]) -> Fields:
    fields = {field.name: getattr(path, field.name) for field in PLAIN}
    fields["teacher"] = network_fields(path.teacher)
    fields["events"] = [event._asdict() for event in path.events]
    fields["settings"] = settings
    fields["pause"] = None if path.pause is None else path.pause._asdict()
    return fields


def load_path(file: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """The path in a file and its settings, or one line on what is wrong with it."""
    return PATH.load(file, _path)


def _path(fields: Fields) -> tuple[Path, dict[str, Any]]:
    path = Path(
        **{field.name: fields[field.name] for field in PLAIN},
        teacher=teacher_of(fields["teacher"]),
        events=tuple(Encounter(**event) for event in fields["events"]),
        pause=Pause(**fields["pause"]) if "pause" in fields else None,
    )
    return path, fields["settings"]
