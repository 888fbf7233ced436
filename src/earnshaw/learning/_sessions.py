"""A run in the making: begin, go on, look at what there is. One shape for both kinds of methods.

A session knows how to begin, how to go on from any state, and how to read a state; states are
pytrees of arrays and nothing else, so that they can be stored and gone on from.

At the end of `learn`, if nothing is left to learn, the outcome is brought to its smallest form: a
student that is the teacher as a function may have more units than it needs, some of them turned
round (`charges/smallest.py`). The learner can tell by its own units and its own loss: the form with
fewer units is polished, and taken if it is as good. Nothing of the teacher is used.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.charges.smallest import Smallest, smallest_form
from earnshaw.descent.loop import Loop, Report, begin, run, stop_codes
from earnshaw.descent.method import Method, Stop, stop_of
from earnshaw.descent.methods import has_cusps
from earnshaw.descent.newton import refine
from earnshaw.descent.nodes import (
    FIRST_ROOM,
    NodeMethod,
    Nodes,
    begin_nodes,
    nothing,
    run_nodes,
    stop_of_nodes,
)
from earnshaw.duality.symmetry import Symmetries
from earnshaw.energy.objective import Objective
from earnshaw.energy.variants import Terms
from earnshaw.errors import EarnshawError
from earnshaw.learning.run import Trace
from earnshaw.limits import LARGEST, check_integer

TOLERANCES = (1e-9, 1e-7, 1e-5, 1e-3)  # at which units are one: a flat loss leaves them apart
ROUNDED = 1e-14  # part of the first loss that rounding may make of 0
STEPS = 200  # of a polish
UNFINISHED = (Stop.INTERRUPTED, Stop.DIVERGED, Stop.FAIL)


@dataclass(frozen=True)
class Outcome:
    """What a state says: the student, why it stopped, how many iterations, the loss, the way."""

    student: Student
    stop: Stop
    iterations: int
    loss: float
    history: Trace


class Session(abc.ABC):
    """Not constructed directly: see `AllAtOnce` and `NodeByNode`."""

    @abc.abstractmethod
    def begin(self) -> Any:
        """The first state."""

    @abc.abstractmethod
    def check(self, state: Any) -> None:
        """Refuse a state of the right shape that no run can be in: what a file holds may be so."""

    @abc.abstractmethod
    def go(
        self, state: Any, report: Report | None, checkpoint: Callable[[Any], None] | None
    ) -> tuple[Any, bool]:
        """Go on to the end; the last state, and whether it was interrupted."""

    @abc.abstractmethod
    def outcome(self, state: Any, interrupted: bool) -> Outcome:
        """What the state says."""


@dataclass(frozen=True)
class AllAtOnce(Session):
    """All units of several starts; the best start counts."""

    method: Method
    objective: Objective
    starts: Student
    iterations: int
    seed: int

    def begin(self) -> Loop:
        key = jax.random.key(self.seed, impl="threefry2x32")
        return begin(self.method, self.objective, self.starts, key)

    def check(self, state: Loop) -> None:
        states, history = state.states, state.history
        _check_students(self.objective, states.student)
        check_count("iteration", state.iteration)
        check_count("iterations used", state.used)
        check_count("stop", states.stop, high=len(Stop))
        check_count("snapshots", history.count, high=history.room)
        check_count("iterations between snapshots", history.every, low=1)
        if state.key.shape != (2,):  # that of threefry2x32
            raise EarnshawError("the stored random key is none")

    def go(
        self, state: Loop, report: Report | None, checkpoint: Callable[[Loop], None] | None
    ) -> tuple[Loop, bool]:
        limit = self.iterations
        return run(self.method, self.objective, state, limit, report=report, checkpoint=checkpoint)

    def outcome(self, state: Loop, interrupted: bool) -> Outcome:
        states, history = state.states, state.history
        best = int(jnp.argmin(jnp.where(jnp.isnan(states.value), jnp.inf, states.value)))
        student = Student(states.student.positions[best], states.student.weights[best])
        code = int(stop_codes(self.method, state, interrupted)[best])
        used, count = int(state.used[best]), int(history.count)
        # Snapshots of a start that has ended repeat its end; one of the end itself is added.
        when = np.asarray(history.iterations())[:count]
        kept = when < used
        norm = float(jax.vmap(lambda s: s.gradient_norm)(states)[best])
        ways = np.asarray(history.positions)[:count, best][kept]
        ways = np.concatenate([ways, np.asarray(student.positions)[None]])
        trace = Trace(
            iterations=np.append(when[kept], used),
            losses=np.append(np.asarray(history.values)[:count, best][kept], states.value[best]),
            gradient_norms=np.append(np.asarray(history.gradient_norms)[:count, best][kept], norm),
            paths=tuple(ways.transpose(1, 0, 2)),
        )
        stop = stop_of(code)
        assert stop is not None
        return Outcome(student, stop, used, float(states.value[best]), trace)


@dataclass(frozen=True)
class NodeByNode(Session):
    """One unit after the other."""

    method: NodeMethod
    objective: Objective
    seed: int
    told: bool = True  # whether the limit of the method says something of the number of units

    def begin(self) -> Nodes:
        return begin_nodes(self.objective, self.method.limit, self.seed)

    def check(self, state: Nodes) -> None:
        check_count("units", state.placed, high=state.room)
        check_count("room", jnp.asarray(state.room), high=max(self.method.limit, FIRST_ROOM))
        _check_students(self.objective, state.student)
        check_count("iterations", state.iterations)
        check_count("failures", state.failures)
        check_count("round", state.round)
        check_count("stop", state.stop, high=len(Stop))
        if int(state.seed) != self.seed:
            raise EarnshawError(f"the stored seed is {int(state.seed)}; allowed: {self.seed}")

    def go(
        self, state: Nodes, report: Report | None, checkpoint: Callable[[Nodes], None] | None
    ) -> tuple[Nodes, bool]:
        method, loss, told = self.method, self.objective, self.told
        return run_nodes(method, loss, state, report=report, checkpoint=checkpoint, told=told)

    def outcome(self, state: Nodes, interrupted: bool) -> Outcome:
        count = int(state.placed)
        each = np.asarray(state.iterations[:count])
        # Units may have moved together since they were placed.
        ends = np.asarray(state.student.positions[:count])[:, None]
        ways = np.concatenate([np.asarray(state.paths[:count]), ends], axis=1)
        trace = Trace(
            iterations=np.concatenate([[0], np.cumsum(each)]),
            losses=np.asarray(state.losses[: count + 1]),
            gradient_norms=np.zeros(0),
            paths=tuple(ways),
            node_iterations=each,
        )
        stop = stop_of_nodes(state, interrupted)
        return Outcome(state.result(), stop, int(each.sum()), float(state.loss), trace)


def check_count(what: str, numbers: Array, low: int = 0, high: int = LARGEST) -> None:
    """Refuse integers of a state outside of [low, high]."""
    for number in (int(np.min(numbers)), int(np.max(numbers))):
        check_integer(f"the stored {what}", number, low, high)


def _check_students(objective: Objective, students: Student) -> None:
    """Refuse students of a state, with any leading axes, that are not finite or not in place."""
    positions = jnp.reshape(students.positions, (-1, students.dim))
    objective.check(Student(positions, jnp.ravel(students.weights)))


# -- the smallest form ----------------------------------------------------------------------------


class Reduction(Protocol):
    """How students of some kind get smaller."""

    def form(self, student: Student, tolerance: float) -> Smallest:
        """The units with the same function, as few as there can be."""

    def polished(self, form: Smallest, first: float) -> tuple[Student, float]:
        """These units after a refinement, and their loss; `first` is that of no units."""


@dataclass(frozen=True)
class OfOneKind:
    """Of units of one activation, with its symmetries."""

    objective: Objective
    symmetries: Symmetries

    def form(self, student: Student, tolerance: float) -> Smallest:
        return smallest_form(student.positions, student.weights, self.symmetries, tolerance)

    def polished(self, form: Smallest, first: float) -> tuple[Student, float]:
        objective, room = self.objective, FIRST_ROOM  # for which runs have compiled everything
        while room < form.units:
            room *= 2
        more = ((0, room - form.units), (0, 0))
        positions = objective.manifold.project(jnp.pad(jnp.asarray(form.positions), more))
        student = Student(positions, jnp.pad(jnp.asarray(form.weights), more[0]))
        used = jnp.arange(room) < form.units
        if has_cusps(objective):
            student, value = objective.refit(student, used)
        else:
            student, value = refine(objective, student, used, STEPS, first)
        units = slice(form.units)
        return Student(student.positions[units], student.weights[units]), float(value)


def reduced(objective: Objective, reduction: Reduction, outcome: Outcome) -> Outcome:
    """The outcome with as few units as its own function needs, if nothing is left of the loss.

    Ctrl-C leaves it as it is.
    """
    first = float(objective.empty_value())
    plain = objective.terms == Terms() and objective.wrt == "both" and np.isfinite(first)
    if not plain or objective.charge_shape or outcome.stop in UNFINISHED:
        return outcome
    if not outcome.loss <= nothing(objective, outcome.student, first):
        return outcome
    try:
        for tolerance in TOLERANCES:
            student = outcome.student
            form = reduction.form(student, tolerance)
            if form.units < student.units:
                student, loss = reduction.polished(form, first)
                # Two units that are merely close can be told apart by more than this.
                as_good = max(outcome.loss, ROUNDED * first) + nothing(objective, student, 0.0)
                if loss <= as_good:
                    outcome = with_units(outcome, form, student, loss)
    except KeyboardInterrupt:
        return dataclasses.replace(outcome, stop=Stop.INTERRUPTED)
    return outcome


def with_units(outcome: Outcome, form: Smallest, student: Student, loss: float) -> Outcome:
    """The outcome of the new units, each with the way of the unit that it was made of.

    The way of a unit that was turned round is mirrored.
    """
    ends, before = np.asarray(student.positions), np.asarray(outcome.student.positions)
    paths = []
    for end, origin in zip(ends, form.origin, strict=True):
        if origin < 0:
            paths.append(end[None])
            continue
        side = 1.0 if before[origin] @ end >= 0 else -1.0
        paths.append(np.concatenate([side * outcome.history.paths[origin][:-1], end[None]]))
    history = dataclasses.replace(outcome.history, paths=tuple(paths))
    return dataclasses.replace(outcome, student=student, loss=loss, history=history)
