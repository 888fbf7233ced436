"""Node-wise learning without the exponential: our own method, and the default.

Each round, some random starts climb log(C^2/Phi) side by side (`ascent.py`); the best end becomes a
unit; the weights of all units are refitted exactly; and for potentials without cusps all units then
move together for a while (`polish.py`). The run ends by itself when no start finds a place where a
unit would save more than a tiny part of the loss: so it finds the number of units.

Starts are chosen among more candidates. What the rounding errors of placed units leave behind can
drown far units that are still missing (for d = 101 the potential of one unit is a share of 1e-25 of
all at a median start), so those candidates are taken at which the potential of what is left is
largest relative to that of the placed units alone.

Source: MATH.md, "Node-wise descent without the exponential"; after Full, Algorithm 3 and Theorem
4.6, EPD, Algorithm 3.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.ascent import ascend
from earnshaw.descent.nodes import NodeMethod, Nodes, add_unit, thinned_path
from earnshaw.descent.polish import polish, pruned
from earnshaw.descent.starts import Starts
from earnshaw.descent.stop import RUNNING, Stop
from earnshaw.energy.objective import Objective

SAME_PLACE = 1e-8  # relative to the positions
LEFT = 1e-10  # part of the loss below which a run without new units has recovered the teacher


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
        smooth: whether the potential has no cusp, so that all units are polished each round.
        polish_steps: quasi-Newton steps of a polish.
    """

    starts: Starts
    limit: int = eqx.field(static=True)
    tolerance: Array = eqx.field(default=1e-18, converter=jnp.asarray)
    climbs: int = eqx.field(static=True, default=8)
    candidates: int = eqx.field(static=True, default=256)
    ascent_limit: int = eqx.field(static=True, default=400)
    patience: int = eqx.field(static=True, default=5)
    smooth: bool = eqx.field(static=True, default=False)
    polish_steps: int = eqx.field(static=True, default=200)

    def place(self, objective: Objective, nodes: Nodes) -> Nodes:
        """One round: climb, place, refit, and for smooth potentials polish."""
        seed, now = int(nodes.seed), int(nodes.round)
        points = self.starts.draw(seed, now, self.candidates, objective.dim)
        before = int(nodes.placed)
        nodes = _round(self, objective, nodes, jnp.asarray(points))
        if self.smooth and int(nodes.placed) > before:
            first = float(nodes.losses[0])
            found = polish(objective, nodes.student, nodes.used, self.polish_steps, first)
            nodes = nodes.with_student(*found)
        return eqx.tree_at(lambda n: n.stop, nodes, jnp.asarray(self._stop(nodes)))

    def finish(self, objective: Objective, nodes: Nodes) -> Nodes:
        """Drop the units that the others have made superfluous."""
        first, least = float(nodes.losses[0]), LEFT * float(nodes.losses[0])
        if float(nodes.loss) > least:
            return nodes
        if not self.smooth:
            return _merged(objective, nodes, least)
        student, units = pruned(
            objective, nodes.student, nodes.used, self.polish_steps, first, least
        )
        if len(units) == int(nodes.placed):
            return nodes
        kept = Student(student.positions[units], student.weights[units])
        return nodes.only(units, objective.value(kept), student)

    def _stop(self, nodes: Nodes) -> int:
        little = float(nodes.loss) <= LEFT * float(nodes.losses[0])
        # Where all units are polished together, what is left is no unit but rounding.
        if int(nodes.failures) >= self.patience or (self.smooth and little):
            return (Stop.RECOVERED if little else Stop.NO_NEW_UNIT).code
        if int(nodes.placed) >= self.limit:
            return (Stop.RECOVERED if little else Stop.UNIT_LIMIT).code
        return RUNNING


@eqx.filter_jit
def _round(method: NodeWise, objective: Objective, nodes: Nodes, points: Array) -> Nodes:
    """Climb from the best of `points` (n, d); place a unit at the best end if it is worth it."""
    left = objective.left_by(nodes.student)
    climbed = ascend(left, _chosen(method, objective, nodes, points), method.ascent_limit)
    worth = jnp.where(jnp.isnan(climbed.there.log_savings), -jnp.inf, climbed.there.log_savings)
    best = jnp.argmax(worth)
    found = worth[best] > jnp.log(method.tolerance) + jnp.log(nodes.losses[0])

    count = climbed.iterations[best]
    path = thinned_path(climbed.path[:, best], count)
    more = add_unit(nodes, climbed.points[best], climbed.there.weights[best], count, path)
    more = more.with_student(*objective.refit(more.student, more.used))
    none = eqx.tree_at(lambda n: n.failures, nodes, nodes.failures + 1)
    nodes = jax.tree.map(lambda new, old: jnp.where(found, new, old), more, none)
    return eqx.tree_at(lambda n: n.round, nodes, nodes.round + 1)


def _chosen(method: NodeWise, objective: Objective, nodes: Nodes, points: Array) -> Array:
    """The points at which most is left, relative to what the placed units make there."""
    share = objective.unexplained(points, nodes.student)
    _, best = jax.lax.top_k(jnp.where(jnp.isnan(share), -jnp.inf, share), method.climbs)
    return points[best]


def _merged(objective: Objective, nodes: Nodes, least: float) -> Nodes:
    """With units at one place made one, which happens where teacher units share a core."""
    places = np.asarray(nodes.result().positions)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    near = apart <= SAME_PLACE * max(1.0, float(np.max(np.abs(places), initial=0.0)))
    units = jnp.asarray(np.flatnonzero(~np.any(np.tril(near, -1), axis=1)))
    if len(units) == len(places):
        return nodes
    kept = jnp.isin(jnp.arange(nodes.room), units)
    student, value = objective.refit(nodes.student, kept)
    return nodes.only(units, value, student) if float(value) <= least else nodes
