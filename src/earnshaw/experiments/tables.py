"""Rows of plain values, under the same names in every row, as tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from earnshaw.files.atomic import write_text


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """The rows, numbers in full, under the names of the first; whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def markdown(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of a table."""
    if not rows:
        return ["(nothing yet)"]
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return lines + ["| " + " | ".join(words(v) for v in row.values()) + " |" for row in rows]


def words(value: Any) -> str:
    """A number to three digits, a yes or no, a dash for nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
