"""`earnshaw barrier`: how high the loss climbs on the way from one student to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.options import build_teacher, check_picture, with_ones, with_teacher
from earnshaw.cli.terminal import print_json, say
from earnshaw.errors import EarnshawError

if TYPE_CHECKING:
    from earnshaw.landscape.barrier import Barrier


@with_teacher
def command(
    start: Annotated[Path, typer.Argument(help="The FILE of a student: where the way begins.")],
    end: Annotated[Path, typer.Argument(help="The FILE of another of as many units.")],
    about: dict[str, Any],
    seed: Annotated[int | None, typer.Option(help="Of a random teacher; 0.")] = None,
    objective: Annotated[
        str, typer.Option(help="full, regularized, assumption-1, without-constants.")
    ] = "full",
    wrt: Annotated[str | None, typer.Option(help="What moves: both, positions, weights.")] = None,
    fixed_charges: Annotated[
        bool, typer.Option("--fixed-charges", help="Only positions move; --wrt positions.")
    ] = False,
    images: Annotated[int, typer.Option(help="Points of the path, ends included.")] = 21,
    iterations: Annotated[int, typer.Option(help="Of the string method, at most.")] = 500,
    match: Annotated[
        bool, typer.Option("--match/--no-match", help="Match units first, up to symmetry, or not.")
    ] = True,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """The loss on the line between two students, and on a path that climbs less."""
    check_picture(plot)
    if fixed_charges:
        if wrt not in (None, "positions"):
            raise EarnshawError(f"--fixed-charges and --wrt {wrt} are given; allowed: one of them")
        wrt = "positions"
    import earnshaw as ew

    students = [ew.load_student(path) for path in (start, end)]
    about |= {"seed": seed}
    teacher = build_teacher(**with_ones(about) if fixed_charges else about)
    loss = ew.population_loss(teacher, objective, wrt=wrt)
    found = ew.barrier(loss, *students, images=images, iterations=iterations, match=match)
    if plot is not None:
        from earnshaw.plots.barrier import barrier_plane, draw_barrier
        from earnshaw.plots.style import save

        save(draw_barrier(found, barrier_plane(loss, found)), plot)
    if json:
        print_json(found.summary() | ({} if plot is None else {"plot": str(plot)}))
        return
    for line in _lines(found):
        say(line)
    if plot is not None:
        say(f"drawn: {plot}")


def _lines(found: Barrier) -> list[str]:
    lines = [
        f"loss {found.losses[0]:.6g} at the start, {found.losses[-1]:.6g} at the end, "
        f"{found.distance:.4g} apart" + (" after matching" if found.matched else ""),
        f"straight line: climbs {found.line_height:.6g} above the start",
        f"relaxed path: climbs {found.height:.6g} above the start, {found.height_from_end:.6g} "
        f"above the end ({len(found.losses)} images, {found.iterations} steps)",
    ]
    if found.saddle_loss is not None:
        lines.append(
            f"its saddle: loss {found.saddle_loss:.9g}, gradient {found.saddle_gradient:.1e}, one "
            f"negative eigenvalue {found.saddle_eigenvalue:.4g}; the path's top is "
            f"{found.error:.2g} above it"
        )
    elif found.error is None:
        lines.append("no saddle of index 1 was found at its top: another path may climb less")
    lines.append("the path bounds the lowest pass from above; nothing here bounds it from below")
    return lines
