"""What every result can do: be drawn, be shown in a few lines, and be taken away as plain values.

    result.plot()                 the picture of the command line's --plot, as a Matplotlib figure
    result.plot("way.png")        the same, written whole or not at all
    result.plot(ax=axes)          its main panel alone, in axes of the user's own
    result.to_dict(), .to_json()  what the command line's --json prints of it

A result says what it is in one line (`_title`), and its main numbers by name (`_facts`): these make
its `repr`, of five lines at most, and with the picture what a notebook shows.

Pictures are made by rooms above this one, so a class names the function that draws it as text,
"module:function", which is looked up when something is drawn: neither Matplotlib nor any picture is
loaded before, and no room below `plots` imports it.
"""

from __future__ import annotations

import base64
import html
import json
import math
import os
import textwrap
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import as_path, check_writable
from earnshaw.text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")
WIDTH, LINES = 88, 5  # of a repr: letters and lines
STYLE = "text-align:left;vertical-align:top;padding:1px 12px 1px 0"


class Result:
    """What results have in common; see the module's docstring.

    `_picture` draws it, `_panel(result, axes)` its main panel; empty where there is none.
    """

    __slots__ = ()
    _picture: ClassVar[str] = ""
    _panel: ClassVar[str] = ""

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON."""
        raise NotImplementedError

    def _title(self) -> str:
        """What it is, in a line."""
        return ""

    def _facts(self) -> Mapping[str, object]:
        """Its main numbers, by name; those that are None are left out."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """What the command line's --json prints of it: None for NaN and what is infinite."""
        return plain_values(self.summary())

    def to_json(self) -> str:
        """The same as JSON text."""
        return json_text(self.summary())

    def plot(self, file: str | os.PathLike[str] | None = None, ax: Axes | None = None) -> Figure:
        """The picture that the command line draws of it.

        Args:
            file: where to write it too: FILE.png, .svg or .pdf, whole or not at all.
            ax: Matplotlib's axes, to draw the main panel alone there; then the figure is theirs.
        """
        name = type(self).__name__
        if not self._picture:
            raise EarnshawError(f"a {name} has no picture; allowed: to_dict() for its numbers")
        path = None if file is None else as_path(file, "write")
        if path is not None:
            check_writable(path, PICTURES)
        if ax is None:
            figure = looked_up(self._picture)(self)
        elif not self._panel:
            raise EarnshawError(
                f"the picture of a {name} has no main panel; allowed: plot() without ax="
            )
        elif not hasattr(ax, "figure"):
            raise EarnshawError(f"ax is a {type(ax).__name__}; allowed: axes of Matplotlib")
        else:
            looked_up(self._panel)(self, ax)
            figure = ax.figure.figure  # that of a subfigure is the whole
        if path is not None:
            looked_up("earnshaw.plots.style:save")(figure, path)
        return figure

    def __repr__(self) -> str:
        facts = (f"{key} {value}" for key, value in self._facts().items() if value is not None)
        words = shown(", ".join(facts))
        how: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}
        how["break_on_hyphens"] = False
        first = textwrap.shorten(shown(f"{type(self).__name__}: {self._title()}"), 3 * WIDTH)
        lines = textwrap.wrap(words, WIDTH, max_lines=LINES - 1, placeholder=" ...", **how)
        return "\n".join([first, *lines])

    def _repr_html_(self) -> str:
        """For notebooks: the picture, if there is one, and a table of the main numbers."""
        rows = "".join(
            f'<tr><th style="{STYLE}">{html.escape(shown(key))}</th>'
            f'<td style="{STYLE}">{html.escape(shown(value))}</td></tr>'
            for key, value in self._facts().items()
            if value is not None
        )
        title = html.escape(shown(f"{type(self).__name__}: {self._title()}"))
        return f"<div><p><b>{title}</b></p>{self._image()}<table>{rows}</table></div>"

    def _image(self) -> str:
        if not self._picture:
            return ""
        try:
            picture = looked_up("earnshaw.plots.style:small_png")(self.plot())
        except EarnshawError as error:  # such as a dimension too high to be drawn
            return f"<p>{html.escape(shown(error))}</p>"
        data = base64.b64encode(picture).decode("ascii")
        return f'<img style="max-width:100%" src="data:image/png;base64,{data}"/>'


def looked_up(name: str) -> Any:
    """The function "module:function"."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def json_text(payload: Any) -> str:
    """As JSON text in ASCII, infinite numbers and NaN as null."""
    return json.dumps(plain_values(payload), allow_nan=False)


def plain_values(value: Any) -> Any:
    """The same with lists for tuples, and None for numbers that JSON lacks: infinite, NaN."""
    if isinstance(value, dict):
        return {str(key): plain_values(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def number(value: float | None) -> str | None:
    """A number in three digits, for `_facts`; None stays None, and so does what is no number."""
    return None if value is None or math.isnan(value) else f"{value:.3g}"
