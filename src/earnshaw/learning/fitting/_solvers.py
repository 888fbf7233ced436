"""The solvers that fit all parameters of a network jointly, and which of them when.

Levenberg-Marquardt where a matrix of all parameters is affordable; L-BFGS, which needs n P numbers
an iteration instead of n P^2, for more parameters; minibatches for very many samples as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from earnshaw.descent.levenberg_marquardt import levenberg_marquardt
from earnshaw.learning.fitting._layout import layout_of
from earnshaw.learning.fitting._objective import FitObjective
from earnshaw.learning.fitting.network import FittedNetwork

MATRIX_PARAMETERS = 1500  # outputs times parameters up to which Levenberg-Marquardt is used,
MATRIX_WORK = 4e11  # and additions an iteration
GRADIENT_WORK = 2e9  # samples times parameters from which on minibatches are used
ADAM_STEP, ADAM_MEMORIES = 3e-3, (0.9, 0.999)
BATCH = 1024  # samples of a minibatch


@dataclasses.dataclass(frozen=True)
class Minimum:
    """Where a descent of F ended.

    Attributes:
        network: there.
        value: F. error: F without its penalty.
        iterations: of the solver.
        settled: whether it ended by itself.
    """

    network: FittedNetwork
    value: float
    error: float
    iterations: int
    settled: bool


Solver = Callable[[FitObjective, FittedNetwork], Minimum]


def solver_of(objective: FitObjective, network: FittedNetwork, asked: str) -> str:
    """The name of the solver for a network of this size on these samples."""
    if asked != "auto":
        return asked
    layout, samples = layout_of(network), objective.samples
    wide = layout.outputs * layout.size
    work = samples.count * layout.outputs * layout.size**2
    if wide <= MATRIX_PARAMETERS and work <= MATRIX_WORK:
        return "lm"
    return "lbfgs" if samples.count * layout.size <= GRADIENT_WORK else "minibatch"


def minimiser(asked: str, iterations: int, tolerance: float, perfect: float, seed: int) -> Solver:
    """The solver that was asked for, or for "auto" the right one each time."""

    def minimise(objective: FitObjective, network: FittedNetwork) -> Minimum:
        solver = solver_of(objective, network, asked)
        if solver == "lm":
            return marquardt(objective, network, iterations, tolerance, perfect)
        if solver == "lbfgs":
            return lbfgs(objective, network, 3 * iterations)
        return minibatch(objective, network, seed=seed)

    return minimise


def marquardt(
    objective: FitObjective,
    network: FittedNetwork,
    iterations: int = 100,
    tolerance: float = 1e-9,
    perfect: float = 1e-30,
) -> Minimum:
    """By Levenberg-Marquardt; see `levenberg_marquardt` for when it has settled."""
    layout = layout_of(network)
    found = levenberg_marquardt(
        lambda vector: objective.normal(vector, layout, network),
        layout.pack(network),
        objective.freedom.mask(layout, network.units) > 0,
        iterations,
        tolerance,
        perfect,
    )
    value, error = found.here.value, found.here.error
    end = layout.unpack(found.vector, network)
    return Minimum(end, value, error, found.iterations, found.settled)


def lbfgs(objective: FitObjective, network: FittedNetwork, iterations: int = 500) -> Minimum:
    """By limited-memory BFGS: n P numbers an iteration instead of n P^2."""
    layout = layout_of(network)
    free = objective.freedom.mask(layout, network.units) > 0
    begin = layout.pack(network)

    def slope(moving: np.ndarray) -> tuple[float, np.ndarray]:
        vector = begin.copy()
        vector[free] = moving
        value, gradient = objective.slope(vector, layout, network)
        return (value, gradient[free]) if np.isfinite(value) else (1e300, np.zeros(len(moving)))

    options = {"maxiter": iterations, "maxcor": 30, "ftol": 1e-14, "gtol": 1e-12}
    found = minimize(slope, begin[free], jac=True, method="L-BFGS-B", options=options)
    vector = begin.copy()
    vector[free] = found.x
    return _minimum(objective, layout.unpack(vector, network), int(found.nit), bool(found.success))


def minibatch(
    objective: FitObjective, network: FittedNetwork, passes: int = 10, seed: int = 0
) -> Minimum:
    """By Adam on batches of 1024 samples in random order, its steps falling to 0 as a cosine."""
    layout = layout_of(network)
    vector = layout.pack(network)
    samples, rng = objective.samples, np.random.default_rng([seed, 11])
    count = max(1, samples.count // BATCH)
    first, second = ADAM_MEMORIES
    mean, square, done = np.zeros(layout.size), np.zeros(layout.size), 0
    for _ in range(passes):
        order = rng.permutation(samples.count)
        for batch in range(count):
            chosen = np.sort(order[batch * BATCH : (batch + 1) * BATCH])
            some = dataclasses.replace(objective, samples=samples.take(chosen))
            gradient = some.slope(vector, layout, network)[1]
            done += 1
            mean = first * mean + (1 - first) * gradient
            square = second * square + (1 - second) * gradient**2
            size = np.sqrt(square / (1 - second**done)) + 1e-12
            rate = ADAM_STEP * (1 + np.cos(np.pi * done / (passes * count))) / 2
            vector = vector - rate * mean / (1 - first**done) / size
    return _minimum(objective, layout.unpack(vector, network), done, True)


def _minimum(objective: FitObjective, network: FittedNetwork, done: int, settled: bool) -> Minimum:
    layout = layout_of(network)
    vector = layout.pack(network)
    value = objective.slope(vector, layout, network)[0]
    return Minimum(network, value, value - objective.penalty(vector, layout), done, settled)
