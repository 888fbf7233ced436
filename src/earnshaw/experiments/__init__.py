"""Experiments over grids of settings and seeds, kept in a store and resumed where they stopped.

- `sweeps`: a plan, the processes that carry it out, and what came of it (`ew.sweep`);
- `store`: one SQLite file with the results of all runs;
- `kinds`: what a sweep can run, "train" and "learn", cut into pieces that any process can do;
- `training`: networks of any depth trained on samples, compiled, many seeds at once (`ew.train`);
- `processes`: what calls functions in other processes, whose other end is `worker`;
- `tables`: rows of plain values as CSV and Markdown.

docs/experiments.md says how sweeps survive. The papers' own grids are in `earnshaw.papers`.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Cell": "store.store",
        "Kind": "kinds.kind",
        "Plan": "sweeps.plan",
        "StoredRun": "store.store",
        "Sweep": "sweeps.sweep",
        "SweepProgress": "sweeps.progress",
        "Trained": "training.train",
        "Training": "training.settings",
        "load_plan": "sweeps.toml",
        "markdown": "tables",
        "stored_sweep": "sweeps.stored",
        "sweep": "sweeps.sweep",
        "train": "training.train",
        "write_csv": "tables",
    },
)
