"""A progress bar on standard error for `verbose=1`, a line for every step for more."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from earnshaw.learning.fitting.growth import Event, OnEvent
from earnshaw.learning.fitting.settings import Settings
from earnshaw.text import plural


@contextmanager
def showing_progress(verbose: int, settings: Settings) -> Iterator[OnEvent | None]:
    """A function to call with every step of a fit; None for `verbose=0`."""
    if not verbose:
        yield None
        return
    if verbose > 1:
        yield lambda event: print(_line(event), file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    exact = settings.units != "auto"
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("fitting", total=int(settings.units) if exact else None)

        def show(event: Event) -> None:
            bar.update(task, completed=event.units, description=_line(event))

        yield show


def _line(event: Event) -> str:
    return (
        f"{event.action} on {plural(event.samples, 'sample')}: {plural(event.units, 'unit')}, "
        f"error {event.error:.3g}"
    )
