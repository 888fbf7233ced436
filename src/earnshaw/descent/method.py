"""What a descent method is: `init` and `step`, on any objective.

A method is data (its parameters) and one pure step. It knows the objective only by its protocol, so
it runs on population and empirical losses, on both manifolds. Loops, batches of starts, histories,
interruptions and files are not its business: `loop.py` has them once for all methods.

To add a method, copy `gradient_descent.py`: a frozen module with `init` (usually the one below) and
`step`, and a line in `methods.py`.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.stop import RUNNING, Stop
from earnshaw.energy.objective import Gradient, Objective


class State(eqx.Module):
    """Where one run is: the student, its loss and gradient, and whether to go on.

    `step_size` is what the last step used, so that the next need not search from scratch;
    `smallest_eigenvalue` is that of the Hessian where the method last looked, else NaN; `stop` is
    the code of a `Stop`, 0 while running.
    """

    student: Student
    value: Array
    gradient: Gradient
    step_size: Array
    smallest_eigenvalue: Array
    stop: Array

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
        unknown = jnp.asarray(jnp.nan)
        return State(
            student, value, gradient, self.first_step_size(), unknown, jnp.asarray(RUNNING)
        )

    def first_step_size(self) -> Array:
        """Where the search for a step begins."""
        return jnp.ones(())

    @abc.abstractmethod
    def step(self, objective: Objective, state: State, key: Array) -> State:
        """The next state, which may say that it is the last."""


def norm(direction: Gradient) -> Array:
    """|(positions, weights)|."""
    return jnp.sqrt(jnp.sum(direction.positions**2) + jnp.sum(direction.weights**2))


def dot(first: Gradient, second: Gradient) -> Array:
    """The inner product of two directions."""
    return jnp.sum(first.positions * second.positions) + jnp.sum(first.weights * second.weights)


def move(objective: Objective, student: Student, direction: Gradient, length: Array) -> Student:
    """The student after a tangent step `length * direction`, back on the manifold."""
    positions = objective.manifold.retract(student.positions, length * direction.positions)
    return Student(positions, student.weights + length * direction.weights)


def is_finite(state: State) -> Array:
    """Whether every number of the student, its loss and its gradient is finite."""
    parts = (state.value, state.gradient.positions, state.gradient.weights)
    places = (state.student.positions, state.student.weights)
    return jnp.all(jnp.asarray([jnp.all(jnp.isfinite(part)) for part in (*parts, *places)]))


def settled(before: State, after: State, good: Array, stop: Array) -> State:
    """`after` if the step was good, else `before`; ended as `stop` says, or as diverged."""
    finite = is_finite(after)
    chosen = jax.tree.map(lambda old, new: jnp.where(good & finite, new, old), before, after)
    ended = jnp.where(finite, stop, Stop.DIVERGED.code)
    return eqx.tree_at(lambda state: state.stop, chosen, ended)
