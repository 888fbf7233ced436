"""How a file is opened as a store, and refused, before anything is changed, if it is none.

Readers never wait for the writer (WAL), and there is one writer (`_lock.py`).
"""

from __future__ import annotations

import functools
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from earnshaw.errors import EarnshawError
from earnshaw.experiments.store._lock import only_writer
from earnshaw.experiments.store._rows import Damaged
from earnshaw.experiments.store._schema import APPLICATION, SCHEMA, TABLES

BUSY = 30.0  # seconds to wait for another program that holds the file
NAMES = re.findall(r"CREATE TABLE (\w+)", TABLES)
NO_STORE = "it is not a store of earnshaw, or a damaged one"
COMPLAINTS = {
    sqlite3.SQLITE_NOTADB: NO_STORE,
    sqlite3.SQLITE_CORRUPT: NO_STORE,
    sqlite3.SQLITE_FULL: "the disk is full; what was finished is kept",
    sqlite3.SQLITE_READONLY: "it cannot be written; allowed: a writable file in a writable folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; allowed: a writable file in a writable folder",
    sqlite3.SQLITE_BUSY: "another program holds it; wait until that ends",
}


@functools.cache
def _declared() -> dict[str, list[tuple]]:
    """The columns of the tables as `TABLES` has them, by SQLite's own reading."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(TABLES)
        return _columns(db)


@contextmanager
def opened_to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """The store at `path`, made if there is none, for this process alone to write."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise EarnshawError(f"there is no folder {str(path.parent)!r} for a store")
    with _speaking(path), _connected(path, "rwc") as db:
        _is_store(db, path)  # before a lock is put beside a file that is not ours
        with only_writer(path):
            if not _is_store(db, path):
                mark = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA};"
                db.executescript(f"BEGIN IMMEDIATE; {mark} {TABLES} COMMIT;")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA foreign_keys = ON")
            yield db


@contextmanager
def opened_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """The store at `path`, which must be there; nothing is changed, even while it is written."""
    path = path.resolve()
    if not path.is_file():
        raise EarnshawError(f"there is no store {str(path)!r}; a sweep makes one")
    # SQLite keeps notes beside a file that is read. Where they are not there and cannot be made,
    # it must be told that nobody writes.
    notes = path.with_name(path.name + "-wal").exists() or os.access(path.parent, os.W_OK)
    with _speaking(path), _connected(path, "ro" if notes else "ro&immutable=1") as db:
        if not _is_store(db, path):
            raise EarnshawError(f"{str(path)!r} is empty; allowed: a store of earnshaw")
        yield db


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode={mode}", uri=True, timeout=BUSY)
    try:
        yield db
    finally:
        db.close()


def _is_store(db: sqlite3.Connection, path: Path) -> bool:
    """Whether it is a store, or empty; anything else is refused."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (schema,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == APPLICATION and schema > SCHEMA:
        raise EarnshawError(
            f"{str(path)!r} was made by a newer earnshaw (schema {schema}); allowed: {SCHEMA}"
        )
    if application != APPLICATION and (application or tables):
        raise EarnshawError(
            f"{str(path)!r} is a database of another program; allowed: a store of earnshaw"
        )
    if application and (schema != SCHEMA or _columns(db) != _declared()):
        raise Damaged(NO_STORE)
    return bool(application)


def _columns(db: sqlite3.Connection) -> dict[str, list[tuple]]:
    """What every table of a store is made of; views and triggers are no part of one."""
    found = db.execute("SELECT type, name FROM sqlite_master ORDER BY name").fetchall()
    if any(kind in ("view", "trigger") for kind, _ in found):
        raise Damaged(NO_STORE)
    names = [name for kind, name in found if kind == "table" and name in NAMES]
    return {name: db.execute(f"PRAGMA table_info({name})").fetchall() for name in names}


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    """What SQLite complains of, as one line. What was committed stays as it was."""
    try:
        yield
    except Damaged as error:
        raise EarnshawError(f"cannot use the store {str(path)!r}: {error}") from None
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says more than we need
        words = COMPLAINTS.get(code, str(error))
        raise EarnshawError(f"cannot use the store {str(path)!r}: {words}") from None
