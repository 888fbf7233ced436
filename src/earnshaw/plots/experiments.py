"""The pictures of `earnshaw reproduce table2|figure1|figure2`, one a file."""

from __future__ import annotations

from earnshaw.plots.error_curves import draw_figure_one
from earnshaw.plots.error_widths import draw_figure_two
from earnshaw.plots.table_two import draw_table_two

__all__ = ["draw_figure_one", "draw_figure_two", "draw_table_two"]
