"""Hessian descent: x <- x + beta v, v the direction of the smallest Hessian eigenvalue lambda.

    beta = -alpha |lambda| sign(grad L(x).v),    sign(0) = +1.

Full, Algorithm 1, which prints -alpha lambda: for lambda < 0 that is uphill, and sign(0) = 0 would
stay on an exact saddle (mathematics.md, error 1). With alpha <= 1/B3, B3 a Lipschitz constant of
the Hessian near x, every step from lambda < 0 lowers L by at least alpha^2 |lambda|^3 / 3 (Full,
Lemma D.2, corrected: mathematics.md, error 2). Of the eigenvector the proof needs only
v.H v = lambda.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent._curvature import SoftMode, softest_mode
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted, dot, move
from earnshaw.descent.steps import Steps, Trial, attempt, backtrack, least_size, state_after
from earnshaw.energy.objective import Objective


class HessianDescent(Method):
    """Stops where no curvature is below -tolerance: converged if the gradient is small there too.

    Alone it can go no further from there, nor from where no step keeps the promise of Lemma D.2.
    """

    looks_at_curvature: ClassVar[bool] = True
    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)

    def first_step_size(self) -> Array:
        return jnp.asarray(self.steps.first)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        mode = softest_mode(objective, state.student)
        state = with_curvature(state, mode)

        def onward() -> State:
            trial = curvature_step(objective, state, mode, self.steps)
            stop = jnp.where(trial.good, RUNNING, Stop.NO_DECREASE.code)
            return accepted(state, state_after(state, trial, trial.step_size), trial.good, stop)

        def end() -> State:
            # A Hessian that is not finite shows no way down, and is no minimum either.
            flat = (state.gradient_norm <= self.tolerance) & ~jnp.isnan(mode.value)
            stop = jnp.where(flat, Stop.CONVERGED.code, Stop.NO_DECREASE.code)
            return eqx.tree_at(lambda state: state.stop, state, stop)

        return jax.lax.cond(mode.value < -self.tolerance, onward, end)


def curvature_step(objective: Objective, state: State, mode: SoftMode, steps: Steps) -> Trial:
    """One step along `mode`, of constant alpha or with the decrease of Lemma D.2; lambda < 0."""
    curvature = jnp.abs(mode.value)
    downhill = jnp.where(dot(state.gradient, mode.direction) < 0, 1.0, -1.0)

    def after(alpha: Array) -> Student:
        return move(objective, state.student, mode.direction, downhill * alpha * curvature)

    if steps.size is not None:
        return attempt(objective, after(steps.size), steps.size, lambda value: jnp.asarray(True))
    return backtrack(
        objective,
        after,
        # As a difference: a promise below the rounding of L is not kept by standing still.
        lambda alpha, value: state.value - value >= alpha**2 * curvature**3 / 3,
        1 / curvature,  # a step of length 1: 1/B3 says nothing of the next, elsewhere
        least_size(state.student, mode.direction) / curvature,
    )


def with_curvature(state: State, mode: SoftMode) -> State:
    """The state, knowing its curvature."""
    return eqx.tree_at(lambda state: state.smallest_eigenvalue, state, mode.value)
