"""The `earnshaw` command, and `python -m earnshaw`: Ctrl-C in order before anything else."""

from __future__ import annotations

import atexit
import os

from earnshaw.cli import interrupts


def main() -> None:
    """Load the command line, which takes a moment, and run it."""
    interrupts.from_now_on()
    from earnshaw.cli.main import main as command

    try:
        command()
    except SystemExit as end:
        # Python would now wait for threads that have not heard of an interrupt, and take down its
        # modules: a tenth of a second in which Ctrl-C has nothing left to stop.
        if end.code != interrupts.INTERRUPTED:
            atexit._run_exitfuncs()
        os._exit(end.code if isinstance(end.code, int) else 0)


if __name__ == "__main__":
    main()
