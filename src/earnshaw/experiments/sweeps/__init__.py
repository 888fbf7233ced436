"""Sweeps: every combination of a grid of settings, with every seed.

`plan.py` (or a file, `toml.py`) says what to run, `sweep.py` runs what the store lacks. Within,
`_dispatch.py` hands blocks of seeds to an `_executor.py`: this process, processes of this machine
(`_local.py`) or a Dask cluster (`_cluster.py`). A block travels as
a `_job.py` and comes back in pieces, so that what dies with a worker costs seconds. `progress.py`
is what a display sees, `stored.py` looks at a sweep without running it.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Plan": "plan",
        "Sweep": "sweep",
        "SweepProgress": "progress",
        "Watch": "progress",
        "built_in": "toml",
        "load_plan": "toml",
        "plan_of": "plan",
        "stored_sweep": "stored",
    },
)
