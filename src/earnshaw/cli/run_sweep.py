"""What commands that run sweeps share: where to keep and where to compute."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.sweep_progress import sweep_progress
from earnshaw.cli.terminal import note

if TYPE_CHECKING:
    from earnshaw.experiments.sweeps.plan import Plan
    from earnshaw.experiments.sweeps.sweep import Sweep

STORE = Path("earnshaw.sqlite")

StoreOption = Annotated[Path, typer.Option(help="The SQLite file of results.")]
WorkersOption = Annotated[
    int | None, typer.Option(help="Local processes; as many as there are cores if not given.")
]
ClusterOption = Annotated[
    str | None, typer.Option(help="The address of a Dask scheduler to compute on instead.")
]


def run_plan(plan: Plan, store: Path, workers: int | None, cluster: str | None) -> Sweep:
    """Run what the store lacks of a plan, and say how it stands and where it is kept."""
    from earnshaw.experiments.sweeps.sweep import sweep

    count = cores() if workers is None else workers
    try:
        with sweep_progress(plan.name) as watch:
            done = sweep(plan, store=store, workers=count, cluster=cluster, watch=watch)
    except KeyboardInterrupt:
        _note(f"what is finished is kept in {str(store)!r}; the same command goes on from there")
        raise
    if done.elsewhere:
        _note(
            f"{done.elsewhere} of these cells are in {str(store)!r} from another version of the "
            "code too; they were not used"
        )
    if done.failed:
        first = next(cell.error for cell in done.cells if cell.error is not None)
        _note(f"{done.failed} of {len(done.cells)} cells failed, the first because: {first}")
    return done


def _note(line: str) -> None:
    note(f"earnshaw: {line}")


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
