"""Networks fitted to noisy data by MacKay's evidence: precisions, committees, error bars.

`_training.py` is the algorithm for one network, `growth.py` places its units, `field.py` is the
network of infinitely many, with a potential of `shapes.py`; `assembling.py` makes a `committee.py`
of them. `_parameters` lays a network out as a vector, `_likelihoods` says what outputs are compared
by, `coordinates` how inputs are seen.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {"Committee": "committee", "Coordinates": "coordinates", "Field": "field",
     "fit_committee": "assembling"},
)  # fmt: skip
