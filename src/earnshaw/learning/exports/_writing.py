"""How a Python file is put together: its docstring, constants, functions, and long tables last."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

WIDTH = 96  # with the indentation of a dictionary, 100


class Code(NamedTuple):
    """The pieces of a file.

    Attributes:
        words: the paragraphs of the docstring; the first is its title.
        constants: assignments that a reader wants to see first.
        parts: functions that the others call, pasted from their own source.
        functions: definitions as text.
        tables: assignments that are better kept out of sight.
    """

    words: Sequence[str]
    constants: Mapping[str, str]
    parts: Sequence[Callable[..., Any]]
    functions: Sequence[str]
    tables: Mapping[str, str]

    def file(self) -> str:
        """The text of the whole file."""
        written = f"Written by earnshaw {version('earnshaw')}; needs nothing but NumPy."
        own = "\n\n\n".join(textwrap.dedent(text).strip() for text in self.functions)
        pasted = [inspect.getsource(part).strip() for part in self.parts]
        code = "\n\n\n".join([*pasted, own])
        imports = "import math\n\n" if "math." in f"{code}{self.tables}" else ""
        blocks = [
            _docstring([*self.words, written]),
            f"{imports}import numpy as np",
            "\n".join(f"{name} = {value}" for name, value in self.constants.items()),
        ]
        head = "\n\n".join(block for block in blocks if block)
        tail = "\n".join(f"{name} = {value}" for name, value in self.tables.items())
        return "\n\n\n".join(block for block in (head, code, tail) if block) + "\n"


def literal(values: object) -> str:
    """A number, or an array of up to two axes, to the last bit."""
    array = np.asarray(values)
    if array.ndim == 0:
        return repr(array.item())
    if array.size == 0:
        return f"np.zeros({array.shape}, dtype={array.dtype.name!r})"
    rows = array.tolist()
    short = f"np.array({rows})"
    if len(short) <= WIDTH - 20:
        return short
    if array.ndim == 1:
        return f"np.array([\n{_filled(rows, 4)},\n])"
    body = "\n".join(_row(row) for row in rows)
    return f"np.array([\n{body}\n])"


def record(fields: Mapping[str, str]) -> str:
    """A dictionary literal, one field a line."""
    lines = "\n".join(f'"{name}": {value},' for name, value in fields.items())
    return f"{{\n{textwrap.indent(lines, '    ')}\n}}"


def _row(row: list[float]) -> str:
    """A row of a matrix, on one line if it fits."""
    line = f"    {row},"
    return line if len(line) <= WIDTH else f"    [\n{_filled(row, 8)},\n    ],"


def _filled(numbers: list[float], indent: int) -> str:
    """Numbers on as many lines as they need."""
    return textwrap.fill(
        ", ".join(map(repr, numbers)),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _docstring(paragraphs: Sequence[str]) -> str:
    """Paragraphs wrapped; those that begin with a blank are kept as they are.

    Whatever a name has in it, it stays in the docstring, and is read there.
    """
    wrapped = [
        text if text.startswith(" ") else "\n".join(textwrap.wrap(text, WIDTH - 3))
        for text in paragraphs
        if text
    ]
    text = "\n\n".join(wrapped).replace("\\", "\\\\").replace('"""', "'''")
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return f'"""{shown}\n"""'
