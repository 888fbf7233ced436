"""The papers' generalisation bounds, as functions: how far samples are from expectations.

`truncation.py` cuts off the inputs (EPD, Lemma B.1), `complexity.py` has the classes of one and
two units (Theorems B.2, B.3), `sizes.py` the sizes of an activation, `uniform.py` the loss of a
network, its gradient and its Hessian (Theorem B.4).
"""

from earnshaw.papers.bounds.complexity import (
    linear_complexity,
    product_complexity,
    product_deviation,
    samples_needed,
    uniform_deviation,
)
from earnshaw.papers.bounds.sizes import Sizes, activation_sizes
from earnshaw.papers.bounds.truncation import truncation_error, truncation_radius
from earnshaw.papers.bounds.uniform import (
    NetworkDeviation,
    NetworkSamples,
    network_deviation,
    network_samples,
)

__all__ = [
    "NetworkDeviation",
    "NetworkSamples",
    "Sizes",
    "activation_sizes",
    "linear_complexity",
    "network_deviation",
    "network_samples",
    "product_complexity",
    "product_deviation",
    "samples_needed",
    "truncation_error",
    "truncation_radius",
    "uniform_deviation",
]
