"""What became of a claim, for a reader who has never seen one: verdict first, witness after."""

from __future__ import annotations

import textwrap

from earnshaw.papers.claims.page import MEANINGS
from earnshaw.papers.claims.verdict import ClaimResult, StatementResult, Verdict

WIDTH = 79
VERDICTS = {
    Verdict.HOLDS: "every instance under its hypotheses agrees with what is printed",
    Verdict.CORRECTED: "as printed false or short of a hypothesis; once corrected, all agree",
    Verdict.FAILS: "an instance contradicts it: there is a counterexample",
    Verdict.EVIDENCE: "open; no instance contradicts it, which proves nothing",
    Verdict.INCONCLUSIVE: "some instances could not be decided",
}


def claim_in_words(result: ClaimResult) -> list[str]:
    """Lines of at most 79 letters; the first begins with the claim's id and its verdict."""
    claim, verdict = result.claim, result.verdict
    tested = sum(outcome.instances for outcome in result.outcomes)
    lines = _wrapped(f"{claim.id}: {verdict}: {VERDICTS[verdict]} ({tested} instances)", "")
    lines += _wrapped(claim.plain or f"{claim.title}.", "    ")
    lines += _wrapped(f"({claim.sources.words()})", "    ")
    if claim.hypotheses:
        lines += _wrapped("under: " + "; ".join(claim.hypotheses), "    ")
    lines.append("")
    for outcome in result.outcomes:
        lines += _statement(outcome)
    for remark in claim.remarks:
        lines += _wrapped(f"remark: {remark}", "  ")
    return lines


def _statement(outcome: StatementResult) -> list[str]:
    lines = _wrapped(f"{outcome.name}: {_outcome(outcome)}", "  ")
    lines += _wrapped(outcome.says, "      ")
    if outcome.witness_index is not None:
        numbers = ", ".join(
            f"{name} {value:.3g}" for name, value in outcome.witness_numbers.items()
        )
        lines += _wrapped(f"witness: instance {outcome.witness_index}: {numbers}", "      ")
    for note in outcome.notes:
        if note:
            lines += _wrapped(f"not decided: {note}", "      ")
    return lines


def _outcome(outcome: StatementResult) -> str:
    """How many instances agree, and what that means for this kind of statement."""
    if not outcome.instances:
        return "not run"
    agree = f"{outcome.held} of {outcome.instances} agree"
    if outcome.undecided:
        agree += f", {outcome.undecided} undecided"
    if outcome.role == "printed" and outcome.kind is not None:
        found = "contradicted" if outcome.failed else "not contradicted"
        return f"printed, and {found} here ({outcome.kind}: {MEANINGS[outcome.kind]}); {agree}"
    if outcome.role == "beyond":
        return f"without one of the hypotheses, which is why it is needed; {agree}"
    if outcome.role == "open":
        return f"conjectured; {agree}"
    return agree


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + ("" if indent else "    "),
        break_on_hyphens=False,
    )
