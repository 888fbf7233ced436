"""How long a step is: a constant, or the longest found that keeps its lemma's promise.

Adaptive steps try a length, halve it until the objective falls by what the lemma guarantees (D.1
for gradient steps, D.2 for steps along negative curvature), and try twice the length the next time.
The lemmas' constants 1/B2 and 1/B3 are thereby found, not computed; no step ever increases the
objective.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import RUNNING, State, dot
from earnshaw.energy.objective import Gradient, Objective

GROWTH = 2.0
ROUNDING = float(np.finfo(float).eps)


class Trial(NamedTuple):
    """A student, its loss and its gradient, after a step of size `step_size`.

    `room` (k,) is how far each unit may go the next time; None if the step had nothing to do with
    it.
    """

    student: Student
    value: Array
    gradient: Gradient
    step_size: Array
    good: Array  # whether the promise was kept
    room: Array | None = None


def attempt(objective: Objective, student: Student, step_size: Array, good: Any) -> Trial:
    """The trial at a student; `good(value)` says whether its value is low enough."""
    value, gradient = objective.value_and_gradient(student)
    return Trial(student, value, gradient, step_size, good(value))


def state_after(state: State, trial: Trial, step_size: Array) -> State:
    """The running state after a trial, whose next step begins with `step_size`."""
    room = state.room if trial.room is None else trial.room
    return State(
        trial.student,
        trial.value,
        trial.gradient,
        step_size,
        state.smallest_eigenvalue,
        jnp.asarray(RUNNING),
        room,
    )


def backtrack(
    objective: Objective,
    after: Callable[[Array], Student],
    enough: Callable[[Array, Array], Array],
    first: Array,
    least: Array,
) -> Trial:
    """The first of the sizes first, first/2, ... that is good; none if that gets below `least`.

    Args:
        after: the student after a step of a given size.
        enough: whether (size, value there) keeps the promise.
        first: the size to begin with.
        least: the size below which a step moves nothing.
    """

    def trial(size: Array) -> Trial:
        return attempt(objective, after(size), size, lambda value: enough(size, value))

    def searching(last: Trial) -> Array:
        return ~last.good & (last.step_size > least)

    # Not a trial yet: its double size makes the first one. So the objective is compiled only once.
    student, unknown = after(first), jnp.asarray(jnp.inf)
    slope = Gradient(jnp.zeros_like(student.positions), jnp.zeros_like(student.weights))
    untried = Trial(student, unknown, slope, 2 * jnp.maximum(first, least), jnp.asarray(False))
    return jax.lax.while_loop(searching, lambda last: trial(last.step_size / 2), untried)


class Rooms(NamedTuple):
    """A step in which no unit goes further than its room (k,), before it is tried.

    `direction` is what remains of the gradient, `ways` (k,) is how far each unit goes, `promised`
    the decrease of Lemma D.1: half the sum of alpha_i |grad_i L|^2.
    """

    room: Array
    direction: Gradient
    shares: Array  # of its step that each unit keeps, (k,)
    ways: Array
    promised: Array

    def after(self, before: State, trial: Trial) -> tuple[Array, Array]:
        """The rooms (k,) after the trial, and whether units that turned round made it fail.

        A unit whose gradient has turned by more than a right angle has gone too far: its room is
        half its way. One that was held back, in a step that was good, gets twice its room: also
        one at rest, since what it rests on may have moved away. To pass a cusp costs at most the
        way times the forces before and after; where more is missing, the step of all is too long.
        """
        # The force is the weight times a field, and it is the field that turns at a cusp.
        same = jnp.sign(trial.student.weights) * jnp.sign(before.student.weights)
        slopes = before.gradient.positions, trial.gradient.positions
        turned = (self.ways > 0) & (same * jnp.sum(slopes[0] * slopes[1], axis=1) < 0)
        held = trial.good & (self.shares < 1)
        longer = GROWTH * jnp.maximum(self.room, _standstill(before.student))
        room = jnp.where(turned, self.ways / 2, jnp.where(held, longer, self.room))
        cost = self.ways * sum(jnp.linalg.norm(slope, axis=1) for slope in slopes)
        missing = trial.value - (before.value - self.promised)
        return room, missing <= jnp.sum(jnp.where(turned, cost, 0.0))


def within_rooms(state: State, room: Array, size: Array) -> Rooms:
    """A step of `size` down the gradient with these rooms (k,).

    Units without room to move by their last bit have arrived, and rest.
    """
    speed = jnp.linalg.norm(state.gradient.positions, axis=1)
    free = jnp.where(room > _standstill(state.student), room, 0.0)
    shares = jnp.minimum(1.0, free / jnp.maximum(size * speed, 1e-300))
    direction = Gradient(shares[:, None] * state.gradient.positions, state.gradient.weights)
    promised = size * dot(direction, state.gradient) / 2
    return Rooms(room, direction, shares, shares * size * speed, promised)


def _standstill(student: Student) -> Array:
    """How far a unit has to go to change its last bit, (k,)."""
    return ROUNDING * jnp.max(jnp.abs(student.positions), axis=1)


def least_size(student: Student, direction: Gradient) -> Array:
    """The step size at which x + size * direction rounds to x."""
    size = jnp.maximum(jnp.max(jnp.abs(student.positions), initial=0.0), 1e-300)
    size = jnp.maximum(size, jnp.max(jnp.abs(student.weights), initial=0.0))
    speed = jnp.maximum(
        jnp.max(jnp.abs(direction.positions), initial=0.0),
        jnp.max(jnp.abs(direction.weights), initial=0.0),
    )
    return ROUNDING * size / jnp.where(speed > 0, speed, 1.0)


def _optional_array(size: Any) -> Array | None:
    # Arrays, not numbers, so that compiled code is shared by all sizes.
    return None if size is None else jnp.asarray(size, dtype=float)


class Steps(eqx.Module):
    """A constant `size`, or None for adaptive steps that begin with `first`.

    With `cusps`, each unit has a room of its own (`gradient_descent.py`): one that has landed on a
    cusp, whose gradient never vanishes, does not hold up the others.
    """

    size: Array | None = eqx.field(default=None, converter=_optional_array)
    first: float = 1.0
    cusps: bool = eqx.field(static=True, default=False)

    @property
    def adaptive(self) -> bool:
        """Whether the size is searched for."""
        return self.size is None
