"""Random subsets, at a cost that depends on the subset rather than on the whole."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def random_subset(key: Array, total: int, count: int) -> Array:
    """`count` different indices below `total`, every such set equally likely; shape (count,).

    Small subsets by Floyd's algorithm (Bentley and Floyd, CACM 30, 1987), count^2 comparisons;
    large ones from a permutation. Works in compiled functions: the sizes are static.
    """
    if count * count > 16 * total:
        return jax.random.permutation(key, total)[:count]
    last = jnp.arange(total - count, total)
    drawn = jax.random.randint(key, (count,), 0, last + 1)

    def place(i: Array, chosen: Array) -> Array:
        taken = jnp.any(chosen == drawn[i])
        return chosen.at[i].set(jnp.where(taken, last[i], drawn[i]))

    return jax.lax.fori_loop(0, count, place, jnp.full(count, -1, dtype=drawn.dtype))
