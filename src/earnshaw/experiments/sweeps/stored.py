"""Look at what a store has of a sweep, while it runs or after; nothing is run or changed."""

from __future__ import annotations

import os

from earnshaw.experiments.kinds.registry import code_version
from earnshaw.experiments.store.store import Cell, canonical, reading
from earnshaw.experiments.sweeps.plan import Plan
from earnshaw.experiments.sweeps.sweep import Sweep


def stored_sweep(plan: Plan, store: str | os.PathLike[str]) -> Sweep:
    """The sweep as far as this version of the code has run it, in whichever runs."""
    code = code_version(plan.kind)
    known: dict[tuple[str, int], Cell] = {}
    with reading(store) as opened:
        for run in opened.runs():
            if (run.kind, run.version) == (plan.kind, code):
                known |= {(canonical(c.settings), c.seed): c for c in opened.cells(run.id)}
    cells = tuple(
        known.get((canonical(settings), seed), Cell(settings, seed, None))
        for settings, seed in plan.cells()
    )
    return Sweep(plan, 0, code, cells)
