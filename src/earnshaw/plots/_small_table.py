"""A small table inside a picture: a heading, a rule, rows, and a last line for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from earnshaw.plots.style import INK, PALE

ROW = 0.18  # inches


class Column(NamedTuple):
    """A column that ends (or begins, for ``align="left"``) at `at`, a part of the width."""

    heading: str
    at: float
    align: str = "right"


def draw_rows(
    axes: Any,
    height: float,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    dots: Sequence[tuple[str, str]],
    rest: str = "",
) -> None:
    """Fill axes that are `height` inches high from the top; before each row a dot (edge, face)."""
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(height, 0)  # inches from the top
    for column in columns:
        style = {"ha": column.align, "va": "center", "fontsize": 8.5}
        axes.text(column.at, ROW / 2, column.heading, color=PALE, **style)
    axes.plot([0, 1], [1.1 * ROW, 1.1 * ROW], color=INK, lw=0.8, clip_on=False)
    for number, (row, (edge, face)) in enumerate(zip(rows, dots, strict=True)):
        y = (number + 1.75) * ROW
        axes.plot([0.014], [y], "o", mec=edge, mfc=face, ms=5, mew=1.2, clip_on=False)
        for column, text in zip(columns, row, strict=True):
            axes.text(column.at, y, text, ha=column.align, va="center", fontsize=8.5)
    if rest:
        y = (len(rows) + 1.85) * ROW
        axes.text(0.0, y, rest, va="center", fontsize=8.5, color=PALE, style="italic")


def height_of(rows: int, rest: str) -> float:
    """Inches that such a table takes."""
    return ROW * (rows + 1.5 + (1.2 if rest else 0))
