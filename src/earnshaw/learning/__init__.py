"""Learning networks: from a teacher or an oracle, from samples, from a table of data.

`learn.py` is `ew.learn`; `samples` learns charges on R^d from samples, `fitting` fits networks to
tables, `estimators` are the same fits for scikit-learn, `exports` takes networks away.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Run": "run",
        "SampledRun": "samples.learn",
        "Settings": "settings",
        "Trace": "run",
        "learn_from_samples": "samples.learn",
        "load_run": "learn",
    },
)
