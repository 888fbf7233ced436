"""`ew.sweep`: a grid of settings and seeds, run once, kept in a store, resumed where it stopped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.registry import code_version, kind_named
from earnshaw.experiments.processes import check_workers
from earnshaw.experiments.store.store import DEFAULT, Cell, writing
from earnshaw.experiments.sweeps._dispatch import Dispatcher
from earnshaw.experiments.sweeps._executor import Executor, Serial
from earnshaw.experiments.sweeps.plan import Plan, plan
from earnshaw.experiments.sweeps.progress import Watch
from earnshaw.results import Result


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """A sweep and what is known of its cells.

    Attributes
    ----------
    plan
        what was asked for.
    run
        its number in the store.
    code
        the version that made the results.
    cells
        every setting with every seed, in the order of the plan.
    elsewhere
        how many of them the store has from other versions of the code; not used.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "results.sqlite"
    ...     done = ew.sweep("train", {"width": [5, 10]}, fixed={"iterations": 1000}, store=store)
    >>> len(done.cells), done.done
    (2, 2)
    """

    plan: Plan
    run: int
    code: str
    cells: tuple[Cell, ...]
    elsewhere: int = 0

    _picture = "earnshaw.plots.sweep:draw_sweep"

    def __post_init__(self) -> None:
        expected = kind_named(self.plan.kind).numbers
        found = [cell.numbers for cell in self.cells if cell.numbers is not None]
        if any(isinstance(one.get(name, ""), str) for one in found for name in expected):
            raise EarnshawError("the store has a result without its numbers: it is damaged")

    @property
    def done(self) -> int:
        """How many cells have results."""
        return sum(cell.numbers is not None for cell in self.cells)

    @property
    def failed(self) -> int:
        """How many cells ended without results, with an error instead."""
        return sum(cell.error is not None for cell in self.cells)

    @property
    def complete(self) -> bool:
        """Whether every cell has results."""
        return self.done == len(self.cells)

    @property
    def measure(self) -> str:
        """The number that tables and pictures show unless told otherwise."""
        return kind_named(self.plan.kind).measure

    def chosen_settings(self) -> dict[str, Any]:
        """The settings that are the same everywhere, but not the defaults of the kind."""
        first, defaults = self.plan.settings[0], kind_named(self.plan.kind).defaults()
        return {
            key: value
            for key, value in first.items()
            if key not in self.plan.axes
            and value != defaults.get(key, value)
            and all(settings[key] == value for settings in self.plan.settings)
        }

    def rows(self, measure: str | None = None) -> list[dict[str, Any]]:
        """For each place of the grid, the median and range of a number over the seeds.

        Of yes and no, `mean` is the rate. `values` has every seed's; a diverged run's is infinite.
        """
        measure = self.measure if measure is None else measure
        rows = []
        for i, settings in enumerate(self.plan.settings):
            cells = self.cells[i * len(self.plan.seeds) : (i + 1) * len(self.plan.seeds)]
            values = [_number(cell, measure) for cell in cells if cell.numbers is not None]
            row = {axis: settings[axis] for axis in self.plan.axes} | {"seeds": len(values)}
            if values:
                row |= {
                    "median": float(np.median(values)),
                    "low": min(values),
                    "high": max(values),
                    "mean": float(np.mean(values)),
                }
            rows.append(row | {"values": values})
        return rows

    def summary(self, measure: str | None = None) -> dict[str, Any]:
        """Plain values for JSON: how many cells are done, and a row for each place of the grid."""
        rows = [
            {name: value for name, value in row.items() if name != "values"}
            for row in self.rows(measure)
        ]
        counts = {"cells": len(self.cells), "done": self.done, "failed": self.failed}
        return counts | {"run": self.run, "code": self.code, "rows": rows}

    def _title(self) -> str:
        return f"{self.plan.name} ({self.plan.kind})"

    def _facts(self) -> dict[str, object]:
        return {
            "cells": len(self.cells),
            "done": self.done,
            "failed": self.failed,
            "axes": ", ".join(self.plan.axes) or "none",
            "seeds": len(self.plan.seeds),
            "measure": self.measure,
        }


def _number(cell: Cell, measure: str) -> float:
    assert cell.numbers is not None
    numbers = {name: n for name, n in cell.numbers.items() if not isinstance(n, str)}
    if measure not in numbers:
        known = ", ".join(numbers)
        raise EarnshawError(f"there is no number {measure!r} in the results; allowed: {known}")
    value = numbers[measure]
    return float("inf") if value is None else float(value)


def sweep(
    kind: str | Plan,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    seeds: int | Iterable[int] = 1,
    name: str | None = None,
    store: str | os.PathLike[str] = DEFAULT,
    workers: int = 1,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Sweep:
    """Run every combination of a grid with every seed, except what the store has already.

    What is finished is kept at once; a sweep that was interrupted, in whatever way, goes on when it
    is asked for again. The numbers do not depend on where, or in how many pieces, it was run.

    Parameters
    ----------
    kind
        "train" (`Training` has its settings) or "learn" (`Learning`); or a whole `Plan`.
    grid
        for each setting that varies, its values.
    fixed
        the other settings that are not the defaults.
    seeds
        how many (0, 1, ...), or which.
    name
        of the run in the store.
    store
        an SQLite file; made if there is none.
    workers
        local processes; with 1, all is done in this one.
    cluster
        the address of a Dask scheduler instead.
    watch
        called with a `SweepProgress` now and then.

    Returns
    -------
    Sweep
        `.rows()`, `.cells`, `.done`, `.failed`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "results.sqlite"
    ...     done = ew.sweep("train", {"width": [5, 10]}, fixed={"iterations": 1000}, store=store)
    >>> done.done, done.failed
    (2, 0)
    """
    if isinstance(kind, Plan):
        asked = kind
    else:
        asked = plan(kind, grid, fixed=fixed, seeds=seeds, name=name)
    check_workers(workers)
    code = code_version(asked.kind)
    with writing(store) as opened:
        run = opened.begin_run(asked.name, asked.kind, code, asked.cells())
        if opened.missing(run):
            executor = _executor(workers, cluster)
            try:
                Dispatcher(asked, code, opened, run, executor, watch).run()
            finally:
                executor.close()
        return Sweep(asked, run, code, tuple(opened.cells(run)), opened.elsewhere(run))


def _executor(workers: int, cluster: str | None) -> Executor:
    if cluster is not None:
        from earnshaw.experiments.sweeps._cluster import Cluster

        return Cluster(cluster)
    if workers == 1:
        return Serial()
    from earnshaw.experiments.sweeps._local import LocalProcesses

    return LocalProcesses(workers)
