"""Ctrl-C: the first ends a command in good order as soon as it can, a second one at once.

Python raises KeyboardInterrupt wherever it happens to be. Inside JAX that may be a finaliser or a
callback from C++, where it is lost or crashes the process; inside an import it leaves half a
module, and importlib's own callbacks swallow it. There the exception waits until our own code goes
on, which knows where a run can be taken up again; or, while nothing has been computed, the process
ends there and then. One that a finaliser swallowed elsewhere is raised again. Whatever else becomes
of it, a command that was interrupted never ends as if it had not been.

It could be simpler: only note the signal, and raise where a run reports its progress. But much of
what a command does reports nothing, and takes seconds to minutes: compilation before the first
report, matching and certificates after the last, proofs, pictures, tables. There a first Ctrl-C
would do nothing that a user can see. So the handler looks at the stack: outside of JAX and imports
it raises at once; inside, a profile function, which Python calls whenever a function is entered or
left, raises as soon as the function of ours that called JAX goes on. It is there only between the
signal and that moment, and costs nothing before.

Python runs handlers between two steps of the main thread only, not while that is in C code, where
two signals count as one. So a thread counts them, too.

This file is the first that a command loads: it imports nothing that takes time.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes longer to load than all of this
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

INTERRUPTED, SAID = 130, "earnshaw: interrupted"
DELICATE = {  # packages that must not be cut short
    *("jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix"),
    *("importlib", "_frozen_importlib", "_frozen_importlib_external"),
}
STOPPING = "\rearnshaw: stopping as soon as this step is done; Ctrl-C again to quit at once\n"
OURS = "earnshaw"
_speaking = _thread.allocate_lock()  # never released: nobody speaks twice


def from_now_on() -> None:
    """Ctrl-C quits at once, except where `held_back` says otherwise."""
    signal.signal(signal.SIGINT, lambda *_: quit_at_once())


@contextmanager
def held_back() -> Iterator[None]:
    """Where Ctrl-C raises KeyboardInterrupt outside of what must not be cut short.

    It comes at the end at the latest: then nobody has let it through.
    """
    pressed = False

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            quit_at_once()
        pressed = True
        home = _home(frame)
        if home is None:
            raise KeyboardInterrupt
        if not _computing():
            quit_at_once()
        if sys.stderr.isatty():
            _write(STOPPING)

        def watch(frame: FrameType, *_: Any) -> None:
            # Nothing happens in `home`, nor in a function of ours that it calls, before it goes on.
            called = frame.f_back is home and _package(frame) == OURS
            if frame is home or called:
                sys.setprofile(None)
                raise KeyboardInterrupt

        sys.setprofile(watch)

    def unraisable(lost: Any) -> None:
        """Have an interrupt that a finaliser swallowed come again, in whatever goes on now."""
        if lost.exc_type is not KeyboardInterrupt:
            hook(lost)
            return

        def watch(frame: FrameType, *_: Any) -> None:
            if frame.f_code is not unraisable.__code__:
                sys.setprofile(None)
                raise KeyboardInterrupt

        sys.setprofile(watch)

    before, hook = signal.signal(signal.SIGINT, interrupt), sys.unraisablehook
    sys.unraisablehook = unraisable
    try:
        with _second_quits():
            yield
        if pressed:
            raise KeyboardInterrupt
    finally:
        sys.setprofile(None)
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)


@contextmanager
def _second_quits() -> Iterator[None]:
    """Where a second Ctrl-C ends the process, whatever the main thread is doing."""
    import threading

    receiving, sending = os.pipe()
    os.set_blocking(sending, False)

    def count() -> None:
        seen = 0
        while signals := os.read(receiving, 1):  # nothing when the other end is closed
            seen += signals[0] == signal.SIGINT
            if seen > 1:
                quit_at_once()
        os.close(receiving)

    threading.Thread(target=count, daemon=True, name="earnshaw-interrupts").start()
    before = signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(sending)


def quit_at_once() -> None:
    """End the process. Files are replaced whole, so that none can be left half-written.

    The handler and the thread that counts signals may come here at once: one speaks, and the other
    waits a moment for it to do so.
    """
    if _speaking.acquire(timeout=0.1):
        with suppress(OSError, ValueError):  # nobody is there to read it
            bar = (
                "\r\x1b[K\x1b[?25h" if sys.stderr.isatty() else ""
            )  # clear its line, show the cursor
            _write(f"{bar}{SAID}\n")
    os._exit(INTERRUPTED)


def _write(text: str) -> None:
    """To standard error, whatever it was doing: `print` is not made for signal handlers."""
    os.write(sys.stderr.fileno(), text.encode())


def _computing() -> bool:
    """Whether JAX may have computed something; before, there is nothing to be taken up again."""
    try:
        return sys.modules["jax._src.xla_bridge"].backends_are_initialized()
    except KeyError:
        return False
    except AttributeError:  # half a module, or another version of JAX
        return True


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
