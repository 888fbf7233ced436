"""`earnshaw certify`: what kind of point a student is, which theorems apply, and a proof."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.options import build_teacher, check_picture, with_ones, with_teacher
from earnshaw.cli.terminal import print_json, say
from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_writable
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.charges.network import Student
    from earnshaw.energy.objective import Objective
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
    spectrum: Annotated[
        Path | None, typer.Option(help="Draw all Hessian eigenvalues: FILE.png, .svg or .pdf.")
    ] = None,
    slice_: Annotated[
        Path | None, typer.Option("--slice", help="Draw the loss on a plane: FILE.png, .svg, .pdf.")
    ] = None,
    along: Annotated[
        str, typer.Option(help="--slice: eigenvectors I,J; 0 the lowest, -1 the highest.")
    ] = "0,-1",
    through: Annotated[
        list[Path] | None,
        typer.Option(help="--slice: a plane through this student's FILE too; at most twice."),
    ] = None,
    reach: Annotated[
        float | None, typer.Option(help="--slice: how far; half the usual length of a unit.")
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
        others = {
            "a run": run,
            "--student": student,
            "--proof": proof,
            "--spectrum": spectrum,
            "--slice": slice_,
        }
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
    check_picture(spectrum)
    check_picture(slice_)
    plane = {"along": _two_numbers(along), "reach": reach, "through": through or []}
    if slice_ is None and (through or reach is not None):
        raise EarnshawError("--through and --reach describe a --slice FILE, which is not given")
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
    drawn = {"spectrum": spectrum, "slice": slice_}
    payload: dict[str, Any] = {} if proof is None else {"proof": str(proof)}
    payload |= {f"{what}_plot": str(path) for what, path in drawn.items() if path is not None}
    if spectrum is not None:
        payload["spectrum"] = _draw_spectrum(loss, point, tolerance, spectrum)
    if slice_ is not None:
        payload["slice"] = _draw_slice(loss, point, plane, slice_)
    if json:
        print_json(result.summary() | payload)
        return
    _print(result, proof)
    if spectrum is not None:
        kinds = {"negative": "", "symmetry": " by symmetry", "zero": " otherwise", "positive": ""}
        counts = payload["spectrum"]
        words = [
            f"{counts[kind]} {'zero' if more else kind}{more}"
            for kind, more in kinds.items()
            if counts[kind]
        ]
        say(f"eigenvalues: {', '.join(words) or 'none, every unit sits on a cusp'}")
    for path in drawn.values():
        if path is not None:
            say(f"drawn: {path}")


def _two_numbers(text: str) -> tuple[int, int]:
    """The eigenvectors of --along."""
    try:
        one, other = (int(part) for part in text.split(","))
    except ValueError:
        raise EarnshawError(f"--along is {text!r}; allowed: two integers such as 0,-1") from None
    return one, other


def _draw_spectrum(
    loss: Objective, point: Student, tolerance: float | None, path: Path
) -> dict[str, Any]:
    from earnshaw.landscape.spectrum import spectrum
    from earnshaw.plots.spectrum import draw_spectrum
    from earnshaw.plots.style import save

    found = spectrum(loss, point, tolerance=tolerance)
    save(draw_spectrum(found), path)
    return found.summary()


def _draw_slice(
    loss: Objective, point: Student, asked: dict[str, Any], path: Path
) -> dict[str, Any]:
    from earnshaw.charges.network_file import load_student
    from earnshaw.landscape.slices import loss_slice
    from earnshaw.plots.slices import draw_slice
    from earnshaw.plots.style import save

    others = [load_student(file) for file in asked["through"]]
    found = loss_slice(loss, point, *others, along=asked["along"], reach=asked["reach"])
    save(draw_slice(found), path)
    return found.summary()


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
        flat = "a minimum, not a strict one: the loss is flat along its symmetries"
        lines.append(f"    {'a strict minimum' if result.strict else flat}")
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
    where = f"within {proof.radius:.2g} of {_centre(proof)}, " if proof.radius < math.inf else ""
    return [
        f"proved: {proof.kind}: {proof.reason}"
        if proof.kind != "inconclusive"
        else f"not proved: {proof.reason}",
        f"    loss in [{low!r}, {high!r}]{away}",
        f"    {where}{proof.variables} variables, {proof.bits} bits",
    ]


def _centre(proof: Proof) -> str:
    """Where the proof is: a file says nothing of the student that it was made for."""
    moved = proof.summary()["moved"]
    return "its centre" if moved is None else f"a point {moved:.2g} from the student"
