"""The plotting library takes a second to load, which another thread can spend."""

from __future__ import annotations

import threading


def load_drawing() -> threading.Thread:
    """Load the plotting library while something else is compiled; join before drawing.

    NumPy comes first, in this thread: two threads that load its compiled parts at once fail. The
    rest of the plotting library shares nothing with what is loaded meanwhile.
    """
    import numpy  # noqa: F401

    def load() -> None:
        import matplotlib.backends.backend_agg
        import matplotlib.figure  # noqa: F401

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    return thread
