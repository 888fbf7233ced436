"""Finished claims as a file, so that a long verification can go on where it was stopped.

format, version                "earnshaw-claims", 1
preset, instances, seed        what was asked for: results of other settings are refused
claims                         by id, the outcomes of every statement
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, get_args

from earnshaw.errors import EarnshawError
from earnshaw.files.fields import Field, Group, integer, table, text, values
from earnshaw.files.kind import Fields, Kind
from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.claim import Role
from earnshaw.papers.claims.verdict import ClaimResult, StatementResult
from earnshaw.papers.claims.witness import LARGEST_SEED, plain

OUTCOME = Group(
    (
        *(text(name) for name in ("name", "says")),
        text("role", allowed=get_args(Role)),
        *(integer(name, low=0) for name in ("held", "failed", "undecided")),
        *(table(name) for name in ("numbers", "constants", "witness_numbers")),
        Field("witness", dict, null=True),
        integer("witness_index", low=0, null=True),
        values("notes"),
    )
)
CLAIMS = Kind(  # the numbers found may be infinite
    (
        text("preset"),
        integer("instances", null=True),
        integer("seed", low=0, high=LARGEST_SEED),
        table("claims"),
    ),
    "earnshaw-claims",
    endings=(".json",),
    finite=False,
)
Setup = dict[str, Any]  # preset, instances, seed


def save_results(path: Path, results: dict[str, ClaimResult], setup: Setup) -> None:
    """Write all finished claims, whole or not at all."""
    claims = {
        name: [_stored(outcome) for outcome in result.outcomes] for name, result in results.items()
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


def _result(name: str, stored: Any) -> ClaimResult:
    claim = claim_named(name)
    if not isinstance(stored, list) or not all(isinstance(one, dict) for one in stored):
        raise EarnshawError(f"its claim {name} is not a list of outcomes")
    outcomes = [_outcome(OUTCOME.checked(one)) for one in stored]
    if [(one.name, one.role) for one in outcomes] != [
        (one.name, one.role) for one in claim.statements
    ]:
        raise EarnshawError(f"its claim {name} does not have the statements of this version")
    kinds = [one.kind for one in claim.statements]
    return ClaimResult(
        claim,
        tuple(
            dataclasses.replace(one, kind=kind) for one, kind in zip(outcomes, kinds, strict=True)
        ),
    )


def _stored(outcome: StatementResult) -> dict[str, Any]:
    """What the file has of an outcome; its kind is that of this version's statement."""
    fields = plain(dataclasses.asdict(outcome))
    del fields["kind"]
    return fields


def _outcome(fields: Fields) -> StatementResult:
    spans = {key: tuple(span) for key, span in fields["numbers"].items()}
    reals = [*fields["witness_numbers"].values(), *(end for span in spans.values() for end in span)]
    texts = [*fields["notes"], *fields["constants"].values()]
    if not all(len(span) == 2 for span in spans.values()) or not all(
        type(one) in (int, float) for one in reals
    ):
        raise EarnshawError("it has numbers that are none, or a span without two ends")
    if not all(isinstance(one, str) for one in texts):
        raise EarnshawError("it has notes or constants that are not text")
    return StatementResult(**fields | {"numbers": spans, "notes": tuple(fields["notes"])})
