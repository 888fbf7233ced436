"""`earnshaw sweep`: a grid of settings and seeds, resumable, local or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.options import check_picture
from earnshaw.cli.run_sweep import STORE, ClusterOption, StoreOption, WorkersOption, run_plan
from earnshaw.cli.terminal import print_json, print_rows
from earnshaw.files.atomic import check_writable

if TYPE_CHECKING:
    from earnshaw.experiments.sweeps.sweep import Sweep


def command(
    file: Annotated[
        str,
        typer.Argument(help="A TOML file, or a built-in one: learnability, oracles, oracles-seen."),
    ],
    store: StoreOption = STORE,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    measure: Annotated[
        str | None, typer.Option(help="The number to show: error for train, success for learn.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a heat map: .png, .svg, .pdf.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table to FILE.csv.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Run every combination of a grid with every seed, except what the store has already."""
    check_picture(plot)
    if csv is not None:
        check_writable(csv, (".csv",))
    from earnshaw.experiments.sweeps.toml import built_in, load_plan

    plan = load_plan(built_in(file) or file)
    done = run_plan(plan, store, workers, cluster)
    found = done.summary(measure)
    rows = found["rows"]
    if csv is not None:
        from earnshaw.experiments.tables import write_csv

        write_csv(csv, rows)
    if plot is not None:
        from earnshaw.plots.style import save
        from earnshaw.plots.sweep import draw_sweep

        save(draw_sweep(done, measure), plot)
    if json:
        print_json(found)
    else:
        print_rows(_title(done, measure), rows)
    if done.failed:
        raise typer.Exit(1)


def _title(done: Sweep, measure: str | None) -> str:
    return (
        f"{done.plan.name}: {measure or done.measure}, {done.done} of {len(done.cells)} cells done"
    )
