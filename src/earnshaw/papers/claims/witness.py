"""Counterexamples as files: JSON with the instance, so that anyone can test it again.

format, version   "earnshaw-witness", 1
claim, statement  which statement it contradicts
index, seed       which instance it was
instance          the instance itself
numbers           what the test found
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.files.fields import integer, table, text
from earnshaw.files.kind import Fields, Kind
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.verdict import ClaimResult
from earnshaw.papers.claims.verify import tested

WITNESS = Kind(
    (
        *(text(name) for name in ("claim", "statement", "role")),
        *(integer(name) for name in ("index", "seed")),
        *(table(name) for name in ("instance", "numbers")),
    ),
    "earnshaw-witness",
    endings=(".json",),
    finite=False,
)


class Witness(NamedTuple):
    """An instance that contradicts a statement."""

    claim: str
    statement: str
    instance: Instance

    def again(self) -> Finding:
        """What the statement's test finds in it now."""
        return tested(_statement(self.claim, self.statement), self.instance)


def save_witnesses(folder: Path, result: ClaimResult, seed: int) -> list[Path]:
    """Write every counterexample of a result to `folder`; the files written."""
    written = []
    for outcome in result.outcomes:
        if outcome.witness is None:
            continue
        path = folder / f"{result.claim.id}.{outcome.name}.json"
        fields = {
            "claim": result.claim.id,
            "statement": outcome.name,
            "role": outcome.role,
            "index": outcome.witness_index,
            "seed": seed,
            "instance": plain(outcome.witness),
            "numbers": outcome.witness_numbers,
        }
        WITNESS.save(path, fields)
        written.append(path)
    return written


def load_witness(path: Path) -> Witness:
    """The counterexample in a file, or one line on what is wrong with it."""
    return WITNESS.load(path, _witness)


def _witness(fields: Fields) -> Witness:
    found = Witness(*(fields[name] for name in Witness._fields))
    _statement(found.claim, found.statement)
    return found


def plain(value: Any) -> Any:
    """Arrays as lists, NumPy's numbers as Python's."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def _statement(name: str, statement: str) -> Statement:
    for one in claim_named(name).statements:
        if one.name == statement:
            return one
    raise EarnshawError(f"the claim {name} has no statement {statement!r}")
