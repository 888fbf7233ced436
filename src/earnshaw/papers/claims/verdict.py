"""What the findings of a claim amount to: counts, extremes, witnesses, and one word.

- ``fails``         an instance contradicts a statement of ours, or a conjecture;
- ``inconclusive``  an instance of these decided nothing, or none was tested;
- ``evidence``      a conjecture that no instance contradicts;
- ``corrected``     ours holds, and an instance contradicts the printed statement, or shows that it
                    lacks a hypothesis (`claim.py` has the kinds of errors);
- ``holds``         all else: misprints, mended proofs and vacuous statements leave it.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Any, get_args

from earnshaw.papers.claims.claim import Claim, ErrorKind, Finding, Instance, Role, Statement
from earnshaw.results import Result

OF_THE_STATEMENT = ("statement-refuted", "hypothesis-missing")  # what makes a claim `corrected`


KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    CORRECTED = "corrected"
    FAILS = "fails"
    EVIDENCE = "evidence"
    INCONCLUSIVE = "inconclusive"


@dataclasses.dataclass(frozen=True)
class StatementResult:
    """What became of a statement.

    `numbers` are the least and the most of each number found. `witness` is the first instance that
    contradicts it, `witness_index` which one that was, `witness_numbers` what it showed; `notes`
    are those of instances that decided nothing.
    """

    name: str
    says: str
    role: Role
    held: int
    failed: int
    undecided: int
    numbers: dict[str, tuple[float, float]]
    constants: dict[str, str]
    witness: Instance | None = None
    witness_index: int | None = None
    witness_numbers: dict[str, float] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    kind: ErrorKind | None = None

    @property
    def instances(self) -> int:
        """How many instances were tested: held, failed and undecided."""
        return self.held + self.failed + self.undecided


@dataclasses.dataclass(frozen=True, repr=False)
class ClaimResult(Result):
    """What became of a claim."""

    claim: Claim
    outcomes: tuple[StatementResult, ...]

    @property
    def verdict(self) -> Verdict:
        """One word; see the module's docstring."""
        held = [outcome for outcome in self.outcomes if outcome.role in ("ours", "open")]
        if any(outcome.failed for outcome in held):
            return Verdict.FAILS
        if not held or any(outcome.undecided or not outcome.held for outcome in held):
            return Verdict.INCONCLUSIVE
        if any(outcome.role == "open" for outcome in held):
            return Verdict.EVIDENCE
        refuted = any(kind in OF_THE_STATEMENT for kind in self.kinds)
        return Verdict.CORRECTED if refuted else Verdict.HOLDS

    @property
    def kinds(self) -> dict[ErrorKind, tuple[StatementResult, ...]]:
        """The printed statements that an instance contradicts, by the kind of their error."""
        shown = [one for one in self.outcomes if one.kind is not None and one.failed]
        by_kind = {kind: tuple(one for one in shown if one.kind == kind) for kind in KINDS}
        return {kind: ones for kind, ones in by_kind.items() if ones}

    def _title(self) -> str:
        return f"{self.claim.id}: {self.verdict}"

    def _facts(self) -> dict[str, object]:
        return {
            "says": self.claim.title,
            "instances": sum(outcome.instances for outcome in self.outcomes),
            "contradicted": sum(outcome.failed for outcome in self.outcomes),
            "errors as printed": ", ".join(self.kinds) or "none",
        }

    def summary(self) -> dict[str, Any]:
        """Verdict, counts, numbers and statements as plain values: what `verify --json` prints."""
        return {
            "id": self.claim.id,
            "title": self.claim.title,
            "plain": self.claim.plain or self.claim.title,
            "sources": dataclasses.asdict(self.claim.sources),
            "hypotheses": list(self.claim.hypotheses),
            "remarks": list(self.claim.remarks),
            "oracle": self.claim.oracle,
            "definition": self.claim.definition,
            "verdict": str(self.verdict),
            "kinds": {
                kind: {
                    "count": len(ones),
                    "witnesses": [{"statement": one.name, **_witness(one)} for one in ones],
                }
                for kind, ones in self.kinds.items()
            },
            "instances": sum(outcome.instances for outcome in self.outcomes),
            "numbers": {
                outcome.name: {
                    name: {"least": low, "most": high}
                    for name, (low, high) in outcome.numbers.items()
                }
                for outcome in self.outcomes
            },
            "statements": [_plain(outcome) for outcome in self.outcomes],
        }


def statement_result(
    statement: Statement, tested: list[tuple[int, Instance, Finding]]
) -> StatementResult:
    """The findings of a statement, counted; `tested` has the index of each instance."""
    numbers: dict[str, tuple[float, float]] = {}
    for _, _, finding in tested:
        for name, value in finding.numbers.items():
            low, high = numbers.get(name, (float(value), float(value)))
            numbers[name] = (min(low, float(value)), max(high, float(value)))
    against = [one for one in tested if one[2].holds is False]
    undecided = [one for one in tested if one[2].holds is None]
    first = against[0] if against else None
    return StatementResult(
        name=statement.name,
        says=statement.says,
        role=statement.role,
        held=len(tested) - len(against) - len(undecided),
        failed=len(against),
        undecided=len(undecided),
        numbers=numbers,
        constants=dict(statement.constants),
        witness=None if first is None else first[1],
        witness_index=None if first is None else first[0],
        witness_numbers={} if first is None else {k: float(v) for k, v in first[2].numbers.items()},
        notes=tuple(dict.fromkeys(finding.note for _, _, finding in undecided)),
        kind=statement.kind,
    )


def _plain(outcome: StatementResult) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "says": outcome.says,
        "role": outcome.role,
        "kind": outcome.kind,
        "held": outcome.held,
        "failed": outcome.failed,
        "undecided": outcome.undecided,
        "constants": outcome.constants,
        "witness": None if outcome.witness_index is None else _witness(outcome),
        "notes": list(outcome.notes),
    }


def _witness(outcome: StatementResult) -> dict[str, Any]:
    return {"index": outcome.witness_index, "numbers": outcome.witness_numbers}
