"""Noisy SGD: x <- Pi_M(x - alpha (grad L(x) + n)), n uniform on the unit sphere.

EPD, Algorithm 4. It returns x in M_eps, that is with |grad L| <= 2 eps/3 and no curvature below
-2 eps/3 (the thirds are for L known from samples: EPD, Theorem B.7), else FAIL after T iterations.

The noise is over all tangent coordinates that may move, of all units together: its length is 1
whatever their number. Where L curves upwards the noise keeps |grad L| at about sqrt(alpha h/2), h a
mean curvature, so alpha must be of the order of eps^2/h or less for the run ever to end.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent._curvature import softest_mode
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted, move
from earnshaw.energy.objective import Gradient, Objective, direction_of, freedom


class NoisySGD(Method):
    """Stops in M_tolerance; FAIL at the limit of iterations.

    If the objective has minibatches the steps use them; the test is on the whole objective.
    """

    looks_at_curvature: ClassVar[bool] = True
    at_limit: ClassVar[Stop] = Stop.FAIL
    step_size: Array = eqx.field(default=1e-3, converter=jnp.asarray)
    tolerance: Array = eqx.field(default=1e-1, converter=jnp.asarray)

    def first_step_size(self) -> Array:
        return jnp.asarray(self.step_size, dtype=float)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        for_noise, for_batch = jax.random.split(key)
        noise = unit_noise(objective, state.student, for_noise)
        slope = stochastic_gradient(objective, state, for_batch)
        direction = Gradient(*(g + n for g, n in zip(slope, noise, strict=True)))
        student = move(objective, state.student, direction, -self.step_size)
        value, gradient = objective.value_and_gradient(student)
        moved = eqx.tree_at(
            lambda s: (s.student, s.value, s.gradient), state, (student, value, gradient)
        )
        enough = 2 * self.tolerance / 3

        def looked() -> tuple[Array, Array]:
            smallest = softest_mode(objective, student).value
            return smallest, jnp.where(smallest >= -enough, Stop.CONVERGED.code, RUNNING)

        def not_looked() -> tuple[Array, Array]:
            return state.smallest_eigenvalue, jnp.asarray(RUNNING)

        smallest, stop = jax.lax.cond(moved.gradient_norm <= enough, looked, not_looked)
        moved = eqx.tree_at(lambda state: state.smallest_eigenvalue, moved, smallest)
        return accepted(state, moved, jnp.asarray(True), stop)


def unit_noise(objective: Objective, student: Student, key: Array) -> Gradient:
    """A tangent direction, uniform on the unit sphere of all coordinates that may move."""
    gaussian = jax.random.normal(key, (freedom(objective, student),))
    length = jnp.linalg.norm(gaussian)
    return direction_of(objective, student, gaussian / jnp.where(length > 0, length, 1.0))


def stochastic_gradient(objective: Any, state: State, key: Array) -> Gradient:
    """The gradient of a minibatch where the objective has them, else of all of it."""
    if getattr(objective, "batch", None) is None:
        return state.gradient
    return objective.minibatch(key).gradient(state.student)
