"""Perturbed gradient descent: gradient steps, and a random push where the gradient is small.

    if |grad L| <= eps and there was no push in the last `pause` steps:
        in M_eps: return x;    else  x <- Pi_M(x + xi),   xi uniform in the ball of radius r
    else:
        x <- Pi_M(x - alpha grad L(x))

Jin, Ge, Netrapalli, Kakade, Jordan, "How to escape saddle points efficiently", 2017, Algorithm 2,
which Full (Section 1.3) names as the alternative to Hessian descent. Two things differ. They see no
Hessian: a push after which L has not fallen enough for `pause` steps is their sign of a minimum.
Here the curvature is looked at before each push, so that the run ends in M_eps, or at the limit
and says so. And a push is an iteration of its own.

Near a saddle with smallest eigenvalue -gamma a push grows by (1 + alpha gamma) a step: `pause` must
be some multiple of log(1/r)/(alpha gamma), in their theorem alpha = c/B2 and
pause = chi B2/(c^2 sqrt(B3 eps)), chi a logarithm.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent._curvature import softest_mode
from earnshaw.descent.gradient_descent import gradient_step
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted, move
from earnshaw.descent.noisy_sgd import unit_noise
from earnshaw.descent.steps import Steps, state_after
from earnshaw.energy.objective import Gradient, Objective, freedom


class RestedState(State):
    """A state that knows how many steps ago the last push was; the first may come at once."""

    rested: Array


class PerturbedGD(Method):
    """Stops in M_tolerance, or where no step keeps the promise of Lemma D.1.

    Args:
        steps: of gradient descent, constant or adaptive.
        tolerance: eps, of gradient and curvature.
        radius: r, of the ball that a push is drawn from.
        pause: steps between two pushes.
    """

    looks_at_curvature: ClassVar[bool] = True
    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array = eqx.field(default=1e-6, converter=jnp.asarray)
    radius: Array = eqx.field(default=1e-3, converter=jnp.asarray)
    pause: Array = eqx.field(default=50, converter=jnp.asarray)

    def init(self, objective: Objective, student: Student) -> RestedState:
        before = super().init(objective, student)
        return _rested(before, jnp.asarray(self.pause, dtype=int))

    def first_step_size(self) -> Array:
        return jnp.asarray(self.steps.first)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        assert isinstance(state, RestedState)
        still = (state.gradient_norm <= self.tolerance) & (state.rested >= self.pause)
        return jax.lax.cond(
            still,
            lambda: self._push_or_end(objective, state, key),
            lambda: self._descend(objective, state),
        )

    def _descend(self, objective: Objective, state: RestedState) -> RestedState:
        trial = gradient_step(objective, state, self.steps)
        # A gradient of 0 asks for no size, and doubling it for ever would lose the next.
        size = jnp.where(state.gradient_norm > 0, trial.step_size, state.step_size)
        rested = state.rested + 1
        moved = _rested(state_after(state, trial, size), rested)
        stop = jnp.where(trial.good, RUNNING, Stop.NO_DECREASE.code)
        return _rested(accepted(state, moved, trial.good, stop), rested)

    def _push_or_end(self, objective: Objective, state: RestedState, key: Array) -> RestedState:
        smallest = softest_mode(objective, state.student).value
        here = eqx.tree_at(lambda s: s.smallest_eigenvalue, state, smallest)

        def push() -> RestedState:
            noise = ball_noise(objective, state.student, key)
            student = move(objective, state.student, noise, self.radius)
            value, gradient = objective.value_and_gradient(student)
            none = jnp.zeros_like(state.rested)
            pushed = eqx.tree_at(
                lambda s: (s.student, s.value, s.gradient), here, (student, value, gradient)
            )
            going = jnp.asarray(RUNNING)
            return _rested(accepted(here, pushed, jnp.asarray(True), going), none)

        def end() -> RestedState:
            # A Hessian that is not finite shows no minimum.
            stop = jnp.where(jnp.isnan(smallest), Stop.NO_DECREASE.code, Stop.CONVERGED.code)
            return eqx.tree_at(lambda s: s.stop, here, stop)

        return jax.lax.cond(smallest < -self.tolerance, push, end)


def _rested(state: State, steps: Array) -> RestedState:
    """The state with its count of steps since the last push."""
    known = {field.name: getattr(state, field.name) for field in dataclasses.fields(State)}
    return RestedState(**known, rested=steps)


def ball_noise(objective: Objective, student: Student, key: Array) -> Gradient:
    """A tangent step, uniform in the unit ball of all coordinates that may move."""
    for_direction, for_length = jax.random.split(key)
    count = max(freedom(objective, student), 1)
    length = jax.random.uniform(for_length) ** (1 / count)
    direction = unit_noise(objective, student, for_direction)
    return Gradient(length * direction.positions, length * direction.weights)
