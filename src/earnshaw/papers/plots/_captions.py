"""The words around the pictures of Table 2 and Figures 1 and 2."""

from __future__ import annotations

import math
from typing import Any

from earnshaw.papers.reproductions.reproduction import Reproduction
from earnshaw.plots.formatting import plural

CLOSE = 3.0  # a factor within which two errors are called close
NAMES = {"table2": "Table 2", "figure1": "Figure 1", "figure2": "Figure 2"}


def factor(ratio: float | None) -> float:
    """The factor between two errors, at least 1; 1 where there is none."""
    if ratio is None or not math.isfinite(ratio) or ratio <= 0:
        return 1.0
    return max(ratio, 1 / ratio)


def facts_of(made: Reproduction, rows: list[dict[str, Any]]) -> list[str]:
    """What stands under the title of a picture of the papers."""
    facts = [f"{NAMES[made.name]} of the papers", f"preset {made.preset}"]
    seeds = sorted({row["seeds"] for row in rows if row["seeds"]})
    if seeds:
        fewer = f"{seeds[0]} to " if len(seeds) > 1 else ""
        facts.append(fewer + plural(seeds[-1], "seed"))
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    if ratios and not made.curves:
        close = sum(math.isfinite(r) and factor(r) <= CLOSE for r in ratios)
        facts.append(
            f"{close} of {plural(len(ratios), 'error')} within a factor {CLOSE:g} of the papers'"
        )
    if not made.complete:
        facts.append("incomplete")
    return facts


def notes_of(made: Reproduction) -> list[str]:
    """What stands below it in small type."""
    remarks = [remark[:1].upper() + remark[1:] + "." for remark in made.remarks]
    return [" ".join(remarks), f"earnshaw {made.code}"]
