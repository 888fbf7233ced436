"""The one loop that runs every method: compiled, over a batch of starts, in pieces.

`advance` is one compiled function: it takes all starts forward to a given iteration, with no Python
on the way. The host calls it piece by piece so that a run can show progress, be interrupted and be
stored; where the pieces end changes nothing, to the last bit, because random keys belong to
iterations and histories thin themselves.

Starts are independent. Methods that may look at the curvature run one start after the other, since
a batch would pay for Hessians at every step of every start; all others run side by side (`vmap`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.history import History, empty_history, remember
from earnshaw.descent.method import Method, State
from earnshaw.descent.stop import RUNNING, Stop
from earnshaw.energy.objective import Objective

PIECE_SECONDS = 0.5  # how long a piece should take: how soon Ctrl-C is heard


class Loop(eqx.Module):
    """All that a run is at one moment: enough to go on from."""

    states: State  # of all starts, with a leading axis
    history: History
    iteration: Array
    used: Array  # iterations of each start, (starts,)
    key: Array  # of the whole run, as raw numbers


class Progress(NamedTuple):
    """What a progress bar needs: how far of how much, and a few words."""

    done: float
    total: float
    note: str


Report = Callable[[Progress], None]
Checkpoint = Callable[[Loop], None]


def begin(method: Method, objective: Objective, starts: Student, key: Array) -> Loop:
    """The loop before the first step, of `starts` with positions (s, k, d), weights (s, k)."""
    return _begin(method, objective, starts, key)


def run(
    method: Method,
    objective: Objective,
    loop: Loop,
    iterations: int,
    *,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Loop, bool]:
    """Go on until every start has stopped or used `iterations`; whether it was interrupted."""
    piece = 1
    try:
        while bool(jnp.any(loop.states.stop == RUNNING)) and int(loop.iteration) < iterations:
            began = time.perf_counter()
            until = jnp.asarray(min(iterations, int(loop.iteration) + piece))
            loop = jax.block_until_ready(advance(method, objective, loop, until))
            taken = time.perf_counter() - began
            # The first piece compiles, which says nothing of how long the next will take.
            piece = max(1, min(8 * piece, int(piece * PIECE_SECONDS / max(taken, 1e-6)), 10**6))
            if checkpoint is not None:
                checkpoint(loop)
            if report is not None:
                least = float(jnp.min(loop.states.value))
                report(Progress(int(loop.iteration), iterations, f"loss {least:.3e}"))
    except KeyboardInterrupt:
        return loop, True
    return loop, False


@eqx.filter_jit
def advance(method: Method, objective: Objective, loop: Loop, until: Array) -> Loop:
    """All starts at iteration `until`, or where they stopped."""
    key = jax.random.wrap_key_data(loop.key, impl="threefry2x32")

    def going(loop: Loop) -> Array:
        return jnp.any(loop.states.stop == RUNNING) & (loop.iteration < until)

    def one(loop: Loop) -> Loop:
        running = loop.states.stop == RUNNING
        now = jax.random.fold_in(key, loop.iteration)
        keys = jax.random.split(now, running.shape[0])
        states = _step_all(method, objective, loop.states, keys)
        return Loop(states, loop.history, loop.iteration + 1, loop.used + running, loop.key)

    def to_next_snapshot(loop: Loop) -> Loop:
        every = loop.history.every
        goal = jnp.minimum(until, (loop.iteration // every + 1) * every)
        loop = jax.lax.while_loop(lambda at: going(at) & (at.iteration < goal), one, loop)
        due = loop.iteration % every == 0
        history = jax.lax.cond(due, lambda h: remember(h, loop.states), lambda h: h, loop.history)
        return eqx.tree_at(lambda at: at.history, loop, history)

    return jax.lax.while_loop(going, to_next_snapshot, loop)


def _step_all(method: Method, objective: Objective, states: State, keys: Array) -> State:
    """One step of every start that is still running."""

    def step(pair: tuple[State, Array]) -> State:
        state, key = pair
        return method.step(objective, state, key)

    if method.looks_at_curvature:

        def if_running(pair: tuple[State, Array]) -> State:
            return jax.lax.cond(pair[0].stop == RUNNING, step, lambda pair: pair[0], pair)

        return jax.lax.map(if_running, (states, keys))
    moved = jax.vmap(step)((states, keys))

    def keep(old: Array, new: Array) -> Array:
        running = (states.stop == RUNNING).reshape(-1, *(1,) * (old.ndim - 1))
        return jnp.where(running, new, old)

    return jax.tree.map(keep, states, moved)


@eqx.filter_jit
def _begin(method: Method, objective: Objective, starts: Student, key: Array) -> Loop:
    states = jax.vmap(lambda student: method.init(objective, student))(starts)
    count = starts.positions.shape[0]
    loop = Loop(
        states,
        remember(empty_history(states), states),
        jnp.asarray(0),
        jnp.zeros(count, dtype=int),
        jax.random.key_data(key),
    )
    # Python's numbers make weakly typed arrays: with these, the second piece would compile again.
    return jax.tree.map(lambda part: jax.lax.convert_element_type(part, part.dtype), loop)


def stop_codes(method: Method, loop: Loop, interrupted: bool) -> Array:
    """Why each start stopped, (starts,)."""
    otherwise = Stop.INTERRUPTED if interrupted else method.at_limit
    return jnp.where(loop.states.stop == RUNNING, otherwise.code, loop.states.stop)
