"""Electron-proton dynamics: gradient flow on L/2, the motion of a network that learns.

    d theta_i / dt = -(1/2) grad_i L(c, theta),    and for wrt="both"  d c_i / dt = -(1/2) dL/dc_i

(EPD, Theorem 2.2; Full, Theorem 2.3, with the factor of mathematics.md, error 3). `_flow.py`
integrates this while nothing happens. Units that meet at a cusp of the potential bind there, and
stay bound until the net force of all others exceeds the cusp's pull: `_encounters.py`. Here they
take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student, Teacher
from earnshaw.dynamics._clusters import apart, clusters
from earnshaw.dynamics._cusps import Cusp, closeness, find_cusp, has_point
from earnshaw.dynamics._encounters import Regrouped, join, separate
from earnshaw.dynamics._flow import SLACK, Records, Sight, State, World, advance, observe
from earnshaw.dynamics.path import Encounter, Path, Pause, Stop
from earnshaw.dynamics.settings import Settings
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.numerics.fixed_order import one_blas_thread
from earnshaw.settings import given

Progress = Callable[[float, str], None]
Checkpoint = Callable[[Callable[[], Path]], None]

CHUNK = 256  # steps between two looks at the clock, fewer if they would not fit
NUMBERS = 2**24  # that a chunk may hold
SLOWED = 10.0  # at rest: slower than so many rtol of a unit's own top speed
FIRST = 0.01  # the first step of a segment, as a part of the time that the units' size takes
HALVINGS = 24  # of the step in which a hold gave way, to find when


@one_blas_thread()
def simulate(
    teacher: Teacher,
    student: Student,
    time: float = 10.0,
    *,
    wrt: str = "positions",
    objective: str = "full",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    solver: str = "explicit",
    max_steps: int = 100_000,
    on_progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Path:
    """Let the student's units move among the teacher's, which are fixed.

    Parameters
    ----------
    teacher
        the protons.
    student
        the electrons at time 0.
    time
        how long, in the time of gradient flow on L/2; it may end earlier, see `Path`.
    wrt
        what moves: "positions" (the papers' dynamics), "weights" or "both".
    objective
        as for `population_loss`; unbounded potentials need "without-constants".
    rtol
        the relative error of a step, in every coordinate.
    atol
        the absolute one.
    solver
        "explicit", or "implicit" for flows that are stiff: with free weights the slow
        directions of a landscape take thousands of times as long as the fast ones. An implicit
        step costs a Hessian, and can be as long as the slow ones allow. Not for cusps.
    max_steps
        after so many steps, rejected ones too, the run ends.
    on_progress
        called now and then with the part of `time` that has passed, and a note.
    checkpoint
        called now and then with a function that makes the path so far, to be kept and
        continued by `extend`.

    Returns
    -------
    Path
        `.times`, `.positions`, `.energy`, `.events` and why it ended, `.stop`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> proton = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> path = ew.simulate(proton, ew.Student([[1.0, 0.0]], [1.0]), time=20.0)
    >>> bool(path.energy[0] > path.energy[-1])
    True
    >>> path.positions.shape[1:]  # one electron in the plane, at all times
    (1, 2)
    """
    asked = Settings(**given(Settings, locals()))
    loss = population_loss(teacher, asked.objective, wrt=asked.wrt)
    if not isinstance(student, Student):
        raise EarnshawError(f"simulate needs a Student, not {type(student).__name__}")
    loss = loss.suited_to(student)
    if loss.check(student).units == 0:
        raise EarnshawError("the student has no units; allowed: one or more")
    return _Run(loss, student, asked).go(on_progress, checkpoint)


@one_blas_thread()
def extend(
    path: Path,
    time: float | None = None,
    *,
    max_steps: int = 100_000,
    on_progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Path:
    """Continue a path that was interrupted, to the last bit as if it had not been.

    With a longer `time` than was asked for at first, also one that had come to its end.

    Parameters
    ----------
    path
        of `simulate`, or of a file (`load_path`).
    time
        how long in all; the time that was asked for at first, if it is None.
    max_steps
        after so many steps in all, rejected ones too, the run ends.
    on_progress
        called now and then with the part of `time` that has passed, and a note.
    checkpoint
        called now and then with a function that makes the path so far.

    Returns
    -------
    Path
        From time 0 on.

    Examples
    --------
    >>> import earnshaw as ew
    >>> proton = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> path = ew.simulate(proton, ew.Student([[1.0, 0.0]], [1.0]), time=1.0)
    >>> longer = ew.extend(path, time=2.0)
    >>> float(longer.times[-1])
    2.0
    """
    pause = path.pause
    if pause is None:
        raise EarnshawError("this path does not say how to go on; allowed: one of ew.simulate")
    asked = Settings(
        time=pause.time if time is None else time,
        wrt=pause.wrt,
        objective=pause.objective,
        rtol=pause.rtol,
        atol=pause.atol,
        solver=pause.solver,
        max_steps=max_steps,
    )
    if asked.time < path.times[-1]:
        raise OutOfRange("time", time, f"at least {path.times[-1]:g}, which has passed already")
    loss = population_loss(path.teacher, asked.objective, wrt=asked.wrt).suited_to(path.student)
    run = _Run(loss, Student(path.positions[0], path.weights[0]), asked)
    run.restore(path, pause)
    return run.go(on_progress, checkpoint)


go_on = extend  # the older name


def _world(loss: PopulationLoss, student: Student, size: float, asked: Settings) -> World:
    """What the integrator needs to know of the loss, among charges of this size."""
    still = asked.wrt == "weights"
    cusp = Cusp(0.0, 0.0, np.inf) if still else find_cusp(loss, student)
    if cusp.exists and loss.kind is not None:
        raise EarnshawError(
            f"units of {loss.kind.name} bind to each other, but not to protons of another "
            "activation; allowed: a student of the teacher's activation, or of one without cusps"
        )
    close = closeness(cusp, size, asked.rtol, asked.atol)
    length = cusp.length if np.isfinite(cusp.length) else max(size, close.reach)
    pointed = has_point(loss)
    if asked.solver == "implicit" and (cusp.exists or pointed or loss.manifold.name == "sphere"):
        raise EarnshawError(
            f"an implicit step needs a smooth flow on R^d, and that of "
            f"{loss.teacher.species.name} is none; allowed: solver='explicit'"
        )
    return World(
        loss=loss,
        slope=jnp.asarray(cusp.slope),
        opposite=jnp.asarray(cusp.opposite),
        reach=jnp.asarray(close.reach),
        slack=jnp.asarray(SLACK * close.reach / length),
        # At this speed nothing gets past one tolerance in the whole run.
        slow=jnp.asarray((close.atol + close.rtol * size) / asked.time),
        slowed=jnp.asarray(SLOWED * close.rtol),
        rtol=jnp.asarray(close.rtol),
        atol=jnp.asarray(close.atol),
        cusped=cusp.exists,
        mirrored=cusp.opposite != 0,
        pointed=pointed,
        stiff=asked.solver == "implicit",
    )


class _Run:
    """One simulation under way: where it is, and what has been recorded, a step an entry."""

    def __init__(self, loss: PopulationLoss, student: Student, asked: Settings) -> None:
        protons = np.asarray(loss.teacher.positions)
        size = float(max(np.max(np.abs(x)) for x in (protons, student.positions)))
        self.size = size or 1.0  # all at the origin
        self.world, self.asked = _world(loss, student, self.size, asked), asked
        self.time = float(asked.time)
        self.clusters = apart(student.units, protons, self.world.mirrored)
        self.chunk = int(np.clip(NUMBERS // student.positions.size, 8, CHUNK))
        self.times: list[float] = [0.0]
        self.records: list[Records] = []
        self.events: list[Encounter] = []
        self.tried = 0
        self.next_step: float | None = None
        self.top_speeds: Array = jnp.zeros(student.units)
        self.state = State(student.positions, student.weights)

    def restore(self, path: Path, pause: Pause) -> None:
        """Take up a path where it was left."""
        self.times, self.events, self.tried = path.times.tolist(), list(path.events), path.steps
        rows = zip(path.positions, path.weights, path.energy, strict=True)
        speeds = jnp.asarray(pause.speeds)  # of the last record; nobody asks those of others
        self.records = [Records(x, c, energy, speeds) for x, c, energy in rows]
        self.state = _state(self.records[-1])
        self.clusters = clusters(pause.leader, pause.side, len(path.bound))
        self.top_speeds = jnp.asarray(pause.top_speeds)
        self.next_step = None if np.isnan(pause.next_step) else float(pause.next_step)

    def go(self, on_progress: Progress | None, checkpoint: Checkpoint | None) -> Path:
        """Segments and encounters in turn, until the time is over or nothing moves: the path."""
        if not self.records:
            self._begin()
        here = self._here()
        stop: Stop | None = None
        try:
            while stop is None:
                stop = self._settle()
                if on_progress is not None:
                    on_progress(min(self.times[-1] / self.time, 1.0), self._note())
                if checkpoint is not None:
                    checkpoint(lambda: self._path("interrupted"))
                here = self._here()
                stop = stop or self._flow()
        except KeyboardInterrupt:
            self._back(here)
            stop = "interrupted"
        return self._path(stop)

    def _here(self) -> tuple[Any, ...]:
        """Where the run is between two segments, which is where it can be taken up again."""
        last = (len(self.times), self.times[-1], self.records[-1], len(self.events), self.tried)
        return *last, self.state, self.clusters, self.top_speeds, self.next_step

    def _back(self, here: tuple[Any, ...]) -> None:
        """Forget what has happened since: an interrupt may fall anywhere."""
        count, time, record, events, self.tried, *rest = here
        self.state, self.clusters, self.top_speeds, self.next_step = rest
        self.times, self.records = self.times[:count], self.records[:count]
        self.times[-1], self.records[-1] = time, record
        self.events = self.events[:events]

    def _begin(self) -> None:
        seen = self._look()
        if not np.isfinite(seen.energy):
            raise EarnshawError(
                f"the energy at the start is {float(seen.energy)}, since "
                f"{self.world.loss.teacher.species.name} is unbounded; allowed: "
                "objective='without-constants', and no two units at one place"
            )
        self.records.append(_instant(seen, self.state))
        self.top_speeds = seen.speeds

    def _settle(self) -> Stop | None:
        """All encounters of this instant; then why the run ends here, if it does."""
        while True:
            seen = self._look()
            meeting, parting = int(np.argmin(seen.contacts.gap)), int(np.argmax(seen.excess))
            if seen.lost:
                return "collision"
            if np.isfinite(seen.contacts.gap[meeting]):
                self._change(self._meet(seen, meeting))
            elif seen.excess[parting] > 0:
                self._change(self._part(seen, parting))
            else:
                break
            if self.tried >= self.asked.max_steps:
                return "step-limit"
        if np.all(self.clusters.bound >= 0) and (self.world.loss.wrt == "positions" or seen.still):
            return "bound"
        if seen.still:
            return "equilibrium"
        if self.times[-1] >= self.time:
            return "time"
        return "step-limit" if self.tried >= self.asked.max_steps else None

    def _flow(self) -> Stop | None:
        """Move on until something happens, or for a chunk of steps."""
        if self.next_step is None:
            fastest = float(np.max(self.records[-1].speeds))
            self.next_step = FIRST * self.size / fastest if fastest > 0 else self.time
        times, records, tried = self._advance(self.state, self.times[-1], self.time, self.next_step)
        allowed = self.asked.max_steps - self.tried
        self.tried += min(tried, allowed)
        for time, record in zip(times[:allowed], records[:allowed], strict=True):
            if not (np.isfinite(record.energy) and np.all(np.isfinite(record.positions))):
                return "diverged"
            self.next_step = time - self.times[-1]
            self._record(time, record)
        # A step onto a cusp is short, but one past the edge of a hold is not.
        if times and np.max(self._look().excess) > 0:
            self._find_parting()
        return None

    def _find_parting(self) -> None:
        """Halve the last step until the moment at which a hold gave way is known."""
        late, last = self.times[-1], self.records[-1]
        early, before = self.times[-2], self.records[-2]
        for _ in range(HALVINGS):
            middle = early + (late - early) / 2
            if not early < middle < late:
                break
            times, records, _ = self._advance(_state(before), early, middle, late - early)
            if not times:
                break
            seen = self._look(_state(records[-1]))
            if np.max(seen.excess) > 0:
                late, last = times[-1], records[-1]
            else:
                early, before = times[-1], records[-1]
        self.times[-1], self.records[-1], self.state = late, last, _state(last)

    def _advance(
        self, state: State, start: float, end: float, step: float
    ) -> tuple[list[float], list[Records], int]:
        """Times and records of accepted steps, and how many were tried."""
        begin, finish, first = (jnp.asarray(t) for t in (start, end, min(step, end - start)))
        times, records, used, tried = advance(
            self.world, self.clusters, state, self.top_speeds, begin, finish, first, self.chunk
        )
        parts = [np.asarray(values)[: int(used)] for values in records]
        rows = [Records(*row) for row in zip(*parts, strict=True)]
        return np.asarray(times)[: int(used)].tolist(), rows, int(tried)

    def _look(self, state: State | None = None) -> Sight:
        time = jnp.asarray(self.times[-1])
        return observe(self.world, self.clusters, state or self.state, self.top_speeds, time)

    def _meet(self, seen: Sight, unit: int) -> Regrouped:
        partner, side = int(seen.contacts.partner[unit]), int(seen.contacts.side[unit])
        manifold, time = self.world.loss.manifold, self.times[-1]
        return join(self.clusters, manifold, self._places(), unit, partner, side, time)

    def _part(self, seen: Sight, cut: int) -> Regrouped:
        tear, reach = np.asarray(seen.tear[cut]), float(self.world.reach)
        manifold, time = self.world.loss.manifold, self.times[-1]
        return separate(self.clusters, manifold, self._places(), cut, tear, reach, time)

    def _change(self, outcome: Regrouped) -> None:
        """Go on from after an encounter, which replaces the record of just before."""
        self.clusters = outcome.clusters
        self.state = State(jnp.asarray(outcome.positions), self.state.weights)
        self.events.extend(outcome.events)
        self.tried += 1  # so that encounters too come to an end
        self.next_step = None
        self.records[-1] = _instant(self._look(), self.state)

    def _places(self) -> np.ndarray:
        """Of all particles, electrons first."""
        return np.concatenate([self.state.positions, self.world.loss.teacher.positions])

    def _record(self, time: float, record: Records) -> None:
        self.records.append(record)
        self.times.append(time)
        self.state = _state(record)
        self.top_speeds = jnp.maximum(self.top_speeds, record.speeds)

    def _note(self) -> str:
        bound, energy = int(np.sum(self.clusters.bound >= 0)), float(self.records[-1].energy)
        units = self.clusters.electrons
        return f"time {self.times[-1]:.4g}, energy {energy:.4g}, {bound} of {units} units bound"

    def _path(self, stop: Stop) -> Path:
        leader, records = self.clusters.leader[: self.clusters.electrons], self.records
        pause = Pause(
            leader=self.clusters.leader,
            side=self.clusters.side,
            speeds=np.asarray(records[-1].speeds),
            top_speeds=np.asarray(self.top_speeds),
            next_step=np.nan if self.next_step is None else self.next_step,
            time=self.time,
            wrt=self.asked.wrt,
            objective=self.asked.objective,
            rtol=self.asked.rtol,
            atol=self.asked.atol,
            solver=self.asked.solver,
        )
        return Path(
            times=np.asarray(self.times),
            positions=np.stack([record.positions for record in records]),
            weights=np.stack([record.weights for record in records]),
            energy=np.asarray([record.energy for record in records]),
            bound=self.clusters.bound,
            group=np.asarray([np.flatnonzero(leader == label)[0] for label in leader]),
            teacher=self.world.loss.teacher,
            kind=self.world.loss.kind,
            events=tuple(self.events),
            stop=stop,
            steps=self.tried,
            pause=pause,
        )


def _instant(seen: Sight, state: State) -> Records:
    return Records(seen.places, state.weights, seen.energy, seen.speeds)


def _state(record: Records) -> State:
    return State(jnp.asarray(record.positions), jnp.asarray(record.weights))
