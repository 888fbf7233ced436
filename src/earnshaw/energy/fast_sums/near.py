"""Sums over the pairs of charges that are closer than a radius.

With delta = x_i - y_j, u = |delta|^2 and f, g = f'/r, h = (f'' - f'/r)/r^2 from a `NearPart`, the
terms of the potential and its gradient are q f and q g delta; while positions and charges move at
the rates dx, dy and dq, with w = delta.(dx - dy), these change at the rates

    dq f + q g w    and    (dq g + q h w) delta + q g (dx - dy).

Compiled code does `ITEMS` items of `columns.py` at once: each is CHUNK targets side by side and a
loop over PIECE sources, so all its arrays are small, and its work is elementwise. What items of one
chunk find is added up in their order, so that no bit depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.energy.fast_sums.columns import CHUNK, PIECE, Columns, Items
from earnshaw.energy.fast_sums.splitting import NearPart

ITEMS = 2048  # of 32 x 16 pairs, in a call of compiled code
LEAST = 2048  # sources that code is compiled for


def near_sums(
    part: NearPart,
    radius: float,
    columns: Columns,
    targets: Sequence[np.ndarray],
    sources: Sequence[np.ndarray],
) -> np.ndarray:
    """The potential (column 0) and its gradient (the rest) at the targets, (n, 1 + d).

    `targets` is (x,) or (x, dx), `sources` (y, q) or (y, q, dy, dq), of shapes (n, d) or (n,): with
    the rates, the rates of the sums.
    """
    placed = [_in_chunks(array, columns) for array in targets]
    sorted_sources = [_padded(array[columns.source_order].T) for array in sources]
    dim = targets[0].shape[1]
    found = np.zeros((1 + dim, len(columns.chunk_start), CHUNK))
    kernel = partial(_items_sums, part, jnp.asarray(radius * radius))
    for items in columns.items():
        for begin in range(0, len(items.chunk), ITEMS):
            some = Items(*(array[begin : begin + ITEMS] for array in items))
            sums = np.asarray(kernel(_places(placed, some.chunk), sorted_sources, *_filled(some)))
            chunks, starts = np.unique(some.chunk, return_index=True)
            # One chunk may go on in the next call: += once for each chunk here.
            found[:, chunks] += np.add.reduceat(sums[:, : len(some.chunk)], starts, axis=1)
    out = np.empty((len(targets[0]), 1 + dim))
    there = np.arange(CHUNK) < columns.chunk_size[:, None]
    out[columns.target_order] = found[:, there].T
    return out


def _in_chunks(array: np.ndarray, columns: Columns) -> np.ndarray:
    """The targets' rows as (d, chunks, CHUNK); places to spare repeat the last target."""
    place = np.minimum(np.arange(CHUNK), columns.chunk_size[:, None] - 1)
    rows = array[columns.target_order[columns.chunk_start[:, None] + place]]
    return np.moveaxis(rows, -1, 0)


def _padded(array: np.ndarray) -> Array:
    """Sources along the last axis, with PIECE of charge 0 after the last, up to a power of two.

    The size is part of what is compiled: few sizes, few programs.
    """
    count = array.shape[-1] + PIECE
    size = max(LEAST, 2 ** int(np.ceil(np.log2(count))))
    widths = [(0, 0)] * (array.ndim - 1) + [(0, size - array.shape[-1])]
    return jnp.asarray(np.pad(array, widths))


def _places(placed: Sequence[np.ndarray], chunk: np.ndarray) -> list[Array]:
    whole = np.concatenate([chunk, np.zeros(ITEMS - len(chunk), dtype=int)])
    return [jnp.asarray(array[:, whole]) for array in placed]


def _filled(items: Items) -> tuple[Array, Array]:
    """Start and count, with items of no source up to ITEMS."""
    extra = ITEMS - len(items.start)
    return tuple(jnp.asarray(np.pad(array, (0, extra))) for array in items[1:])  # type: ignore[return-value]


@jax.jit
def _items_sums(
    part: NearPart,
    square: Array,
    targets: list[Array],
    sources: list[Array],
    start: Array,
    count: Array,
) -> Array:
    """(1 + d, ITEMS, CHUNK), from targets (d, ITEMS, CHUNK) and sources (d, m), (m,)."""
    dim = len(targets[0])

    def step(place: Array, sums: tuple[Array, ...]) -> tuple[Array, ...]:
        index = start + place
        here = [jnp.take(array, index, axis=-1)[..., None] for array in sources]
        counted = (place < count)[:, None]
        delta = [targets[0][a] - here[0][a] for a in range(dim)]
        u = sum((gap * gap for gap in delta[1:]), start=delta[0] * delta[0])
        near = counted & (u < square)
        value, first, second = part.jet(jnp.where(near, u, 0.0))
        charge = jnp.where(near, here[1], 0.0)
        if len(targets) == 1:
            pull = charge * first
            return sums[0] + charge * value, *(
                total + pull * gap for total, gap in zip(sums[1:], delta, strict=True)
            )
        moved = [targets[1][a] - here[2][a] for a in range(dim)]
        along = sum((a * b for a, b in zip(delta, moved, strict=True)), start=jnp.zeros_like(u))
        rate = jnp.where(near, here[3], 0.0)
        pull, turn = rate * first + charge * second * along, charge * first
        return sums[0] + rate * value + turn * along, *(
            total + pull * gap + turn * change
            for total, gap, change in zip(sums[1:], delta, moved, strict=True)
        )

    empty = tuple(jnp.zeros(targets[0].shape[1:]) for _ in range(1 + dim))
    return jnp.stack(jax.lax.fori_loop(0, PIECE, step, empty))
