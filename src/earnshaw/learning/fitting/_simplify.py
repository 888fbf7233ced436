"""A network without its linear part, where the data do not ask for one.

Of units with s(-z) = flip s(z) + constant - linear z (relu, softplus, gelu, ...) the data show
which hyperplane they belong to before they show its side: turned round, a unit leaves

    c s(v.x) = flip c s(-v.x) + constant c + linear c v.x

behind, and a linear part takes that up while a network grows. At the end the units are turned so
that what they leave behind cancels the linear part as well as it can.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from earnshaw.learning.fitting.network import FittedNetwork

ALL = 14  # units up to which every choice of sides is tried
TRIES = 30  # random beginnings of the search among more units


def without_linear_part(network: FittedNetwork, seed: int) -> FittedNetwork:
    """The network with sides of its units chosen to replace the linear part, which is left out."""
    symmetries = network.activation.symmetries
    if symmetries.flip is not None and symmetries.linear and network.units:
        network = turned(network, best_sides(network, seed))
    return dataclasses.replace(network, linear=np.zeros_like(network.linear))


def turned(network: FittedNetwork, sides: np.ndarray) -> FittedNetwork:
    """The same function, the units of a mask turned round."""
    symmetries = network.activation.symmetries
    charges = network.weights[sides]
    return dataclasses.replace(
        network,
        positions=np.where(sides[:, None], -network.positions, network.positions),
        biases=np.where(sides, -network.biases, network.biases),
        weights=np.where(sides[:, None], (symmetries.flip or 1) * network.weights, network.weights),
        linear=network.linear + symmetries.linear * network.positions[sides].T @ charges,
        intercept=network.intercept
        + symmetries.constant * charges.sum(axis=0)
        + symmetries.linear * network.biases[sides] @ charges,
    )


def best_sides(network: FittedNetwork, seed: int) -> np.ndarray:
    """Which units to turn so that the linear part becomes as small as possible."""
    symmetries = network.activation.symmetries
    # Column j: what turning unit j adds to the linear part.
    moves = symmetries.linear * np.einsum("kd,km->dmk", network.positions, network.weights)
    moves = moves.reshape(-1, network.units)
    target = -np.ravel(network.linear)
    if network.units <= ALL:
        numbers = np.arange(2**network.units)[:, None]
        choices = (numbers >> np.arange(network.units)) & 1
        sizes = np.sum((choices @ moves.T - target) ** 2, axis=1)
        return choices[np.argmin(sizes)].astype(bool)
    solved = np.linalg.lstsq(moves, target, rcond=None)[0] > 0.5
    rng = np.random.default_rng([seed, 13])
    begins = [solved, *(rng.random((TRIES, network.units)) < 0.5)]
    found = [_descended(moves, target, begin) for begin in begins]
    return min(found, key=lambda sides: float(np.sum((moves @ sides - target) ** 2)))


def _descended(moves: np.ndarray, target: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Turn single units and pairs of units while that makes the linear part smaller."""
    count = len(sides)
    singles = np.eye(count, dtype=bool)
    pairs = singles[:, None] | singles[None]
    flips = np.concatenate([singles, pairs[np.triu_indices(count, 1)]])
    while True:
        trials = flips ^ sides
        sizes = np.sum((trials @ moves.T - target) ** 2, axis=1)
        best = int(np.argmin(sizes))
        if sizes[best] >= np.sum((moves @ sides - target) ** 2):
            return sides
        sides = trials[best]
