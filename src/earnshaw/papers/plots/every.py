"""The picture of a reproduction, whichever table or figure it is."""

from __future__ import annotations

from matplotlib.figure import Figure

from earnshaw.papers.plots.figure1 import draw_figure_one
from earnshaw.papers.plots.figure2 import draw_figure_two
from earnshaw.papers.plots.table1 import draw_table_one
from earnshaw.papers.plots.table2 import draw_table_two
from earnshaw.papers.reproductions.reproduction import Reproduction

DRAWN = {
    "table1": draw_table_one,
    "table2": draw_table_two,
    "figure1": draw_figure_one,
    "figure2": draw_figure_two,
}


def draw_reproduction(made: Reproduction) -> Figure:
    """What `earnshaw reproduce` writes to NAME.png."""
    return DRAWN[made.name](made)
