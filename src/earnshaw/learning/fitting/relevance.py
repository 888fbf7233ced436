"""Which columns count: the part of the predictions' variance that needs each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ROWS = 400  # that it is estimated on, at most; of many columns fewer:
LOOKS = 8000  # rows times columns


def relevance_of(
    outputs: Callable[[np.ndarray], np.ndarray], x: np.ndarray, column: np.ndarray | None = None
) -> np.ndarray:
    """(columns,), of outputs (n, m) of inputs (n, d); `column` (d,) numbers those of the inputs.

    By Jansen's estimate of total indices (Computer Physics Communications 117, 1999, 35-43): half
    the mean square of what changes where the column's entries are those of another row, over the
    variance.
    """
    column = np.arange(x.shape[1]) if column is None else column
    count = int(column.max()) + 1
    rng = np.random.default_rng(0)
    rows = x[rng.permutation(len(x))[: min(ROWS, max(LOOKS // count, 50))]]
    others = rows[rng.permutation(len(rows))]
    said = outputs(rows)
    spread = np.maximum(np.sum(np.var(said, axis=0)), 1e-300)
    found = []
    for one in range(count):
        changed = np.where(column == one, others, rows)
        found.append(np.sum(np.mean((outputs(changed) - said) ** 2, axis=0)) / 2 / spread)
    return np.array(found)
