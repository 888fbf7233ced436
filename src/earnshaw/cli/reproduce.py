"""`earnshaw reproduce`: the papers' tables and figures, ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.run_sweep import STORE, ClusterOption, StoreOption, WorkersOption, run_plan
from earnshaw.cli.terminal import print_json, print_rows, say
from earnshaw.files.atomic import check_writable


def command(
    name: Annotated[str, typer.Argument(help="table1, table2, figure1 or figure2.")],
    preset: Annotated[
        str, typer.Option(help="quick (minutes) or paper (all cells, more seeds; hours).")
    ] = "quick",
    seeds: Annotated[int | None, typer.Option(help="How many, instead of the preset's.")] = None,
    cells: Annotated[
        str | None, typer.Option(help="Only these depths x widths, such as 2x5,3x10.")
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(
            help="What is left unsaid: one-sample, summed, sample-set, wide-inputs or literal."
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Steps of training, instead of a million.")
    ] = None,
    store: StoreOption = STORE,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing: draw what the store has so far.")
    ] = False,
    out: Annotated[
        Path, typer.Option(help="The folder for NAME.png, NAME.csv and NAME.md.")
    ] = Path(),
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Make a table or figure of the papers again: a picture, a CSV file and a table to read."""
    from earnshaw.papers.reproductions.reproduce import ReproductionRequest

    request = ReproductionRequest(name, preset, seeds, cells, reading, iterations)
    files = {ending: out / f"{name}{ending}" for ending in (".png", ".csv", ".md")}
    for ending, path in files.items():
        check_writable(path, (ending,))
    plan = request.plan()
    if stored:
        from earnshaw.experiments.sweeps.stored import stored_sweep

        done = stored_sweep(plan, store)
    else:
        done = run_plan(plan, store, workers, cluster)
    made = request.made(done)

    from earnshaw.experiments.tables import write_csv
    from earnshaw.papers.reproductions.page import write_page

    write_csv(files[".csv"], made.rows)
    write_page(files[".md"], made, request.command())
    made.plot(files[".png"])
    if json:
        print_json(made.summary() | {"files": [str(path) for path in files.values()]})
    else:
        print_rows(made.title, made.shown or made.rows)
        for remark in made.remarks:
            say(remark)
        say(f"written: {', '.join(str(path) for path in files.values())}")
    if done.failed:
        raise typer.Exit(1)
