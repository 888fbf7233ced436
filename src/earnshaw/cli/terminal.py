r"""What commands print: text that nobody interprets, on streams that may be closed or full.

Rich would read `[/b]` in a file's name as markup and `:smile:` as a picture, a terminal `\x1b[31m`
as a colour. So every word goes through `shown`, Rich gets none as markup, and no command prints by
other means than these.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

from earnshaw.errors import EarnshawError
from earnshaw.results import json_text
from earnshaw.text import shown

if TYPE_CHECKING:
    from rich.console import Console

    from earnshaw.descent.loop import Progress, Report

Styled = tuple[str, str]  # words, and how Rich draws them: ("refuted", "bold red")


def prepare() -> None:
    """Make the standard streams safe to write to, whatever the shell has made of them.

    A closed one is opened to nowhere, lest the next file that is opened take its number; letters
    that its encoding lacks are escaped. Matplotlib warns of letters that its font lacks: it draws
    boxes, which is all there is to say.
    """
    warnings.filterwarnings("ignore", "Glyph .* missing from")
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        if isinstance(stream := getattr(sys, name), TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Data on standard output, as it is."""
    with _explained():
        sys.stdout.write(text)


def finish() -> None:
    """Have all of standard output written, or say that it cannot be."""
    with _explained():
        sys.stdout.flush()


def abandon() -> None:
    """Let nothing more be written to standard output, not even what is on its way."""
    with suppress(OSError, ValueError):  # a stream that has no number, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _explained() -> Iterator[None]:
    """Where an error of standard output is one line that says so; of broken pipes see `main`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon()
        raise EarnshawError(f"standard output cannot be written: {error.strerror}") from None


def say(line: object, head: str = "", style: str = "") -> None:
    """A line on standard output, perhaps with a `head` in colour where that is a terminal."""
    text = shown(line)
    if head:
        from rich.text import Text

        text = _drawn(Text(shown(head), style), end="") + text
    write(f"{text}\n")


def note(line: object) -> None:
    """A line on standard error, if anybody is there to read it."""
    with suppress(OSError, ValueError):
        print(shown(line), file=sys.stderr, flush=True)


def print_table(
    title: str,
    columns: Mapping[str, str],
    rows: Iterable[Sequence[str | Styled]],
    unbroken: Collection[str] = (),
    widest: Mapping[str, int] | None = None,
) -> None:
    """A table; `columns` are its headings, each "left" or "right".

    Those of `unbroken` are not wrapped; `widest` has how wide others may become.
    """
    from rich.table import Table
    from rich.text import Text

    def cell(words: str | Styled) -> Text:
        return Text(*map(shown, (words,) if isinstance(words, str) else words))

    table = Table(title=cell(title) if title else None, title_justify="left")
    for heading, side in columns.items():
        table.add_column(
            cell(heading),
            justify=side,  # type: ignore[arg-type]
            no_wrap=heading in unbroken,
            overflow="fold",
            max_width=(widest or {}).get(heading),
        )
    for row in rows:
        table.add_row(*map(cell, row))
    write(_drawn(table))


def print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of the same columns as a table."""
    from earnshaw.experiments.tables import words

    if not rows:
        say(f"{title}: nothing")
        return
    columns = {
        name: "right" if any(isinstance(row[name], (int, float)) for row in rows) else "left"
        for name in rows[0]
    }
    print_table(title, columns, [[words(row.get(name)) for name in columns] for row in rows])


def print_json(payload: dict[str, Any]) -> None:
    """Print `payload` as one JSON object; numbers that JSON lacks (infinite, NaN) become null."""
    write(f"{json_text(payload)}\n")


@contextmanager
def progress_bar(what: str) -> Iterator[Report | None]:
    """A function that shows progress on standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(progress: Progress) -> None:
            done, total, note = progress[:3]
            known = total if math.isfinite(total) else None
            bar.update(task, completed=done, total=known, description=shown(f"{what}: {note}"))

        yield report


class _Sheet(StringIO):
    """What Rich takes for standard output, which it must not write to itself."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.stdout.encoding or "ascii"

    def isatty(self) -> bool:
        return sys.stdout.isatty()


def _drawn(what: Any, **how: Any) -> str:
    """Something of Rich's as text, with colours where standard output is a terminal."""
    sheet = _Sheet()
    console(file=sheet).print(what, **how)
    return sheet.getvalue()


def console(**where: Any) -> Console:
    """Rich's, which takes every text for what it is."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, **where)
