"""Node-wise gradient descent with output weights optimised at every step.

    for i = 1 .. k:
        sample theta_i until (dL/da_i)^2 >= eps/2, at most `tries` times
        repeat:  a_i = its best value;  theta_i <- Pi_M(theta_i - alpha (grad L + n))
        refit all charges placed so far

EPD, Algorithm 3 and Theorems 4.4, 4.5, with the corrections of mathematics.md, error 15: the
charge's step is 1/(d2L/da2), which is exact; the loop ends by its own test and not by SGD's; the
last step moves the placed charges only, and finds their minimum. The noise n of SGD is part of
constant steps. Adaptive steps have none: they descend on min over a of L, which has no use for it
but at saddles.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent._curvature import softest_mode
from earnshaw.descent._sequential import Sequential, best_of
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted, move
from earnshaw.descent.nodes import Nodes, Starts
from earnshaw.descent.noisy_sgd import unit_noise
from earnshaw.descent.steps import GROWTH, Steps, attempt, backtrack, least_size, state_after
from earnshaw.descent.theory import plan
from earnshaw.energy.objective import Gradient, Objective


class OptimalChargeGD(Method):
    """One unit: exact charge, then a step of its position. Ends in M_tolerance."""

    looks_at_curvature: ClassVar[bool] = True
    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)

    def first_step_size(self) -> Array:
        return jnp.asarray(self.steps.first)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        slope = Gradient(state.gradient.positions, jnp.zeros_like(state.gradient.weights))
        if self.steps.size is not None:
            noise = unit_noise(objective, state.student, key).positions
            slope = Gradient(slope.positions + noise, slope.weights)
        square = jnp.sum(slope.positions**2)

        def after(size: Array) -> Student:
            return objective.refit(move(objective, state.student, slope, -size))[0]

        if self.steps.size is not None:
            size = self.steps.size
            trial = attempt(objective, after(size), size, lambda value: jnp.asarray(True))
        else:
            trial = backtrack(
                objective,
                after,
                lambda size, value: value <= state.value - size * square / 2,
                GROWTH * state.step_size,
                least_size(state.student, slope),
            )
        moved = state_after(state, trial, trial.step_size)

        def looked() -> tuple[Array, Array]:
            smallest = softest_mode(objective, moved.student).value
            level = smallest >= -self.tolerance
            return smallest, jnp.where(level, Stop.CONVERGED.code, RUNNING)

        def not_looked() -> tuple[Array, Array]:
            return state.smallest_eigenvalue, jnp.asarray(RUNNING)

        small = moved.gradient_norm <= self.tolerance
        smallest, stop = jax.lax.cond(small, looked, not_looked)
        moved = eqx.tree_at(lambda s: s.smallest_eigenvalue, moved, smallest)
        stop = jnp.where(trial.good, stop, Stop.NO_DECREASE.code)
        return accepted(state, moved, trial.good, stop)


class NodeWiseGD(Sequential):
    """Algorithm 3, corrected."""

    starts: Starts = eqx.field(kw_only=True)
    limit: int = eqx.field(static=True)
    iterations: int = eqx.field(static=True, default=20_000)
    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)
    by_theory: bool = eqx.field(static=True, default=False)
    enough: float = eqx.field(static=True, default=1e-2)
    tries: int = eqx.field(static=True, default=256)

    def first(self, left: Objective, nodes: Nodes) -> Student:
        """The first sample with (dL/da)^2 = 4 C^2 >= enough/2 of the loss left, else the best."""
        seed, now = int(nodes.seed), int(nodes.round)
        points = self.starts.draw(seed, now, self.tries, left.dim, nodes.places)
        there = left.free_units(points)
        least = jnp.log(self.enough / 8 * jnp.maximum(nodes.loss, 0.0))
        good = jnp.flatnonzero(there.log_savings >= least)
        chosen = points[int(good[0])][None] if good.size else points
        return best_of(left, chosen)

    def inner(self, left: Objective, start: Student) -> Method:
        steps = self.steps
        if self.by_theory:
            steps = plan(left, start, float(self.tolerance))[0].steps()
        return OptimalChargeGD(steps=steps, tolerance=self.tolerance)

    def settle(self, objective: Objective, nodes: Nodes) -> Nodes:
        """All placed charges at their best."""
        return nodes.with_student(*objective.refit(nodes.student, nodes.used))
