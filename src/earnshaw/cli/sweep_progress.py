"""How a sweep stands, on standard error: live on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from earnshaw.cli.terminal import console, note
from earnshaw.text import shown

if TYPE_CHECKING:
    from earnshaw.experiments.sweeps.progress import SweepProgress, Watch

QUIET = 30.0  # seconds after which a plain line says what is under way
SHOWN = 6  # blocks under way that are shown


@contextmanager
def sweep_progress(what: str) -> Iterator[Watch]:
    """A function to report the progress of a sweep to."""
    with _live(what) if sys.stderr.isatty() else _plain(what) as watch:
        yield watch


@contextmanager
def _live(what: str) -> Iterator[Watch]:
    from rich.console import Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def picture(progress: SweepProgress) -> Group:
        head = Table.grid(padding=(0, 1))
        done = progress.done + progress.failed
        head.add_row(
            shown(what),
            ProgressBar(total=1.0, completed=progress.fraction, width=40),
            f"{done} of {progress.cells} cells",
            _left(progress),
        )
        lines = [Text(f"  {shown(one)}", style="dim") for one in _under_way(progress)]
        return Group(head, *lines)

    above = console(stderr=True)
    with Live(console=above, transient=True, refresh_per_second=4) as live:

        def watch(progress: SweepProgress) -> None:
            for line in progress.finished:
                above.print(shown(line), soft_wrap=True)
            live.update(picture(progress))

        yield watch


@contextmanager
def _plain(what: str) -> Iterator[Watch]:
    last = time.monotonic()

    def say(progress: SweepProgress, line: str) -> None:
        nonlocal last
        last = time.monotonic()
        done = f"{progress.done + progress.failed} of {progress.cells} cells"
        note(f"{what}: {done}, {_left(progress)}: {line}")

    def watch(progress: SweepProgress) -> None:
        for line in progress.finished:
            say(progress, line)
        if time.monotonic() - last >= QUIET:
            say(progress, "; ".join(_under_way(progress)))

    yield watch


def _under_way(progress: SweepProgress) -> list[str]:
    if not progress.under_way and progress.done + progress.failed < progress.cells:
        return ["waiting for workers to join"]
    lines = [
        f"{one.label}: {one.fraction:.0%}{', ' if one.note else ''}{one.note}"
        for one in progress.under_way[:SHOWN]
    ]
    more = len(progress.under_way) - SHOWN
    return [*lines, f"and {more} more"] if more > 0 else lines


def _left(progress: SweepProgress) -> str:
    seconds = progress.seconds_left
    if seconds is None:
        return "time left unknown"
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit} left"
    return f"about {seconds:.0f} s left"
