"""Which charges are near which: columns of charges, sorted along the last coordinate.

The first d - 1 coordinates of R^d are cut into squares (intervals, a point); the charges over one
of them are a column, sorted by the last coordinate. A chunk of consecutive targets of a column
finds its neighbours in the columns around it, in each of them as one range of consecutive sources.
Ranges are cut into pieces of the same length, and chunks with pieces are the `Items` of which
compiled code does thousands at once. Nothing here is larger than the charges themselves but the
items, which come in blocks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

CHUNK = 32  # targets side by side
PIECE = 16  # sources one after the other
FINENESS = 3  # columns to a radius, where there are charges enough to fill their chunks
MOST_COLUMNS = 2**21
RANGES = 2**17  # looked up at a time
MARGIN = 1e-9  # of the box: ranges are a little too long, never too short


class Items(NamedTuple):
    """Chunk `chunk` of the targets feels the sources from `start`, `length` <= PIECE of them."""

    chunk: np.ndarray
    start: np.ndarray
    length: np.ndarray


@dataclass(frozen=True)
class Columns:
    """Targets and sources in columns, and the chunks of the targets.

    `target_order` and `source_order` sort them; chunk c is targets `chunk_start`[c] and the
    `chunk_size`[c] - 1 after it, all in column `chunk_column`[c], from `low`[c] to `high`[c].
    """

    target_order: np.ndarray
    source_order: np.ndarray
    chunk_start: np.ndarray
    chunk_size: np.ndarray
    chunk_column: np.ndarray
    low: np.ndarray
    high: np.ndarray
    source_keys: np.ndarray
    stride: float
    offsets: np.ndarray
    heights: np.ndarray
    counts: tuple[int, ...]

    def ranges(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For blocks of chunks: the first of them, and start and length of their ranges.

        Both of shape (chunks, columns around).
        """
        step = max(1, RANGES // len(self.offsets))
        shape = self.counts
        for first in range(0, len(self.chunk_start), step):
            block = slice(first, first + step)
            here = np.stack(np.unravel_index(self.chunk_column[block], shape or (1,)), axis=1)
            there = here[:, None, : len(shape)] + self.offsets
            inside = np.all((there >= 0) & (there < np.asarray(shape, dtype=int)), axis=2)
            if shape:
                clipped = np.clip(there, 0, np.asarray(shape) - 1)
                column = np.ravel_multi_index(tuple(np.moveaxis(clipped, 2, 0)), shape)
            else:
                column = np.zeros(inside.shape, dtype=int)
            base = column * self.stride
            low = base + np.maximum(self.low[block][:, None] - self.heights, 0.0)
            high = base + np.minimum(self.high[block][:, None] + self.heights, self.stride / 2)
            start = np.searchsorted(self.source_keys, low, side="left")
            stop = np.searchsorted(self.source_keys, high, side="right")
            yield first, start, np.where(inside, np.maximum(stop - start, 0), 0)

    def pairs(self) -> int:
        """How many pairs all items have."""
        return sum(
            int(self.chunk_size[first : first + len(length)] @ np.sum(length, axis=1))
            for first, _, length in self.ranges()
        )

    def items(self) -> Iterator[Items]:
        """All items, in the order of the chunks, in blocks that end with a chunk."""
        for first, start, length in self.ranges():
            pieces = -(-length // PIECE)
            chunk = np.repeat(np.arange(len(length)) + first, np.sum(pieces, axis=1))
            flat = pieces.ravel()
            place = np.arange(len(chunk)) - np.repeat(np.cumsum(flat) - flat, flat)
            begin = np.repeat(start.ravel(), flat) + PIECE * place
            left = np.repeat(length.ravel(), flat) - PIECE * place
            yield Items(chunk, begin, np.minimum(left, PIECE))


def in_columns(targets: np.ndarray, sources: np.ndarray, radius: float) -> Columns:
    """Targets (n, d) and sources (m, d) whose pairs closer than `radius` are wanted."""
    low = np.minimum(targets.min(axis=0), sources.min(axis=0))
    extent = np.maximum(targets.max(axis=0), sources.max(axis=0)) - low
    flat = targets.shape[1] - 1
    sides, counts = _sides(extent[:flat], radius, len(targets))
    # Keys are column * stride + height, heights in the lower half: ranges never reach over.
    margin = MARGIN * max(float(extent[-1]), radius)
    stride = 2 * (float(extent[-1]) + radius + 2 * margin)

    def keys(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = np.minimum((positions[:, :flat] - low[:flat]) / sides, np.asarray(counts) - 1)
        column = np.zeros(len(positions), dtype=int)
        if flat:
            column = np.ravel_multi_index(tuple(places.astype(int).T), counts)
        return column, column * stride + (positions[:, -1] - low[-1])

    source_keys = keys(sources)[1]
    source_order = np.argsort(source_keys, kind="stable")
    column, target_keys = keys(targets)
    target_order = np.argsort(target_keys, kind="stable")
    column, heights = column[target_order], targets[target_order, -1] - low[-1]
    start, size = _chunks(column)
    offsets, gaps = _offsets(sides, counts, radius)
    return Columns(
        target_order,
        source_order,
        start,
        size,
        column[start],
        np.minimum.reduceat(heights, start),
        np.maximum.reduceat(heights, start),
        source_keys[source_order],
        stride,
        offsets,
        np.sqrt(np.maximum(radius * radius - gaps, 0.0)) + margin * (1 + math.prod(counts) * 1e-3),
        counts,
    )


def _sides(extent: np.ndarray, radius: float, units: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """The sides of the columns and how many there are along each coordinate."""
    flat = len(extent)
    if not flat:
        return np.ones(0), ()
    most = min(MOST_COLUMNS, max(1, 2 * units // CHUNK))
    side = max(radius / FINENESS, 1e-300)
    filled = float(np.prod(extent / side + 1))
    if filled > most:
        side = max(side, float(np.max(extent)) / most)
        while float(np.prod(np.floor(extent / side) + 1)) > most:
            side *= 1.1
    counts = tuple(int(e // side) + 1 for e in extent)
    return np.full(flat, side), counts


def _chunks(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start and size of runs of at most CHUNK equal entries of a sorted array."""
    begins = np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
    sizes = np.diff(np.append(begins, len(column)))
    several = -(-sizes // CHUNK)
    place = np.arange(int(np.sum(several))) - np.repeat(np.cumsum(several) - several, several)
    start = np.repeat(begins, several) + CHUNK * place
    return start, np.minimum(np.repeat(sizes, several) - CHUNK * place, CHUNK)


def _offsets(
    sides: np.ndarray, counts: tuple[int, ...], radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which columns around one may hold neighbours, (columns, d - 1), and how far, squared."""
    spans = [min(int(radius // side) + 1, n - 1) for side, n in zip(sides, counts, strict=True)]
    around = list(itertools.product(*(range(-span, span + 1) for span in spans)))
    offsets = np.asarray(around, dtype=int).reshape(len(around), len(counts))
    gaps = np.sum(np.square(np.maximum(np.abs(offsets) - 1, 0) * sides), axis=1)
    kept = gaps <= radius * radius * (1 + MARGIN)
    return offsets[kept], gaps[kept]
