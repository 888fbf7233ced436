"""Hunts as files: enough to go on, with as many or more starts and iterations. NPZ.

The fields of the file, beside its header:

    settings    all that was asked for
    teacher.*   the teacher
    status      of each start: 0 running, 1 arrived, 2 out of iterations
    next_try    the iteration from which on Newton's method is tried
    positions, weights, value, by_positions, by_weights, step_size, iterations, room
                (`_walkers.py`); files of old have no room
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np

from earnshaw.charges.network import Teacher
from earnshaw.charges.network_file import TEACHER, network_fields, teacher_of
from earnshaw.errors import EarnshawError
from earnshaw.files.checkpoints import Checkpoints
from earnshaw.files.fields import array, integers, part, table
from earnshaw.files.kind import Fields, Kind
from earnshaw.landscape.hunting._search import Search, Status
from earnshaw.landscape.hunting._walkers import Walkers
from earnshaw.landscape.hunting.settings import Settings
from earnshaw.settings import settings_of

OF_WALKERS = (  # in the order of `Walkers`; slopes may be infinite where a start has diverged
    array("positions", "starts", "units", "dim"),
    array("weights", "starts", "units"),
    array("value", "starts", finite=False),
    array("by_positions", "starts", "units", "dim", finite=False),
    array("by_weights", "starts", "units", finite=False),
    array("step_size", "starts", finite=False),
    integers("iterations", "starts", low=0),
    array("room", "starts", "units", finite=False, optional=True),
)
HUNT = Kind(
    (
        table("settings"),
        part("teacher", TEACHER),
        integers("status", "starts", low=min(Status), high=max(Status)),
        integers("next_try", "starts", low=0),
        *OF_WALKERS,
    ),
    "earnshaw-landscape",
    endings=(".npz",),
)


def hunt_checkpoints(
    path: str | os.PathLike[str], settings: Settings, teacher: Teacher
) -> Checkpoints[Search]:
    """What keeps a hunt in its file."""
    head = {"settings": dataclasses.asdict(settings), "teacher": network_fields(teacher)}

    def fields(search: Search) -> Fields:
        state = {"status": search.status, "next_try": search.next_try}
        return head | state | search.walkers._asdict()

    return Checkpoints(HUNT, path, fields)


def read_hunt(path: str | os.PathLike[str]) -> tuple[Settings, Teacher, Search]:
    """What the file of a hunt holds, or one line on what is wrong with it."""
    return HUNT.load(path, _hunt)


def _hunt(fields: Fields) -> tuple[Settings, Teacher, Search]:
    settings = settings_of(Settings, fields["settings"], "a hunt")
    teacher = teacher_of(fields["teacher"])
    shape = (settings.starts, settings.student_units(teacher), teacher.dim)
    if fields["positions"].shape != shape:
        raise EarnshawError("its starts do not fit its settings")
    teacher.manifold.check(fields["positions"].reshape(-1, teacher.dim), "student unit")
    if not np.all(fields["step_size"] >= 0):
        raise EarnshawError("its step sizes are none; allowed: numbers >= 0")
    fields.setdefault("room", np.full(shape[:2], np.inf))
    if not np.all(fields["room"] >= 0):
        raise EarnshawError("its rooms are none; allowed: numbers >= 0")
    walkers = Walkers(*(fields[field.name] for field in OF_WALKERS))
    return settings, teacher, Search(walkers, fields["status"], fields["next_try"])
