"""Polishing networks for which a matrix of all parameters is too much: L-BFGS and minibatches."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.optimize import minimize

from earnshaw.fitting.layout import layout_of
from earnshaw.fitting.marquardt import Polished
from earnshaw.fitting.network import Network
from earnshaw.fitting.normal import Objective

RATE, FADES = 3e-3, (0.9, 0.999)  # Adam's step and memories
BATCH = 1024


def lbfgs(objective: Objective, network: Network, iterations: int = 500) -> Polished:
    """By limited-memory BFGS: n P numbers an iteration instead of n P^2."""
    layout = layout_of(network)
    free = objective.freedom.mask(layout, network.units) > 0
    begin = layout.pack(network)

    def slope(part: np.ndarray) -> tuple[float, np.ndarray]:
        vector = begin.copy()
        vector[free] = part
        value, gradient = objective.slope(vector, layout, network)
        return (value, gradient[free]) if np.isfinite(value) else (1e300, np.zeros(len(part)))

    options = {"maxiter": iterations, "maxcor": 30, "ftol": 1e-14, "gtol": 1e-12}
    found = minimize(slope, begin[free], jac=True, method="L-BFGS-B", options=options)
    vector = begin.copy()
    vector[free] = found.x
    return _polished(objective, layout.unpack(vector, network), int(found.nit), bool(found.success))


def minibatch(objective: Objective, network: Network, passes: int = 10, seed: int = 0) -> Polished:
    """By Adam on batches of 1024 samples in random order, its steps falling to 0 as a cosine."""
    layout = layout_of(network)
    vector = layout.pack(network)
    samples, rng = objective.samples, np.random.default_rng([seed, 11])
    count = max(1, samples.count // BATCH)
    mean, square, done = np.zeros(layout.size), np.zeros(layout.size), 0
    for _ in range(passes):
        order = rng.permutation(samples.count)
        for batch in range(count):
            chosen = np.sort(order[batch * BATCH : (batch + 1) * BATCH])
            part = dataclasses.replace(objective, samples=samples.take(chosen))
            gradient = part.slope(vector, layout, network)[1]
            done += 1
            mean = FADES[0] * mean + (1 - FADES[0]) * gradient
            square = FADES[1] * square + (1 - FADES[1]) * gradient**2
            size = np.sqrt(square / (1 - FADES[1] ** done)) + 1e-12
            rate = RATE * (1 + np.cos(np.pi * done / (passes * count))) / 2
            vector = vector - rate * mean / (1 - FADES[0] ** done) / size
    return _polished(objective, layout.unpack(vector, network), done, True)


def _polished(objective: Objective, network: Network, done: int, settled: bool) -> Polished:
    layout = layout_of(network)
    vector = layout.pack(network)
    value = objective.slope(vector, layout, network)[0]
    return Polished(network, value, value - objective.penalty(vector, layout), done, settled)
