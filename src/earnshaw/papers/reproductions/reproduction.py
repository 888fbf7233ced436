"""A table or figure of the papers, made again: rows of numbers, ours beside theirs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from earnshaw.results import Result


@dataclass(frozen=True)
class Curve:
    """The test error on the way of several seeds.

    Attributes:
        panel: which part of the figure it belongs to.
        depth, width: of the networks.
        iterations: (m,).
        median, low, high: over the seeds, (m,).
    """

    panel: str
    depth: int
    width: int
    iterations: np.ndarray
    median: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """What `earnshaw reproduce` makes.

    Attributes
    ----------
    name
        table1, table2, figure1 or figure2.
    preset
        quick or paper.
    title
        one line for a picture.
    rows
        plain values under the same names in every row: the CSV file.
    shown
        the rows of the readable table, where they are not the same.
    remarks
        what a reader must know.
    complete
        whether every cell that was asked for has its numbers.
    code
        the version that made them.
    curves
        of figure 1.
    pairs
        of table 1 (`table1.PairCurve`).

    Examples
    --------
    >>> import earnshaw as ew
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "results.sqlite"
    ...     table = ew.reproduce("table2", cells="2x5", seeds=1, iterations=1000, store=store)
    >>> table.name, table.preset
    ('table2', 'quick')
    """

    name: str
    preset: str
    title: str
    rows: list[dict[str, Any]]
    remarks: tuple[str, ...]
    complete: bool
    code: str
    shown: list[dict[str, Any]] = field(default_factory=list)
    curves: tuple[Curve, ...] = ()
    pairs: tuple[Any, ...] = ()

    _picture = "earnshaw.papers.plots:draw_reproduction"

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: rows, ours beside theirs."""
        return {
            "name": self.name,
            "preset": self.preset,
            "complete": self.complete,
            "rows": self.rows,
            "remarks": list(self.remarks),
            "code": self.code,
        }

    def _title(self) -> str:
        return self.title

    def _facts(self) -> dict[str, object]:
        state = "yes" if self.complete else "no"
        return {"preset": self.preset, "rows": len(self.rows), "complete": state}
