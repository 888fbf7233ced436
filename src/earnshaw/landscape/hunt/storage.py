"""Hunts as files: enough to go on, with as many or more starts and iterations.

An archive (`charges/archive.py`) of the kind "earnshaw-landscape" with the fields

    settings    all that was asked for, as JSON text
    teacher.*   the teacher
    status      of each start: 0 running, 1 arrived, 2 out of iterations
    next_try    the iteration from which on Newton's method is tried
    positions, weights, value, by_positions, by_weights, step_size, iterations    (`walkers.py`)
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from earnshaw.charges.archive import ENDING, reading, teacher_fields, write_archive
from earnshaw.charges.network import Teacher
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable
from earnshaw.landscape.hunt.search import Search
from earnshaw.landscape.hunt.settings import Settings, settings_of
from earnshaw.landscape.hunt.walkers import Walkers

KIND = "earnshaw-landscape"
EVERY = 5.0  # seconds between checkpoints


class Keeper:
    """Writes a hunt to its file, now and then and at the end."""

    def __init__(self, path: str | os.PathLike[str], settings: Settings, teacher: Teacher) -> None:
        self.path = Path(path)
        check_writable(self.path, (ENDING,))
        self.head = {"settings": settings.text(), **teacher_fields(teacher)}
        self.last = time.monotonic()

    def now_and_then(self, search: Search) -> None:
        """Write, if the last time is long enough ago."""
        if time.monotonic() - self.last >= EVERY:
            self.write(search)

    def write(self, search: Search) -> None:
        """Write the whole file anew, or leave the old one as it is."""
        state = {"status": search.status, "next_try": search.next_try}
        write_archive(self.path, KIND, self.head | state | search.walkers._asdict())
        self.last = time.monotonic()


def read_hunt(path: str | os.PathLike[str]) -> tuple[Settings, Teacher, Search]:
    """What the file of a hunt holds, or one line on what is wrong with it."""
    with reading(path, KIND) as (teacher, fields):
        settings = settings_of(fields["settings"])
        walkers = Walkers(*(np.array(fields[name]) for name in Walkers._fields))
        search = Search(walkers, np.array(fields["status"]), np.array(fields["next_try"]))
        units, count = settings.student_units(teacher), settings.starts
        places, charges = (count, units, teacher.dim), (count, units)
        shapes = (places, charges, (count,), places, charges, (count,), (count,))
        fits = all(part.shape == shape for part, shape in zip(walkers, shapes, strict=True))
        if not fits or search.status.shape != (count,) or search.next_try.shape != (count,):
            raise EarnshawError("its starts do not fit its settings")
        return settings, teacher, search
