"""Node-wise learning without the exponential: our own method, and the default.

Each round, some random starts climb log(C^2/Phi) side by side (`ascend`); the best end becomes a
unit; the weights of all units are refitted exactly; and for potentials without cusps all units then
move together for a while (`newton.refine`). The run ends by itself when no start finds a place
where a unit would save more than a tiny part of the loss: so it finds the number of units.

Why the logarithm: with its best weight C/Phi, a free unit at theta lowers the loss by
C(theta)^2/Phi(theta, theta), where C is the potential of all that is left to be learned. The papers
descend on the loss itself, whose gradient far from all charges is of the order of C^2: hence their
(d/eps)^O(d) iterations. The logarithm has the same critical points and maxima, and a gradient of
order one away from saddles. Off the cores of an almost lambda-harmonic potential its Laplacian is
lambda - |gradient|^2 per factor C, so it has no maximum there: the climb ends on a charge.

Starts are chosen among more candidates. What the rounding errors of placed units leave behind can
drown far units that are still missing (for d = 101 the potential of one unit is a share of 1e-25 of
all at a median start), so those candidates are taken at which the potential of what is left is
largest relative to that of the placed units alone.

Source: mathematics.md, "Node-wise descent without the exponential"; after Full, Algorithm 3 and
Theorem 4.6, EPD, Algorithm 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import RUNNING, Stop, by_unit
from earnshaw.descent.newton import CLOSE, refine
from earnshaw.descent.nodes import (
    NodeMethod,
    Nodes,
    Starts,
    add_unit,
    nothing,
    pruned,
    thinned_path,
)
from earnshaw.energy.objective import FreeUnits, Objective
from earnshaw.numerics.compiled import compiled

SAME_PLACE = 1e-8  # units nearer than this, relative to the positions, become one at a cusp
WAIT, GAIN = 64, 1e-3  # units that take less than this part of the loss away together are none
# Where all units are refined together and less than CLOSE is left, a unit of the teacher would take
# nearly all of it. A run of erf in d = 2 once went from 2e-8 with 4 units to 3e-10 with 51.
LATE_WAIT, LATE_GAIN = 8, 0.9
UNFINISHED = 16  # climbs in a row that ran out of iterations, before the run ends
NEEDED = 1e-2  # a unit without which refitted weights leave more than this part of the loss stays
GROWTH, CUT = 1.5, 0.5  # of the length of a step of a climb, after a gain and without
FIRST = 0.7  # length of the first step, relative to the start: charges are as far from each other
ROUNDING = float(np.finfo(float).eps)


class NodeWise(NodeMethod):
    """Log-potential ascent, unit by unit.

    Args:
        starts: the law of starting points.
        limit: how many units may be placed.
        tolerance: a unit that would save less than this part of the first loss is no unit.
        climbs: how many starts climb each round.
        candidates: how many points they are chosen from.
        ascent_limit: iterations of a climb.
        patience: rounds without a new unit before the run ends.
        smooth: whether the potential has no cusp, so that all units are refined each round.
        refine_steps: steps of a refinement.
    """

    starts: Starts
    limit: int = eqx.field(static=True)
    tolerance: Array = eqx.field(default=1e-18, converter=jnp.asarray)
    climbs: int = eqx.field(static=True, default=8)
    candidates: int = eqx.field(static=True, default=256)
    ascent_limit: int = eqx.field(static=True, default=400)
    patience: int = eqx.field(static=True, default=5)
    smooth: bool = eqx.field(static=True, default=False)
    refine_steps: int = eqx.field(static=True, default=200)

    def place(self, objective: Objective, nodes: Nodes) -> Nodes:
        """One round: climb, place, refit, and for smooth potentials refine."""
        seed, now = int(nodes.seed), int(nodes.round)
        points = self.starts.draw(seed, now, self.candidates, objective.dim, nodes.places)
        before = int(nodes.placed)
        nodes = _round(self, objective, nodes, jnp.asarray(points))
        if self.smooth and int(nodes.placed) > before:
            first = float(nodes.losses[0])
            found = refine(objective, nodes.student, nodes.used, self.refine_steps, first)
            nodes = nodes.with_student(*found)
        return eqx.tree_at(lambda n: n.stop, nodes, jnp.asarray(self.stop_now(objective, nodes)))

    def finish(self, objective: Objective, nodes: Nodes) -> Nodes:
        """Drop the units that the others have made superfluous."""
        first = float(nodes.losses[0])
        least = nothing(objective, nodes.student, first)
        if float(nodes.loss) > least:
            return nodes
        if not self.smooth:
            return _merged(objective, nodes, least)
        student, units = without_superfluous(
            objective, nodes.student, nodes.used, self.refine_steps, first, least
        )
        if len(units) == int(nodes.placed):
            return nodes
        kept = Student(np.asarray(student.positions)[units], np.asarray(student.weights)[units])
        return nodes.only(units, objective.value(kept), student)

    def stop_now(self, objective: Objective, nodes: Nodes) -> int:
        """The code of the reason to stop, or RUNNING."""
        little = float(nodes.loss) <= nothing(objective, nodes.student, float(nodes.losses[0]))
        # Where all units are refined together, what is left is no unit but rounding.
        if int(nodes.failures) >= self.patience or (self.smooth and little):
            return (Stop.EQUAL_FUNCTION if little else Stop.NO_NEW_UNIT).code
        if int(nodes.placed) >= self.limit:
            return (Stop.EQUAL_FUNCTION if little else Stop.UNIT_LIMIT).code
        if self._exhausted(nodes):
            return Stop.ITERATION_LIMIT.code
        return Stop.STAGNANT.code if self._stagnant(nodes) else RUNNING

    def _stagnant(self, nodes: Nodes) -> bool:
        """Whether the last units together took too little of the loss away to be the teacher's."""
        losses = np.asarray(nodes.losses)[: int(nodes.placed) + 1]

        def little(units: int, gain: float, below: float = np.inf) -> bool:
            before = losses[-1 - units] if len(losses) > units + 1 else np.inf
            return bool(before <= below and losses[-1] > (1 - gain) * before)

        late = self.smooth and little(LATE_WAIT, LATE_GAIN, CLOSE * losses[0])
        return late or little(WAIT, GAIN)

    def _exhausted(self, nodes: Nodes) -> bool:
        """Whether the last climbs all ran out of iterations: their ends are no charges.

        Units that are refined together need not have reached an end.
        """
        if self.smooth:
            return False
        last = np.asarray(nodes.iterations)[: int(nodes.placed)][-UNFINISHED:]
        return len(last) == UNFINISHED and bool(np.all(last >= self.ascent_limit))


class Found(NamedTuple):
    """The best end of some climbs: a place (d,), the weight there, what it saves, how it came.

    `log_saving` is the logarithm of what a unit there takes away from the loss, -inf where the
    oracle's errors may be all there is; `path` (PATH, d) its way, in so many `iterations`.
    """

    place: Array
    weight: Array
    log_saving: Array
    path: Array
    iterations: Array

    def is_worth_it(self, tolerance: Array, first_loss: Array) -> Array:
        """Whether it saves more than that part of the first loss."""
        return self.log_saving > jnp.log(tolerance) + jnp.log(first_loss)


def best_end(left: Objective, starts: Array, limit: int) -> Found:
    """The best of the ends of climbs from `starts` (s, d), in what is `left` to be learned."""
    climbed = ascend(left, starts, limit)
    there = climbed.there
    worth = jnp.where(jnp.isnan(there.log_savings), -jnp.inf, there.log_savings)
    best = jnp.argmax(worth)
    # C = saving / weight: below twice the error of an answer it may be nothing at all.
    size = jnp.linalg.norm(jnp.atleast_1d(there.weights[best]))
    visible = worth[best] - jnp.log(size) > jnp.log(2 * left.answer_error)
    count = climbed.iterations[best]
    return Found(
        climbed.points[best],
        there.weights[best],
        jnp.where(visible, worth[best], -jnp.inf),
        thinned_path(climbed.path[:, best], count),
        count,
    )


@compiled
def _round(method: NodeWise, objective: Objective, nodes: Nodes, points: Array) -> Nodes:
    """Climb from the best of `points` (n, d); place a unit at the best end if it is worth it."""
    left = objective.left_by(nodes.student)
    starts = _best_candidates(method, objective, nodes, points)
    found = best_end(left, starts, method.ascent_limit)
    more = add_unit(nodes, found.place, found.weight, found.iterations, found.path)
    more = more.with_student(*objective.refit(more.student, more.used))
    none = eqx.tree_at(lambda n: n.failures, nodes, nodes.failures + 1)
    worth_it = found.is_worth_it(method.tolerance, nodes.losses[0])
    nodes = jax.tree.map(lambda new, old: jnp.where(worth_it, new, old), more, none)
    return eqx.tree_at(lambda n: n.round, nodes, nodes.round + 1)


def _best_candidates(method: NodeWise, objective: Objective, nodes: Nodes, points: Array) -> Array:
    """The points at which most is left, relative to what the placed units make there."""
    share = objective.unexplained(points, nodes.student)
    _, best = jax.lax.top_k(jnp.where(jnp.isnan(share), -jnp.inf, share), method.climbs)
    return points[best]


def _merged(objective: Objective, nodes: Nodes, least: float) -> Nodes:
    """With units at one place made one, which happens where teacher units share a core."""
    places = np.asarray(nodes.result().positions)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    near = apart <= SAME_PLACE * max(1.0, float(np.max(np.abs(places), initial=0.0)))
    units = np.flatnonzero(~np.any(np.tril(near, -1), axis=1))
    if len(units) == len(places):
        return nodes
    kept = jnp.asarray(np.isin(np.arange(nodes.room), units))
    student, value = objective.refit(nodes.student, kept)
    return nodes.only(units, value, student) if float(value) <= least else nodes


def without_superfluous(
    objective: Objective, student: Student, used: Array, steps: int, first_loss: float, least: float
) -> tuple[Student, np.ndarray]:
    """The student without superfluous units, and the numbers of those that are left.

    A unit is superfluous if the others keep the loss below `least` once they are refined without
    it: it was placed twice, or for what others had not yet learned.
    """

    def without_one(here: tuple[Student, Array, Array]) -> Iterator[tuple[Student, Array, Array]]:
        student, used, _ = here
        sizes = np.linalg.norm(np.reshape(student.weights, (student.units, -1)), axis=1)
        order = np.argsort(np.where(used, sizes, np.inf))
        for unit in order[: int(np.sum(used))]:
            without = jnp.asarray(np.asarray(used) & (np.arange(student.units) != unit))
            fewer, value = objective.refit(student, without)
            if float(value) <= NEEDED * first_loss:
                fewer, value = refine(objective, fewer, without, steps, first_loss)
            yield fewer, without, value

    start = (student, used, jnp.asarray(first_loss))
    student, used, _ = pruned(start, without_one, lambda fewer, _: float(fewer[2]) <= least)
    return student, np.flatnonzero(used)


class Ascent(NamedTuple):
    """Where s climbs ended: points (s, d), what a unit is worth there, iterations (s,).

    `path` (limit + 1, s, d) has every accepted point; it stands still where a climb has ended.
    """

    points: Array
    there: FreeUnits
    iterations: Array
    path: Array


class _Climb(NamedTuple):
    points: Array
    there: FreeUnits
    lengths: Array
    climbing: Array
    iterations: Array
    path: Array
    now: Array


def ascend(objective: Objective, points: Array, limit: int) -> Ascent:
    """Climb log(C^2/Phi) from each of the points (s, d), for at most `limit` iterations.

    Steps go along the gradient, whatever its length: a step that gains is followed by one 1.5 times
    as long, one that does not is taken back and halved. This also homes in on a cusp, where the
    direction of the gradient is right and its length means nothing.
    """
    count = points.shape[0]
    distance = jnp.linalg.norm(points, axis=1)
    first = FIRST * jnp.where(distance > 0, distance, 1.0)
    # The first step goes nowhere: it only looks at the start, so that the loop is compiled once.
    nothing = FreeUnits(
        jnp.zeros((count, *objective.charge_shape)),
        jnp.full(count, -jnp.inf),
        jnp.zeros_like(points),
    )
    start = _Climb(
        points,
        nothing,
        jnp.zeros(count),
        jnp.ones(count, dtype=bool),
        jnp.zeros(count, dtype=int),
        jnp.broadcast_to(points, (limit + 1, *points.shape)),
        jnp.asarray(0),
    )

    def going(climb: _Climb) -> Array:
        return jnp.any(climb.climbing) & (climb.now < limit)

    def step(climb: _Climb) -> _Climb:
        slope = jnp.linalg.norm(climb.there.gradients, axis=1)
        upward = climb.there.gradients / jnp.where(slope > 0, slope, 1.0)[:, None]
        tried = objective.manifold.retract(climb.points, climb.lengths[:, None] * upward)
        there = objective.free_units(tried)
        better = climb.climbing & (there.log_savings > climb.there.log_savings)
        points = jnp.where(better[:, None], tried, climb.points)
        now = climb.now + 1
        lengths = climb.lengths * jnp.where(better, GROWTH, CUT)
        lengths = jnp.where(climb.now == 0, first, lengths)
        visible = lengths > ROUNDING * jnp.max(jnp.abs(points), axis=1) / 4
        slope = jnp.linalg.norm(there.gradients, axis=1)
        return _Climb(
            points,
            jax.tree.map(
                lambda old, new: jnp.where(by_unit(better, old), new, old), climb.there, there
            ),
            lengths,
            climb.climbing & visible & (slope > 0),
            climb.iterations + climb.climbing,
            climb.path.at[now].set(points),
            now,
        )

    end = jax.lax.while_loop(going, step, start)
    steps = jnp.arange(limit + 1)[:, None, None]
    path = jnp.where(steps <= end.now, end.path, end.points)
    return Ascent(end.points, end.there, end.iterations, path)
