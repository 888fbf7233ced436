"""The tables of a store, and how a file is recognised as one."""

from __future__ import annotations

APPLICATION = 0x4561726E  # "Earn", in the header of every store
SCHEMA = 1

TABLES = """
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    settings TEXT NOT NULL,              -- JSON, sorted, all defaults filled in
    UNIQUE (kind, settings)
);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    code TEXT NOT NULL UNIQUE            -- what made a result: package, sources, JAX
);
CREATE TABLE cells (                     -- one setting, one seed, one version: finished or failed
    setting INTEGER NOT NULL REFERENCES settings (id),
    seed INTEGER NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    numbers TEXT,                        -- JSON
    arrays BLOB,                         -- NPZ
    error TEXT,                          -- why it failed; NULL if it did not
    seconds REAL NOT NULL,               -- of work, all pieces together, of its whole block
    finished TEXT NOT NULL,              -- UTC
    PRIMARY KEY (setting, seed, version)
);
CREATE TABLE checkpoints (               -- blocks under way
    setting INTEGER NOT NULL REFERENCES settings (id),
    block INTEGER NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    fraction REAL NOT NULL,
    note TEXT NOT NULL,
    state BLOB NOT NULL,
    seconds REAL NOT NULL,
    saved TEXT NOT NULL,
    PRIMARY KEY (setting, block, version)
);
CREATE TABLE runs (                      -- sweeps that were asked for
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    plan TEXT NOT NULL,                  -- digest of its cells: asking again is the same run
    started TEXT NOT NULL,
    UNIQUE (name, version, plan)
);
CREATE TABLE run_cells (                 -- in the order of the sweep
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    setting INTEGER NOT NULL REFERENCES settings (id),
    seed INTEGER NOT NULL,
    PRIMARY KEY (run, place)
);
"""
