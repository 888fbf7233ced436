"""A local worker process: calls come in on standard input, results go out on standard output.

It ends with its parent (`processes.py`), however that ends, because then its input does.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue


def main() -> None:
    """Make one call after the other until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be taken for a result
    calls: SimpleQueue = SimpleQueue()
    threading.Thread(target=_receive, args=(calls,), daemon=True).start()
    with suppress(BrokenPipeError):
        while True:
            function, arguments = calls.get()
            pickle.dump(function(*arguments), results)
            results.flush()


def _receive(calls: SimpleQueue) -> None:
    """In a thread of its own, so that the end of the input is noticed in the midst of a call."""
    try:
        while True:
            calls.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
