"""How earnshaw's pictures look, and how they are written."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from earnshaw.errors import EarnshawError
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


def panel(figure: Any, own: Any, box: tuple[float, float, float, float], deep: bool) -> Any:
    """Axes in the `box` of a figure, or the user's own, which must be as `deep` as the picture."""
    if own is None:
        return figure.add_axes(box, projection="3d" if deep else None)
    if deep != (getattr(own, "name", "") == "3d"):
        needed = 'with projection="3d"' if deep else "without a projection"
        raise EarnshawError(f"ax has another projection than the picture; allowed: axes {needed}")
    return own


def save(figure: Figure, path: Path) -> None:
    """Write the picture whole or not at all; the ending of `path` says the format."""
    _with_canvas(figure)
    kind = path.suffix.lstrip(".").lower()
    write_whole(path, lambda name: figure.savefig(name, format=kind, dpi=150))


def small_png(figure: Figure) -> bytes:
    """The picture for a notebook, which keeps it inside: half as many dots as on paper."""
    _with_canvas(figure)
    content = BytesIO()
    figure.savefig(content, format="png", dpi=75)
    return content.getvalue()


def _with_canvas(figure: Figure) -> None:
    """Give it one to be drawn on; a figure of the user's own, in a window, keeps its own."""
    if type(figure.canvas) is FigureCanvasBase:
        FigureCanvasAgg(figure)
