"""Paths as files: enough to look at and to go on. NPZ.

The fields of the file, beside its header:

    times, positions, weights, energy, bound, group, steps, stop, events   as in `Path`
    teacher.*   the teacher
    student.*   the student at the end, where its activation is not the teacher's
    pause.*     what is needed to go on, as in `Pause`; a path that cannot go on has none
    settings    whatever the writer adds
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from earnshaw.charges.network_file import STUDENT, TEACHER, network_fields, student_of, teacher_of
from earnshaw.dynamics.path import Encounter, Path, Pause, Stop
from earnshaw.dynamics.path import Kind as Meeting
from earnshaw.dynamics.settings import Settings
from earnshaw.errors import EarnshawError
from earnshaw.files.checkpoints import Checkpoints
from earnshaw.files.fields import Group, array, integer, integers, number, part, parts, table, text
from earnshaw.files.kind import Fields, Kind

PLAIN = (  # fields of the file that are fields of a `Path`; its energy may be infinite at its end
    array("times", "times"),
    array("positions", "times", "units", "dim"),
    array("weights", "times", "units", "outputs?"),
    array("energy", "times", finite=False),
    integers("bound", "units", low=-1),
    integers("group", "units", low=0),
    integer("steps", low=0),
    text("stop", allowed=get_args(Stop)),
)
PAUSE = Group(
    (
        integers("leader", "charges", low=0),
        array("side", "charges"),
        array("speeds", "units", finite=False),
        array("top_speeds", "units", finite=False),
        number("next_step", finite=False),
        *(number(name) for name in ("time", "rtol", "atol")),
        *(text(name) for name in ("wrt", "objective")),
        text("solver", optional=True),
    )
)
EVENT = Group(
    (
        number("time", low=0.0),
        text("kind", allowed=get_args(Meeting)),
        integer("unit", low=0),
        integer("partner", low=0),
        integer("side", low=-1, high=1),
    )
)
ASKED = ("time", "wrt", "objective", "rtol", "atol", "solver")  # of a `Pause`
PATH = Kind(
    (
        *PLAIN,
        part("teacher", TEACHER),
        part("student", STUDENT, optional=True),
        parts("events", EVENT),
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
    """Write a path, whole or not at all.

    Parameters
    ----------
    file
        FILE.npz.
    path
        of `simulate`.
    settings
        plain values to keep with it, if any.

    Examples
    --------
    >>> import earnshaw as ew, os, tempfile
    >>> proton = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> path = ew.simulate(proton, ew.Student([[1.0, 0.0]], [1.0]), time=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "path.npz")
    ...     ew.save_path(file, path, {"name": "a trial"})
    ...     again, settings = ew.load_path(file)
    >>> (again.energy == path.energy).all(), settings
    (np.True_, {'name': 'a trial'})
    """
    PATH.save(file, _fields(path, settings or {}))


def path_checkpoints(
    file: str | os.PathLike[str], settings: dict[str, Any]
) -> Checkpoints[Callable[[], Path]]:
    """What keeps a path in its file while it grows, as the `checkpoint` of `simulate`."""
    return Checkpoints(PATH, file, lambda path_so_far: _fields(path_so_far(), settings))


def _fields(path: Path, settings: dict[str, Any]) -> Fields:
    fields = {field.name: getattr(path, field.name) for field in PLAIN}
    fields["teacher"] = network_fields(path.teacher)
    if path.kind is not None:
        fields["student"] = network_fields(path.student)
    fields["events"] = [event._asdict() for event in path.events]
    fields["settings"] = settings
    fields["pause"] = None if path.pause is None else path.pause._asdict()
    return fields


def load_path(file: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """The path in a file and its settings, or one line on what is wrong with it.

    Parameters
    ----------
    file
        of `save_path`, or of ``earnshaw simulate --save``.

    Returns
    -------
    tuple
        the `Path`, and the settings that were kept with it.

    Examples
    --------
    >>> import earnshaw as ew, os, tempfile
    >>> proton = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> path = ew.simulate(proton, ew.Student([[1.0, 0.0]], [1.0]), time=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "path.npz")
    ...     ew.save_path(file, path)
    ...     again, settings = ew.load_path(file)
    >>> longer = ew.extend(again, time=2.0)  # to the last bit as if it had not been stored
    """
    return PATH.load(file, _path)


def _path(fields: Fields) -> tuple[Path, dict[str, Any]]:
    teacher = teacher_of(fields["teacher"])
    _check_path(fields, teacher.units, teacher.dim)
    teacher.manifold.check(fields["positions"].reshape(-1, teacher.dim), "student unit")
    if "pause" in fields:
        _check_pause(fields["pause"], len(fields["bound"]), teacher.units, fields["times"][-1])
    path = Path(
        **{field.name: fields[field.name] for field in PLAIN},
        teacher=teacher,
        events=tuple(Encounter(**event) for event in fields["events"]),
        pause=Pause(**fields["pause"]) if "pause" in fields else None,
        kind=student_of(fields["student"]).unit_kind if "student" in fields else None,
    )
    return path, fields["settings"]


def _check_path(fields: Fields, protons: int, dim: int) -> None:
    """That the fields fit together: times in order, and every number of a unit that of one."""
    times, (_, units, own_dim) = fields["times"], fields["positions"].shape
    if own_dim != dim or units == 0 or len(times) == 0:
        raise EarnshawError("its positions are not those of units beside its teacher's")
    if times[0] != 0 or np.any(np.diff(times) < 0):
        raise EarnshawError("its times do not grow from 0 on")
    if not np.isfinite(fields["energy"][0]) or np.any(np.isnan(fields["energy"])):
        raise EarnshawError("its energy is not finite at the start, or is not a number")
    if np.any(fields["bound"] >= protons) or np.any(fields["group"] >= units):
        raise EarnshawError("it has units that are bound to what is not there")
    for event in fields["events"]:
        partners = protons if event["kind"] in ("bind", "release") else units
        if event["unit"] >= units or event["partner"] >= partners or event["side"] == 0:
            raise EarnshawError("it has events of units that are not there")


def _check_pause(pause: Fields, units: int, protons: int, last: float) -> None:
    """That a path can go on from here: what was asked of it, and who shares whose place."""
    Settings(**{name: pause[name] for name in ASKED if name in pause})
    speeds, step, leader = (pause[name] for name in ("speeds", "next_step", "leader"))
    if (
        len(speeds) != units
        or len(leader) != units + protons
        or not np.all(np.abs(pause["side"]) == 1)
    ):
        raise EarnshawError("its pause is not that of its units")
    if np.any(leader >= len(leader)):
        raise EarnshawError("it has units that share a place with what is not there")
    if pause["time"] < last or not (np.isnan(step) or 0 < step < np.inf):
        raise EarnshawError("its pause has no time left, or no step to go on with")
    if not (np.all(speeds >= 0) and np.all(pause["top_speeds"] >= 0)):
        raise EarnshawError("its pause has speeds that are none")
