"""Paths as files: enough to look at and to go on.

An archive (`charges/archive.py`) of the kind "earnshaw-path" with the fields

    times, positions, weights, energy, bound, group, steps, stop, events: as in `Path`
    teacher.*   the teacher
    pause.*     what `go_on` needs
    settings    whatever the writer adds, as JSON text
"""

from __future__ import annotations

import json
import os
from typing import Any

from earnshaw.charges.archive import reading, teacher_fields, write_archive
from earnshaw.dynamics.path import Encounter, Path, Pause

KIND = "earnshaw-path"
PLAIN = ("times", "positions", "weights", "energy", "bound", "group", "steps", "stop")


def save_path(
    file: str | os.PathLike[str], path: Path, settings: dict[str, Any] | None = None
) -> None:
    """Write a path, whole or not at all."""
    fields = {name: getattr(path, name) for name in PLAIN} | teacher_fields(path.teacher)
    fields["events"] = [event._asdict() for event in path.events]
    fields["settings"] = settings or {}
    if path.pause is not None:
        fields |= {f"pause.{name}": value for name, value in path.pause._asdict().items()}
    write_archive(file, KIND, fields)


def load_path(file: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """The path in a file and its settings, or one line on what is wrong with it."""
    with reading(file, KIND) as (teacher, fields):
        held = {name: fields.get(f"pause.{name}") for name in Pause._fields}
        path = Path(
            **{name: fields[name] for name in PLAIN},
            teacher=teacher,
            events=tuple(Encounter(**event) for event in json.loads(fields["events"])),
            pause=None if held["leader"] is None else Pause(**held),  # type: ignore[arg-type]
        )
        return path, json.loads(fields["settings"])
