"""What a claim amounts to in words that an outsider understands, in lines of 79 letters."""

import pytest

from earnshaw.cli import verify as command
from earnshaw.papers.claims.claim import Claim, Sources, Statement
from earnshaw.papers.claims.minima.earnshaw import EARNSHAW
from earnshaw.papers.claims.verdict import ClaimResult, StatementResult
from earnshaw.papers.claims.words import VERDICTS, claim_in_words


def outcome(statement, held=2, failed=0):
    witness = {"witness_index": 1, "witness_numbers": {"force": 0.25}} if failed else {}
    return StatementResult(
        name=statement.name,
        says=statement.says,
        role=statement.role,
        held=held,
        failed=failed,
        undecided=0,
        numbers={},
        constants={},
        kind=statement.kind,
        **witness,
    )


def earnshaw():
    """As `verify earnshaw` finds it: what is printed or beyond the hypotheses fails."""
    told = [
        outcome(one, *((2, 0) if one.role == "ours" else (0, 2))) for one in EARNSHAW.statements
    ]
    return ClaimResult(EARNSHAW, tuple(told))


def test_earnshaw_for_an_outsider():
    lines = claim_in_words(earnshaw())
    assert max(map(len, lines)) < 80
    text = " ".join(" ".join(lines).split())
    assert text.startswith("earnshaw: holds: every instance under its hypotheses agrees")
    assert "no charge can rest stably in empty space" in text
    assert text.index("curvatures of its energy add up to 0") < text.index("witness: instance 1")
    assert "trace-decides: printed, and contradicted here (proof-mended: a step of a proof" in text
    assert "without-harmonicity: without one of the hypotheses" in text
    assert "witness: instance 1: force 0.25" in text


@pytest.mark.parametrize(
    ("role", "kind", "failed", "words"),
    [
        ("ours", None, 1, "fails: an instance contradicts it: there is a counterexample"),
        ("open", None, 0, "evidence: open; no instance contradicts it, which proves nothing"),
        ("ours", None, 0, "holds: every instance"),
    ],
)
def test_verdicts_in_words(role, kind, failed, words):
    statement = Statement("s", "it is so", None, None, role=role, kind=kind)
    claim = Claim("c", "A title", Sources(full="1"), (), (statement,), oracle="o", definition="d")
    lines = claim_in_words(ClaimResult(claim, (outcome(statement, 2 - failed, failed),)))
    assert words in " ".join(lines)
    assert "A title." in " ".join(lines)
    assert ClaimResult(claim, (outcome(statement),)).summary()["plain"] == "A title"


def test_many_claims_are_a_table_that_fits_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command._print((earnshaw(),) * 4)
    printed = capsys.readouterr().out
    table = [line for line in printed.splitlines() if line[:1] in "│┃┏┡└"]
    assert max(map(len, table)) <= 80
    assert len(table) < 20  # one or two lines a claim, not six narrow columns
    assert f"holds: {VERDICTS['holds']}" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert all(len(f"{verdict}: {words}") <= 80 for verdict, words in VERDICTS.items())
    command._print((earnshaw(),))
    printed = capsys.readouterr().out
    assert "┃" not in printed
    assert "rest stably" in printed
