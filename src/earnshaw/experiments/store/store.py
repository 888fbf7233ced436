"""The results of experiments in one SQLite file.

Every finished cell is committed at once and for good; `_opening.py` has how a file becomes a store.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.kind import Piece, Result
from earnshaw.experiments.store._opening import opened_to_read, opened_to_write
from earnshaw.experiments.store._rows import (
    OF_CELL,
    OF_CHECKPOINT,
    OF_RUN,
    Damaged,
    numbers_of,
    settings_of,
    typed,
)
from earnshaw.experiments.store.packing import pack, unpack

DEFAULT = "earnshaw.sqlite"
CELLS_OF_RUN = """
    FROM run_cells
    JOIN runs ON runs.id = run_cells.run
    JOIN settings ON settings.id = run_cells.setting
    LEFT JOIN cells ON cells.setting = run_cells.setting
        AND cells.seed = run_cells.seed AND cells.version = runs.version
    WHERE run_cells.run = ?
"""


@dataclass(frozen=True)
class Cell:
    """One setting with one seed, and what became of it (None: not finished)."""

    settings: dict[str, Any]
    seed: int
    numbers: dict[str, Any] | None
    error: str | None = None
    seconds: float | None = None
    finished: str | None = None
    packed: bytes | None = field(default=None, repr=False)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of its result."""
        try:
            return {} if self.packed is None else unpack(self.packed)
        except EarnshawError as error:
            raise EarnshawError(f"the arrays of seed {self.seed} are damaged: {error}") from None


@dataclass(frozen=True)
class StoredRun:
    """A sweep that was asked for, and how far it is."""

    id: int
    name: str
    kind: str
    version: str
    started: str
    cells: int
    done: int
    failed: int

    def summary(self) -> dict[str, Any]:
        """The fields as plain values: a row of `earnshaw runs --json`."""
        return dict(vars(self))


class Store:
    """An open store. Use `reading` or `writing` to get one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    # --- runs -------------------------------------------------------------------------------------

    def begin_run(
        self, name: str, kind: str, code: str, cells: Iterable[tuple[Mapping[str, Any], int]]
    ) -> int:
        """The number of the run of these cells; the old one if it was asked for before."""
        texts = [(canonical(settings), seed) for settings, seed in cells]
        plan = hashlib.sha256(json.dumps(texts).encode()).hexdigest()
        with self._db:
            version = self._version(code)
            row = self._db.execute(
                "SELECT id FROM runs WHERE name = ? AND version = ? AND plan = ?",
                (name, version, plan),
            ).fetchone()
            if row is not None:
                self._check_plan(int(row[0]), texts)
                return int(row[0])
            begun = self._db.execute(
                "INSERT INTO runs (name, kind, version, plan, started) VALUES (?, ?, ?, ?, ?)",
                (name, kind, version, plan, _now()),
            )
            ids = {text: self._setting(kind, text) for text in dict.fromkeys(t for t, _ in texts)}
            self._db.executemany(
                "INSERT INTO run_cells VALUES (?, ?, ?, ?)",
                ((begun.lastrowid, i, ids[text], seed) for i, (text, seed) in enumerate(texts)),
            )
        assert begun.lastrowid is not None
        return begun.lastrowid

    def _check_plan(self, run: int, texts: list[tuple[str, int]]) -> None:
        """Refuse a run whose cells are not those of the plan that it is found by."""
        rows = self._db.execute(
            "SELECT settings, seed FROM run_cells JOIN settings ON settings.id = setting "
            "WHERE run = ? ORDER BY place",
            (run,),
        )
        if list(rows) != texts:
            raise Damaged(f"it is damaged: run {run} does not have the cells of its plan")

    def runs(self) -> list[StoredRun]:
        """All runs, the oldest first."""
        rows = self._db.execute(
            """
            SELECT runs.id, name, kind, versions.code, started, count(*),
                   count(cells.seed) - count(cells.error), count(cells.error)
            FROM runs
            JOIN versions ON versions.id = runs.version
            JOIN run_cells ON run_cells.run = runs.id
            LEFT JOIN cells ON cells.setting = run_cells.setting
                AND cells.seed = run_cells.seed AND cells.version = runs.version
            GROUP BY runs.id ORDER BY runs.id
            """
        )
        return [StoredRun(*row) for row in typed(rows, OF_RUN)]

    def run(self, wanted: int | str) -> StoredRun:
        """The run of that number, or the newest of that name."""
        runs = self.runs()
        found = [one for one in runs if str(wanted) in (str(one.id), one.name)]
        if not found:
            held = ", ".join(f"{one.id} ({one.name})" for one in runs) or "none"
            raise EarnshawError(f"the store has no run {wanted!r}; it has: {held}")
        return found[-1]

    def cells(self, run: int) -> list[Cell]:
        """The cells of a run in the order of its sweep."""
        rows = self._db.execute(
            f"""
            SELECT settings.settings, run_cells.seed, numbers, error, seconds, finished, arrays
            {CELLS_OF_RUN} ORDER BY place
            """,
            (run,),
        )
        cells = [
            Cell(settings_of(text), seed, numbers_of(numbers), *rest)
            for text, seed, numbers, *rest in typed(rows, OF_CELL)
        ]
        if any(cell.settings.keys() != cells[0].settings.keys() for cell in cells):
            raise Damaged(f"it is damaged: the cells of run {run} have different settings")
        return cells

    def missing(self, run: int) -> list[tuple[dict[str, Any], int]]:
        """The settings and seeds of a run that have no results, in the order of its sweep."""
        rows = self._db.execute(
            f"SELECT settings.settings, run_cells.seed {CELLS_OF_RUN} AND numbers IS NULL "
            "ORDER BY place",
            (run,),
        )
        return [(settings_of(text), seed) for text, seed in rows]

    def elsewhere(self, run: int) -> int:
        """How many of a run's cells were finished by other versions of the code."""
        (count,) = self._db.execute(
            """
            SELECT count(DISTINCT run_cells.place) FROM run_cells
            JOIN runs ON runs.id = run_cells.run
            JOIN cells ON cells.setting = run_cells.setting AND cells.seed = run_cells.seed
                AND cells.version != runs.version AND cells.error IS NULL
            WHERE run_cells.run = ?
            """,
            (run,),
        ).fetchone()
        return int(count)

    # --- cells ------------------------------------------------------------------------------------

    def finish(
        self,
        kind: str,
        code: str,
        settings: Mapping[str, Any],
        block: int,
        results: Iterable[Result],
        seconds: float,
    ) -> None:
        """Keep the results of a block, and forget its checkpoint."""
        rows = [
            (one.seed, json.dumps(_plain(one.numbers)), pack(one.arrays), None) for one in results
        ]
        self._settle(kind, code, settings, block, rows, seconds)

    def fail(
        self,
        kind: str,
        code: str,
        settings: Mapping[str, Any],
        block: int,
        seeds: Iterable[int],
        error: str,
    ) -> None:
        """Keep why a block has no results."""
        rows = [(seed, None, None, error) for seed in seeds]
        self._settle(kind, code, settings, block, rows, 0.0)

    def _settle(
        self,
        kind: str,
        code: str,
        settings: Mapping[str, Any],
        block: int,
        rows: Sequence[tuple[int, str | None, bytes | None, str | None]],
        seconds: float,
    ) -> None:
        with self._db:
            setting, version = self._setting(kind, canonical(settings)), self._version(code)
            self._db.executemany(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (setting, seed, version, numbers, arrays, error, seconds, _now())
                    for seed, numbers, arrays, error in rows
                ),
            )
            self._db.execute(
                "DELETE FROM checkpoints WHERE setting = ? AND block = ? AND version = ?",
                (setting, block, version),
            )

    def checkpoint(
        self,
        kind: str,
        code: str,
        settings: Mapping[str, Any],
        block: int,
        piece: Piece,
        seconds: float,
    ) -> None:
        """Keep how far a block is."""
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._setting(kind, canonical(settings)),
                    block,
                    self._version(code),
                    piece.fraction,
                    piece.note,
                    piece.state,
                    seconds,
                    _now(),
                ),
            )

    def under_way(
        self, kind: str, code: str, settings: Mapping[str, Any], block: int
    ) -> tuple[Piece, float] | None:
        """The checkpoint of a block and the seconds spent on it, if there is one."""
        row = self._db.execute(
            """
            SELECT fraction, note, state, seconds FROM checkpoints
            JOIN settings ON settings.id = setting JOIN versions ON versions.id = version
            WHERE kind = ? AND settings = ? AND block = ? AND code = ?
            """,
            (kind, canonical(settings), block, code),
        ).fetchone()
        if row is None:
            return None
        ((fraction, note, state, spent),) = typed([row], OF_CHECKPOINT)
        return Piece(fraction, note, state=state), spent

    def _setting(self, kind: str, text: str) -> int:
        self._db.execute(
            "INSERT OR IGNORE INTO settings (kind, settings) VALUES (?, ?)", (kind, text)
        )
        (found,) = self._db.execute(
            "SELECT id FROM settings WHERE kind = ? AND settings = ?", (kind, text)
        ).fetchone()
        return int(found)

    def _version(self, code: str) -> int:
        self._db.execute("INSERT OR IGNORE INTO versions (code) VALUES (?)", (code,))
        return int(
            self._db.execute("SELECT id FROM versions WHERE code = ?", (code,)).fetchone()[0]
        )


def canonical(settings: Mapping[str, Any]) -> str:
    """The one text of equal settings."""
    return json.dumps(settings, sort_keys=True, allow_nan=False)


def _plain(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers that JSON has; infinite ones and NaN become null."""
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in numbers.items()
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Store]:
    """The store at `path`, made if there is none, for this process alone to write."""
    with opened_to_write(Path(path)) as db:
        yield Store(db)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[Store]:
    """The store at `path`, which must be there; nothing is changed, even while it is written."""
    with opened_to_read(Path(path)) as db:
        yield Store(db)
