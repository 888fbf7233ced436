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
from earnshaw.descent.steps import shortened
from earnshaw.energy.objective import Gradient, Objective

FIRST = 1.25  # the step size tried first
GROWTH = 1.25  # of the step size after a step that was accepted
SHRINKAGE = 0.5  # of the step size after one that was refused
ROUNDING = 64 * float(np.finfo(float).eps)  # of a loss, relative to its terms


class LockstepDescent(Method):
    """Stops where |grad L| <= tolerance; a step that is refused leaves a start where it is.

    With `cusps`, no unit goes more than half of its way to the nearest charge.
    """

    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)
    cusps: bool = eqx.field(static=True, default=False)

    def init(self, objective: Objective, student: Student) -> State:
        state = super().init(objective, student)
        return eqx.tree_at(lambda s: s.stop, state, self._stop(state.gradient))

    def first_step_size(self) -> Array:
        return jnp.asarray(FIRST)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        size, slope = state.step_size, state.gradient
        student, downhill, limited = moved(objective, state.student, slope, -size, self.cusps)
        value, gradient = objective.value_and_gradient(student)
        promised = size * dot(downhill, slope) / 2
        rounding = ROUNDING * jnp.maximum(jnp.abs(state.value), jnp.abs(objective.empty_value()))
        level = (jnp.abs(value - state.value) <= rounding) & (dot(gradient, downhill) >= 0)
        finite = jnp.isfinite(value) & jnp.isfinite(dot(gradient, gradient))
        good = finite & ((value <= state.value - promised) | level)
        # Where every unit is held back, a larger step size would change nothing, and only be in
        # the way later.
        growth = jnp.where(limited, 1.0, GROWTH)
        after = eqx.tree_at(
            lambda s: (s.student, s.value, s.gradient, s.step_size, s.stop),
            state,
            (student, value, gradient, growth * size, self._stop(gradient)),
        )
        stay = eqx.tree_at(lambda s: s.step_size, state, SHRINKAGE * size)
        return jax.tree.map(lambda new, old: jnp.where(good, new, old), after, stay)

    def _stop(self, gradient: Gradient) -> Array:
        return jnp.where(norm(gradient) <= self.tolerance, Stop.STATIONARY.code, RUNNING)


def moved(
    objective: Objective, student: Student, direction: Gradient, length: Array, cusps: bool
) -> tuple[Student, Gradient, Array]:
    """The student after a tangent step `length * direction`, shortened where there are `cusps`.

    Also the direction that was taken, and whether every unit was held back.
    """
    limited = jnp.asarray(False)
    if cusps:
        direction, shares = shortened(objective.clearance(student) / 2, direction, jnp.abs(length))
        limited = jnp.all(shares < 1)
    after = move(objective, student, direction, length)
    # A unit that does not move stays on its cusp to the last bit, which normalising might change.
    moves = jnp.any(direction.positions != 0, axis=1, keepdims=True)
    positions = jnp.where(moves, after.positions, student.positions)
    return Student(positions, after.weights), direction, limited
