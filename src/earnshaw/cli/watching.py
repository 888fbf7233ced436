"""How a sweep stands, on standard error: live on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earnshaw.experiments.sweeps.standing import Standing, Watch

QUIET = 30.0  # seconds after which a plain line says what is under way
SHOWN = 6  # blocks under way that are shown


@contextmanager
def watching(what: str) -> Iterator[Watch]:
    """A function to report the standing of a sweep to."""
    with _live(what) if sys.stderr.isatty() else _plain(what) as watch:
        yield watch


@contextmanager
def _live(what: str) -> Iterator[Watch]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def picture(standing: Standing) -> Group:
        head = Table.grid(padding=(0, 1))
        done = standing.done + standing.failed
        head.add_row(
            what,
            ProgressBar(total=1.0, completed=standing.fraction, width=40),
            f"{done} of {standing.cells} cells",
            _left(standing),
        )
        lines = [Text(f"  {one}", style="dim") for one in _under_way(standing)]
        return Group(head, *lines)

    console = Console(stderr=True)
    with Live(console=console, transient=True, refresh_per_second=4) as live:

        def watch(standing: Standing) -> None:
            for line in standing.finished:
                console.print(line, highlight=False, markup=False, soft_wrap=True)
            live.update(picture(standing))

        yield watch


@contextmanager
def _plain(what: str) -> Iterator[Watch]:
    last = time.monotonic()

    def say(standing: Standing, line: str) -> None:
        nonlocal last
        last = time.monotonic()
        done = f"{standing.done + standing.failed} of {standing.cells} cells"
        print(f"{what}: {done}, {_left(standing)}: {line}", file=sys.stderr, flush=True)

    def watch(standing: Standing) -> None:
        for line in standing.finished:
            say(standing, line)
        if time.monotonic() - last >= QUIET:
            say(standing, "; ".join(_under_way(standing)))

    yield watch


def _under_way(standing: Standing) -> list[str]:
    if not standing.under_way and standing.done + standing.failed < standing.cells:
        return ["waiting for workers to join"]
    lines = [
        f"{one.label}: {one.fraction:.0%}{', ' if one.note else ''}{one.note}"
        for one in standing.under_way[:SHOWN]
    ]
    more = len(standing.under_way) - SHOWN
    return [*lines, f"and {more} more"] if more > 0 else lines


def _left(standing: Standing) -> str:
    seconds = standing.seconds_left
    if seconds is None:
        return "time left unknown"
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit} left"
    return f"about {seconds:.0f} s left"
