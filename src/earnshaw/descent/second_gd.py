"""SecondGD: gradient steps where the gradient is large, Hessian steps where it is small.

    if |grad L| >= eta:  x' = Pi_M(x - alpha grad L(x))         (Lemma D.1: - alpha eta^2 / 2)
    else:                x' = one step of Hessian descent       (Lemma D.2: - alpha^2 gamma^3 / 3)
    if L(x') > L(x) - min(alpha eta^2 / 2, alpha^2 gamma^3 / 3):  return x

Full, Algorithm 2, with the threshold and the strict ">" of mathematics.md, error 2: as printed
(gamma^3/2 and ">=") it can stop while Hessian descent still makes its guaranteed progress. Where x
is in M (|grad L| < eta and no curvature below -gamma) it stops without trying a step that nothing
promises. Adaptive steps have no common alpha: each step keeps the promise of its own lemma, or the
run stops.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.descent._curvature import softest_mode
from earnshaw.descent.gradient_descent import gradient_step
from earnshaw.descent.hessian_descent import curvature_step, with_curvature
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted
from earnshaw.descent.steps import Steps, Trial, state_after
from earnshaw.energy.objective import Objective


class SecondGD(Method):
    """Stops in M, or where a step does not decrease L as the lemmas promise.

    `smallest_eigenvalue` is that of the last place where the gradient was small.
    """

    looks_at_curvature: ClassVar[bool] = True
    steps: Steps = eqx.field(default_factory=Steps)
    eta: Array = eqx.field(default=1e-6, converter=jnp.asarray)
    gamma: Array = eqx.field(default=1e-6, converter=jnp.asarray)

    def first_step_size(self) -> Array:
        return jnp.asarray(self.steps.first)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        def by_gradient() -> State:
            trial = gradient_step(objective, state, self.steps)
            return self._taken(state, trial, trial.step_size)

        def by_curvature() -> State:
            mode = softest_mode(objective, state.student)
            here = with_curvature(state, mode)

            def onward() -> State:
                trial = curvature_step(objective, here, mode, self.steps)
                # The two kinds of step have sizes of their own: 1/B2 is remembered, 1/B3 is not.
                return self._taken(here, trial, here.step_size)

            def end() -> State:
                known = ~jnp.isnan(mode.value)
                stop = jnp.where(known, Stop.CONVERGED.code, Stop.NO_DECREASE.code)
                return eqx.tree_at(lambda state: state.stop, here, stop)

            return jax.lax.cond(mode.value < -self.gamma, onward, end)

        return jax.lax.cond(state.gradient_norm >= self.eta, by_gradient, by_curvature)

    def _taken(self, state: State, trial: Trial, step_size: Array) -> State:
        """The state after a trial, or this one if the trial does not decrease L enough."""
        enough = trial.good
        if self.steps.size is not None:
            enough = state.value - trial.value >= self.threshold(self.steps.size)
        stop = jnp.where(enough, RUNNING, Stop.NO_DECREASE.code)
        after = state_after(state, trial, step_size)
        return accepted(state, after, enough, stop)

    def threshold(self, alpha: Array) -> Array:
        """min(alpha eta^2 / 2, alpha^2 gamma^3 / 3)."""
        return jnp.minimum(alpha * self.eta**2 / 2, alpha**2 * self.gamma**3 / 3)
