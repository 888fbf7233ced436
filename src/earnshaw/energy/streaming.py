"""Sums over samples, a chunk at a time: memory grows with the chunk, not with the samples.

One kind of chunk serves every loss of samples, `EmpiricalLoss` and the fits of `learning/fitting`
alike: some samples with weights, all chunks of one shape so that one compiled step serves them all.
What a sum over chunks adds up must count each sample by its weight, which is 0 for rows that only
fill a chunk up.

- Samples on the device, inside a compiled function: `fold` and `total`.
- Samples on the host, standardised or read piece by piece as they are asked for: `stream`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

ENTRIES = 2**17  # floats in one (samples x units) array of a chunk, by default
FEWEST = 64  # samples in a chunk, however many units there are


class Chunk(NamedTuple):
    """Some samples: inputs `x` (m, d), answers `y` (m,) or (m, outputs), and their weights (m,)."""

    x: Array
    y: Array
    weight: Array


def chunk_rows(samples: int, entries_each: int, chunk: int | None) -> int:
    """How many samples a chunk holds: `chunk`, or what keeps its arrays near `ENTRIES` floats."""
    if chunk is None:
        chunk = max(FEWEST, ENTRIES // max(1, entries_each))
    chunks = -(-samples // min(chunk, samples))
    return -(-samples // chunks)


def fold(step: Callable[[Any, Chunk], Any], start: Any, x: Array, y: Array, rows: int) -> Any:
    """step(... step(step(start, first chunk), second chunk) ..., last chunk).

    All chunks have `rows` samples of weight 1: the last one reaches back over samples already seen,
    which it gives the weight 0.
    """
    samples = x.shape[0]
    chunks = -(-samples // rows)
    if chunks == 1:
        return step(start, Chunk(x, y, jnp.ones(samples)))

    def body(state: Any, index: Array) -> tuple[Any, None]:
        first = index * rows
        begin = jnp.minimum(first, samples - rows)
        inputs, outputs = (jax.lax.dynamic_slice_in_dim(array, begin, rows) for array in (x, y))
        weight = (begin + jnp.arange(rows) >= first).astype(float)
        return step(state, Chunk(inputs, outputs, weight)), None

    return jax.lax.scan(body, start, jnp.arange(chunks))[0]


def total(function: Callable[[Chunk], Any], x: Array, y: Array, rows: int) -> Any:
    """The sum of `function` over all chunks: arrays, or a pytree of them."""
    shapes: Any = ((rows, *x.shape[1:]), (rows, *y.shape[1:]), (rows,))
    likes: Any = (jax.ShapeDtypeStruct(shape, float) for shape in shapes)
    probe = Chunk(*likes)
    zeros = jax.tree.map(
        lambda like: jnp.zeros(like.shape, like.dtype), jax.eval_shape(function, probe)
    )
    add = lambda state, chunk: jax.tree.map(jnp.add, state, function(chunk))  # noqa: E731
    return fold(add, zeros, x, y, rows)


def stream(
    read: Callable[[slice], tuple[np.ndarray, np.ndarray, np.ndarray]], samples: int, rows: int
) -> Iterator[Chunk]:
    """All samples, `rows` at a time, the last chunk filled up with rows of weight 0.

    `read` gives inputs, answers and weights of a slice of the samples when it is asked for, so that
    of a million samples only one chunk is ever made.
    """
    for start in range(0, samples, rows):
        arrays = read(slice(start, min(start + rows, samples)))
        yield Chunk(*(jnp.asarray(_filled(array, rows)) for array in arrays))


def _filled(array: np.ndarray, rows: int) -> np.ndarray:
    short = rows - len(array)
    return np.pad(array, [(0, short), *[(0, 0)] * (array.ndim - 1)]) if short else array
