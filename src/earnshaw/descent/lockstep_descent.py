"""Gradient descent for many starts in lockstep: one evaluation of the loss an iteration.

    x <- Pi_M(x - alpha grad L(x))    if L falls by at least alpha |grad L|^2 / 2,

the decrease that Full, Lemma D.1 promises for alpha <= 1/B2; then alpha grows by a quarter, else it
is halved and x stays. `GradientDescent` searches for alpha inside a step, which makes all starts of
a batch wait for the slowest; here a refused step is simply an iteration.

Near a minimum the decrease drowns in the rounding of L, while the gradient still tells up from
down. For a quadratic L the promise is kept exactly if the old and the new gradient make no obtuse
angle, grad L(x - alpha g).g >= 0: where L is equal to rounding, that decides.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import RUNNING, Method, State, Stop, dot, move, norm
from earnshaw.descent.steps import attempt, within_rooms
from earnshaw.energy.objective import Gradient, Objective

FIRST = 1.25  # the step size tried first
GROWTH = 1.25  # of the step size after a step that was accepted
SHRINKAGE = 0.5  # of the step size after one that was refused
ROUNDING = 64 * float(np.finfo(float).eps)  # of a loss, relative to its terms


class LockstepDescent(Method):
    """Stops where |grad L| <= tolerance; a step that is refused leaves a start where it is.

    With `cusps`, each unit has a room of its own, as in `gradient_descent.py`: after a refused step
    the rooms shrink of units that have turned round, and the step size only if none has.
    """

    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)
    cusps: bool = eqx.field(static=True, default=False)

    def init(self, objective: Objective, student: Student) -> State:
        state = super().init(objective, student)
        return eqx.tree_at(lambda s: s.stop, state, self._stop(state.gradient))

    def first_step_size(self) -> Array:
        return jnp.asarray(FIRST)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        size = state.step_size
        rooms = within_rooms(state, state.room, size)
        student = move(objective, state.student, rooms.direction, -size)
        enough = state.value - rooms.promised
        trial = attempt(objective, student, size, lambda value: value <= enough)
        value, gradient = trial.value, trial.gradient
        rounding = ROUNDING * jnp.maximum(jnp.abs(state.value), jnp.abs(objective.empty_value()))
        level = (jnp.abs(value - state.value) <= rounding) & (dot(gradient, rooms.direction) >= 0)
        finite = jnp.isfinite(value) & jnp.isfinite(dot(gradient, gradient))
        good = finite & (trial.good | level)
        room, at_fault = state.room, jnp.asarray(False)
        if self.cusps:
            room, at_fault = rooms.after(state, trial._replace(good=good))
        # Where every unit is held back, a larger step size would change nothing, and only be in
        # the way later.
        growth = jnp.where(jnp.all(rooms.shares < 1), 1.0, GROWTH)
        shrinkage = jnp.where(at_fault, 1.0, SHRINKAGE)
        there = (student, value, gradient, growth * size, self._stop(gradient))
        here = (state.student, state.value, state.gradient, shrinkage * size, state.stop)
        chosen = jax.tree.map(lambda new, old: jnp.where(good, new, old), there, here)
        return eqx.tree_at(
            lambda s: (s.student, s.value, s.gradient, s.step_size, s.stop, s.room),
            state,
            (*chosen, room),
        )

    def _stop(self, gradient: Gradient) -> Array:
        return jnp.where(norm(gradient) <= self.tolerance, Stop.STATIONARY.code, RUNNING)
