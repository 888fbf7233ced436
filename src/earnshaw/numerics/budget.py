"""A budget of time for work whose length nobody knows beforehand: SymPy's, above all.

    with Budget(20.0):
        checkpoint("the transform")                      # in our own loops, between short steps
        interruptible("simplifying")(sympy.simplify)(expr)

Where the time is over both raise `TooMuchWork`, which says so. Outside of a budget they do nothing.
Time is the processor time of the thread, so that answers do not depend on what else a machine does;
where a system does not tell it (macOS, Windows), the time that passes.

SymPy knows no deadline, and may think for hours about a line of text. So a function that was marked
`interruptible` has a second thread beside it, which sleeps; at the deadline it makes Python raise
an exception in the first. That works in every thread and in notebooks, costs nothing before, and
leaves nothing behind. The exception can come between any two bytecodes, so this is for functions
that only compute (SymPy, python-flint, NumPy), never for JAX, files or locks. One call of C is not
cut short: what is handed to it must be small by other checks.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import ParamSpec, TypeVar

from earnshaw.errors import EarnshawError

P = ParamSpec("P")
T = TypeVar("T")
_AGAIN = 0.5  # seconds after which the exception comes again, should someone have swallowed it
_SHORTEST = 1e-3  # seconds between two looks at the clock


class TooMuchWork(EarnshawError):
    """Work that would take more time, or more memory, than it may."""


class _Expired(BaseException):
    """What the second thread raises: no `except Exception` takes it for its own."""


class Budget:
    """So many seconds of this thread from now on; within another budget, at most what it has."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.watched = False
        outer = _IN_FORCE.get()
        self.outer = outer
        self.now = _clock()
        self.deadline = self.now() + seconds
        if outer is not None and outer.deadline < self.deadline:
            self.seconds, self.deadline = outer.seconds, outer.deadline

    def __enter__(self) -> Budget:
        self._token: Token = _IN_FORCE.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _IN_FORCE.reset(self._token)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - self.now()

    def exhausted(self, doing: str) -> TooMuchWork:
        """The error that says what took too long."""
        return TooMuchWork(f"{doing} did not end within {self.seconds:g} s")


_IN_FORCE: ContextVar[Budget | None] = ContextVar("budget", default=None)


def checkpoint(doing: str) -> None:
    """Raise `TooMuchWork` if the time is over; `doing` names the work, as in "the transform"."""
    budget = _IN_FORCE.get()
    if budget is not None and budget.left < 0:
        raise budget.exhausted(doing)


def interruptible(doing: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function that is cut short at the deadline of the budget in force, wherever it is."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            budget = _IN_FORCE.get()
            if budget is None or _is_watched(budget):
                return function(*args, **kwargs)
            checkpoint(doing)
            watch = _Watch(budget)
            budget.watched = True
            try:
                try:
                    watch.start()
                    return function(*args, **kwargs)
                finally:
                    watch.stop()
            except _Expired:
                watch.stop()  # the exception may have come before the first
                raise budget.exhausted(doing) from None
            except (RecursionError, MemoryError) as failure:
                limit = "depth" if isinstance(failure, RecursionError) else "memory"
                raise TooMuchWork(f"{doing} needs more {limit} than there is") from None
            finally:
                budget.watched = False

        return guarded

    return decorate


def _is_watched(budget: Budget | None) -> bool:
    """Whether this thread is already in an interruptible function with the same deadline."""
    while budget is not None:
        if budget.watched:
            return True
        budget = budget.outer
    return False


class _Watch:
    """The second thread. After `stop` no exception is on its way."""

    def __init__(self, budget: Budget) -> None:
        self.target = threading.get_ident()
        self.budget = budget
        self.over = threading.Event()
        self.lock = threading.Lock()

    def start(self) -> None:
        threading.Thread(target=self._wait, name="earnshaw-budget", daemon=True).start()

    def stop(self) -> None:
        self.over.set()
        with self.lock:
            pass  # from here on nothing is sent
        # What was sent comes within a few steps: here at the latest. It is not taken back, since
        # Python 3.11 then hangs in the next profiler, tracer or debugger.
        for _ in range(4):
            pass

    def _wait(self) -> None:
        left = self.budget.left
        while not self.over.wait(max(left, _SHORTEST)):
            with self.lock:
                if self.over.is_set():
                    return
                left = self.budget.left
                if left <= 0:
                    _raise_in(self.target, _Expired)
                    left = _AGAIN


def _clock() -> Callable[[], float]:
    """The processor time of this thread, in seconds, to be read from any thread."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    return functools.partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Make Python raise `kind` in a thread as soon as it runs bytecode."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
