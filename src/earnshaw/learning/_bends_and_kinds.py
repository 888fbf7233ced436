"""Runs, unit by unit, whose losses on the way are not those of the student at the end.

Units with a flip that leaves an affine function are placed by what is no such function
(`energy/bent.py`), and units of several activations by what is left for each of these
(`descent/kind_by_kind.py`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.charges.smallest import Smallest, smallest_form
from earnshaw.descent.kind_by_kind import KindByKind
from earnshaw.descent.nodes import Nodes
from earnshaw.duality.symmetry import NONE, Symmetries
from earnshaw.energy.asked_loss import AskedLoss
from earnshaw.energy.bent import with_line
from earnshaw.energy.objective import Objective
from earnshaw.learning._sessions import (
    STEPS,
    NodeByNode,
    OfOneKind,
    Outcome,
    check_count,
    with_units,
)


@dataclass(frozen=True)
class BendByBend(NodeByNode):
    """One unit after the other, on the loss of what is no affine function (`energy/bent.py`).

    `objective` is that loss, `whole` the loss itself, at which the student ends.
    """

    objective: AskedLoss
    whole: Objective = dataclasses.field(kw_only=True)
    symmetries: Symmetries = dataclasses.field(kw_only=True)

    def outcome(self, state: Nodes, interrupted: bool) -> Outcome:
        """With the affine part as a pair of units."""
        found = super().outcome(state, interrupted)
        student = with_line(self.objective, self.symmetries, found.student)
        student, loss = self.whole.refit(student)
        ends = tuple(np.asarray(student.positions)[-2:, None])
        history = dataclasses.replace(found.history, paths=(*found.history.paths, *ends))
        return dataclasses.replace(found, student=student, loss=float(loss), history=history)


def within_limit(objective: Objective, outcome: Outcome, limit: int) -> Outcome:
    """The first `limit` units of the outcome alone, refined: without the pair that is a line."""
    if outcome.student.units <= limit:
        return outcome
    units = np.arange(limit)
    positions, weights = outcome.student.positions, outcome.student.weights
    form = Smallest(np.asarray(positions)[:limit], np.asarray(weights)[:limit], units, True)
    polish = OfOneKind(objective, NONE)
    student, loss = polish.polished(form, float(objective.empty_value()))
    return with_units(outcome, form, student, loss)


@dataclass(frozen=True)
class KindAfterKind(NodeByNode):
    """One unit after the other, each of one of several activations."""

    method: KindByKind

    def begin(self) -> Nodes:
        nodes = super().begin()
        return dataclasses.replace(nodes, kinds=jnp.zeros(nodes.room, dtype=int))

    def check(self, state: Nodes) -> None:
        super().check(state)
        assert state.kinds is not None
        check_count("kinds", state.kinds, high=len(self.method.losses.alone) - 1)

    def outcome(self, state: Nodes, interrupted: bool) -> Outcome:
        """With units that know which activation they have."""
        found = super().outcome(state, interrupted)
        kinds = np.asarray(state.kinds)[: found.student.units]
        return dataclasses.replace(found, student=self.method.losses.named(found.student, kinds))


@dataclass(frozen=True)
class OfSeveralKinds:
    """Of units of several activations: every kind by itself, polished together.

    Lines go where flips of one kind make up for them (`charges/smallest.py`).
    """

    method: KindByKind

    def form(self, student: Student, tolerance: float) -> Smallest:
        kinds = self.method.losses.kinds_in(student)
        x, c = np.asarray(student.positions), np.asarray(student.weights)
        lines = self._lines(kinds)
        line = c[lines] @ x[lines]
        parts = []
        for kind, activation in enumerate(self.method.losses.activations):
            mine, symmetries = np.flatnonzero(kinds == kind), activation.symmetries
            part = smallest_form(x[mine], c[mine], symmetries, tolerance)
            if np.any(line) and symmetries.linear and len(mine):
                whole = smallest_form(x[mine], c[mine], symmetries, tolerance, line)
                if _one_a_place(whole):
                    part, line = whole, np.zeros_like(line)
            origin = np.append(mine, -1)[part.origin]
            parts.append(part._replace(origin=origin, kinds=np.full(part.units, kind)))
        if np.any(lines) and not np.any(line):
            parts = [part for part in parts if not np.any(self._lines(part.kinds))]
        columns = list(zip(*parts, strict=True))
        joined = (np.concatenate(column) for column in (*columns[:3], columns[4]))
        positions, weights, origin, which = joined
        return Smallest(positions, weights, origin, all(columns[3]), which)

    def polished(self, form: Smallest, first: float) -> tuple[Student, float]:
        assert form.kinds is not None
        return self.method.refined(Student(form.positions, form.weights), form.kinds, STEPS, first)

    def _lines(self, kinds: np.ndarray | None) -> np.ndarray:
        """Which units are lines that the learner put there, (k,)."""
        losses = self.method.losses
        own = len(losses.activations) - 1 if losses.has_lines_of_its_own else -1
        return np.asarray(kinds) == own


def _one_a_place(form: Smallest) -> bool:
    """Whether flips were enough: no place has two units, and none is there for a line."""
    return len(set(form.origin)) == form.units and -1 not in form.origin
