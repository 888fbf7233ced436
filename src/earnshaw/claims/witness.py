"""Counterexamples as files: JSON with the instance, so that anyone can test it again.

format, version   "earnshaw-witness", 1
claim, statement  which statement it contradicts
index, seed       which instance it was
instance          the instance itself
numbers           what the test found
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earnshaw.claims.catalog import claim
from earnshaw.claims.claim import Finding, Instance, Statement
from earnshaw.claims.verdict import Result
from earnshaw.claims.verify import tested
from earnshaw.errors import EarnshawError
from earnshaw.files import check_writable, reading_file, write_text

KIND, VERSION = "earnshaw-witness", 1


class Witness(NamedTuple):
    """An instance that contradicts a statement."""

    claim: str
    statement: str
    instance: Instance

    def again(self) -> Finding:
        """What the statement's test finds in it now."""
        return tested(_statement(self.claim, self.statement), self.instance)


def save_witnesses(folder: Path, result: Result, seed: int) -> list[Path]:
    """Write every counterexample of a result to `folder`; the files written."""
    written = []
    for outcome in result.outcomes:
        if outcome.witness is None:
            continue
        path = folder / f"{result.claim.id}.{outcome.name}.json"
        check_writable(path, (".json",))
        fields = {
            "format": KIND,
            "version": VERSION,
            "claim": result.claim.id,
            "statement": outcome.name,
            "role": outcome.role,
            "index": outcome.witness_index,
            "seed": seed,
            "instance": plain(outcome.witness),
            "numbers": outcome.witness_numbers,
        }
        write_text(path, json.dumps(fields, indent=1) + "\n")
        written.append(path)
    return written


def load_witness(path: Path) -> Witness:
    """The counterexample in a file, or one line on what is wrong with it."""
    with reading_file(path):
        try:
            fields = json.loads(path.read_text())
        except ValueError:
            raise EarnshawError("it is not JSON") from None
        if not isinstance(fields, dict) or fields.get("format") != KIND:
            raise EarnshawError(f"it is no {KIND} file")
        if fields.get("version") != VERSION:
            raise EarnshawError(f"its version is {fields.get('version')!r}; allowed: {VERSION}")
        missing = [name for name in Witness._fields if name not in fields]
        if missing:
            raise EarnshawError(f"it has no {missing[0]!r}")
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
    for one in claim(name).statements:
        if one.name == statement:
            return one
    raise EarnshawError(f"the claim {name} has no statement {statement!r}")
