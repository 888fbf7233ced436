"""A file that follows a computation: written every few seconds, and at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from earnshaw.files.kind import Fields, Kind

EVERY = 5.0  # seconds between checkpoints

State = TypeVar("State")


class Checkpoints(Generic[State]):
    """Writes the state of a computation to a file of some kind; refused if it cannot be written."""

    def __init__(
        self, kind: Kind, path: str | os.PathLike[str], fields: Callable[[State], Fields]
    ) -> None:
        """`fields` makes the fields of the file from a state."""
        self.kind, self.path, self.fields = kind, kind.check_writable(path), fields
        self.last = time.monotonic()

    def keep(self, state: State) -> None:
        """Write, if the last time is long enough ago."""
        if time.monotonic() - self.last >= EVERY:
            self.write(state)

    def write(self, state: State) -> None:
        """Write the whole file anew, or leave the old one as it is."""
        self.kind.save(self.path, self.fields(state))
        self.last = time.monotonic()
