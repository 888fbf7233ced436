"""When a further unit is worth its parameters: information criteria, or samples held out.

With n the sum of the weights, p the number of parameters and E the mean error of m outputs,

    bic  n m log E + p log(n) n/(n - p - 2)
    aic  n m log E + 2 p n/(n - p - 2)

for squares, and n E in place of n m log E for likelihoods. The factor n/(n - p - 2) is Hurvich and
Tsai's correction for small samples; where there are fewer samples than parameters, the criterion is
infinite. `holdout` is the mean error on samples that were not fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from earnshaw.fitting.layout import layout_of
from earnshaw.fitting.marquardt import Polished
from earnshaw.fitting.normal import Objective

PERFECT = 1e-26  # a mean squared error, of answers of variance 1, that is rounding

Criterion = Callable[[Objective, Polished], float]


def information(kind: str, outputs: int) -> Criterion:
    """The criterion "bic" or "aic"; lower is better."""

    def criterion(objective: Objective, found: Polished) -> float:
        n = objective.samples.total
        parameters = objective.freedom.count(found.network)
        spare = n * outputs - parameters - 2
        if spare <= 0:
            return math.inf
        each = math.log(max(n, 2.0)) if kind == "bic" else 2.0
        price = parameters * each * n * outputs / spare
        if objective.loss != "squares":
            return n * found.error + price
        return n * outputs * math.log(max(found.error, PERFECT)) + price

    return criterion


def held_out(unseen: Objective) -> Criterion:
    """The mean error on the samples of `unseen`."""

    def criterion(objective: Objective, found: Polished) -> float:
        layout = layout_of(found.network)
        bare = Objective(unseen.samples, unseen.loss, 0.0, objective.freedom)
        value = bare.slope(layout.pack(found.network), layout, found.network)[0]
        return max(value, PERFECT) if np.isfinite(value) else math.inf

    return criterion
