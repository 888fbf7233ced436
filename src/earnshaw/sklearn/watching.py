"""A progress bar on standard error for `verbose=1`, a line for every step for more."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from earnshaw.fitting.growth import Event, Watch
from earnshaw.fitting.settings import Settings


@contextmanager
def watching(verbose: int, settings: Settings) -> Iterator[Watch | None]:
    """What to tell the steps of a fit to, or None where nobody looks."""
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

        def watch(event: Event) -> None:
            bar.update(task, completed=event.units, description=_line(event))

        yield watch


def _line(event: Event) -> str:
    return (
        f"{event.action} on {event.samples} samples: {event.units} units, error {event.error:.3g}"
    )
