"""Ctrl-C that waits until JAX, or an import, has returned.

Python raises KeyboardInterrupt wherever it happens to be. Inside JAX that may be a finaliser or a
callback from C++, where it is lost or crashes the process; inside an import it leaves half a
module. There the exception waits until our own code goes on, which knows where a run can be taken
up again. A second Ctrl-C does not wait.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

INTERRUPTED, SAID = 130, "earnshaw: interrupted"
DELICATE = re.compile(
    r"<frozen importlib|-packages[/\\](jax|jaxlib|equinox|diffrax|lineax|optimistix)[/\\]"
)
STOPPING = "\rearnshaw: stopping as soon as this step is done; Ctrl-C again to quit at once\n"
OURS = str(Path(__file__).parents[1])


@contextmanager
def held_back() -> Iterator[None]:
    """Where Ctrl-C raises KeyboardInterrupt outside of what must not be cut short."""
    waiting = False

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if waiting:
            quit_at_once()
        home = _home(frame)
        if home is None:
            raise KeyboardInterrupt
        waiting = True
        if sys.stderr.isatty():
            _write(STOPPING)

        def watch(frame: FrameType, *_: Any) -> None:
            # Nothing happens in `home`, nor in a function of ours that it calls, before it goes on.
            nonlocal waiting
            called = frame.f_back is home and frame.f_code.co_filename.startswith(OURS)
            if frame is home or called:
                sys.setprofile(None)
                waiting = False
                raise KeyboardInterrupt

        sys.setprofile(watch)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)


def quit_at_once() -> None:
    """End the process. Files are replaced whole, so that none can be left half-written."""
    bar = "\r\x1b[K\x1b[?25h" if sys.stderr.isatty() else ""  # clear its line, show the cursor
    _write(f"{bar}{SAID}\n")
    os._exit(INTERRUPTED)


def _write(text: str) -> None:
    """To standard error, whatever it was doing: `print` is not made for signal handlers."""
    os.write(sys.stderr.fileno(), text.encode())


def _home(frame: FrameType | None) -> FrameType | None:
    """Who called the outermost of the calls that must not be cut short; None if there is none."""
    found = None
    while frame is not None:
        if DELICATE.search(frame.f_code.co_filename):
            found = frame.f_back
        frame = frame.f_back
    return found
