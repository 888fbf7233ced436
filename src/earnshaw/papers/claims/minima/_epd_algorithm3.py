"""EPD's Algorithm 3 on the sphere: units placed one by one, each with its best charge throughout.

With its best charge a free unit saves C^2/Phi0, C the potential of what is left; so descent on the
loss is ascent on that saving. After each unit all charges are refitted.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.descent.node_wise_gd import NodeWiseGD
from earnshaw.descent.nodes import begin_nodes, run_nodes, usual_starts
from earnshaw.energy.objective import Objective
from earnshaw.papers.claims.minima._random_points import directions

STARTS, CLIMB = 32, 200


class Placed(NamedTuple):
    """The student, and for each unit the mean of C^2 over random points before it was placed."""

    student: Student
    mean_savings: list[float]


def placed(
    loss: Objective, units: int, seed: int, starts: int = STARTS, climb: int = CLIMB
) -> Placed:
    """Algorithm 3 from the objective's own pieces: `left_by`, `free_units` and `refit`.

    `loss` may be that of samples. Each unit begins at the best of a few random points. Units to
    come have weight 0, so that shapes do not change.
    """
    rng = np.random.default_rng(seed)
    places, weights = directions(rng, units, loss.dim), np.zeros(units)
    means: list[float] = []
    for unit in range(units):
        left = loss.left_by(Student(places, weights))
        points = directions(rng, starts, loss.dim)
        savings, _ = _savings(left, points)
        means.append(float(np.mean(np.exp(savings))))
        places[unit] = _climbed(left, points, climb)[np.argmax(savings)]
        fitted = loss.refit(Student(places, weights), jnp.arange(units) <= unit)[0]
        weights = np.array(fitted.weights)
    return Placed(Student(places, weights), means)


def placed_by_the_library(loss: Objective, units: int, seed: int) -> Student:
    """The library's own Algorithm 3."""
    starts = usual_starts(loss.manifold, loss.dim, True)
    method = NodeWiseGD(starts=starts, limit=units)
    nodes, _ = run_nodes(method, loss, begin_nodes(loss, units, seed))
    return nodes.result()


def recovery(student: Student, protons: np.ndarray) -> tuple[float, bool]:
    """The largest 1 - |cos| between a unit and its proton; whether each proton has a unit."""
    cosines = np.abs(np.asarray(student.positions) @ protons.T)
    owner = np.argmax(cosines, axis=1)
    return float(np.max(1 - np.max(cosines, axis=1))), len(set(owner)) == len(protons)


def _climbed(left: Objective, points: np.ndarray, climb: int) -> np.ndarray:
    """Uphill on log(C^2/Phi0) along great circles, with steps that grow or are halved."""
    sizes = np.full(len(points), 0.1)
    height, slope = _savings(left, points)
    for _ in range(climb):
        norms = np.linalg.norm(slope, axis=1)
        ahead = slope / np.maximum(norms, 1e-300)[:, None]
        lengths = np.minimum(sizes, norms)[:, None]
        trial = np.cos(lengths) * points + np.sin(lengths) * ahead
        trial /= np.linalg.norm(trial, axis=1, keepdims=True)
        reached, next_slope = _savings(left, trial)
        better = reached > height
        sizes *= np.where(better, 1.5, 0.5)
        points = np.where(better[:, None], trial, points)
        slope = np.where(better[:, None], next_slope, slope)
        height = np.where(better, reached, height)
    return points


def _savings(left: Objective, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    there = left.free_units(points)
    return np.asarray(there.log_savings), np.asarray(there.gradients)
