"""Sums over samples, a chunk at a time: memory grows with the chunk, not with the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

ENTRIES = 2**17  # floats in one (samples x units) array of a chunk, by default
FEWEST = 64  # samples in a chunk, however many units there are


class Chunk(NamedTuple):
    """Inputs `x` (m, d) and outputs `y` (m,); `counted` (m,) is 0 for samples seen before."""

    x: Array
    y: Array
    counted: Array


def chunk_rows(samples: int, entries_each: int, chunk: int | None) -> int:
    """How many samples a chunk holds: `chunk`, or what keeps its arrays near `ENTRIES` floats."""
    if chunk is None:
        chunk = max(FEWEST, ENTRIES // max(1, entries_each))
    chunks = -(-samples // min(chunk, samples))
    return -(-samples // chunks)


def fold(step: Callable[[Any, Chunk], Any], start: Any, x: Array, y: Array, rows: int) -> Any:
    """step(... step(step(start, first chunk), second chunk) ..., last chunk).

    All chunks have `rows` samples, so that one compiled step serves them all: the last one reaches
    back over samples already seen, which it does not count.
    """
    samples = x.shape[0]
    chunks = -(-samples // rows)
    if chunks == 1:
        return step(start, Chunk(x, y, jnp.ones(samples)))

    def body(state: Any, index: Array) -> tuple[Any, None]:
        first = index * rows
        begin = jnp.minimum(first, samples - rows)
        inputs, outputs = (jax.lax.dynamic_slice_in_dim(array, begin, rows) for array in (x, y))
        counted = (begin + jnp.arange(rows) >= first).astype(float)
        return step(state, Chunk(inputs, outputs, counted)), None

    return jax.lax.scan(body, start, jnp.arange(chunks))[0]


def total(function: Callable[[Chunk], Any], x: Array, y: Array, rows: int) -> Any:
    """The sum of `function` over chunks; it must count only the samples that are `counted`."""
    likes: Any = (jax.ShapeDtypeStruct((rows, *a.shape[1:]), a.dtype) for a in (x, y, y))
    probe = Chunk(*likes)
    zeros = jax.tree.map(
        lambda like: jnp.zeros(like.shape, like.dtype), jax.eval_shape(function, probe)
    )
    add = lambda state, chunk: jax.tree.map(jnp.add, state, function(chunk))  # noqa: E731
    return fold(add, zeros, x, y, rows)
