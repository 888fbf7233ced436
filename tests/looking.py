"""What every picture must keep: no word is cut off, and no two lie on each other."""

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

TOUCH = 1.0  # pixels by which the boxes of two words may meet


def words(figure):
    """Every text that is drawn, ticks and titles among them."""
    found = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                inside = low <= tick.get_loc() <= high
                hidden |= {t for t in (tick.label1, tick.label2) if not inside}
    return [text for text in found if text not in hidden]


def check_words(figure):
    """Fails if a text leaves the picture or two texts meet."""
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(150)
    canvas.draw()
    width, height = canvas.get_width_height()
    boxes = []
    for text in words(figure):
        box = text.get_window_extent(canvas.get_renderer())
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
        assert inside, f"{text.get_text()!r} is cut off"
        boxes.append((box.x0, box.y0, box.x1, box.y1, text.get_text()))
    for one, other in combinations(boxes, 2):
        across = min(one[2], other[2]) - max(one[0], other[0])
        along = min(one[3], other[3]) - max(one[1], other[1])
        assert min(across, along) <= TOUCH, f"{one[4]!r} and {other[4]!r} meet"


def axes_of(figure, name):
    """The axes with that mark."""
    (axes,) = [axes for axes in figure.axes if axes.get_gid() == name]
    return axes


def cell_words(axes, row, column):
    """The texts in a cell of a heat map, from the top."""
    inside = [
        text
        for text in axes.texts
        if np.floor(text.get_position()[0]) == column and np.floor(text.get_position()[1]) == row
    ]
    return [text.get_text() for text in sorted(inside, key=lambda text: text.get_position()[1])]


def cell_patch(axes, row, column):
    """The rectangle of a cell, or None; its place is read off its corner."""
    found = [patch for patch in axes.patches if patch.get_xy() == (column, row)]
    return found[0] if found else None


def value(text):
    """The number that a text shows."""
    return float(text.replace("−", "-").replace("∞", "inf"))
