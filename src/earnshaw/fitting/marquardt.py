"""Levenberg-Marquardt: Gauss-Newton steps, damped where the model does not hold.

A step solves (A + mu D) step = -gradient, D the diagonal of A (Marquardt's scaling, which makes it
indifferent to the units of the parameters). After a good step mu falls by as much as the quadratic
model was good, after a bad one it grows faster and faster (Nielsen's rule).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from earnshaw.fitting.layout import layout_of
from earnshaw.fitting.network import Network
from earnshaw.fitting.normal import Objective

START, LEAST, MOST = 1e-3, 1e-15, 1e12  # of the damping mu
FLOOR = 1e-14  # of D, relative to its largest entry: directions that the data do not determine


@dataclasses.dataclass(frozen=True)
class Polished:
    """A network after its descent: F, F without penalty, iterations, and whether it settled."""

    network: Network
    value: float
    error: float
    iterations: int
    settled: bool


def polish(
    objective: Objective,
    network: Network,
    iterations: int = 100,
    tolerance: float = 1e-9,
    perfect: float = 1e-30,
) -> Polished:
    """Fit all parameters of `network` jointly.

    It has settled when three steps in a row lower F by less than `tolerance` times F, or when no
    step lowers it, or when F without penalty is below `perfect`.
    """
    layout = layout_of(network)
    vector = layout.pack(network)
    free = objective.freedom.mask(layout, network.units) > 0
    here = objective.normal(vector, layout, network)
    scale = np.zeros(int(np.sum(free)))
    mu, growth, slow, settled, done = START, 2.0, 0, False, 0
    while done < iterations and not settled:
        done += 1
        if here.error <= perfect:
            settled = True
            break
        scale = np.maximum(scale, np.diagonal(here.matrix)[free])
        step, predicted = _step(here.matrix[np.ix_(free, free)], here.gradient[free], scale, mu)
        trial = vector.copy()
        trial[free] += step
        there = objective.normal(trial, layout, network)
        gain = here.value - there.value
        if np.isfinite(there.value) and gain > 0:
            quality = gain / predicted if predicted > 0 else 1.0
            mu = max(LEAST, mu * max(1 / 3, 1 - (2 * quality - 1) ** 3) if quality < 1 else mu / 10)
            growth = 2.0
            slow = slow + 1 if gain <= tolerance * here.value else 0
            vector, here = trial, there
            settled = slow >= 3
        else:
            mu, growth = mu * growth, 2 * growth
            settled = mu > MOST
    return Polished(layout.unpack(vector, network), here.value, here.error, done, settled)


def _step(
    matrix: np.ndarray, gradient: np.ndarray, scale: np.ndarray, mu: float
) -> tuple[np.ndarray, float]:
    """The damped step, and by how much the quadratic model says that it lowers F."""
    scale = np.maximum(scale, FLOOR * np.max(scale, initial=0.0))
    scale = np.where(scale > 0, scale, 1.0)
    root = np.sqrt(scale)
    scaled = matrix / np.outer(root, root)
    while True:
        try:
            factor = cho_factor(scaled + mu * np.eye(len(scaled)))
            break
        except (LinAlgError, ValueError):
            mu = max(10 * mu, 1e-14)
            if mu > MOST or not np.all(np.isfinite(scaled)):
                return np.zeros_like(gradient), 0.0
    step = -cho_solve(factor, gradient / root)
    predicted = -(gradient / root) @ step - step @ scaled @ step / 2
    return step / root, float(predicted)
