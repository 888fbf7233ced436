"""Finished claims as a file, so that a long verification can go on where it was stopped.

format, version                "earnshaw-claims", 1
preset, instances, seed        what was asked for: results of other settings are refused
claims                         by id, the outcomes of every statement
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from earnshaw.claims.catalog import claim
from earnshaw.claims.verdict import Outcome, Result
from earnshaw.claims.witness import plain
from earnshaw.errors import EarnshawError
from earnshaw.files import write_text

KIND, VERSION = "earnshaw-claims", 1
Setup = dict[str, Any]  # preset, instances, seed


def save_results(path: Path, results: dict[str, Result], setup: Setup) -> None:
    """Write all finished claims, whole or not at all."""
    claims = {
        name: [plain(dataclasses.asdict(outcome)) for outcome in result.outcomes]
        for name, result in results.items()
    }
    fields = {"format": KIND, "version": VERSION, **setup, "claims": claims}
    write_text(path, json.dumps(fields) + "\n")


def load_results(path: Path, setup: Setup) -> dict[str, Result]:
    """The finished claims in a file, by id; none if there is no such file."""
    if not path.exists():
        return {}
    try:
        fields = json.loads(path.read_text())
        if not isinstance(fields, dict) or fields.get("format") != KIND:
            raise EarnshawError(f"it is no {KIND} file")
        if fields.get("version") != VERSION:
            raise EarnshawError(f"its version is {fields.get('version')!r}; allowed: {VERSION}")
        for name, value in setup.items():
            if fields.get(name) != value:
                raise EarnshawError(f"it was made with {name} {fields.get(name)!r}, not {value!r}")
        return {name: _result(name, stored) for name, stored in fields["claims"].items()}
    except EarnshawError as error:
        raise EarnshawError(f"cannot go on from {str(path)!r}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise EarnshawError(f"cannot go on from {str(path)!r}: it is damaged") from None


def _result(name: str, stored: list[dict[str, Any]]) -> Result:
    outcomes = [
        Outcome(
            **fields
            | {
                "numbers": {key: tuple(span) for key, span in fields["numbers"].items()},
                "notes": tuple(fields["notes"]),
            }
        )
        for fields in stored
    ]
    return Result(claim(name), tuple(outcomes))
