"""Gradient descent with projection: x <- Pi_M(x - alpha grad L(x)).

EPD, Algorithm 1; Full, Algorithm 4. With alpha <= 1/B2, B2 a bound of the Hessian near x, every
step lowers L by at least alpha |grad L|^2 / 2 (Full, Lemma D.1): adaptive steps are the longest of
a halving sequence that do.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted, dot, move
from earnshaw.descent.steps import (
    GROWTH,
    Steps,
    Trial,
    attempt,
    backtrack,
    least_size,
    shortened,
    state_after,
)
from earnshaw.energy.objective import Objective


class GradientDescent(Method):
    """Stops where |grad L| <= tolerance, or where no step keeps the promise of Lemma D.1."""

    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)

    def first_step_size(self) -> Array:
        return jnp.asarray(self.steps.first)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        trial = gradient_step(objective, state, self.steps)
        moved = state_after(trial, state.smallest_eigenvalue, trial.step_size)
        small = moved.gradient_norm <= self.tolerance
        stop = jnp.where(small, Stop.STATIONARY.code, RUNNING)
        stop = jnp.where(trial.good, stop, Stop.NO_DECREASE.code)
        return accepted(state, moved, trial.good, stop)


def gradient_step(objective: Objective, state: State, steps: Steps) -> Trial:
    """One step down the gradient, of constant size or with the decrease of Lemma D.1.

    Where units are kept from passing cusps each has its own step size alpha_i <= alpha, and the
    decrease is half the sum of alpha_i |grad_i L|^2.
    """
    if steps.size is not None:
        student = move(objective, state.student, state.gradient, -steps.size)
        return attempt(objective, student, steps.size, lambda value: jnp.asarray(True))
    slope = jnp.linalg.norm(state.gradient.positions, axis=1)
    room = objective.clearance(state.student) / 2 if steps.cusps else jnp.full(slope.shape, jnp.inf)

    def after(size: Array) -> Student:
        downhill, _ = shortened(room, state.gradient, size)
        return move(objective, state.student, downhill, -size)

    def enough(size: Array, value: Array) -> Array:
        downhill, _ = shortened(room, state.gradient, size)
        return value <= state.value - size * dot(downhill, state.gradient) / 2

    # Beyond this size every unit stops short of a charge, and if no weight moves, nothing changes:
    # a size that only ever grew would end up infinite, and halving it would never end.
    useful = jnp.max(room / jnp.maximum(slope, 1e-300), initial=0.0)
    still = jnp.all(state.gradient.weights == 0)
    first = GROWTH * state.step_size
    first = jnp.where(still, jnp.minimum(first, useful), first)
    return backtrack(objective, after, enough, first, least_size(state.student, state.gradient))
