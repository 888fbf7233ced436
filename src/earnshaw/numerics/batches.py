"""A function of single rows, applied to all of them a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array

T = TypeVar("T")


def in_batches(function: Callable[[Array], T], rows: Array, size: int) -> T:
    """What `function` makes of each of the rows (n, ...), stacked; `size` of them side by side.

    As `jax.lax.map` with a batch size, which compiles the function once more for the rows that are
    left over: here the last batch is filled up with its last row.
    """
    count = len(rows)
    if count <= size:
        return jax.vmap(function)(rows)
    extra = -count % size
    filled = jnp.pad(rows, ((0, extra), *((0, 0),) * (rows.ndim - 1)), mode="edge")
    made = jax.lax.map(jax.vmap(function), filled.reshape(-1, size, *rows.shape[1:]))
    return jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:])[:count], made)
