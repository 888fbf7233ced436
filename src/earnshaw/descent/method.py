"""What a descent method is: `init` and `step`, on any objective; and why a run stops.

A method is data (its parameters) and one pure step. It knows the objective only by its protocol, so
it runs on population and empirical losses, on both manifolds. Loops, batches of starts, histories,
interruptions and files are not its business: `loop.py` has them once for all methods.

To add a method, copy `gradient_descent.py`: a frozen module with `init` (usually the one below) and
`step`, and a line in `methods.py`.
"""

from __future__ import annotations

import abc
from enum import StrEnum
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.numerics.fixed_order import sum_all


class Stop(StrEnum):
    """Why a run ended. `code` is what compiled loops carry; 0 stands for a run that goes on.

    A method that leaves nothing of the loss says EQUAL_FUNCTION: it cannot know more. Whether the
    teacher is RECOVERED, unit by unit, is for `ew.learn` to say, which compares the two. Run files
    have the codes: new reasons come last.

    Examples
    --------
    >>> import earnshaw as ew
    >>> stop = ew.learn(ew.Teacher([[0.0, 0.0]], [1.0], "gaussian"), seed=0).stop
    >>> stop == "recovered", stop.meaning
    (True, "nothing is left of the loss, and the units are the teacher's")
    """

    CONVERGED = "converged"
    STATIONARY = "stationary"
    NO_DECREASE = "no-guaranteed-decrease"
    ITERATION_LIMIT = "iteration-limit"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    FAIL = "fail"
    RECOVERED = "recovered"
    NO_NEW_UNIT = "no-new-unit"
    UNIT_LIMIT = "unit-limit"
    EQUAL_FUNCTION = "equal-function"
    STAGNANT = "stagnant"

    @property
    def code(self) -> int:
        """1, 2, ... in the order above."""
        return list(Stop).index(self) + 1

    @property
    def meaning(self) -> str:
        """One line for people."""
        return _MEANINGS[self]


RUNNING = 0

_MEANINGS = {
    Stop.CONVERGED: "in M_eps: gradient at most eps, no curvature below -eps",
    Stop.STATIONARY: "the gradient is at most eps; the curvature was not looked at",
    Stop.NO_DECREASE: "no step with its guaranteed decrease is left",
    Stop.ITERATION_LIMIT: "all allowed iterations were used",
    Stop.INTERRUPTED: "interrupted; this is what there was",
    Stop.DIVERGED: "the student left the range of finite numbers",
    Stop.FAIL: "FAIL: not in M_eps within the allowed iterations (EPD, Algorithm 4)",
    Stop.RECOVERED: "nothing is left of the loss, and the units are the teacher's",
    Stop.NO_NEW_UNIT: "no start of the last rounds led to a new unit",
    Stop.UNIT_LIMIT: "all allowed units are placed",
    Stop.EQUAL_FUNCTION: "nothing is left of the loss: the same function, of whatever units",
    Stop.STAGNANT: "the last units took too little of the loss away to be the teacher's",
}


def stop_of(code: int) -> Stop | None:
    """The reason behind a code; None for a run that goes on."""
    return None if code == RUNNING else list(Stop)[int(code) - 1]


class State(eqx.Module):
    """Where one run is: the student, its loss and gradient, and whether to go on.

    `step_size` is what the last step used, so that the next need not search from scratch;
    `smallest_eigenvalue` is that of the Hessian where the method last looked, else NaN; `stop` is
    the code of a `Stop`, 0 while running; `room` (k,) is how far each unit may go in a step, where
    the potential has cusps (`gradient_descent.py`).
    """

    student: Student
    value: Array
    gradient: Gradient
    step_size: Array
    smallest_eigenvalue: Array
    stop: Array
    room: Array

    @property
    def gradient_norm(self) -> Array:
        """|grad L|, over all that may move."""
        return norm(self.gradient)


class Method(eqx.Module):
    """One way to go down.

    `looks_at_curvature` if a step may need Hessian-vector products; `at_limit` is why a run stops
    that still goes on when all iterations are used.
    """

    looks_at_curvature: ClassVar[bool] = False
    at_limit: ClassVar[Stop] = Stop.ITERATION_LIMIT

    def init(self, objective: Objective, student: Student) -> State:
        """The state before the first step."""
        value, gradient = objective.value_and_gradient(student)
        unknown, running = jnp.asarray(jnp.nan), jnp.asarray(RUNNING)
        room = jnp.full(student.units, jnp.inf)
        return State(student, value, gradient, self.first_step_size(), unknown, running, room)

    def first_step_size(self) -> Array:
        """Where the search for a step begins."""
        return jnp.ones(())

    @abc.abstractmethod
    def step(self, objective: Objective, state: State, key: Array) -> State:
        """The next state, which may say that it is the last."""


def by_unit(mask: Array, values: Array) -> Array:
    """A mask of units (k,) that broadcasts against values (k, ...)."""
    return mask.reshape(-1, *(1,) * (values.ndim - 1))


def norm(direction: Gradient) -> Array:
    """|(positions, weights)|."""
    return jnp.sqrt(sum_all(direction.positions**2) + sum_all(direction.weights**2))


def dot(first: Gradient, second: Gradient) -> Array:
    """The inner product of two directions."""
    return sum_all(first.positions * second.positions) + sum_all(first.weights * second.weights)


def move(objective: Objective, student: Student, direction: Gradient, length: Array) -> Student:
    """The student after a tangent step `length * direction`, back on the manifold."""
    positions = objective.manifold.retract(student.positions, length * direction.positions)
    # A unit that does not move stays on its cusp to the last bit, which normalising might change.
    moves = jnp.any(direction.positions != 0, axis=-1, keepdims=True)
    positions = jnp.where(moves, positions, student.positions)
    return Student(positions, student.weights + length * direction.weights)


def is_finite(state: State) -> Array:
    """Whether every number of the student, its loss and its gradient is finite."""
    parts = (state.value, state.gradient.positions, state.gradient.weights)
    places = (state.student.positions, state.student.weights)
    return jnp.all(jnp.asarray([jnp.all(jnp.isfinite(part)) for part in (*parts, *places)]))


def accepted(before: State, after: State, good: Array, stop: Array) -> State:
    """`after` if the step was good, else `before`; ended as `stop` says, or as diverged."""
    finite = is_finite(after)
    chosen = jax.tree.map(lambda old, new: jnp.where(good & finite, new, old), before, after)
    ended = jnp.where(finite, stop, Stop.DIVERGED.code)
    return eqx.tree_at(lambda state: state.stop, chosen, ended)
