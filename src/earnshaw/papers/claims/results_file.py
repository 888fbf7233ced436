"""Finished claims as a file, so that a long verification can go on where it was stopped.

format, version                "earnshaw-claims", 1
preset, instances, seed        what was asked for: results of other settings are refused
claims                         by id, the outcomes of every statement
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.files.fields import integer, table, text
from earnshaw.files.kind import Fields, Kind
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.verdict import ClaimResult, StatementResult
from earnshaw.papers.claims.witness import plain

CLAIMS = Kind(  # the numbers found may be infinite
    (text("preset"), integer("instances", null=True), integer("seed"), table("claims")),
    "earnshaw-claims",
    endings=(".json",),
    finite=False,
)
Setup = dict[str, Any]  # preset, instances, seed


def save_results(path: Path, results: dict[str, ClaimResult], setup: Setup) -> None:
    """Write all finished claims, whole or not at all."""
    claims = {
        name: [plain(dataclasses.asdict(outcome)) for outcome in result.outcomes]
        for name, result in results.items()
    }
    CLAIMS.save(path, {**setup, "claims": claims})


def load_results(path: Path, setup: Setup) -> dict[str, ClaimResult]:
    """The finished claims in a file, by id; none if there is no such file."""

    def results(fields: Fields) -> dict[str, ClaimResult]:
        for name, value in setup.items():
            if fields[name] != value:
                raise EarnshawError(f"it was made with {name} {fields[name]!r}, not {value!r}")
        return {name: _result(name, stored) for name, stored in fields["claims"].items()}

    return CLAIMS.load(path, results) if path.exists() else {}


def _result(name: str, stored: list[dict[str, Any]]) -> ClaimResult:
    outcomes = [
        StatementResult(
            **fields
            | {
                "numbers": {key: tuple(span) for key, span in fields["numbers"].items()},
                "notes": tuple(fields["notes"]),
            }
        )
        for fields in stored
    ]
    return ClaimResult(claim_named(name), tuple(outcomes))
