"""Gradient descent with projection: x <- Pi_M(x - alpha grad L(x)).

EPD, Algorithm 1; Full, Algorithm 4. With alpha <= 1/B2, B2 a bound of the Hessian near x, every
step lowers L by at least alpha |grad L|^2 / 2 (Full, Lemma D.1): adaptive steps are the longest of
a halving sequence that do.

Where units meet at a cusp of the potential there is no such bound: the gradient of a unit that
passes a charge turns round however short its step is, and the steps of all units would shrink for
the sake of one that has arrived. So each unit has a room, the longest way that it may go in a step.
A unit whose gradient has turned by more than a right angle has gone too far: its room is half the
way that it went. One that is held back and still goes straight on gets twice its room (`Rooms` in
`steps.py`). Nobody needs to know where the charges are.
"""

from __future__ import annotations

from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import RUNNING, Method, State, Stop, accepted, dot, move
from earnshaw.descent.steps import (
    GROWTH,
    Steps,
    Trial,
    attempt,
    backtrack,
    least_size,
    state_after,
    within_rooms,
)
from earnshaw.energy.objective import Objective


class GradientDescent(Method):
    """Stops where |grad L| <= tolerance, or where no step keeps the promise of Lemma D.1."""

    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array = eqx.field(default=1e-8, converter=jnp.asarray)

    def first_step_size(self) -> Array:
        return jnp.asarray(self.steps.first)

    def step(self, objective: Objective, state: State, key: Array) -> State:
        trial = gradient_step(objective, state, self.steps)
        moved = state_after(state, trial, trial.step_size)
        small = moved.gradient_norm <= self.tolerance
        stop = jnp.where(small, Stop.STATIONARY.code, RUNNING)
        stop = jnp.where(trial.good, stop, Stop.NO_DECREASE.code)
        return accepted(state, moved, trial.good, stop)


def gradient_step(objective: Objective, state: State, steps: Steps) -> Trial:
    """One step down the gradient, of constant size or with the decrease of Lemma D.1.

    Where units have rooms each has its own step size alpha_i <= alpha, and the decrease is half the
    sum of alpha_i |grad_i L|^2.
    """
    if steps.size is not None:
        student = move(objective, state.student, state.gradient, -steps.size)
        return attempt(objective, student, steps.size, lambda value: jnp.asarray(True))
    least = least_size(state.student, state.gradient)
    if steps.cusps:
        return _step_with_room(objective, state, least)

    def after(size: Array) -> Student:
        return move(objective, state.student, state.gradient, -size)

    def enough(size: Array, value: Array) -> Array:
        return value <= state.value - size * dot(state.gradient, state.gradient) / 2

    return backtrack(objective, after, enough, GROWTH * state.step_size, least)


def _step_with_room(objective: Objective, state: State, least: Array) -> Trial:
    """The same with a room for each unit: after a refused step those shrink that have turned round.

    Only where none has is the step of all halved.
    """
    speed = jnp.linalg.norm(state.gradient.positions, axis=1)
    # Beyond this size no unit goes further, and if no weight moves, nothing changes: a size that
    # only ever grew would end up infinite, and halving it would never end.
    useful = jnp.max(state.room / jnp.maximum(speed, 1e-300), initial=0.0)
    still = jnp.all(state.gradient.weights == 0)
    first = GROWTH * state.step_size
    first = jnp.where(still, jnp.minimum(first, useful), first)

    def tried(size: Array, room: Array) -> Trial:
        rooms = within_rooms(state, room, size)
        student = move(objective, state.student, rooms.direction, -size)
        least = state.value - rooms.promised
        trial = attempt(objective, student, size, lambda value: value <= least)
        room, at_fault = rooms.after(state, trial)
        next_size = jnp.where(trial.good | at_fault, size, size / 2)
        return trial._replace(step_size=next_size, room=room)

    def searching(last: Trial) -> Array:
        return ~last.good & (last.step_size > least)

    # Not a trial yet, so that the objective is compiled only once.
    nothing = jax.tree.map(jnp.zeros_like, state.gradient)
    untried = Trial(
        state.student,
        jnp.asarray(jnp.inf),
        nothing,
        jnp.maximum(first, 2 * least),
        jnp.asarray(False),
        state.room,
    )
    return jax.lax.while_loop(
        searching, lambda last: tried(last.step_size, cast(Array, last.room)), untried
    )
