"""Weighted samples, handed out in chunks of few shapes, so that little is compiled and copied.

All sums over samples run over chunks of the same number of rows, the last one filled up with rows
of weight 0 (`energy/streaming.py`). A chunk is made when it is asked for: at a million samples
nothing of their size is held besides the data themselves. In a chunk, inputs have a last column of
ones, (r, d + 1), and answers are (r, m).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from earnshaw.energy.streaming import Chunk, stream

FEWEST, MOST = 256, 8192  # rows of a chunk
KEPT = 2**23  # entries of inputs up to which chunks are kept


@dataclasses.dataclass
class Samples:
    """Inputs (n, d), answers (n, m) and weights (n,); `shift` and `scale` standardise the inputs.

    The network's inputs are (x - shift)/scale, its answers (y - y_shift)/y_scale.
    """

    x: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    y_shift: np.ndarray
    y_scale: np.ndarray

    @property
    def count(self) -> int:
        """n, the number of rows."""
        return len(self.x)

    @property
    def dim(self) -> int:
        """d, the number of inputs."""
        return self.x.shape[1]

    @property
    def outputs(self) -> int:
        """m, the number of outputs."""
        return self.y.shape[1]

    @cached_property
    def total(self) -> float:
        """The sum of the weights, which stands for the number of samples."""
        return float(np.sum(self.weight))

    def rows(self, entries: int) -> int:
        """How many samples a chunk has if each takes so many numbers: a power of two."""
        fits = max(FEWEST, min(MOST, 2**22 // max(entries, 1)))
        needed = max(FEWEST, 1 << (self.count - 1).bit_length())
        return min(1 << (fits.bit_length() - 1), needed)

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """All samples, `rows` at a time."""
        if self.count * self.dim > KEPT:
            yield from stream(self.standard, self.count, rows)
            return
        if rows not in self._kept:
            self._kept[rows] = list(stream(self.standard, self.count, rows))
        yield from self._kept[rows]

    @cached_property
    def _kept(self) -> dict[int, list[Chunk]]:
        return {}

    def standard(self, part: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Standardised inputs with their column of ones, answers and weights of some rows."""
        x = (self.x[part] - self.shift) / self.scale
        y = (self.y[part] - self.y_shift) / self.y_scale
        return np.column_stack([x, np.ones(len(x))]), y, self.weight[part]

    def subset(self, count: int, seed: int) -> Samples:
        """`count` of the samples at random without repetition, or all if there are no more."""
        if count >= self.count:
            return self
        return self.take(
            np.sort(np.random.default_rng(seed).choice(self.count, count, replace=False))
        )

    def take(self, rows: np.ndarray) -> Samples:
        """The samples of these rows, standardised as all are."""
        return dataclasses.replace(self, x=self.x[rows], y=self.y[rows], weight=self.weight[rows])
