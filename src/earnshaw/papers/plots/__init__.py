"""The pictures of `earnshaw reproduce`, one a file; `draw_reproduction` knows which is whose."""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "draw_figure_one": "figure1",
        "draw_figure_two": "figure2",
        "draw_reproduction": "every",
        "draw_table_one": "table1",
        "draw_table_two": "table2",
    },
)
