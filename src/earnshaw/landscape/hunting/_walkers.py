"""Where the starts of a hunt are: one row for each in arrays on the host, as files have them.

Batches of rows become the states of a descent method (`descent/lockstep_descent.py`) and come back.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.descent.lockstep_descent import FIRST
from earnshaw.descent.method import RUNNING, State, Stop
from earnshaw.energy.objective import Gradient


class Walkers(NamedTuple):
    """Arrays with the number of starts s as their first axis.

    A start that has not been evaluated yet has 0 iterations, an infinite value and no gradient.
    """

    positions: np.ndarray  # (s, k, d)
    weights: np.ndarray  # (s, k)
    value: np.ndarray  # the loss there, (s,)
    by_positions: np.ndarray  # the Riemannian gradient of what moves, (s, k, d)
    by_weights: np.ndarray  # (s, k)
    step_size: np.ndarray  # (s,)
    iterations: np.ndarray  # evaluations of the loss so far, (s,)
    room: np.ndarray  # how far each unit may go in a step, (s, k)

    def take(self, chosen: np.ndarray) -> Walkers:
        """Some of the walkers."""
        return Walkers(*(rows[chosen] for rows in self))

    def put(self, chosen: np.ndarray, moved: Walkers) -> None:
        """Write some of the walkers in place."""
        for rows, new in zip(self, moved, strict=True):
            rows[chosen] = new

    def student(self, index: int) -> Student:
        """One of them."""
        return Student(self.positions[index], self.weights[index])

    def states(self, tolerance: float) -> State:
        """Those of a descent that stops where the gradient is at most `tolerance`."""
        still = self.gradient_norms <= tolerance
        return State(
            Student(self.positions, self.weights),
            jnp.asarray(self.value),
            Gradient(jnp.asarray(self.by_positions), jnp.asarray(self.by_weights)),
            jnp.asarray(self.step_size),
            jnp.full(len(self.value), jnp.nan),
            jnp.asarray(np.where(still, Stop.STATIONARY.code, RUNNING)),
            jnp.asarray(self.room),
        )

    @property
    def gradient_norms(self) -> np.ndarray:
        """|grad L| of each, (s,); infinite before the first evaluation."""
        with np.errstate(over="ignore"):  # where the loss has no lower bound, slopes have none
            square = np.sum(self.by_positions**2, axis=(1, 2)) + np.sum(self.by_weights**2, axis=1)
        return np.where(np.isfinite(self.value), np.sqrt(square), np.inf)


def walkers_of(states: State, iterations: np.ndarray) -> Walkers:
    """Those of a batch of states, after so many iterations (s,)."""
    student, gradient = states.student, states.gradient
    return Walkers(
        np.array(student.positions),
        np.array(student.weights),
        np.array(states.value),
        np.array(gradient.positions),
        np.array(gradient.weights),
        np.array(states.step_size),
        iterations,
        np.array(states.room),
    )


def unevaluated(positions: np.ndarray, weights: np.ndarray) -> Walkers:
    """Walkers at positions (s, k, d) and weights (s, k), before anything is known of them."""
    count = len(positions)
    return Walkers(
        np.array(positions, dtype=float),
        np.array(weights, dtype=float),
        np.full(count, np.inf),
        np.zeros(positions.shape),
        np.zeros(weights.shape),
        np.full(count, FIRST),
        np.zeros(count, dtype=np.int64),
        np.full(weights.shape, np.inf),
    )
