"""Charges on R^d from samples (x, y), unit by unit, for activations h(x - w)/sqrt(p(x)).

`_correlation.py` says what a unit would save, `_search.py` climbs it, `_refine.py` moves all units
together, `sampled_nodes.py` is the method made of these, `learn.py` runs it.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "SampledNodes": "sampled_nodes",
        "SampledRun": "learn",
        "learn_from_samples": "learn",
    },
)
