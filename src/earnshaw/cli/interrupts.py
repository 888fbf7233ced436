"""Ctrl-C that waits until JAX, or an import, has returned.

Python raises KeyboardInterrupt wherever it happens to be. Inside JAX that may be a finaliser or a
callback from C++, where it is lost or crashes the process; inside an import it leaves half a
module. There the exception waits until our own code goes on, which knows where a run can be taken
up again. A second Ctrl-C does not wait.

It could be simpler: only note the signal, and raise where a run reports its progress. But much of
what a command does reports nothing, and takes seconds to minutes: compilation before the first
report, matching and certificates after the last, proofs, pictures, tables. There a first Ctrl-C
would do nothing that a user can see. So the handler looks at the stack: outside of JAX and imports
it raises at once; inside, a profile function, which Python calls whenever a function is entered or
left, raises as soon as the function of ours that called JAX goes on. It is there only between the
signal and that moment, and costs nothing before.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INTERRUPTED, SAID = 130, "earnshaw: interrupted"
DELICATE = {  # packages that must not be cut short
    *("jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix"),
    *("importlib", "_frozen_importlib", "_frozen_importlib_external"),
}
STOPPING = "\rearnshaw: stopping as soon as this step is done; Ctrl-C again to quit at once\n"
OURS = "earnshaw"


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
            called = frame.f_back is home and _package(frame) == OURS
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
        if _package(frame) in DELICATE:
            found = frame.f_back
        frame = frame.f_back
    return found


def _package(frame: FrameType) -> str:
    """The package that the function of a frame belongs to."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
