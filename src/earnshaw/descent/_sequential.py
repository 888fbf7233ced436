"""The papers' node-wise loop: one unit after the other, each by a whole run of another method.

    for i = 1 .. k:  initialise unit i;  run the inner method on the loss of unit i alone

(Full, Algorithm 3; EPD, Algorithms 2 and 3). The inner run sees the loss of one unit with all
placed ones fixed, which always has the same shapes: it is compiled once.
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.descent.loop import Loop, begin, run, stop_codes
from earnshaw.descent.method import RUNNING, Method, Stop, stop_of
from earnshaw.descent.nodes import LEFT, PATH, NodeMethod, Nodes, add_unit
from earnshaw.energy.objective import Objective


class Sequential(NodeMethod):
    """Subclasses say where a unit starts, how it moves, and what its weight becomes."""

    limit: eqx.AbstractVar[int]
    iterations: eqx.AbstractVar[int]

    @abc.abstractmethod
    def first(self, left: Objective, nodes: Nodes) -> Student:
        """Where the next unit starts, a student of one."""

    @abc.abstractmethod
    def inner(self, left: Objective, start: Student) -> Method:
        """How it moves, on the loss of that unit alone."""

    def settle(self, objective: Objective, nodes: Nodes) -> Nodes:
        """After a unit is placed: the loss, and perhaps other weights."""
        return nodes.with_student(nodes.student, objective.value(nodes.student))

    def place(self, objective: Objective, nodes: Nodes) -> Nodes:
        """One unit, by a run of the inner method."""
        left = _left(objective, nodes.student)
        start = self.first(left, nodes)
        method = self.inner(left, start)
        seed = jax.random.key(int(nodes.seed), impl="threefry2x32")
        batch = Student(start.positions[None], start.weights[None])
        loop = begin(method, left, batch, jax.random.fold_in(seed, nodes.round))
        loop, interrupted = run(method, left, loop, self.iterations)
        if interrupted:
            raise KeyboardInterrupt
        unit = loop.states.student
        nodes = add_unit(nodes, unit.positions[0, 0], unit.weights[0, 0], loop.used[0], _path(loop))
        nodes = self.settle(objective, nodes)
        why = stop_of(int(stop_codes(method, loop, False)[0]))
        stop = jnp.asarray(self._stop(nodes, why))
        return eqx.tree_at(lambda n: (n.round, n.stop), nodes, (nodes.round + 1, stop))

    def _stop(self, nodes: Nodes, why: Stop | None) -> int:
        if why in (Stop.FAIL, Stop.DIVERGED):
            return why.code
        little = float(nodes.loss) <= LEFT * float(nodes.losses[0])
        if little:
            return Stop.EQUAL_FUNCTION.code
        return Stop.UNIT_LIMIT.code if int(nodes.placed) >= self.limit else RUNNING


@eqx.filter_jit
def _left(objective: Objective, student: Student) -> Objective:
    return objective.left_by(student)


def _path(loop: Loop) -> jax.Array:
    """The way of the unit, PATH points of the inner history and its end."""
    count = int(loop.history.count)
    way = np.asarray(loop.history.positions[:count, 0, 0])
    way = np.concatenate([way, np.asarray(loop.states.student.positions[0])])
    rows = np.round(np.linspace(0, len(way) - 1, PATH)).astype(int)
    return jnp.asarray(way[rows])


def best_of(left: Objective, points: np.ndarray) -> Student:
    """A unit at the point where it saves most, with its best weight."""
    there = left.free_units(points)
    worth = jnp.where(jnp.isnan(there.log_savings), -jnp.inf, there.log_savings)
    best = int(jnp.argmax(worth))
    return Student(jnp.asarray(points)[best][None], there.weights[best][None])
