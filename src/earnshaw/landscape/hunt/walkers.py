"""Many starts going down at once: gradient descent, one evaluation of the loss an iteration.

    x <- Pi_M(x - alpha grad L(x))    if L falls by at least alpha |grad L|^2 / 2,

the decrease that Full, Lemma D.1 promises for alpha <= 1/B2; then alpha grows by a quarter, else it
is halved and x stays. A search for the step inside each iteration would make all starts of a batch
wait for the slowest; so a refused step simply counts as an iteration.

Near a minimum the decrease drowns in the rounding of L, while the gradient still tells up from
down. For a quadratic L the promise is kept exactly if the old and the new gradient make no obtuse
angle, grad L(x - alpha g).g >= 0: where L is equal to rounding, that decides.

`advance` is compiled once for one size of batch, with the loss in it once. A walker that has not
been evaluated has the value inf, so that its first step is accepted wherever it leads: with a
gradient of 0 it stands still, and with minus a step as its gradient it makes that step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import dot, move
from earnshaw.energy.objective import Gradient, Objective

FIRST = 1.0  # the step size tried first
GROWTH, SHRINKAGE = 1.25, 0.5
ROUNDING = 64 * float(np.finfo(float).eps)  # of a loss, relative to its terms


class Walkers(NamedTuple):
    """Where s starts are: arrays with s as their first axis, NumPy's on the host."""

    positions: Any  # (s, k, d)
    weights: Any  # (s, k)
    value: Any  # the loss there, inf before the first evaluation
    by_positions: Any  # the Riemannian gradient of what moves, (s, k, d)
    by_weights: Any  # (s, k)
    step_size: Any
    iterations: Any  # evaluations so far

    def take(self, chosen: np.ndarray) -> Walkers:
        """Some of the walkers."""
        return Walkers(*(part[chosen] for part in self))

    def put(self, chosen: np.ndarray, moved: Walkers) -> None:
        """Write some of the walkers in place."""
        for part, new in zip(self, moved, strict=True):
            part[chosen] = np.asarray(new)[: len(chosen)]

    def student(self, index: int) -> Student:
        """One of them."""
        return Student(self.positions[index], self.weights[index])

    @property
    def gradient_norms(self) -> np.ndarray:
        """|grad L| of each, inf before the first evaluation."""
        square = np.sum(self.by_positions**2, axis=(1, 2)) + np.sum(self.by_weights**2, axis=1)
        return np.where(np.isfinite(self.value), np.sqrt(square), np.inf)


def fresh(
    positions: np.ndarray, weights: np.ndarray, step: tuple[np.ndarray, np.ndarray] | None = None
) -> Walkers:
    """Walkers at positions (s, k, d) and weights (s, k), not yet evaluated; about to make a step.

    The `step`, in positions and weights, is tangent to the manifold; None stands for 0.
    """
    count = len(positions)
    along = (np.zeros(positions.shape), np.zeros(weights.shape)) if step is None else step
    return Walkers(
        np.array(positions, dtype=float),
        np.array(weights, dtype=float),
        np.full(count, np.inf),
        -along[0],
        -along[1],
        np.full(count, FIRST),
        np.zeros(count, dtype=np.int64),
    )


@eqx.filter_jit
def advance(
    objective: Objective, walkers: Walkers, steps: Array, tolerance: Array, cusps: bool
) -> Walkers:
    """All walkers after `steps` evaluations, or where their gradient is at most `tolerance`.

    With `cusps`, no unit goes more than half of its way to the nearest charge (`descent/steps.py`).
    """

    def one(state: tuple[Array, Walkers]) -> tuple[Array, Walkers]:
        done, now = state
        return done + 1, jax.vmap(lambda walker: _step(objective, walker, tolerance, cusps))(now)

    def going(state: tuple[Array, Walkers]) -> Array:
        done, now = state
        return (done < steps) & jnp.any(jax.vmap(lambda w: _walks(w, tolerance))(now))

    return jax.lax.while_loop(going, one, (jnp.zeros_like(steps), walkers))[1]


def _walks(walker: Walkers, tolerance: Array) -> Array:
    square = jnp.sum(walker.by_positions**2) + jnp.sum(walker.by_weights**2)
    return jnp.isinf(walker.value) | (square > tolerance**2)


def _step(objective: Objective, walker: Walkers, tolerance: Array, cusps: bool) -> Walkers:
    """One walker after one evaluation."""
    student = Student(walker.positions, walker.weights)
    slope = Gradient(walker.by_positions, walker.by_weights)
    downhill, growth = slope, jnp.asarray(GROWTH)
    if cusps:
        downhill, limited = _shortened(objective, student, slope, walker.step_size)
        growth = jnp.where(limited, 1.0, GROWTH)
    trial = move(objective, student, downhill, -walker.step_size)
    # A unit that does not move stays on its cusp to the last bit, which normalising might change.
    moves = jnp.any(downhill.positions != 0, axis=1, keepdims=True)
    trial = Student(jnp.where(moves, trial.positions, student.positions), trial.weights)
    value, gradient = objective.value_and_gradient(trial)
    promised = walker.step_size * dot(downhill, slope) / 2
    noise = ROUNDING * jnp.maximum(jnp.abs(walker.value), jnp.abs(objective.empty_value()))
    level = (jnp.abs(value - walker.value) <= noise) & (dot(gradient, downhill) >= 0)
    finite = jnp.isfinite(value) & jnp.isfinite(dot(gradient, gradient))
    good = finite & ((value <= walker.value - promised) | level)
    moved = Walkers(
        trial.positions,
        trial.weights,
        value,
        gradient.positions,
        gradient.weights,
        growth * walker.step_size,
        walker.iterations,
    )
    stayed = walker._replace(step_size=SHRINKAGE * walker.step_size)
    after = jax.tree.map(lambda new, old: jnp.where(good, new, old), moved, stayed)
    after = after._replace(iterations=walker.iterations + 1)
    return jax.tree.map(
        lambda new, old: jnp.where(_walks(walker, tolerance), new, old), after, walker
    )


def _shortened(
    objective: Objective, student: Student, slope: Gradient, size: Array
) -> tuple[Gradient, Array]:
    """The gradient, less where a unit would come too near to a charge; whether all units would.

    Then a larger step size would change nothing, and only be in the way later.
    """
    room = objective.clearance(student) / 2
    pace = size * jnp.linalg.norm(slope.positions, axis=1)
    kept = jnp.minimum(1.0, room / jnp.maximum(pace, 1e-300))
    return Gradient(kept[:, None] * slope.positions, slope.weights), jnp.all(kept < 1)
