"""The motion between two encounters: an ordinary differential equation, compiled once.

    d theta_i / dt = -(1/2) grad_i L,    d c_i / dt = -(1/2) dL/dc_i,

which is electron-proton dynamics under Phi: each pair of charges pushes with the gradient of Phi
(EPD, Theorem 2.2; Full, Theorem 2.3, as corrected in mathematics.md, error 3). On the sphere the
gradient is Riemannian, taken at the projected positions, so that lengths are conserved.

Units that have met at a cusp are a cluster (`_clusters.py`), and coincident units have no force on
each other. A cluster moves with the mean of its members' forces, the projection of the flow on the
constraint that they coincide; with a proton in it, it rests. Of two clusters A and B of n_A and n_B
units (a proton makes n infinite), 1/mu = 1/n_A + 1/n_B, each pair of whose charges attracts with a
cusp of total strength S,

    margin = S - mu |v_A - v_B|,    v of all other forces,

is by how much the cusp's pull exceeds what would tear them apart: they hold together while it is
positive. The same number tells whether two clusters that meet stay together, and whether a cut
divides one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.dynamics._clusters import CUTS, Clusters
from earnshaw.energy.population import PopulationLoss

SLACK = 4.0  # see `World.slack`
INSTANT = 1e-12  # a part of the time that has passed which is too short to take steps in
RUSHING = (
    0.01  # a part of its top speed: a unit this fast at the origin does not come to rest there
)
NUMBERS = 2**21  # at most, in the differences of electrons and particles that are held at a time


class World(eqx.Module):
    """What stays the same during a run.

    `slope` and `opposite` are those of the cusp, `reach` the distance at which units have met.
    Forces change by about reach/length over that distance, so a cluster is cut only when they
    exceed its hold by `slack`, a few times that part: else what has just met could part at once.
    Nothing moves when every unit is slower than `slow`, or than `slowed` times its own top speed.
    `pointed` says that the force on a unit has no limit at the origin (relu on R^d). `stiff` if
    steps are to be implicit.
    """

    loss: PopulationLoss
    slope: Array
    opposite: Array
    reach: Array
    slack: Array
    slow: Array
    slowed: Array
    rtol: Array
    atol: Array
    cusped: bool = eqx.field(static=True)
    mirrored: bool = eqx.field(static=True)
    pointed: bool = eqx.field(static=True)
    stiff: bool = eqx.field(static=True, default=False)


class State(NamedTuple):
    """Positions (k, d) and weights (k,)."""

    positions: Array
    weights: Array


class Motion(NamedTuple):
    """Places (k+m, d) of all particles, forces and velocities, 0 for protons; rates of weights."""

    energy: Array
    places: Array
    forces: Array
    velocities: Array
    weights: Array


class Contacts(NamedTuple):
    """For each electron the nearest particle that it meets and stays with.

    `gap` (k,) is the distance, infinite where there is none; `side` is -1 for an antipode.
    """

    gap: Array
    partner: Array
    side: Array


class Sight(NamedTuple):
    """All that can happen, seen at one instant."""

    energy: Array
    places: Array
    speeds: Array  # (k,), the larger of a unit's speed and of its weight's
    contacts: Contacts
    excess: Array  # by cut: the force that divides, minus the hold; -infinity where unused
    tear: Array  # by cut: that force, on what leaves, in the frame of the leader
    lost: Array  # whether the flow has met a point at which it has no direction
    still: Array

    @property
    def eventful(self) -> Array:
        """Whether the flow has to stop here."""
        meets = jnp.any(jnp.isfinite(self.contacts.gap))
        return meets | jnp.any(self.excess > 0) | self.lost | self.still


class Records(NamedTuple):
    """States after accepted steps."""

    positions: Array
    weights: Array
    energy: Array
    speeds: Array


def motion(world: World, clusters: Clusters, state: State) -> Motion:
    """Forces -(1/2) grad L on all units, and the velocities that they give clusters."""
    loss, k, count = world.loss, len(state.weights), len(clusters.leader)
    side, leader = jnp.asarray(clusters.side)[:, None], jnp.asarray(clusters.leader)
    electrons = loss.manifold.project(state.positions)
    # Taken from the leader, members of a cluster agree to the last bit, and have no force on each
    # other. Integrated side by side they would not.
    places = side * jnp.concatenate([electrons, loss.teacher.positions])[leader]
    energy, gradient = loss.value_and_gradient(Student(places[:k], state.weights))
    forces = jnp.zeros_like(places).at[:k].set(-gradient.positions / 2)
    total = jax.ops.segment_sum(side * forces, leader, count)
    velocities = side * (total * _lightness(clusters)[:, None])[leader]
    return Motion(energy, places, forces, velocities, -gradient.weights / 2)


def sight(world: World, clusters: Clusters, state: State, top_speeds: Array, time: Array) -> Sight:
    """Everything that decides what happens next."""
    now = motion(world, clusters, state)
    k = len(state.weights)
    rates = jnp.linalg.norm(now.weights.reshape(k, -1), axis=1)
    speeds = jnp.maximum(jnp.linalg.norm(now.velocities[:k], axis=1), rates)
    still = jnp.all(speeds <= jnp.maximum(world.slow, world.slowed * top_speeds))
    if world.cusped:
        charges = jnp.concatenate([state.weights, -world.loss.teacher.weights])
        contacts = _contacts(world, clusters, charges, now, time)
        excess, tear = _cuts(world, clusters, charges, now)
    else:
        nobody = jnp.zeros(k, dtype=int)
        contacts = Contacts(jnp.full(k, jnp.inf), nobody, nobody)
        excess, tear = jnp.full(CUTS * k, -jnp.inf), jnp.zeros((CUTS * k, world.loss.dim))
    lost = jnp.any(jnp.isfinite(contacts.gap)) if world.loss.unbounded else jnp.zeros((), bool)
    if world.pointed:
        places, toward = now.places[:k], -jnp.sum(now.places * now.velocities, axis=1)[:k]
        length = jnp.linalg.norm(places, axis=1)
        rushing = toward > RUSHING * top_speeds * length
        lost = lost | jnp.any((length > 0) & (length < world.reach) & rushing)
    return Sight(now.energy, now.places[:k], speeds, contacts, excess, tear, lost, still)


observe = eqx.filter_jit(sight)


@eqx.filter_jit
def advance(
    world: World,
    clusters: Clusters,
    state: State,
    top_speeds: Array,
    start: Array,
    end: Array,
    first_step: Array,
    steps: int,
) -> tuple[Array, Records, Array, Array]:
    """The flow from `start` until something happens, until `end`, or for so many tried steps.

    Returns times and records after accepted steps, in arrays of length `steps`, how many of them
    are used, and how many steps were tried.
    """

    def field(t: Any, y: State, args: None) -> State:
        now = motion(world, clusters, y)
        return State(now.velocities[: len(y.weights)], now.weights)

    def happening(t: Any, y: State, args: None, **rest: Any) -> Array:
        return sight(world, clusters, y, top_speeds, t).eventful

    def record(t: Any, y: State, args: None) -> Records:
        seen = sight(world, clusters, y, top_speeds, t)
        return Records(seen.places, y.weights, seen.energy, seen.speeds)

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        # Explicit steps, of order 5, are six forces each: forces are all the cost. A flow is stiff
        # only deep in a well, and a unit that is there soon binds or comes to rest; unless weights
        # are free, whose best values follow the positions at once. Implicit ones, of the same
        # order, solve their equations by Newton's method with the exact Hessian.
        diffrax.Kvaerno5() if world.stiff else diffrax.Tsit5(),
        start,
        end,
        first_step,
        state,
        saveat=diffrax.SaveAt(steps=True, fn=record),
        # The largest error, not the mean: one unit at a cusp among many must make itself felt.
        stepsize_controller=diffrax.PIDController(world.rtol, world.atol, norm=_largest),
        event=diffrax.Event(happening),
        adjoint=diffrax.ForwardMode(),
        max_steps=steps,
        throw=False,
    )
    used, tried = solution.stats["num_accepted_steps"], solution.stats["num_steps"]
    return solution.ts, solution.ys, used, tried


def _largest(error: State) -> Array:
    return jnp.maximum(jnp.max(jnp.abs(error.positions)), jnp.max(jnp.abs(error.weights)))


def _lightness(clusters: Clusters) -> Array:
    """1/n of the cluster that each particle leads, 0 with a proton in it or for no leader."""
    k, count = clusters.electrons, len(clusters.leader)
    members = jax.ops.segment_sum(jnp.ones(count), jnp.asarray(clusters.leader), count)
    return jnp.where(jnp.arange(count) < k, 1 / jnp.maximum(members, 1), 0.0)


def _strength(world: World, charge: tuple, other: tuple, side: Array | int) -> Array:
    """S, the pull of two clusters at x = side y, from their total charges and oriented charges.

    Members on one side attract by -q q' slope, on opposite sides by -q q' opposite: summed over
    all pairs, a part in the charges sum q and a part in the oriented ones, sum side q.
    """
    even, odd = (world.slope + world.opposite) / 2, (world.slope - world.opposite) / 2
    return -even * charge[0] * other[0] - side * odd * charge[1] * other[1]


def _totals(clusters: Clusters, charges: Array) -> tuple[Array, Array]:
    """The charge and the oriented charge of the cluster that each particle leads."""
    leader, count = jnp.asarray(clusters.leader), len(clusters.leader)
    return tuple(  # type: ignore[return-value]
        jax.ops.segment_sum(q, leader, count) for q in (charges, clusters.side * charges)
    )


def _contacts(
    world: World, clusters: Clusters, charges: Array, now: Motion, time: Array
) -> Contacts:
    """The pairs within reach whose margin is positive.

    Where Phi is unbounded all that attract have met within reach, or so close that what is left of
    the way takes no time that could be added to the clock.
    """
    k, count = clusters.electrons, len(clusters.leader)
    leader, orientation = jnp.asarray(clusters.leader), jnp.asarray(clusters.side)
    total, oriented = (sums[leader] for sums in _totals(clusters, charges))
    oriented = orientation * oriented  # in the frame of each particle
    lightness = _lightness(clusters)[leader]
    sides = (1, -1) if world.mirrored else (1,)

    def nearest(electron: Array) -> Contacts:
        own = (total[electron], oriented[electron])
        gaps = []
        for side in sides:
            gap = now.places[electron] - side * now.places
            distance = jnp.linalg.norm(gap, axis=1)
            direction = gap / jnp.where(distance > 0, distance, 1.0)[:, None]
            pull = _strength(world, own, (total, oriented), side)
            both = lightness[electron] + lightness
            # The velocities have the pull of this cusp in them, unless the pair coincides.
            apart = now.velocities[electron] - side * now.velocities
            rest = apart / jnp.where(both > 0, both, 1.0)[:, None] + pull[:, None] * direction
            if world.loss.unbounded:
                way = INSTANT * time * jnp.linalg.norm(apart, axis=1)
                met = (distance < jnp.maximum(world.reach, way)) & (pull > 0)
            else:
                margin = pull - jnp.linalg.norm(rest, axis=1)
                met = (distance < world.reach) & (pull > 0) & (margin > 0) & (both > 0)
            gaps.append(jnp.where(met & (leader != leader[electron]), distance, jnp.inf))
        flat = jnp.concatenate(gaps)
        best = jnp.argmin(flat)
        return Contacts(flat[best], best % count, jnp.where(best < count, 1, -1))

    batch = max(1, NUMBERS // (count * world.loss.dim))
    return jax.lax.map(nearest, jnp.arange(k), batch_size=batch)


def _cuts(world: World, clusters: Clusters, charges: Array, now: Motion) -> tuple[Array, Array]:
    """By how much the force on what a cut lets leave exceeds its hold, and that force."""
    cuts, of = CUTS * clusters.electrons, jnp.asarray(clusters.cut_of)
    unit, side = jnp.asarray(clusters.unit), jnp.asarray(clusters.side)
    gather = lambda values: jax.ops.segment_sum(values[unit], clusters.cut, cuts)  # noqa: E731
    force, charge = gather(side[:, None] * now.forces), gather(charges)
    oriented, leaving = gather(side * charges), gather(jnp.ones_like(charges))
    total, total_oriented = (sums[of] for sums in _totals(clusters, charges))
    others = (total - charge, total_oriented - oriented)
    hold = _strength(world, (charge, oriented), others, 1)
    # mu (v_A - v_B) is the force on what leaves, less what it takes to move with its cluster.
    tear = force - leaving[:, None] * (side[:, None] * now.velocities)[of]
    excess = jnp.linalg.norm(tear, axis=1) - (1 + world.slack) * hold
    return jnp.where(leaving > 0, excess, -jnp.inf), tear
