r"""What commands print: text that nobody interprets, on streams that may be closed or full.

Rich would read `[/b]` in a file's name as markup and `:smile:` as a picture, a terminal `\x1b[31m`
as a colour. So every word goes through `shown`, Rich gets none as markup, and no command prints by
other means than these.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

from earnshaw.errors import EarnshawError
from earnshaw.text import shown

if TYPE_CHECKING:
    from rich.console import Console

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
) -> None:
    """A table; `columns` are its headings, each "left" or "right", `unbroken` those not wrapped."""
    from rich.table import Table
    from rich.text import Text

    def cell(words: str | Styled) -> Text:
        return Text(*map(shown, (words,) if isinstance(words, str) else words))

    table = Table(title=cell(title) if title else None, title_justify="left")
    for heading, side in columns.items():
        table.add_column(cell(heading), justify=side, no_wrap=heading in unbroken)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(cell, row))
    write(_drawn(table))


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
