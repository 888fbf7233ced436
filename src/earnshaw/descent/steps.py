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
from earnshaw.descent.method import RUNNING, State
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


def shortened(room: Array, direction: Gradient, size: Array) -> tuple[Gradient, Array]:
    """The direction, less for units that a step of `size` would take beyond their `room` (k,).

    Also the share of its step that each unit keeps, (k,).
    """
    length = size * jnp.linalg.norm(direction.positions, axis=1)
    shares = jnp.minimum(1.0, room / jnp.maximum(length, 1e-300))
    return Gradient(shares[:, None] * direction.positions, direction.weights), shares


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
