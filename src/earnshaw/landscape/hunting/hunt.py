"""`hunt`: many random starts, gradient descent from each, and what kinds of points they end in.

The frequencies are those of plain gradient descent (`descent/lockstep_descent.py`); Newton's method
only adds the last digits, in bowls from which descent would not escape (`_newton.py`). Ends are
grouped up to the symmetries of the problem (`_groups.py`) and classified (`_verdict.py`). With relu
on R^d, fixed charges 1 and orthonormal teachers this is the experiment of Safran and Shamir,
"Spurious local minima are common in two-layer ReLU neural networks" (ICML 2018).
"""

from __future__ import annotations

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from earnshaw.charges.network import Teacher, same_teacher
from earnshaw.descent.loop import Report
from earnshaw.descent.method import Stop
from earnshaw.errors import EarnshawError
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._groups import grouped
from earnshaw.landscape.hunting._hunt_file import hunt_checkpoints, read_hunt
from earnshaw.landscape.hunting._search import Search, Status, begin, run_search
from earnshaw.landscape.hunting._starts import draw_starts
from earnshaw.landscape.hunting._verdict import Verdict
from earnshaw.landscape.hunting._walkers import Walkers, unevaluated
from earnshaw.landscape.hunting.critical_points import (
    DECIDED,
    CriticalPoint,
    Landscape,
    interval,
    is_approaching,
)
from earnshaw.landscape.hunting.pairing import pairing
from earnshaw.landscape.hunting.settings import Settings
from earnshaw.limits import check_memory, check_work
from earnshaw.numerics.fixed_order import one_blas_thread
from earnshaw.settings import given

COPIES = 12  # of a start: where it began, is and goes, and what its file holds
RELATIVE = 1e-10  # the default tolerance, relative to the size of slopes


@one_blas_thread()
def hunt(
    teacher: Teacher | None = None,
    *,
    units: int | None = None,
    starts: int | None = None,
    seed: int | None = None,
    fixed_charges: bool | None = None,
    init_scale: float | None = None,
    objective: str | None = None,
    tolerance: float | None = None,
    iterations: int | None = None,
    save: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    report: Report | None = None,
) -> Landscape:
    """Hunt the critical points of a loss from many random starts at once, and classify them.

    Ctrl-C ends the hunt and returns what there is. Start i of a seed is the same student however
    many starts there are, and the starts of two seeds are independent.

    Parameters
    ----------
    teacher
        whose landscape to hunt in. Not needed to resume.
    units
        of the student; by default as many as the teacher has.
    starts
        how many; 600.
    seed
        of the starts; 0.
    fixed_charges
        whether only positions move, the weights being the teacher's: in order, or
        its one weight for every unit of a student with another number of units.
    init_scale
        s, for starts of N(0, s^2 I) on R^d; by default N(0, I/d).
    objective
        "full" (the default), "regularized", "assumption-1" (fixed charges 1), or
        "without-constants".
    tolerance
        the gradient norm at which a start has arrived; by default 1e-10 s min(1, s) Phi,
        s the largest weight of the teacher and Phi the largest Phi(w_j, w_j).
    iterations
        at most, of each start; 50,000.
    save
        an NPZ file to keep the hunt in, written every few seconds and at the end.
    resume
        such a file, to go on from; more starts and more iterations may be asked for.
    report
        called with a `Progress` now and then.

    Returns
    -------
    Landscape
        `.found`, the critical points with how often each was met; `.undecided`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0], [3.0]], [1.0, 1.0], "gaussian")
    >>> landscape = ew.hunt(teacher, units=1, starts=8)
    >>> [(point.kind, point.count) for point in landscape.found]  # doctest: +ELLIPSIS
    [('minimum', ...
    """
    asked = given(Settings, locals())
    search = None
    if resume is None:
        settings = Settings(**asked)
    else:
        stored, hunted, search = read_hunt(resume)
        try:
            settings = stored.agreeing(asked)
            teacher = _same(hunted, teacher)
        except EarnshawError as error:
            raise EarnshawError(f"cannot resume {str(resume)!r}: {error}") from None
    if not isinstance(teacher, Teacher):
        raise EarnshawError(f"a hunt needs a Teacher, not {type(teacher).__name__}; or resume=")
    if settings.init_scale is not None and teacher.manifold.name == "sphere":
        raise EarnshawError("starts on the sphere are uniform; allowed: init_scale on R^d only")
    keeper = None if save is None else hunt_checkpoints(save, settings, teacher)

    loss = settings.loss(teacher)
    if loss.unbounded and settings.objective != "without-constants":
        raise EarnshawError(
            f"{teacher.species.name} is unbounded: every unit has infinite energy of its own; "
            "allowed: objective without-constants"
        )
    shape = (settings.student_units(teacher), teacher.dim)
    check_memory({"starts": settings.starts, "units": shape[0], "dimensions": shape[1]}, COPIES)
    pairs = {"pairs of units": shape[0] * (shape[0] + teacher.units), "dimensions": shape[1]}
    check_work("one value of the loss", pairs)
    begun = draw_starts(
        loss.manifold,
        shape,
        settings.seed,
        range(settings.starts),
        scale=settings.init_scale,
        weights=settings.weights(teacher),
    )
    search = _extended(search, begin(unevaluated(*begun)))
    limit = settings.tolerance or RELATIVE * loss.gradient_scale()
    interrupted = False
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        batches = Batches(loss, shape, limit, pool)
        try:
            checkpoint = None if keeper is None else keeper.keep
            run_search(batches, search, settings.iterations, report=report, checkpoint=checkpoint)
        except KeyboardInterrupt:
            interrupted = True
            pool.shutdown(wait=True, cancel_futures=True)
    if keeper is not None:
        keeper.write(search)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as batches.pool:
        groups = grouped(batches, search.walkers.take(search.arrived))
    return _landscape(teacher, batches, settings, search, groups, begun[0], interrupted)


def _same(stored: Teacher, given: Teacher | None) -> Teacher:
    """The stored teacher, if the one given is none or the same."""
    if given is not None and not same_teacher(stored, given):
        raise EarnshawError("it is a hunt with another teacher")
    return stored


def _extended(stored: Search | None, begun: Search) -> Search:
    """The stored search with the further starts of one that has just begun."""
    if stored is None:
        return begun
    known = len(stored.status)
    rest = np.arange(known, len(begun.status))
    added = begun.walkers.take(rest)
    pairs = zip(stored.walkers, added, strict=True)
    return Search(
        Walkers(*(np.concatenate(pair) for pair in pairs)),
        np.append(stored.status, begun.status[rest]),
        np.append(stored.next_try, begun.next_try[rest]),
    )


def _landscape(
    teacher: Teacher,
    batches: Batches,
    settings: Settings,
    search: Search,
    groups: list[tuple[np.ndarray, Verdict]],
    begun: np.ndarray,
    interrupted: bool,
) -> Landscape:
    loss, walkers, arrived = batches.loss, search.walkers, search.arrived
    empty = float(loss.empty_value())
    relative = walkers.value / empty if empty > 0 else np.full(len(walkers.value), np.nan)
    if loss.name in ("full", "assumption-1"):
        relative = np.maximum(relative, 0.0)
    ended = settings.starts - len(search.running)
    found = []
    for members, verdict in groups:
        numbers = arrived[members]
        found.append(
            CriticalPoint(
                kind=verdict.kind,
                reason=verdict.reason,
                loss=float(walkers.value[numbers[0]]),
                relative_loss=float(relative[numbers[0]]),
                smallest_eigenvalue=verdict.smallest_eigenvalue,
                gradient_norm=verdict.gradient_norm,
                count=len(numbers),
                frequency=len(numbers) / ended,
                interval=interval(len(numbers), ended),
                student=walkers.student(int(numbers[0])),
                starts=np.sort(numbers),
                strict=verdict.strict,
                escape=verdict.escape,
                pairing=pairing(loss, walkers.student(int(numbers[0]))),
            )
        )
    decided = sum(point.count for point in found if point.kind in DECIDED)
    limited = search.status == Status.LIMIT
    approaching = np.zeros(0, dtype=int)
    if loss.name in ("full", "assumption-1"):  # whose lowest value is 0
        fall = walkers.step_size * walkers.gradient_norms**2
        creeping = is_approaching(relative, walkers.iterations, fall, walkers.value)
        approaching = np.flatnonzero(limited & creeping)
    minima = all(point.kind in ("minimum", "cusp-minimum") for point in found)
    stop = Stop.CONVERGED if minima else Stop.STATIONARY
    stop = Stop.ITERATION_LIMIT if np.any(limited) else stop
    return Landscape(
        teacher=teacher,
        found=tuple(found),
        starts=settings.starts,
        undecided=settings.starts - decided - len(approaching),
        stop=Stop.INTERRUPTED if interrupted else stop,
        settings=_described(teacher, batches, settings),
        begun=begun,
        ends=walkers.positions,
        weights=walkers.weights,
        relative_losses=relative,
        iterations=walkers.iterations,
        approaching=approaching,
    )


def _described(teacher: Teacher, batches: Batches, settings: Settings) -> dict[str, Any]:
    return dataclasses.asdict(settings) | {
        "units": batches.shape[0],
        "tolerance": batches.tolerance,
        "activation": teacher.species.name,
        "parameters": dict(teacher.species.parameters),
        "dim": teacher.input_dim,
        "teacher_units": teacher.units,
        "on": teacher.manifold.name,
    }
