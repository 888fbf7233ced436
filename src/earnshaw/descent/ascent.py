"""One free unit climbs: ascent of log(C^2/Phi), the logarithm of what the unit would save.

With its best weight C/Phi, a free unit at theta lowers the loss by C(theta)^2/Phi(theta, theta),
where C is the potential of all that is left to be learned. The papers descend on the loss itself,
whose gradient far from all charges is of the order of C^2: hence their (d/eps)^O(d) iterations. The
logarithm has the same critical points and maxima, and a gradient of order one away from saddles.
Off the cores of an almost lambda-harmonic potential its Laplacian is lambda - |gradient|^2 per
factor C, so it has no maximum there: the climb ends on a charge (MATH.md, "Node-wise descent
without the exponential").

Steps go along the gradient, whatever its length: a step that gains is followed by one 1.5 times as
long, one that does not is taken back and halved. This also homes in on a cusp, where the direction
of the gradient is right and its length means nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.energy.objective import FreeUnits, Objective

GROWTH, CUT = 1.5, 0.5
FIRST = 0.7  # length of the first step, relative to the start: charges are as far from each other
ROUNDING = float(np.finfo(float).eps)


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
    """Climb from each of the points (s, d) side by side, for at most `limit` iterations."""
    count = points.shape[0]
    distance = jnp.linalg.norm(points, axis=1)
    first = FIRST * jnp.where(distance > 0, distance, 1.0)
    # The first step goes nowhere: it only looks at the start, so that the loop is compiled once.
    nothing = FreeUnits(jnp.zeros(count), jnp.full(count, -jnp.inf), jnp.zeros_like(points))
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
            jax.tree.map(lambda old, new: _chosen(better, old, new), climb.there, there),
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


def _chosen(better: Array, old: Array, new: Array) -> Array:
    return jnp.where(better.reshape(-1, *(1,) * (old.ndim - 1)), new, old)
