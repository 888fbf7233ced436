"""`earnshaw learn`: find a hidden network, unit by unit, and say what was found."""

from __future__ import annotations

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
    number_or_name,
    with_settings,
    with_teacher,
    write_html,
)
from earnshaw.cli.terminal import print_json, print_table, progress_bar, say
from earnshaw.files.atomic import check_writable
from earnshaw.learning.settings import Settings
from earnshaw.plots.loading import load_drawing
from earnshaw.text import plural

if TYPE_CHECKING:
    from earnshaw.learning.run import Run

ROWS = 24  # of the table; more units are summed up
NETWORK = (".json", ".csv")  # of files for the learned network alone
SAVE = "FILE.npz keeps the run; FILE.json or .csv the learned network."


@with_teacher
@with_settings(Settings)
def command(
    about: dict[str, Any],
    asked: dict[str, Any],
    plot: Annotated[Path | None, typer.Option(help="Draw it: FILE.png, .svg or .pdf.")] = None,
    html: Annotated[Path | None, HTML] = None,
    save: Annotated[Path | None, typer.Option(help=SAVE)] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in FILE.npz.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Learn a random or given teacher (16 units in d = 7), and certify what was reached."""
    check_picture(plot)
    check_html(html)
    if save is not None:
        check_writable(save, (".npz", *NETWORK))
    began = time.perf_counter()
    drawing = load_drawing() if plot is not None else None
    from earnshaw.learning.learn import learn

    hidden = None
    if resume is None or any(value is not None for value in about.values()):
        hidden = build_teacher(seed=asked["seed"], **about)
    with progress_bar("learning") as report:
        run = learn(
            hidden,
            **asked | {"steps": number_or_name(asked["steps"])},
            save=resume if save is None or _is_network(save) else save,
            resume=resume,
            report=report,
        )
    if plot is not None:
        assert drawing is not None
        drawing.join()
        from earnshaw.plots.learning import draw_run
        from earnshaw.plots.style import save as save_picture

        save_picture(draw_run(run), plot)
    if save is not None and _is_network(save):
        from earnshaw.charges.network_file import save as save_network

        save_network(save, run.student)
    write_html(html, run)
    seconds = time.perf_counter() - began
    if json:
        files = {"plot": plot, "html": html, "saved": save}
        shown_files = {key: str(path) for key, path in files.items() if path is not None}
        print_json(run.summary() | {"seconds": seconds} | shown_files)
    else:
        _print(run, seconds, plot, save, html)
    if str(run.stop) == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _is_network(save: Path) -> bool:
    """Whether that is a file of the network alone, not of the run."""
    return save.suffix.lower() in NETWORK


def _print(
    run: Run, seconds: float, plot: Path | None, save: Path | None, html: Path | None
) -> None:
    matching, teacher = run.matching, run.teacher
    where = (
        f"{run.settings['activation']}, d = {teacher.input_dim}, {plural(teacher.units, 'unit')}"
    )
    headings = ("unit", "learned by", "distance", "weight", "weight error")
    rows = []
    for unit in range(min(teacher.units, ROWS)):
        by, found = int(matching.permutation[unit]), matching.permutation[unit] >= 0
        row = (
            str(unit),
            str(by) if found else "-",
            f"{matching.distance[unit]:.1e}" if found else "-",
            f"{float(teacher.weights[unit]):+.6f}",
            f"{matching.weight_error[unit]:.1e}" if found else "-",
        )
        rows.append(row)
    print_table(f"{where}: {run.method}", dict.fromkeys(headings, "right"), rows)
    for line in _lines(run, seconds):
        say(line)
    if plot is not None:
        say(f"drawn: {plot}")
    if html is not None:
        say(f"in the lab: {html}")
    if save is not None:
        say(f"saved: {save}" + (" (the learned network)" if _is_network(save) else ""))


def _lines(run: Run, seconds: float) -> list[str]:
    from earnshaw.learning.run import RESULTS

    matching, found = run.matching, run.certificate
    units, extra = run.teacher.units, len(matching.unmatched)
    if units > ROWS:
        worst = f"largest distance {max(matching.distance):.1e}"
        first = [
            f"... and {units - ROWS} more; {worst}, weight error {max(matching.weight_error):.1e}"
        ]
    else:
        first = []
    kind = "a permutation" if matching.is_permutation else "no permutation"
    belong = "belongs" if extra == 1 else "belong"
    more = f"; {plural(extra, 'student unit')} {belong} to no teacher unit" if extra else ""
    iterations = plural(run.iterations, "iteration")
    lines = [
        *first,
        f"result: {run.result}: {RESULTS[run.result]}",
        f"oracle: {run.oracle}; matching: {kind}{more}",
        f"left of the loss: {run.relative_loss:.1e}",
        f"stopped: {run.stop} ({run.stop.meaning}), {iterations}, {seconds:.1f} s",
        f"certificate: {found.kind}: {found.reason}",
        f"    gradient norm {found.gradient_norm:.1e}, smallest eigenvalue of the smooth part "
        f"{found.smallest_eigenvalue:.3g}" + _margin(found),
    ]
    return lines + [f"note: {note}" for note in run.notes]


def _margin(found: Any) -> str:
    margin = found.summary()["smallest_margin"]
    return "" if margin is None else f", smallest cusp margin {margin:.3g}"
