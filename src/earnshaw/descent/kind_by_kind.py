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
TINY = 1e-300  # a constant has no direction


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
            nodes = add_unit(nodes, found.place, found.weight, found.iterations, found.path)
            nodes = self._unbundled(self._with_unit(nodes, kind, first), first)
        else:
            nodes = dataclasses.replace(nodes, failures=nodes.failures + 1)
        stop = jnp.asarray(one.stop_now(objective, nodes))
        return dataclasses.replace(nodes, round=nodes.round + 1, stop=stop)

    def _best_end(self, nodes: Nodes) -> tuple[Found, int]:
        """Where a unit more would save most, and of which kind it should be."""
        one, kinds = self.one, _kinds(nodes)
        student, slots = self._in_slots(nodes.result(), kinds, 1)
        seed, now, dim = int(nodes.seed), int(nodes.round), nodes.student.dim
        points = jnp.asarray(one.starts.draw(seed, now, one.candidates, dim, nodes.places))
        left = self.losses.left_by(student, slots.each)
        ends = [_best_end(one, of_kind, points) for of_kind in left]
        kind = int(np.argmax([float(end.log_saving) for end in ends]))
        return ends[kind], kind

    def _with_unit(self, nodes: Nodes, kind: int, first: float) -> Nodes:
        """The last unit is of this kind; after all have moved together."""
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
        hidden = hidden / np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), TINY)
        parallel = (np.abs(hidden @ hidden.T) > 1 - PARALLEL) & (kinds[:, None] == kinds)
        found, left = [], np.ones(len(kinds), dtype=bool)
        for row in parallel:
            if np.sum(row & left) >= BUNDLE:
                found.append(np.flatnonzero(row & left))
                left &= ~row
        return found

    def _unbundled(self, nodes: Nodes, first: float) -> Nodes:
        """With units of another kind for all bundles, or for one, if that leaves no more."""
        bundles = self._bundles(nodes)
        alone = [[bundle] for bundle in bundles] if len(bundles) > 1 else []
        for some in [bundles, *alone]:
            for kind in range(len(self.losses.alone) - self.losses.has_lines_of_its_own):
                if some and all(_kinds(nodes)[bundle[0]] != kind for bundle in some):
                    fewer = self._with_middles(nodes, some, kind, first)
                    if float(fewer.loss) <= float(nodes.loss):
                        return fewer
        return nodes

    def _with_middles(
        self, nodes: Nodes, bundles: list[np.ndarray], kind: int, first: float
    ) -> Nodes:
        """With one unit of this kind for each of the bundles."""
        places, weights = nodes.places, np.asarray(nodes.student.weights)
        rest = np.setdiff1d(np.arange(len(places)), np.concatenate(bundles))
        fewer = nodes.only(rest, nodes.losses[len(rest)], nodes.student)
        for bundle in bundles:
            place = jnp.asarray(middle_of(places[bundle], weights[bundle]))
            way = jnp.broadcast_to(place, nodes.paths.shape[1:])
            fewer = add_unit(fewer, place, jnp.zeros(()), jnp.asarray(0), way)
            fewer = self._with_unit(fewer, kind, first)
        return fewer

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


def middle_of(places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One unit (d + 1,) for parallel units at places (k, d + 1): where they bend, and how wide.

    A unit with bias b bends at w.x = -b; it is the mean of these and their deviation that count.
    """
    lengths = np.linalg.norm(places[:, :-1], axis=1)
    heavy = np.abs(weights) * lengths
    along = places[np.argmax(heavy), :-1] / lengths[np.argmax(heavy)]
    bends = -places[:, -1] * np.sign(places[:, :-1] @ along) / lengths
    middle = np.average(bends, weights=heavy)
    width = np.sqrt(np.average((bends - middle) ** 2, weights=heavy))
    return np.append(along, -middle) / max(float(width), PARALLEL)


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
