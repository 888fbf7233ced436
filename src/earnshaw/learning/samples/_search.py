"""Maxima of the sampled correlation, without its gradient.

Where h is unbounded, |grad h|^2 is not integrable: the gradient of the sampled correlation has
infinite variance, is ruled by the sample nearest to theta, and the landscape has a dent or a spike
at every sample. So points climb by comparing values alone: each looks in d random orthogonal
directions and their opposites, at the length of its step; goes to the best if that is better, with
a step 1.5 times as long, and halves its step if none is (a compass search). Steps begin longer
than the distance of samples, so that small dents are stepped over.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.learning.samples._correlation import Correlation

GROWTH, CUT = 1.5, 0.5
MOST = 400  # iterations of a climb
SHORTEST = 1e-2  # step, in mean distances of samples: what is finer is for other methods


class Climbed(NamedTuple):
    """Where s searches are: points (s, d), what a unit saves there (s,), and the way (n, s, d)."""

    points: Array
    savings: Array
    lengths: Array
    path: Array
    iterations: Array


@eqx.filter_jit
def climb(
    field: Correlation, points: Array, savings: Array, lengths: Array, key: Array, limit: Array
) -> Climbed:
    """Climb from points (s, d) side by side, for at most `limit` <= MOST iterations.

    `savings` (s,) are those at the points, `lengths` (s,) the first steps.
    """
    count, dim = points.shape
    shortest = SHORTEST * field.spacing

    def going(at: Climbed) -> Array:
        return (at.iterations < limit) & jnp.any(at.lengths > shortest)

    def step(at: Climbed) -> Climbed:
        turned = jax.random.normal(jax.random.fold_in(key, at.iterations), (dim, dim))
        frame = jnp.linalg.qr(turned)[0]
        compass = jnp.concatenate([frame, -frame])
        tried = at.points[:, None] + at.lengths[:, None, None] * compass
        there = field.savings(tried.reshape(-1, dim)).reshape(count, -1)
        there = jnp.where(jnp.isnan(there), -jnp.inf, there)
        best, gained = jnp.argmax(there, axis=1), jnp.max(there, axis=1)
        better = gained > at.savings
        points = jnp.where(better[:, None], tried[jnp.arange(count), best], at.points)
        now = at.iterations + 1
        return Climbed(
            points,
            jnp.where(better, gained, at.savings),
            at.lengths * jnp.where(better, GROWTH, CUT),
            at.path.at[now].set(points),
            now,
        )

    path = jnp.broadcast_to(points, (MOST + 1, *points.shape))
    start = Climbed(points, savings, lengths, path, jnp.asarray(0))
    end = jax.lax.while_loop(going, step, start)
    later = jnp.arange(MOST + 1)[:, None, None] > end.iterations
    return end._replace(path=jnp.where(later, end.points, end.path))
