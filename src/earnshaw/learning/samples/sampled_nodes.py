"""Node by node from samples, for activations h(x - w)/sqrt(p(x)) on R^d.

Each round:

1. candidates: the samples at which most is left, |r(x)| sqrt(p(x)) being an estimate of what is
   left of sum_i b_i h(x - w_i), and some random samples, each moved aside a little;
2. the best of them by the normalised correlation climb (`_correlation.py`, `_search.py`);
3. a unit is placed at the best end, all weights are refitted, all units refined (`_refine.py`).

The number of units is not told. A unit must earn its price: with n samples and loss L, students are
compared by

    n log L + 2 k (d + 1) log n,

twice the Bayesian information criterion's price of d + 1 parameters, for a unit is the best of many
tried. At the end units are dropped for which the price is not earned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import RUNNING, Stop
from earnshaw.descent.methods import MethodOptions
from earnshaw.descent.nodes import LEFT, NodeMethod, Nodes, add_unit, pruned, thinned_path
from earnshaw.duality.activation import Translation
from earnshaw.energy.empirical import EmpiricalLoss
from earnshaw.energy.objective import Objective
from earnshaw.errors import OutOfRange
from earnshaw.learning.samples._correlation import Correlation, correlation
from earnshaw.learning.samples._refine import FIRST_STEP, refined, swept
from earnshaw.learning.samples._search import MOST, Climbed, climb

PLAIN = ("full", "both")  # the loss that is searched, and what moves
PRICE = 2.0  # of a parameter, in log n
BUCKET = 8  # students are padded to multiples of this, so that few shapes are compiled
NEEDED = 1e-2  # part of the first loss that is lost with a unit which is surely needed
SWEEPS = 20  # of the last refinement, at most
LAST = 2**31  # rounds have the numbers below as their keys, those sweeps the ones above


class SampledNodes(NodeMethod):
    """Search on samples, unit by unit.

    Args:
        limit: how many units may be placed.
        tolerance: a unit that saves less than this part of the first loss is no unit.
        climbs: how many candidates climb each round.
        candidates: how many there are.
        search_limit: iterations of a climb.
        patience: rounds without a new unit before the run ends.
    """

    limit: int = eqx.field(static=True)
    tolerance: float = eqx.field(static=True, default=0.0)
    climbs: int = eqx.field(static=True, default=4)
    candidates: int = eqx.field(static=True, default=256)
    search_limit: int = eqx.field(static=True, default=40)
    patience: int = eqx.field(static=True, default=2)

    def place(self, objective: Objective, nodes: Nodes) -> Nodes:
        """One round: search, place, refine."""
        loss = _sampled(objective)
        key = jax.random.fold_in(_key(nodes), nodes.round)
        student, used = _padded(nodes, int(nodes.placed) + 1)
        found, best = _searched(self, loss, student, used, key)
        more = add_unit(
            nodes,
            found.points[best],
            jnp.zeros(()),
            found.iterations,
            thinned_path(found.path[:, best], found.iterations),
        )
        student, used = _padded(more, int(more.placed))
        student, value = loss.refit(student, used)
        student, value = refined(loss, student, used)
        first = float(nodes.losses[0])
        worth = float(nodes.loss) - float(value) > self.tolerance * first
        if worth and _price(loss, more, value) < _price(loss, nodes):
            if not self._settled(more, value):
                student, value = swept(loss, student, used, key)
            nodes = more.with_student(_roomy(more, student), value)
        else:
            nodes = eqx.tree_at(lambda n: n.failures, nodes, nodes.failures + 1)
        stop = jnp.asarray(self._stop(nodes))
        return eqx.tree_at(lambda n: (n.round, n.stop), nodes, (nodes.round + 1, stop))

    def finish(self, objective: Objective, nodes: Nodes) -> Nodes:
        """Sweep until nothing moves, and drop the units that do not earn their price."""
        loss, key = _sampled(objective), _key(nodes)
        student, used = _padded(nodes, int(nodes.placed))
        value = nodes.loss
        for sweep in range(SWEEPS):
            before = float(value)
            if self._settled(nodes, value):
                break
            student, value = swept(loss, student, used, jax.random.fold_in(key, LAST + sweep))
            if float(value) > (1 - 1 / loss.samples) * before:
                break  # n log L fell by less than one, which the samples cannot tell from nothing
        return pruned(
            nodes.with_student(_roomy(nodes, student), value),
            lambda here: _without_one(loss, here),
            lambda fewer, here: _price(loss, fewer) <= _price(loss, here),
        )

    def _settled(self, nodes: Nodes, value: Array) -> bool:
        return float(value) <= LEFT * float(nodes.losses[0])

    def _stop(self, nodes: Nodes) -> int:
        if self._settled(nodes, nodes.loss):
            return Stop.EQUAL_FUNCTION.code
        if int(nodes.failures) >= self.patience:
            return Stop.NO_NEW_UNIT.code
        return Stop.UNIT_LIMIT.code if int(nodes.placed) >= self.limit else RUNNING


def sampled_nodes(limit: int, options: MethodOptions) -> SampledNodes:
    """The method with the given options."""
    if options.steps not in (None, "adaptive"):
        raise OutOfRange("steps", options.steps, "adaptive; node-wise finds its own")
    iterations = None if options.iterations is None else min(options.iterations, MOST)
    given = options.given(
        tolerance=options.tolerance, climbs=options.climbs, search_limit=iterations
    )
    return SampledNodes(limit=limit, **given)


def translation(objective: Objective) -> Translation | None:
    """The activation h(x - w)/sqrt(p(x)) of a plain loss over samples; None for other losses."""
    sigma = objective.sampled_activation
    plain = (objective.name, objective.wrt) == PLAIN
    return sigma if plain and isinstance(sigma, Translation) else None


def _sampled(objective: Objective) -> EmpiricalLoss:
    assert objective.samples is not None
    return cast(EmpiricalLoss, objective)


def _searched(
    method: SampledNodes, loss: EmpiricalLoss, student: Student, used: Array, key: Array
) -> tuple[Climbed, Array]:
    """The climbs from the best candidates, and which ended highest."""
    sigma = translation(loss)
    assert sigma is not None
    field, _ = correlation(loss, student, used)
    pick, way = jax.random.split(key)
    weight = sigma.inputs.log_density(loss.x) / 2
    points, savings = _candidates(field, weight, pick, method.candidates, method.climbs)
    lengths = jnp.full(len(points), FIRST_STEP * field.spread)
    found = climb(field, points, savings, lengths, way, jnp.asarray(method.search_limit))
    return found, jnp.argmax(found.savings)


@eqx.filter_jit
def _candidates(
    field: Correlation, weight: Array, key: Array, count: int, chosen: int
) -> tuple[Array, Array]:
    """The best `chosen` of about `count` candidates, and what a unit saves there."""
    samples = len(field.left)
    half = min(count // 2, samples)
    pick, aside = jax.random.split(key)
    _, peaks = jax.lax.top_k(jnp.log(jnp.abs(field.left)) + weight, half)
    others = jax.random.randint(pick, (half,), 0, samples)
    points = field.x[jnp.concatenate([peaks, others])]
    points = points + field.spacing * jax.random.normal(aside, points.shape)
    savings = field.savings(points)
    savings = jnp.where(jnp.isnan(savings), -jnp.inf, savings)
    savings, best = jax.lax.top_k(savings, min(chosen, 2 * half))
    return points[best], savings


def _without_one(loss: EmpiricalLoss, nodes: Nodes) -> Iterator[Nodes]:
    """The nodes with one unit less, that of least weight first; all others refitted."""
    student, used = _padded(nodes, int(nodes.placed))
    order = np.argsort(np.where(used, np.abs(student.weights), np.inf))
    for unit in order[: int(nodes.placed)]:
        without = used & (jnp.arange(student.units) != int(unit))
        fewer, value = loss.refit(student, without)
        if float(value - nodes.loss) <= NEEDED * float(nodes.losses[0]):
            fewer, value = refined(loss, fewer, without)
            fewer, value = swept(loss, fewer, without, _key(nodes))
        yield nodes.only(jnp.flatnonzero(without), value, _roomy(nodes, fewer))


def _price(loss: EmpiricalLoss, nodes: Nodes, value: Array | None = None) -> float:
    """The criterion by which students are compared; losses below LEFT are all nothing."""
    value = nodes.loss if value is None else value
    counted = max(float(value), LEFT * float(nodes.losses[0]))
    if not 0 < counted < math.inf:
        return math.inf
    parameters = int(nodes.placed) * (loss.dim + 1)
    return loss.samples * math.log(counted) + PRICE * parameters * math.log(loss.samples)


def _padded(nodes: Nodes, units: int) -> tuple[Student, Array]:
    """The placed units in a student of the next multiple of BUCKET, and which are used."""
    size = -(-max(units, 1) // BUCKET) * BUCKET
    short = max(0, size - nodes.room)
    positions = jnp.pad(nodes.student.positions, ((0, short), (0, 0)))[:size]
    weights = jnp.pad(nodes.student.weights, (0, short))[:size]
    return Student(positions, weights), jnp.arange(size) < nodes.placed


def _roomy(nodes: Nodes, student: Student) -> Student:
    """The units of a padded student, with the room that the nodes have."""
    count = min(student.units, nodes.room)
    return Student(
        nodes.student.positions.at[:count].set(student.positions[:count]),
        nodes.student.weights.at[:count].set(student.weights[:count]),
    )


def _key(nodes: Nodes) -> Array:
    return jax.random.key(int(nodes.seed), impl="threefry2x32")
