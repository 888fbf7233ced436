"""`earnshaw verify`: run the papers' claims, and say what became of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.run_sweep import WorkersOption, cores
from earnshaw.cli.terminal import Styled, print_json, print_table, progress_bar, say
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable, write_text
from earnshaw.text import shown

if TYPE_CHECKING:
    from earnshaw.papers.claims.verdict import ClaimResult

FEW = 3  # claims that are shown statement by statement
COLOURS = {
    "holds": "green",
    "corrected": "cyan",
    "fails": "red",
    "evidence": "yellow",
    "inconclusive": "magenta",
}


def command(
    ids: Annotated[list[str] | None, typer.Argument(help="Claims; all if none is named.")] = None,
    thorough: Annotated[
        bool, typer.Option("--thorough/--quick", help="More and larger instances, or few.")
    ] = False,
    instances: Annotated[
        int | None, typer.Option(help="That many instances of every statement instead.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all instances.")] = 0,
    write: Annotated[Path | None, typer.Option(help="Write a page to FILE.md.")] = None,
    witnesses: Annotated[
        Path | None, typer.Option(help="Keep every counterexample in this folder.")
    ] = None,
    again: Annotated[
        Path | None, typer.Option(help="Test the counterexample in FILE.json again.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Keep finished claims in FILE.json, and go on from there.")
    ] = None,
    workers: WorkersOption = None,
    listed: Annotated[bool, typer.Option("--list", help="List the claims; run none.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Run the papers' claims on random instances (all of them quickly, if none is named)."""
    from earnshaw.papers.claims.catalog import HOMES, check_id

    names = [check_id(name) for name in ids or HOMES]
    if write is not None:
        check_writable(write, (".md",))
    if save is not None:
        check_writable(save, (".json",))
    if witnesses is not None and not witnesses.is_dir():
        raise EarnshawError(f"there is no folder {str(witnesses)!r} for counterexamples")
    if again is not None:
        _test_again(again, json)
    elif listed:
        _list(names, json)
    else:
        preset = "thorough" if thorough else "quick"
        count = cores() if workers is None else workers
        results = _run(names, preset, instances, seed, witnesses, save, count)
        if write is not None:
            from earnshaw.papers.claims.page import claims_page

            write_text(write, claims_page(results, _command(ids, preset, instances, seed, write)))
        if json:
            claims = [result.summary() for result in results]
            print_json({"claims": claims, "preset": preset, "seed": seed})
        else:
            _print(results)


def _run(
    names: list[str],
    preset: str,
    instances: int | None,
    seed: int,
    witnesses: Path | None,
    save: Path | None,
    workers: int,
) -> tuple[ClaimResult, ...]:
    """Run the claims; what is finished is kept, should it be interrupted."""
    from earnshaw.papers.claims.results_file import load_results, save_results
    from earnshaw.papers.claims.verify import verify
    from earnshaw.papers.claims.witness import save_witnesses

    setup = {"preset": preset, "instances": instances, "seed": seed}
    done = {} if save is None else load_results(save, setup)

    def finished(result: ClaimResult) -> None:
        done[result.claim.id] = result
        if save is not None:
            save_results(save, done, setup)
        if witnesses is not None:
            save_witnesses(witnesses, result, seed)

    with progress_bar("verifying") as report:
        return verify(
            names,
            thorough=preset == "thorough",
            instances=instances,
            seed=seed,
            report=report,
            finished=finished,
            done=dict(done),
            workers=workers,
        )


def _test_again(path: Path, json: bool) -> None:
    """What the test of a stored counterexample finds now."""
    from earnshaw.papers.claims.witness import load_witness

    witness = load_witness(path)
    finding = witness.again()
    if json:
        about = {"claim": witness.claim, "statement": witness.statement}
        numbers = {name: float(value) for name, value in finding.numbers.items()}
        print_json(about | {"holds": finding.holds, "numbers": numbers})
        return
    words = {True: "holds here", False: "is contradicted", None: "is not decided"}
    say(f"{witness.claim}: {witness.statement} {words[finding.holds]}")
    for name, value in finding.numbers.items():
        say(f"    {name}: {float(value):.6g}")


def _list(names: list[str], json: bool) -> None:
    from earnshaw.papers.claims.catalog import claim_named

    found = [claim_named(name) for name in names]
    if json:
        plain = [
            {
                "id": one.id,
                "title": one.title,
                "sources": one.sources.words(),
                "oracle": one.oracle,
                "definition": one.definition,
            }
            for one in found
        ]
        print_json({"claims": plain})
        return
    columns = dict.fromkeys(("claim", "what it says", "sources"), "left")
    print_table("", columns, ((one.id, one.title, one.sources.words()) for one in found))


def _print(results: tuple[ClaimResult, ...]) -> None:
    """A few claims in full sentences; many as a table that fits 80 columns."""
    if len(results) <= FEW:
        from earnshaw.papers.claims.words import claim_in_words

        for result in results:
            verdict = str(result.verdict)
            (first, *rest) = claim_in_words(result)
            head = f"{result.claim.id}: {verdict}"
            say(first.removeprefix(head), head=head, style=COLOURS[verdict])
            for line in rest:
                say(line)
        return
    columns = {"claim": "left", "verdict": "left", "tested": "right", "what it says": "left"}
    rows: list[tuple[str | Styled, ...]] = []
    for result in results:
        verdict = str(result.verdict)
        tested = str(sum(outcome.instances for outcome in result.outcomes))
        rows.append((result.claim.id, (verdict, COLOURS[verdict]), tested, result.claim.title))
    print_table("", columns, rows, unbroken=("claim", "verdict", "tested"))
    from earnshaw.papers.claims.words import VERDICTS

    for verdict, words in VERDICTS.items():
        if any(result.verdict == verdict for result in results):
            say(f": {words}", head=str(verdict), style=COLOURS[str(verdict)])
    say("earnshaw verify CLAIM shows the statements of one, with their witnesses")
    for result in results:
        notes = [(one.name, note) for one in result.outcomes for note in one.notes if note]
        for name, note in notes:
            say(f"{result.claim.id}, {name}: {note}")


def _command(
    ids: list[str] | None, preset: str, instances: int | None, seed: int, write: Path
) -> str:
    """The command that makes a page again."""
    words = ["earnshaw verify", *(ids or ()), f"--{preset}"]
    words += [] if instances is None else [f"--instances {instances}"]
    words += [f"--seed {seed}"] if seed else []
    return " ".join([*words, f"--write {shown(write.as_posix())}"])
