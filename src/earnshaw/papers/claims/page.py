"""The results of all claims as a page of Markdown: `docs/claims.md`."""

from __future__ import annotations

from collections.abc import Sequence

from earnshaw.papers.claims.verdict import ClaimResult, StatementResult

ROLES = {
    "ours": "",
    "printed": "as printed: ",
    "beyond": "beyond the hypotheses: ",
    "open": "open: ",
}


def claims_page(results: Sequence[ClaimResult], command: str) -> str:
    """The page; `command` is what made it."""
    lines = [
        "# The papers' claims, run",
        "",
        f"Made by `{command}`; do not edit.",
        "",
        "Each claim is tested on random instances. `holds`: every instance agrees. `corrected`:",
        "ours holds, and an instance contradicts what is printed. `fails`: a counterexample is",
        "known. `evidence`: open, and no instance contradicts it. Numbers are the least and the",
        "most over all instances. The errors of the papers are numbered in",
        "[mathematics.md](mathematics.md).",
        "",
        "| claim | verdict | instances | |",
        "|---|---|---|---|",
    ]
    for result in results:
        count = sum(outcome.instances for outcome in result.outcomes)
        name = result.claim.id
        lines.append(
            f"| [{name}](#{name}) | {result.verdict} | {count} | {_begun(result.claim.title)} |"
        )
    for result in results:
        lines += _section(result)
    return "\n".join(lines) + "\n"


def _section(result: ClaimResult) -> list[str]:
    claim = result.claim
    lines = [
        "",
        f"## {claim.id}",
        "",
        f"**{result.verdict}.** {_begun(claim.title)} ({claim.sources.words()}).",
        "",
    ]
    if claim.hypotheses:
        lines += ["Hypotheses: " + "; ".join(claim.hypotheses) + ".", ""]
    for outcome in result.outcomes:
        lines += _item(outcome)
    for remark in claim.remarks:
        lines += ["", _begun(remark).rstrip(".") + "."]
    return lines


def _begun(sentence: str) -> str:
    """The sentence, begun with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def _item(outcome: StatementResult) -> list[str]:
    counts = f"{outcome.held} of {outcome.instances} hold" if outcome.instances else "not run"
    if outcome.undecided:
        counts += f", {outcome.undecided} undecided"
    lines = [f"- **{outcome.name}** ({counts}): {ROLES[outcome.role]}{outcome.says}"]
    for name, (low, high) in outcome.numbers.items():
        span = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
        stands = outcome.constants.get(name)
        lines.append(f"    - {name}: {span}" + (f" (stands for {stands})" if stands else ""))
    if outcome.witness_index is not None:
        shown = ", ".join(f"{name} {value:.3g}" for name, value in outcome.witness_numbers.items())
        lines.append(
            f"    - contradicted by instance {outcome.witness_index}"
            + (f": {shown}" if shown else "")
        )
    return lines + [f"    - {note}" for note in outcome.notes if note]
