"""Electrons that go downhill among protons: until they are bound, or by constant steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from earnshaw.charges.network import Student
from earnshaw.energy.population import PopulationLoss
from earnshaw.papers.claims.minima._random_points import distances

BOUND = 1e-4  # a unit this close to a proton has fallen into it


def fallen(
    loss_of: Callable[[np.ndarray], PopulationLoss], protons: np.ndarray, places: np.ndarray
) -> tuple[dict[int, int], int]:
    """Which proton each unit of charge -1 fell into, and the number of steps.

    `loss_of` makes the loss of protons with given charges: a bound pair is neutral, so both drop
    out. Each unit goes down its own gradient by a share of its distance to the next charge, and
    only if the loss falls; a share of 0 means that they are stuck.
    """
    count, share, steps = len(protons), 0.1, 0
    held: dict[int, int] = {}
    while len(held) < count and steps < 3000 and share > 1e-12:
        free = np.array([i not in held for i in range(count)], dtype=float)
        unpaired = np.array([j not in held.values() for j in range(count)], dtype=float)
        loss = loss_of(unpaired)
        value, slope = loss.value_and_gradient(Student(places, free))
        gaps = distances(places, protons) + np.where(unpaired, 0, np.inf)
        among = distances(places, places) + np.where(free, 0, np.inf)
        np.fill_diagonal(among, np.inf)
        room = np.minimum(gaps.min(axis=1), among.min(axis=1))
        push = np.asarray(slope.positions)
        lengths = np.maximum(np.linalg.norm(push, axis=1), 1e-300)
        moved = places - np.where(free, share * room / lengths, 0.0)[:, None] * push
        if loss.manifold.name == "sphere":
            moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        if float(loss.value_and_gradient(Student(moved, free))[0]) < float(value):
            places, share = moved, min(0.2, 1.5 * share)
        else:
            share /= 2
        steps += 1
        for i, j in zip(*np.nonzero(distances(places, protons) < BOUND), strict=True):
            if i not in held and j not in held.values():
                held[int(i)] = int(j)
    return held, steps


class Descended(NamedTuple):
    """Over the last steps: the largest distance from the protons, and the longest step."""

    farthest: float
    longest: float


def descended(
    loss: PopulationLoss, student: Student, protons: np.ndarray, size: float, count: int = 600
) -> Descended:
    """Gradient descent with a constant step (EPD, Algorithm 1), unit i starting near proton i."""
    farthest = longest = 0.0
    places, weights = np.asarray(student.positions), np.asarray(student.weights)
    for step in range(count):
        slope = loss.gradient(Student(places, weights))
        if step >= count - 100:
            farthest = max(farthest, float(np.max(np.abs(places - protons))))
            longest = max(longest, size * float(np.max(np.abs(slope.positions))))
        places = places - size * np.asarray(slope.positions)
        weights = weights - size * np.asarray(slope.weights)
    return Descended(farthest, longest)
