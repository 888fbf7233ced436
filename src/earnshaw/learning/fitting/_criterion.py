"""When a further unit is worth its parameters: information criteria, or samples held out.

With n the sum of the weights of the samples, m outputs and so N = n m answers, p parameters and E
the mean error of a sample,

    bic  N log E + p log(n) N/(N - p - 2)
    aic  N log E + 2 p N/(N - p - 2)

for squares, and n E in place of N log E for likelihoods, E being a mean of -2 log p then. Where
there are not more than p + 2 answers, the criterion is infinite.

Why N: if the standardised answers have independent Gaussian errors of one variance s^2 = n E/N,
-2 log of the likelihood is N log E and a constant, and Hurvich and Tsai's criterion (Biometrika 76,
1989) is N log s^2 + N (N + p)/(N - p - 2) = N log s^2 + N + 2 (p + 1) N/(N - p - 2). What it asks
for the variance, which every model has, is left out here; bic takes over its factor for small
samples. Why log(n): the information matrix grows with the number of independent samples.

`holdout` is the mean error on samples that were not fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from earnshaw.learning.fitting._layout import layout_of
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting._solvers import Minimum

PERFECT = 1e-26  # a mean squared error, of answers of variance 1, that is rounding

Criterion = Callable[[FitObjective, Minimum], float]


def information(kind: str) -> Criterion:
    """The criterion "bic" or "aic"; lower is better."""

    def criterion(objective: FitObjective, found: Minimum) -> float:
        n = objective.samples.total
        answers = n * objective.samples.outputs
        parameters = objective.freedom.count(found.network)
        spare = answers - parameters - 2
        if spare <= 0:
            return math.inf
        each = math.log(max(n, 2.0)) if kind == "bic" else 2.0
        price = parameters * each * answers / spare
        if objective.loss != "squares":
            return n * found.error + price
        return answers * math.log(max(found.error, PERFECT)) + price

    return criterion


def held_out(unseen: FitObjective) -> Criterion:
    """The mean error on the samples of `unseen`."""

    def criterion(objective: FitObjective, found: Minimum) -> float:
        layout = layout_of(found.network)
        bare = FitObjective(unseen.samples, unseen.loss, 0.0, objective.freedom)
        value = bare.slope(layout.pack(found.network), layout, found.network)[0]
        return max(value, PERFECT) if np.isfinite(value) else math.inf

    return criterion
