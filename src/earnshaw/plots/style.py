"""How earnshaw's pictures look, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from earnshaw.files.atomic import write_whole

INK = "#1f2430"
ELECTRON = "#2166ac"
PROTON = "#c8362f"
FIELD = "#6a51a3"
SUBHARMONIC = "#f6d5c8"
SUPERHARMONIC = "#cfe0f0"
ASTRAY = "#d98200"
PALE = "#8a90a0"
POSITIVE = ("#ffffff", "#fdf0ea", "#fadccf", "#f5bfae", "#eb9b88")
NEGATIVE = ("#ffffff", "#ecf3f9", "#d2e3f1", "#adcde6", "#82b0d5")

RC: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e8ec",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
}


def save(figure: Figure, path: Path) -> None:
    """Write the picture whole or not at all; the ending of `path` says the format."""
    FigureCanvasAgg(figure)
    kind = path.suffix.lstrip(".").lower()
    write_whole(path, lambda name: figure.savefig(name, format=kind, dpi=150))
