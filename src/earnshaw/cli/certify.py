"""`earnshaw certify`: what kind of point a student is, which theorems apply, and a proof."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.options import build_teacher, with_ones, with_teacher
from earnshaw.cli.terminal import print_json, say
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.landscape.certify import Certified
    from earnshaw.landscape.proofs.proof import Proof
    from earnshaw.landscape.theorems.application import Application


@with_teacher
def command(
    about: dict[str, Any],
    run: Annotated[Path | None, typer.Argument(help="A run that `learn --save` kept.")] = None,
    student: Annotated[Path | None, typer.Option(help="The student's FILE, of a teacher.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of a random teacher; 0.")] = None,
    objective: Annotated[
        str | None,
        typer.Option(help="full (the default), regularized, assumption-1, without-constants."),
    ] = None,
    wrt: Annotated[str | None, typer.Option(help="What moves: both, positions, weights.")] = None,
    fixed_charges: Annotated[
        bool, typer.Option("--fixed-charges", help="Only positions move; --wrt positions.")
    ] = False,
    tolerance: Annotated[
        float | None, typer.Option(help="Of gradient norms and eigenvalues; by the teacher's size.")
    ] = None,
    rigorous: Annotated[
        bool, typer.Option("--rigorous", help="Prove the verdict in ball arithmetic.")
    ] = False,
    proof: Annotated[
        Path | None, typer.Option(help="Write the proof to FILE.json; implies --rigorous.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Verify the proof in FILE.json again, on its own.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Say what kind of point a run or a student is, and prove it if asked."""
    about |= {"seed": seed}
    if fixed_charges:
        if wrt not in (None, "positions"):
            raise EarnshawError(f"--fixed-charges and --wrt {wrt} are given; allowed: one of them")
        wrt = "positions"
    asked = [name for name, value in about.items() if value not in (None, [])]
    if check is not None:
        others = {"a run": run, "--student": student, "--proof": proof}
        named = [*(name for name, value in others.items() if value), *(f"--{a}" for a in asked)]
        if named:
            raise EarnshawError(f"--check takes all from its file; not allowed with: {named[0]}")
        _show_checked(check, json)
        return
    if (run is None) == (student is None):
        raise EarnshawError("certify needs a run's FILE, or --student FILE with its teacher")
    if run is not None and asked:
        raise EarnshawError(f"a run has its teacher; not allowed with a run: --{asked[0]}")
    if proof is not None:
        check_writable(proof, (".json",))
    import earnshaw as ew
    from earnshaw.landscape.certify import certify
    from earnshaw.learning.learn import load_run, objective_of
    from earnshaw.learning.settings import Settings

    if run is not None:
        found = load_run(run)
        fields = {name: found.settings[name] for name in Settings.__dataclass_fields__}
        changed = {"objective": objective, "wrt": wrt}
        fields |= {name: value for name, value in changed.items() if value is not None}
        loss, point = objective_of(found.teacher, Settings(**fields)), found.student
    else:
        assert student is not None
        hidden = build_teacher(**with_ones(about) if fixed_charges else about)
        loss = ew.population_loss(hidden, objective or "full", wrt=wrt)
        point = ew.load_student(student)
    result = certify(loss, point, tolerance=tolerance, rigorous=rigorous or proof is not None)
    if proof is not None:
        from earnshaw.landscape.proofs.proof_file import save_proof

        assert result.rigorous is not None
        save_proof(proof, result.rigorous)
    if json:
        print_json(result.summary() | ({} if proof is None else {"proof": str(proof)}))
    else:
        _print(result, proof)


def _show_checked(path: Path, json: bool) -> None:
    """Verify a proof's file and say what it proves."""
    from earnshaw.landscape.proofs.check import check_proof

    proof = check_proof(path)
    if json:
        print_json({"checked": True, "kind": proof.kind, "rigorous": proof.summary()})
    else:
        for line in (f"{path}: verified", *_proof_lines(proof)):
            say(line)


def _print(result: Certified, proof: Path | None) -> None:
    lines = [
        f"{result.kind}: {result.reason}",
        f"    loss {result.loss:.6g}, gradient norm {result.gradient_norm:.2e}, smallest "
        f"eigenvalue {result.smallest_eigenvalue:.4g}; in M_eps from eps = {result.epsilon:.2e}",
    ]
    if result.kind in ("minimum", "cusp-minimum") and result.strict is not None:
        lines.append("    a strict minimum" if result.strict else "    a minimum, not a strict one")
    if result.escape is not None:
        path = result.escape
        lines.append(
            f"    a way out of {len(path.students) - 1} steps: the loss rises by "
            f"{path.largest_rise:.2g} at most, and falls by {path.drop:.4g}"
        )
    margin = result.summary()["smallest_margin"]
    if margin is not None:
        held = int((result.held_by != -1).sum())
        sit = f"{plural(held, 'unit')} {'sits' if held == 1 else 'sit'} on cusps"
        lines.append(f"    {sit}, smallest margin {margin:.4g}")
    free = result.laplacians[result.held_by == -1]
    if len(free):
        lines.append(
            f"    Laplacians: {free.min():.4g} to {free.max():.4g} in one unit, "
            f"{result.group_laplacian:.4g} in all together"
        )
    for theorem in result.theorems:
        lines += _theorem_lines(theorem)
    if not result.theorems:
        lines.append("no theorem of the papers speaks of this loss")
    if result.rigorous is not None:
        lines += _proof_lines(result.rigorous)
    if proof is not None:
        lines.append(f"proof: {proof}")
    for line in lines:
        say(line)


def _theorem_lines(theorem: Application) -> list[str]:
    word = {True: "applies", None: "may apply", False: "does not apply"}[theorem.applies]
    lines = [f"{theorem.theorem} ({theorem.sources}) {word}"]
    marks = {True: "yes", None: "?  ", False: "no "}
    for hypothesis in theorem.hypotheses:
        here = f": {hypothesis.here}" if hypothesis.here else ""
        lines.append(f"    {marks[hypothesis.holds]}  {hypothesis.says}{here}")
    if theorem.applies is not False:
        lines.append(f"    guarantees: {theorem.guarantees}")
        verdict = {True: "as it says", None: "", False: "AGAINST THE THEOREM"}[theorem.agrees]
        lines.append(f"    here: {theorem.here}" + (f" ({verdict})" if verdict else ""))
    return lines


def _proof_lines(proof: Proof) -> list[str]:
    low, high = proof.loss
    away = ", away from 0" if proof.away_from_zero else ""
    return [
        f"proved: {proof.kind}: {proof.reason}"
        if proof.kind != "inconclusive"
        else f"not proved: {proof.reason}",
        f"    loss in [{low!r}, {high!r}]{away}",
        f"    within {proof.radius:.2g} of {_centre(proof)}, {proof.variables} variables, "
        f"{proof.bits} bits",
    ]


def _centre(proof: Proof) -> str:
    """Where the proof is: a file says nothing of the student that it was made for."""
    moved = proof.summary()["moved"]
    return "its centre" if moved is None else f"a point {moved:.2g} from the student"
