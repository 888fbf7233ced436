"""`earnshaw landscape`: hunt critical points from many random starts, and classify them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.interrupts import INTERRUPTED
from earnshaw.cli.options import (
    HTML,
    build_teacher,
    check_html,
    check_picture,
    with_ones,
    with_settings,
    with_teacher,
    write_html,
)
from earnshaw.cli.terminal import print_json, print_table, progress_bar, say
from earnshaw.files.atomic import check_writable, make_folder
from earnshaw.landscape.hunting.settings import Settings
from earnshaw.plots.loading import load_drawing
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.landscape.hunting.critical_points import CriticalPoint, Landscape

ROWS = 24  # of the table; more points are summed up
ZERO = 1e-12  # what is below is rounding
WORDS = {
    "plot": "drawn",
    "html": "in the lab",
}  # for files, where their names in JSON do not read well


@with_teacher
@with_settings(Settings)
def command(
    about: dict[str, Any],
    asked: dict[str, Any],
    teacher_seed: Annotated[
        int | None, typer.Option(help="Of a random teacher; the same for all --seed: 0.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    html: Annotated[Path | None, HTML] = None,
    points: Annotated[
        Path | None, typer.Option(help="Write the teacher and a student of each kind there.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Keep the hunt in FILE.npz.")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the hunt in FILE.npz, or with more starts.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Where does gradient descent end? Critical points, their kinds, and how often each is met."""
    check_picture(plot)
    check_html(html)
    if save is not None:
        check_writable(save, (".npz",))
    if points is not None:
        make_folder(points)
    began = time.perf_counter()
    # Batches of starts use all cores: threads of BLAS, for small matrices, only get in their way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    drawing = load_drawing() if plot is not None else None
    from earnshaw.landscape.hunting.hunt import hunt

    hidden = None
    if resume is None or any(value is not None for value in about.values()):
        if asked["fixed_charges"] or asked["objective"] == "assumption-1":
            about = with_ones(about)
        hidden = build_teacher(seed=teacher_seed, **about)
    with progress_bar("hunting") as report:
        landscape = hunt(
            hidden,
            **asked | {"fixed_charges": asked["fixed_charges"] or None},
            save=resume if save is None else save,
            resume=resume,
            report=report,
        )
    if plot is not None:
        assert drawing is not None
        drawing.join()
        from earnshaw.plots.landscape import draw_landscape
        from earnshaw.plots.style import save as save_picture

        save_picture(draw_landscape(landscape), plot)
    if points is not None:
        _write_points(points, landscape)
    write_html(html, landscape)
    seconds = time.perf_counter() - began
    files = {"plot": plot, "html": html, "points": points, "saved": save}
    made = {key: str(path) for key, path in files.items() if path is not None}
    if json:
        print_json(landscape.summary() | {"seconds": seconds} | made)
    else:
        _print(landscape, seconds, made)
    if str(landscape.stop) == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _write_points(folder: Path, landscape: Landscape) -> None:
    """teacher.json and point-0.json, point-1.json, ...: what `earnshaw certify` reads."""
    from earnshaw.charges.network_file import save

    save(folder / "teacher.json", landscape.teacher)
    for number, point in enumerate(landscape.found):
        save(folder / f"point-{number}.json", point.student)


def _print(landscape: Landscape, seconds: float, made: dict[str, str]) -> None:
    about = landscape.settings
    charges = "fixed" if about["fixed_charges"] else "free"
    student = f"{plural(about['units'], 'student unit')}, {charges} charges"
    units = plural(about["teacher_units"], "unit")
    where = f"{about['activation']}, d = {about['dim']}, {units}"
    numbers = ("relative loss", "starts", "share (95 %)", "smallest eigenvalue")
    columns = {"kind": "left"} | dict.fromkeys(numbers, "right") | {"teacher units": "left"}
    widest = {"share (95 %)": 12, "smallest eigenvalue": 10, "relative loss": 10}
    title, rows = f"{where}: {student}", [_row(point) for point in landscape.found[:ROWS]]
    lines = []
    if rows:
        print_table(title, columns, rows, widest=widest)
    else:
        lines.append(f"{title}: no critical point was reached")
    if rest := landscape.found[ROWS:]:
        lines.append(f"... and {len(rest)} more, of {sum(p.count for p in rest)} starts")
    lines += [
        f"undecided: {landscape.undecided} of {plural(landscape.starts, 'start')}",
        *_creeping(landscape),
        f"stopped: {landscape.stop} ({landscape.stop.meaning}), "
        f"{int(landscape.iterations.sum())} iterations in all, {seconds:.1f} s",
    ]
    lines += [f"{WORDS.get(what, what)}: {path}" for what, path in made.items()]
    for line in lines:
        say(line)


def _creeping(landscape: Landscape) -> list[str]:
    count = len(landscape.approaching)
    if not count:
        return []
    most = float(landscape.relative_losses[landscape.approaching].max())
    return [
        f"approaching 0: {count} of {landscape.starts} starts, out of iterations but still falling "
        f"(relative loss at most {most:.2g})"
    ]


def _row(point: CriticalPoint) -> list[str]:
    low, high = point.interval
    return [
        point.kind,
        f"{point.relative_loss:.6g}" if abs(point.relative_loss) > ZERO else "0",
        str(point.count),
        f"{100 * point.frequency:.3g} % ({100 * low:.3g}-{100 * high:.3g})",
        "0" if abs(point.smallest_eigenvalue) <= ZERO else f"{point.smallest_eigenvalue:.4g}",
        "-" if point.pairing is None else point.pairing.words,
    ]
