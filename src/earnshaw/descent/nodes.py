"""Learning one unit after the other: what all node-wise methods share.

A node-wise method places one unit a round: it finds a position for a free unit among what is left
of the teacher, gives it a weight, and usually refits the weights of all units placed so far. The
student has room for more units than are placed; the others have weight 0, which is no charge at
all. So all rounds have the same shapes, and nothing is compiled again between units or seeds.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.manifolds import Manifold
from earnshaw.charges.network import Student
from earnshaw.descent.loop import COMPILING, Progress, Report
from earnshaw.descent.method import RUNNING, Stop, stop_of
from earnshaw.energy.objective import Objective
from earnshaw.text import plural

T = TypeVar("T")

PATH = 64  # points that are remembered of the way of each unit
FIRST_ROOM = 32  # units there is room for at first; doubled when full
LEFT = 1e-10  # part of the first loss below which nothing is left: the function is learned
SCALES = (-2.0, 3.0)  # of starts, as powers of ten, where nobody knows how large the teacher is


class Nodes(eqx.Module):
    """All that a node-wise run is at one moment: enough to go on from.

    With room for n units: `student` (n, d), of which the first `placed` count; `losses` (n + 1,)
    before the first and after each unit, NaN beyond; `iterations` (n,) that each took; `paths`
    (n, PATH, d) the way of each; `failures` rounds in a row without a new unit. Of networks of
    several activations `kinds` (n,) says which each unit has.
    """

    student: Student
    placed: Array
    losses: Array
    iterations: Array
    paths: Array
    failures: Array
    round: Array
    stop: Array
    seed: Array
    kinds: Array | None = None

    @property
    def room(self) -> int:
        """How many units fit."""
        return self.student.units

    @property
    def used(self) -> Array:
        """Which units are placed, (n,)."""
        return jnp.arange(self.room) < self.placed

    @property
    def loss(self) -> Array:
        """The loss now."""
        return self.losses[self.placed]

    def with_student(self, student: Student, loss: Array) -> Nodes:
        """The same with other positions and weights, and the loss there."""
        losses = self.losses.at[self.placed].set(loss)
        return eqx.tree_at(lambda n: (n.student, n.losses), self, (student, losses))

    def only(self, units: np.ndarray | Array, loss: Array, student: Student) -> Nodes:
        """With the given units alone, in this order, moved to where `student` (n, d) has them."""
        # In NumPy: one more unit would compile each of these operations anew.
        units = np.asarray(units)
        order = np.concatenate([units, np.setdiff1d(np.arange(self.room), units)])
        weights = np.asarray(student.weights)[order]
        weights[len(units) :] = 0.0
        losses = np.array(self.losses)
        losses[len(units)] = loss
        named = ("iterations", "paths") if self.kinds is None else ("iterations", "paths", "kinds")
        rows: dict[str, Any] = {
            name: jnp.asarray(np.asarray(getattr(self, name))[order]) for name in named
        }
        count = jnp.asarray(len(units))
        nodes = dataclasses.replace(self, placed=count, losses=jnp.asarray(losses), **rows)
        kept = Student(np.asarray(student.positions)[order], weights)
        return eqx.tree_at(lambda n: n.student, nodes, kept)

    @property
    def places(self) -> np.ndarray:
        """The positions of the placed units, (placed, d)."""
        return np.asarray(self.student.positions)[: int(self.placed)]

    def result(self) -> Student:
        """The student of the placed units alone."""
        count, student = int(self.placed), self.student
        return Student(np.asarray(student.positions)[:count], np.asarray(student.weights)[:count])


class Starts(eqx.Module):
    """Where climbs may start: the law of a round's candidates.

    On a sphere, or where `on_shell`, directions of length `scale`. Else nobody knows how far the
    hidden units are from the origin and from each other: a third of the candidates is N(0, scale^2
    I), a third has scales from a hundredth to a thousand times that, and a third is spread as the
    units that were found so far, around their middle.
    """

    scale: float = eqx.field(static=True)
    on_shell: bool = eqx.field(static=True, default=False)

    def draw(
        self, seed: int, round: int, count: int, dim: int, found: np.ndarray | None = None
    ) -> np.ndarray:
        """`count` points for one round of a run, (count, dim); `found` (k, dim): placed units."""
        generator = np.random.default_rng((seed, round))
        points = generator.standard_normal((count, dim))
        if self.on_shell:
            return self.scale * points / np.linalg.norm(points, axis=1, keepdims=True)
        third = count // 3
        factors = np.full((count, 1), self.scale)
        factors[-third:] *= 10 ** generator.uniform(*SCALES, (third, 1))
        points *= factors
        if found is not None and len(found):
            near = slice(count - 2 * third, count - third)
            spread = float(np.sqrt(np.mean(np.var(found, axis=0)))) or self.scale
            points[near] = np.mean(found, axis=0) + spread / self.scale * points[near]
        return points


def usual_starts(manifold: Manifold, dim: int, directions: bool, scale: float = 1.0) -> Starts:
    """The papers' laws: uniform on the sphere, N(0, d log d I) on R^d (Full, Theorem 4.6).

    `directions` is for dot-product units on R^d: the length of such a unit is the steepness of its
    activation, and starts have length 1. `scale` multiplies either law.
    """
    if manifold.name == "sphere" or directions:
        return Starts(scale, on_shell=True)
    return Starts(scale * math.sqrt(dim * math.log(max(dim, 2))))


class NodeMethod(eqx.Module):
    """One way to place a unit. `limit` is the number of units it may place."""

    limit: eqx.AbstractVar[int]

    @abc.abstractmethod
    def place(self, objective: Objective, nodes: Nodes) -> Nodes:
        """One round: a unit more, or a failure more, or the end."""

    def finish(self, objective: Objective, nodes: Nodes) -> Nodes:
        """After the last round."""
        return nodes


def begin_nodes(objective: Objective, limit: int, seed: int) -> Nodes:
    """No unit yet, room for `limit` or for the first few."""
    room = min(limit, FIRST_ROOM)
    student = Student(np.zeros((room, objective.dim)), np.zeros((room, *objective.charge_shape)))
    student = eqx.tree_at(
        lambda s: s.positions, student, objective.manifold.project(student.positions)
    )
    zero = jnp.asarray(0)
    losses = np.full(room + 1, np.nan)
    losses[0] = objective.empty_value()
    return Nodes(
        student,
        zero,
        jnp.asarray(losses),
        jnp.asarray(np.zeros(room, dtype=int)),
        jnp.asarray(np.zeros((room, PATH, objective.dim))),
        zero,
        zero,
        zero,
        jnp.asarray(seed),
    )


def run_nodes(
    method: NodeMethod,
    objective: Objective,
    nodes: Nodes,
    *,
    report: Report | None = None,
    checkpoint: Callable[[Nodes], None] | None = None,
    told: bool = True,
) -> tuple[Nodes, bool]:
    """Place units until the method says stop; and whether it was interrupted.

    `told` if the method's limit says something of the number of units.
    """
    total = method.limit if told else math.inf
    try:
        if report is not None:
            report(Progress(int(nodes.placed), total, _words(nodes, total, COMPILING), True))
        while int(nodes.stop) == RUNNING:
            if int(nodes.placed) == nodes.room:
                nodes = _with_more_room(objective, nodes, min(method.limit, 2 * nodes.room))
            nodes = jax.block_until_ready(method.place(objective, nodes))
            if checkpoint is not None:
                checkpoint(nodes)
            if report is not None:
                ended = int(nodes.stop) != RUNNING
                doing = "dropping units that are not needed" if ended else "searching"
                report(Progress(int(nodes.placed), total, _words(nodes, total, doing)))
        return method.finish(objective, nodes), False
    except KeyboardInterrupt:
        return nodes, True


def _words(nodes: Nodes, total: float, doing: str) -> str:
    """Which unit is looked for, of how many, what is left, and what goes on."""
    placed, failures = int(nodes.placed), int(nodes.failures)
    many = f"at most {total:.0f}" if math.isfinite(total) else "?"
    words = f"unit {placed + 1} of {many}: {doing}"
    if int(nodes.stop) != RUNNING:
        words = f"{plural(placed, 'unit')}: {doing}"
    if placed:
        words += f", {max(0.0, float(nodes.loss / nodes.losses[0])):.1e} of the loss left"
    return words + (f", {plural(failures, 'round')} without a new one" if failures else "")


def nothing(objective: Objective, student: Student, first_loss: float) -> float:
    """The loss at which nothing is left: a part of the first, or what wrong answers make of 0.

    With answers wrong by tau, c.K c - 2 c.F + E[f^2] is wrong by at most 2 tau sum |c_i|.
    """
    told = 2 * float(objective.answer_error) * float(np.sum(np.abs(student.weights)))
    return LEFT * first_loss + told


def stop_of_nodes(nodes: Nodes, interrupted: bool) -> Stop:
    """Why the run stopped."""
    found = stop_of(int(nodes.stop))
    return Stop.INTERRUPTED if interrupted or found is None else found


def add_unit(nodes: Nodes, position: Array, weight: Array, iterations: Array, path: Array) -> Nodes:
    """The nodes with one more unit; its loss and the other weights are the caller's business."""
    at = nodes.placed
    student = Student(
        nodes.student.positions.at[at].set(position), nodes.student.weights.at[at].set(weight)
    )
    return eqx.tree_at(
        lambda n: (n.student, n.placed, n.iterations, n.paths, n.failures),
        nodes,
        (
            student,
            at + 1,
            nodes.iterations.at[at].set(iterations),
            nodes.paths.at[at].set(path),
            jnp.zeros_like(nodes.failures),
        ),
    )


def thinned_path(path: Array, count: Array) -> Array:
    """PATH points of the first `count` + 1 rows of `path` (n, d), evenly, with both ends."""
    rows = jnp.round(jnp.linspace(0.0, 1.0, PATH) * count).astype(int)
    return path[rows]


def _with_more_room(objective: Objective, nodes: Nodes, room: int) -> Nodes:
    """The same nodes with room for more."""
    extra = room - nodes.room
    origin = objective.manifold.project(jnp.zeros((extra, objective.dim)))
    student = Student(
        jnp.concatenate([nodes.student.positions, origin]),
        jnp.concatenate(
            [nodes.student.weights, jnp.zeros((extra, *nodes.student.weights.shape[1:]))]
        ),
    )
    return dataclasses.replace(
        nodes,
        student=student,
        losses=jnp.pad(nodes.losses, (0, extra), constant_values=jnp.nan),
        iterations=jnp.pad(nodes.iterations, (0, extra)),
        paths=jnp.pad(nodes.paths, ((0, extra), (0, 0), (0, 0))),
        kinds=None if nodes.kinds is None else jnp.pad(nodes.kinds, (0, extra)),
    )


def pruned(
    found: T,
    without_one: Callable[[T], Iterable[T]],
    as_good: Callable[[T, T], bool],
    on_drop: Callable[[T], None] | None = None,
) -> T:
    """`found` without the units that it does not need, dropped one at a time.

    `without_one` makes the networks of one unit less, the most promising first and each only when
    it is asked for. The first that is `as_good(fewer, found)` replaces `found`, until none is.
    """
    while True:
        better = (fewer for fewer in without_one(found) if as_good(fewer, found))
        fewer = next(better, None)
        if fewer is None:
            return found
        found = fewer
        if on_drop is not None:
            on_drop(found)
