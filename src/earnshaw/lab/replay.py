"""Results of the library as what the lab plays: paths, runs, landscapes, and plain starts.

A replay is plain values: `stage` (line, plane, space, circle, sphere), `dim`, the `table` of the
potential (None where there is none), `protons` and `charges`, and for each of n times `positions`
(n, k, d), `weights` (n, k) and `energy` (n,). `unit` says what times are: time, iterations, the
number of a critical point, or "start" for one state to begin with. `potential` is a name of the
catalogue where the table is that of the name, else "".
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.dynamics.path import Path
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.lab import catalogue
from earnshaw.lab.tables import potential_table
from earnshaw.landscape.hunting.critical_points import Landscape
from earnshaw.learning.run import Run
from earnshaw.limits import check_memory
from earnshaw.results import number
from earnshaw.text import plural

FRAMES = 600  # times of a replay at most
UNITS = 64  # that the lab moves; more are shown
STAGE_OF = {(on, dim): stage for stage, (on, dim) in catalogue.STAGES.items()}


def replay_of(result: Path | Run | Landscape) -> dict[str, Any]:
    """What the lab plays of a path, a run or a landscape."""
    if isinstance(result, Path):
        return _of_path(result)
    if isinstance(result, Run):
        return _of_run(result)
    if isinstance(result, Landscape):
        return _of_landscape(result)
    raise EarnshawError(
        f"the lab does not play a {type(result).__name__}; allowed: Path, Run, Landscape"
    )


def start_of(teacher: Teacher, student: Student | None) -> dict[str, Any]:
    """One state to begin with; without a student, the page draws as many electrons as protons."""
    electrons = Student(np.zeros((0, teacher.dim)), np.zeros(0)) if student is None else student
    for what, network in (("teacher", teacher), ("student", electrons)):
        if network.units > UNITS:
            raise EarnshawError(f"the {what} has {network.units} units; the lab moves {UNITS}")
    positions, weights = np.asarray(electrons.positions)[None], np.asarray(electrons.weights)[None]
    return _replay(
        teacher,
        title=str(teacher.species.name),
        words="Its potential is no function of one number: charges are shown, without a field.",
        unit="start",
        times=np.zeros(1),
        positions=positions,
        weights=weights,
        energy=np.full(1, np.nan),
    )


def _of_path(path: Path) -> dict[str, Any]:
    kept = _thinned(len(path.times))
    bound = np.full((len(kept), len(path.bound)), -1)
    for event in path.events:
        partner = {"bind": event.partner, "release": -1}.get(event.kind)
        if partner is not None:
            bound[path.times[kept] >= event.time, event.unit] = partner
    return _replay(
        path.teacher,
        title="A simulation",
        words=f"{plural(len(path.bound), 'electron')} among {plural(path.teacher.units, 'proton')}"
        f" under {path.teacher.species.name}, by ew.simulate; stop: {path.stop}.",
        unit="time",
        times=path.times[kept],
        positions=path.positions[kept],
        weights=path.weights[kept],
        energy=path.energy[kept],
        bound=bound,
        one_kind=path.kind is None,
    )


def _of_run(run: Run) -> dict[str, Any]:
    """The ways of its units; of node-wise methods one after the other, each of weight 0 before."""
    ways = [np.asarray(way) for way in run.history.paths]
    final = np.asarray(run.student.weights)
    if not ways or len(ways) != len(final) or any(len(way) == 0 for way in ways):
        ways = [np.asarray(run.student.positions)[i : i + 1] for i in range(len(final))]
    at_once = run.history.node_iterations is None and len({len(way) for way in ways}) == 1
    if at_once:
        positions = np.stack(ways, axis=1)
        weights = np.broadcast_to(final, positions.shape[:2])
    else:
        steps = [(unit, row) for unit, way in enumerate(ways) for row in range(len(way))]
        positions = np.empty((len(steps), len(ways), run.student.dim))
        weights = np.zeros(positions.shape[:2])
        for now, (unit, row) in enumerate(steps):
            for other, way in enumerate(ways):
                positions[now, other] = way[-1 if other < unit else row if other == unit else 0]
            weights[now, : unit + (row == len(ways[unit]) - 1)] = final[
                : unit + (row == len(ways[unit]) - 1)
            ]
    kept = _thinned(len(positions))
    own = population_loss(run.teacher)
    loss = own.suited_to(run.student)
    energy = [
        float(loss.value(Student(positions[n], weights[n]))) if len(final) else run.loss
        for n in kept
    ]
    return _replay(
        run.teacher,
        title="A run of learning",
        words=f"{run.method} on {run.teacher.species.name}: {run.stop} after "
        f"{plural(run.iterations, 'iteration')}, relative loss {number(run.relative_loss)}.",
        unit="step",
        times=np.arange(len(kept), dtype=float),
        positions=positions[kept],
        weights=weights[kept],
        energy=np.asarray(energy),
        one_kind=loss is own,
    )


def _of_landscape(landscape: Landscape) -> dict[str, Any]:
    """Its critical points, the lowest first, one a time."""
    points = landscape.found[:FRAMES]
    if not points:
        raise EarnshawError("the landscape has no critical point to show; allowed: one or more")
    most = max(point.student.units for point in points)
    positions = np.zeros((len(points), most, landscape.teacher.dim))
    weights = np.zeros((len(points), most))
    for row, point in enumerate(points):
        positions[row, : point.student.units] = point.student.positions
        weights[row, : point.student.units] = point.student.weights
    summaries = [point.summary() for point in points]
    return _replay(
        landscape.teacher,
        title="A landscape",
        words=f"{plural(len(points), 'critical point')} of {landscape.teacher.species.name} from "
        f"{plural(landscape.starts, 'start')}, the lowest first: drag the slider.",
        unit="point",
        times=np.arange(len(points), dtype=float),
        positions=positions,
        weights=weights,
        energy=np.asarray([float(one["relative_loss"]) for one in summaries]),
        notes=[
            f"{row + 1}: {one['kind']}, relative loss {number(one['relative_loss'])}, "
            f"{plural(one['count'], 'start')}"
            for row, one in enumerate(summaries)
        ],
    )


def _replay(
    teacher: Teacher,
    *,
    title: str,
    words: str,
    unit: str,
    times: np.ndarray,
    positions: np.ndarray,
    weights: np.ndarray,
    energy: np.ndarray,
    bound: np.ndarray | None = None,
    notes: list[str] | None = None,
    one_kind: bool = True,
) -> dict[str, Any]:
    if teacher.outputs is not None:
        raise EarnshawError(
            f"the lab shows charges that are numbers, not vectors of {teacher.outputs} outputs"
        )
    check_memory({"numbers of a replay": positions.size}, copies=20)
    on, dim = teacher.manifold.name, teacher.dim
    stage = STAGE_OF.get((on, dim), "space")
    table = None
    if one_kind:  # else there is more than one potential
        with suppress(EarnshawError):
            table = potential_table(teacher)
    return {
        "title": title,
        "words": words,
        "unit": unit,
        "stage": stage,
        "dim": dim,
        "potential": _known(table, stage),
        "formula": teacher.species.name,
        "table": table,
        "protons": np.asarray(teacher.positions).tolist(),
        "charges": np.asarray(teacher.weights).tolist(),
        "times": times.tolist(),
        "positions": positions.tolist(),
        "weights": weights.tolist(),
        "energy": energy.tolist(),
        "bound": None if bound is None else bound.tolist(),
        "notes": notes,
    }


def _known(table: dict[str, Any] | None, stage: str) -> str:
    """The name in the catalogue of the page whose table this is, or ""."""
    if table is None:
        return ""
    there = catalogue.read()
    entry = there["entries"].get(table["name"])
    if entry is None or stage not in entry["stages"]:
        return ""
    kept = there["tables"][entry["stages"][stage]]
    same = all(kept[key] == table[key] for key in ("kind", "on", "cusp", "self", "degree"))
    return table["name"] if same else ""


def _thinned(count: int) -> np.ndarray:
    """Which of so many times are kept: at most FRAMES, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, FRAMES).round().astype(int))
