"""The results of all claims as a page of Markdown: `docs/claims.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from earnshaw.papers.claims.verdict import ClaimResult, StatementResult, Verdict

ROLES = {
    "ours": "",
    "printed": "as printed ({kind}): ",
    "beyond": "beyond the hypotheses: ",
    "open": "open: ",
}
MEANINGS = {
    "statement-refuted": "an instance contradicts what a theorem, lemma, table or algorithm states",
    "hypothesis-missing": "the statement is true only with a hypothesis that is not printed",
    "misprint": "another place in the three texts has it right",
    "proof-mended": "a step of a proof, or a remark, is false; the statement stands without it",
    "vacuous": "nothing satisfies what the statement asks for",
}


def claims_page(results: Sequence[ClaimResult], command: str) -> str:
    """The page; `command` is what made it."""
    lines = [
        "# The papers' claims, run",
        "",
        f"Made by `{command}`; do not edit.",
        "",
        "Each claim is tested on random instances. `holds`: every instance agrees, and the",
        "statement stands as printed, whatever is wrong in its proof. `corrected`: ours holds,",
        "and what is printed is refuted or lacks a hypothesis. `fails`: a counterexample is",
        "known. `evidence`: open, and no instance contradicts it. Numbers are the least and the",
        "most over all instances. The errors of the papers are numbered in",
        "[mathematics.md](mathematics.md), and are of these kinds; an error counts once for each",
        "printed sentence that an instance contradicts:",
        "",
        "| kind | errors | claims | what it means |",
        "|---|---|---|---|",
        *_counted(results),
        "",
        f"{_verdicts(results)}.",
        "",
        "| claim | verdict | errors as printed | instances | |",
        "|---|---|---|---|---|",
    ]
    for result in results:
        count = sum(outcome.instances for outcome in result.outcomes)
        name, title = result.claim.id, _begun(result.claim.title).replace("|", r"\|")
        lines.append(
            f"| [{name}](#{name}) | {result.verdict} | {kinds_in_words(result)} | {count} "
            f"| {title} |"
        )
    for result in results:
        lines += _section(result)
    return "\n".join(lines) + "\n"


def kinds_in_words(result: ClaimResult) -> str:
    """The kinds of errors of a claim with their counts: "misprint, proof-mended (2)"."""
    return ", ".join(
        kind if len(ones) == 1 else f"{kind} ({len(ones)})" for kind, ones in result.kinds.items()
    )


def _counted(results: Sequence[ClaimResult]) -> list[str]:
    """A row for each kind of error: how many there are, in how many claims."""
    rows = []
    for kind, meaning in MEANINGS.items():
        found = [len(ones) for one in results for name, ones in one.kinds.items() if name == kind]
        rows.append(f"| {kind} | {sum(found)} | {len(found)} | {meaning} |")
    return rows


def _verdicts(results: Sequence[ClaimResult]) -> str:
    """How many claims have each verdict: "26 claims: 14 `holds`, ..."."""
    counts = Counter(str(one.verdict) for one in results)
    words = ", ".join(f"{counts[str(one)]} `{one}`" for one in Verdict if counts[str(one)])
    return f"{len(results)} claims: {words}"


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
    lines += [f"Oracle: {claim.oracle}. Definition of a minimum: {claim.definition}.", ""]
    for outcome in result.outcomes:
        lines += _item(outcome)
    for remark in claim.remarks:
        lines += ["", _begun(remark).rstrip(".") + "."]
    return lines


def _begun(sentence: str) -> str:
    """The sentence, begun with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def _role(outcome: StatementResult) -> str:
    return ROLES[outcome.role].format(kind=outcome.kind)


def _item(outcome: StatementResult) -> list[str]:
    counts = f"{outcome.held} of {outcome.instances} hold" if outcome.instances else "not run"
    if outcome.undecided:
        counts += f", {outcome.undecided} undecided"
    lines = [f"- **{outcome.name}** ({counts}): {_role(outcome)}{outcome.says}"]
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
