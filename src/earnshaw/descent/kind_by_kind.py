"""Node-wise learning of networks of several activations.

Each round, starts climb in what is left for a unit of each activation by itself; the best end of
all becomes a unit of that activation; then all units are refitted and move together, whatever they
are. Else it is `node_wise.py`, which finds the number of units the same way. Which activations
there are is told, how many units of each is not.

Units are numbered as they were placed; losses want them sorted by kind, in slots
(`energy/asked_kinds.py`).
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.newton import refine
from earnshaw.descent.node_wise import Found, NodeWise, best_end, without_superfluous
from earnshaw.descent.nodes import NodeMethod, Nodes, add_unit, nothing
from earnshaw.energy.asked_kinds import AskedKinds
from earnshaw.energy.objective import Objective
from earnshaw.numerics.compiled import compiled

SLOTS = 8  # of each kind at first; doubled when full
BUNDLE = 3  # units of one direction that may stand in for one of another kind
PARALLEL = 1e-2  # 1 - |cos| of what counts as one direction


class KindByKind(NodeMethod):
    """Log-potential ascent, unit by unit, among several activations.

    Args:
        one: how units of one activation are placed.
        losses: those of each kind, and of all of them together.
        limit: how many units may be placed.
    """

    one: NodeWise
    losses: AskedKinds
    limit: int = eqx.field(static=True)

    def place(self, objective: Objective, nodes: Nodes) -> Nodes:
        """One round: climb for every kind, place, refit, refine."""
        one, first = self.one, float(nodes.losses[0])
        found, kind = self._best_end(nodes)
        if found.is_worth_it(one.tolerance, nodes.losses[0]):
            nodes = self._with_unit(nodes, found, kind, first)
            bundles = self._bundles(nodes)
            nodes = self._unbundled(nodes, bundles, first) if bundles else nodes
        else:
            nodes = dataclasses.replace(nodes, failures=nodes.failures + 1)
        stop = jnp.asarray(one.stop_now(objective, nodes))
        return dataclasses.replace(nodes, round=nodes.round + 1, stop=stop)

    def _best_end(self, nodes: Nodes, but: int | None = None) -> tuple[Found, int]:
        """Where a unit more, of any kind `but` one, would save most; and of which kind it is."""
        one, kinds = self.one, _kinds(nodes)
        student, slots = self._in_slots(nodes.result(), kinds, 1)
        seed, now, dim = int(nodes.seed), int(nodes.round), nodes.student.dim
        points = jnp.asarray(one.starts.draw(seed, now, one.candidates, dim, nodes.places))
        left = self.losses.left_by(student, slots.each)
        ends = [_best_end(one, of_kind, points) for of_kind in left]
        savings = [
            -np.inf if kind == but else float(end.log_saving) for kind, end in enumerate(ends)
        ]
        kind = int(np.argmax(savings))
        return ends[kind], kind

    def _with_unit(self, nodes: Nodes, found: Found, kind: int, first: float) -> Nodes:
        """With a unit more, after all have moved together."""
        nodes = add_unit(nodes, found.place, found.weight, found.iterations, found.path)
        assert nodes.kinds is not None
        nodes = dataclasses.replace(nodes, kinds=nodes.kinds.at[nodes.placed - 1].set(kind))
        moved, loss = self.refined(nodes.result(), _kinds(nodes), self.one.refine_steps, first)
        return nodes.with_student(_with_room(moved, nodes.room), jnp.asarray(loss))

    def _bundles(self, nodes: Nodes) -> list[np.ndarray]:
        """Units of one kind and one direction, BUNDLE and more: together a function of w.X alone.

        That may be a unit of another kind, which the first ones of the bundle stood in for.
        """
        if not self.losses.biased:
            return []
        hidden, kinds = nodes.places[:, :-1], _kinds(nodes)
        hidden = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
        parallel = (np.abs(hidden @ hidden.T) > 1 - PARALLEL) & (kinds[:, None] == kinds)
        found, left = [], np.ones(len(kinds), dtype=bool)
        for row in parallel:
            if np.sum(row & left) >= BUNDLE:
                found.append(np.flatnonzero(row & left))
                left &= ~row
        return found

    def _unbundled(self, nodes: Nodes, bundles: list[np.ndarray], first: float) -> Nodes:
        """With a unit of another kind for each bundle, if that leaves no more of the loss."""
        rest = np.setdiff1d(np.arange(int(nodes.placed)), np.concatenate(bundles))
        fewer = nodes.only(rest, nodes.loss, nodes.student)
        for bundle in bundles:
            found, kind = self._best_end(fewer, but=int(_kinds(nodes)[bundle[0]]))
            fewer = self._with_unit(fewer, found, kind, first)
        return fewer if float(fewer.loss) <= float(nodes.loss) else nodes

    def refined(
        self, student: Student, kinds: np.ndarray, steps: int, first_loss: float
    ) -> tuple[Student, float]:
        """Units of these `kinds` (k,) after all have moved together, and their loss."""
        sorted_, slots = self._in_slots(student, kinds)
        together = self.losses.together(slots.each)
        sorted_, _ = together.refit(sorted_, slots.used)
        sorted_, loss = refine(together, sorted_, slots.used, steps, first_loss)
        return self.losses.named(slots.taken_from(sorted_), kinds), float(loss)

    def finish(self, objective: Objective, nodes: Nodes) -> Nodes:
        """Drop the units that the others have made superfluous."""
        first = float(nodes.losses[0])
        least = nothing(objective, nodes.student, first)
        if float(nodes.loss) > least:
            return nodes
        kinds = _kinds(nodes)
        student, slots = self._in_slots(nodes.result(), kinds)
        together = self.losses.together(slots.each)
        student, kept = without_superfluous(
            together, student, slots.used, self.one.refine_steps, first, least
        )
        units = np.flatnonzero(np.isin(slots.places, kept))
        if len(units) == len(kinds):
            return nodes
        weights = np.where(np.isin(np.arange(student.units), kept), student.weights, 0.0)
        loss = together.value(Student(student.positions, weights))
        return nodes.only(units, loss, _with_room(slots.taken_from(student), nodes.room))

    def _in_slots(
        self, student: Student, kinds: np.ndarray, more: int = 0
    ) -> tuple[Student, Slots]:
        """The units sorted by kind; with slots enough for `more` of any kind. Others weigh 0."""
        rank = [int(np.sum(kinds[:unit] == kind)) for unit, kind in enumerate(kinds)]
        each = SLOTS
        while each < max(rank, default=-1) + 1 + more:
            each *= 2
        places = each * np.asarray(kinds, dtype=int) + np.asarray(rank, dtype=int)
        slots = Slots(each, len(self.losses.alone), places)
        positions, weights = np.zeros((slots.total, student.dim)), np.zeros(slots.total)
        positions[places], weights[places] = student.positions, student.weights
        return Student(positions, weights), slots


class Slots(NamedTuple):
    """Where units are, sorted by kind: `each` slots for each of the kinds; the `places` (k,)."""

    each: int
    kinds: int
    places: np.ndarray

    @property
    def total(self) -> int:
        """Of all kinds."""
        return self.each * self.kinds

    @property
    def used(self) -> Array:
        """Which slots have a unit, (total,)."""
        return jnp.asarray(np.isin(np.arange(self.total), self.places))

    def taken_from(self, student: Student) -> Student:
        """The units of a student in slots, numbered as they were."""
        parts = student.positions, student.weights
        return Student(*(np.asarray(part)[self.places] for part in parts))


def _kinds(nodes: Nodes) -> np.ndarray:
    """Of the placed units, (placed,)."""
    return np.asarray(nodes.kinds)[: int(nodes.placed)]


def _with_room(student: Student, room: int) -> Student:
    """Filled up with units of weight 0."""
    extra = room - student.units
    return Student(
        np.pad(student.positions, ((0, extra), (0, 0))), np.pad(student.weights, (0, extra))
    )


@compiled
def _best_end(one: NodeWise, left: Objective, points: Array) -> Found:
    """From those of the points (n, d) where a unit would save most."""
    savings = left.free_units(points).log_savings
    _, best = jax.lax.top_k(jnp.where(jnp.isnan(savings), -jnp.inf, savings), one.climbs)
    return best_end(left, points[best], one.ascent_limit)
