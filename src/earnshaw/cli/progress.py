"""A progress bar on standard error, for people only: nothing where it is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earnshaw.descent.loop import Progress, Report


@contextmanager
def shown(what: str) -> Iterator[Report | None]:
    """A function to report progress to, or None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(progress: Progress) -> None:
            done, total, note = progress
            bar.update(task, completed=done, total=total, description=f"{what}: {note}")

        yield report
