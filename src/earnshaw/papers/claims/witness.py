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
from earnshaw.files.atomic import STUMBLED
from earnshaw.files.fields import integer, table, text
from earnshaw.files.kind import Fields, Kind
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.claim import Finding, Instance, Statement
from earnshaw.papers.claims.verdict import ClaimResult
from earnshaw.papers.claims.verify import draw, tested

LARGEST_SEED = 2**63 - 1
ROOM = 100  # integers of an instance may be so large, or twice as large as those that are drawn
WITNESS = Kind(
    (
        *(text(name) for name in ("claim", "statement", "role")),
        integer("index", low=0),
        integer("seed", low=0, high=LARGEST_SEED),
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
        try:
            return tested(_statement(self.claim, self.statement), self.instance)
        except STUMBLED:  # numbers that it is never given
            raise EarnshawError(
                f"{self.claim}: {self.statement} cannot be tested on such an instance"
            ) from None


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
    statement = _statement(found.claim, found.statement)
    drawn = draw(claim_named(found.claim), statement, fields["index"], fields["seed"])
    _check_alike("its instance", plain(drawn), found.instance)
    return found


def _check_alike(what: str, drawn: Any, stored: Any) -> None:
    """Refuse an instance that is not built like the one that its seed and index draw.

    Its real numbers may be any; its names, texts and lengths are those of the drawn one, and its
    integers, which may be sizes, not much larger.
    """
    if isinstance(drawn, float) and type(stored) is int:
        return
    fits = type(drawn) is type(stored)
    if fits and isinstance(drawn, dict):
        fits = list(drawn) == list(stored)
    elif fits and isinstance(drawn, list):
        fits = len(drawn) == len(stored)
    elif fits and isinstance(drawn, str):
        fits = drawn == stored
    elif fits and isinstance(drawn, int):
        fits = min(drawn, 0) <= stored <= max(2 * drawn, ROOM)
    if not fits:
        raise EarnshawError(f"{what} is not like the one that its seed and index draw")
    if isinstance(drawn, dict):
        for name, entry in drawn.items():
            _check_alike(f"{what}'s {name}", entry, stored[name])
    elif isinstance(drawn, list):
        for one, other in zip(drawn, stored, strict=True):
            _check_alike(what, one, other)


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
