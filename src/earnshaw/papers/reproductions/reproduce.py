"""`ew.reproduce`: the papers' tables and figures from sweeps, ours beside theirs."""

from __future__ import annotations

import os
from dataclasses import dataclass

from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.experiments.store.store import DEFAULT
from earnshaw.experiments.sweeps.plan import Plan
from earnshaw.experiments.sweeps.progress import Watch
from earnshaw.experiments.sweeps.sweep import Sweep, sweep
from earnshaw.papers.reproductions import _presets as presets
from earnshaw.papers.reproductions._deep_networks import reproduction
from earnshaw.papers.reproductions.readings import reading_named
from earnshaw.papers.reproductions.reproduction import Reproduction
from earnshaw.papers.reproductions.table1 import convergence_plan, table_one

NAMES = ("table1", "table2", "figure1", "figure2")


@dataclass(frozen=True)
class ReproductionRequest:
    """What is asked for; None where the preset or the default reading decides.

    Attributes:
        name: table1, table2, figure1 or figure2.
        preset: quick or paper.
        seeds: how many.
        cells: depths x widths, such as 2x5,3x10.
        reading: how to read what the papers leave unsaid (`readings.py`).
        iterations: steps of training.
    """

    name: str
    preset: str = "quick"
    seeds: int | None = None
    cells: str | None = None
    reading: str | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise UnknownName("table or figure", self.name, NAMES)
        presets.preset_named(self.preset)
        reading_named(self.reading)
        if self.name == "table1" and (self.cells, self.reading, self.iterations) != (None,) * 3:
            raise EarnshawError("table1 has no cells, reading or iterations; allowed: seeds")

    def plan(self) -> Plan:
        """The sweep that it needs."""
        if self.name == "table1":
            return convergence_plan(self.preset, self.seeds)
        chosen, read = (
            presets.preset_named(self.preset),
            reading_named(self.reading),
        )
        usual = presets.figure_cells if self.name == "figure1" else presets.table_cells
        return presets.training_plan(
            f"{self.name} {self.preset} {read.name}",
            usual(chosen) if self.cells is None else presets.parse_cells(self.cells),
            read,
            chosen.seeds if self.seeds is None else self.seeds,
            self.iterations,
        )

    def made(self, done: Sweep) -> Reproduction:
        """The table or figure from its sweep."""
        if self.name == "table1":
            return table_one(self.preset, done)
        return reproduction(self.name, self.preset, reading_named(self.reading), done)

    def command(self) -> str:
        """The command that makes it again."""
        options = ("seeds", "cells", "reading", "iterations")
        given = [f"--{o} {v}" for o in options if (v := getattr(self, o)) is not None]
        return " ".join([f"earnshaw reproduce {self.name} --preset {self.preset}", *given])


def reproduce(
    name: str,
    preset: str = "quick",
    *,
    seeds: int | None = None,
    cells: str | None = None,
    reading: str | None = None,
    iterations: int | None = None,
    store: str | os.PathLike[str] = DEFAULT,
    workers: int = 1,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Reproduction:
    """Make table1, table2, figure1 or figure2 again; what the store has is not run again.

    The arguments are those of `ReproductionRequest` and `ew.sweep`.

    Parameters
    ----------
    name
        "table1", "table2", "figure1" or "figure2".
    preset
        "quick", minutes, or "paper", hours.
    seeds
        how many, instead of the preset's.
    cells
        depth x width, as "2x5,3x10", instead of all.
    reading
        of what the text leaves open, by name.
    iterations
        instead of the preset's.
    store
        a file of results; what it has is not run again.
    workers
        processes on this machine.
    cluster
        the address of a Dask scheduler, instead.
    watch
        called as cells get done.

    Returns
    -------
    Reproduction
        `.rows`, `.remarks`, `.complete`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "results.sqlite"
    ...     table = ew.reproduce("table2", cells="2x5", seeds=1, iterations=1000, store=store)
    >>> [(row["depth"], row["width"]) for row in table.rows]
    [(2, 5)]
    """
    request = ReproductionRequest(name, preset, seeds, cells, reading, iterations)
    return request.made(
        sweep(request.plan(), store=store, workers=workers, cluster=cluster, watch=watch)
    )
