"""Where the units of a network by evidence begin: where most is left of the answers.

Units are added to the linear network, all of a size at once. Growing a network of 16 units from one
of 8, and that from 4, was tried and is worse: it inherits what smaller networks got stuck in
(concrete, R^2 of 16 units 0.881 against 0.884; auto-mpg 0.865 against 0.882; 3 starts, 2 splits).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.learning.evidence._likelihoods import LIKELIHOODS
from earnshaw.learning.evidence._parameters import Layout
from earnshaw.learning.evidence._response import value_of
from earnshaw.learning.evidence._training import FLAT, Data, Member, Start

LOOKED_AT = 2000  # samples on which units are placed
CANDIDATES = 32  # random units to choose each new one from
EAGER = 10.0  # the largest precision that an input's weights begin with: no input is lost for good
FIRST = 1.0  # the precision that new groups begin with
LOUD = 10.0  # the largest precision of the noise, of answers of variance 1, to begin with


def line(
    activation: DotProduct,
    sources: tuple[int, ...],
    outputs: int,
    data: Data,
    rising: tuple[int, ...] = (),
) -> Start:
    """The start of a network of no units: 0, or the mean of the answers."""
    layout = Layout(activation, 0, sources, outputs, rising)
    precisions = np.full(layout.groups.max() + 1, FIRST)
    precisions[-1] = FLAT
    return Start(layout, np.zeros(layout.size), precisions, np.ones(outputs))


def grown(member: Member, data: Data, more: int, seed: int) -> Start:
    """The start of a network with `more` further units, each where most is left."""
    layout, rng = member.layout, np.random.default_rng([seed, layout_key(member), more])
    w, b, v, linear, c = layout.parts(member.theta)
    new, bias, weight = _placed(member, data, more, rng)
    larger = dataclasses.replace(layout, units=layout.units + more)
    theta = np.concatenate(
        [
            np.vstack([w, new]).ravel(),
            np.append(b, bias),
            np.vstack([v, weight]).ravel(),
            linear.ravel(),
            c,
        ]
    )
    precisions = member.precisions.copy()
    inner = int(np.max(layout.sources)) + 3  # the groups of units, biases and output weights
    if not layout.units:
        precisions[: inner - 1] = FIRST
    precisions[:inner] = np.minimum(precisions[:inner], EAGER)
    return Start(larger, theta, precisions, np.minimum(member.noise, LOUD * np.ones(1)))


def layout_key(member: Member) -> int:
    """What tells apart the random numbers of steps of one growth."""
    return member.layout.units


def _placed(
    member: Member, data: Data, more: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units (more, d), biases (more,) and weights (more, m), one after the other.

    Of random units with responses s the one is taken that lowers the sum of squares most,
    |r.s|^2/|s|^2, r and s less what the features there are explain: the node-wise principle.
    """
    layout = member.layout
    if len(data.x) > LOOKED_AT:
        data = data.take(np.sort(rng.permutation(len(data.x))[:LOOKED_AT]))
    g, features, _ = layout.rows(member.theta, data.x)
    found = LIKELIHOODS[data.loss](g, data.y, np.ones(layout.outputs))
    root = np.sqrt(data.weight)[:, None]
    basis, _ = np.linalg.qr(root * features)
    left = root * found.gradient
    left = left - basis @ (basis.T @ left)
    scale = _scales(member)
    rising = np.asarray(layout.rising) if layout.rising else None
    units, biases, weights = [], [], []
    for _ in range(more):
        length = np.exp(rng.uniform(np.log(0.5), np.log(3.0), (CANDIDATES, 1)))
        trial = rng.standard_normal((CANDIDATES, layout.dim)) * scale * length
        offset = rng.standard_normal(CANDIDATES) * length[:, 0]
        side = np.zeros(CANDIDATES)
        if rising is not None:  # units that rise get positive weights, those that fall negative
            side = np.where(np.arange(CANDIDATES) % 2, 1.0, -1.0)
            trial = np.where(rising != 0, np.abs(trial) * rising * side[:, None], trial)
        values = root * value_of(layout.activation, data.x @ trial.T + offset)
        values = values - basis @ (basis.T @ values)
        size = np.sum(values**2, axis=0) + 1e-6 * data.total
        coefficient = values.T @ left / size[:, None]
        coefficient = np.where(side[:, None] * coefficient < 0, 0.0, coefficient)
        best = int(np.argmax(size * np.sum(coefficient**2, axis=1)))
        units.append(trial[best])
        biases.append(offset[best])
        weights.append(coefficient[best])
        direction = values[:, best : best + 1] / np.sqrt(size[best])
        left = left - direction @ (direction.T @ left)
        basis = np.concatenate([basis, direction], axis=1)
    return np.array(units), np.array(biases), np.array(weights)


def _scales(member: Member) -> np.ndarray:
    """How large weights of every input are to begin with, (d,): of length 1 in all.

    In proportion to the standard deviations 1/sqrt(alpha) that the network has found for them, but
    none less than a tenth of the average.
    """
    layout = member.layout
    if not layout.units:
        return np.full(layout.dim, 1 / np.sqrt(layout.dim))
    width = 1 / np.sqrt(member.precisions[np.asarray(layout.sources)])
    width = np.maximum(width, 0.1 * np.mean(width))
    return width / np.linalg.norm(width)
