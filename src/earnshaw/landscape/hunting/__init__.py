"""Hunts: which critical points gradient descent from many random starts ends in, and how often.

`hunt.py` reads as the experiment: draw starts (`_starts.py`), descend from all of them in rounds
(`_search.py`, in `_batches.py`; Newton's method adds the last digits, `_newton.py`), put ends
together that the symmetries of the problem turn into each other (`_groups.py`), say what kind of
point each group is (`_verdict.py`) and which teacher units it has found (`pairing.py`). The result
is a `Landscape` (`critical_points.py`); a hunt can be kept in a file and go on later
(`_hunt_file.py`).
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Landscape": "critical_points",
        "CriticalPoint": "critical_points",
        "Pairing": "pairing",
        "Settings": "settings",
    },
)
