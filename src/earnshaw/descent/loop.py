"""The one loop that runs every method: compiled, over a batch of starts, in pieces.

`advance` is one compiled function: it takes all starts forward to a given iteration, with no Python
on the way. The host calls it piece by piece so that a run can show progress, be interrupted and be
stored; where the pieces end changes nothing, to the last bit, because random keys belong to
iterations and histories thin themselves.

A history is a buffer of fixed size inside the loop. Snapshots are taken every `every` iterations,
beginning with 1; whenever the buffer is full, every second one is dropped and `every` doubles. So
memory is bounded, the whole run is covered evenly, and what is kept depends only on the number of
iterations.

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
from earnshaw.descent.method import RUNNING, Method, State, Stop
from earnshaw.energy.objective import Objective
from earnshaw.numerics.compiled import compiled

PIECE_SECONDS = 0.5  # how long a piece should take: how soon Ctrl-C is heard
LARGEST, SMALLEST = 256, 16  # numbers of snapshots there is room for: usually, and at least
ENTRIES = 2**22  # numbers that all snapshots of positions together may have


class Loop(eqx.Module):
    """All that a run is at one moment: enough to go on from."""

    states: State  # of all starts, with a leading axis
    history: History
    iteration: Array
    used: Array  # iterations of each start, (starts,)
    key: Array  # of the whole run, as raw numbers


class Progress(NamedTuple):
    """What a progress bar needs: how far of how much (infinite if nobody knows), and a few words.

    `compiling` for what is said before the first step, which takes long and is no progress.

    Attributes
    ----------
    done
        how far it is: iterations, units, samples, the time of a path.
    total
        of how much; infinite if nobody knows.
    note
        a few words, such as the loss.
    compiling
        whether this is said before the first step.

    Examples
    --------
    >>> import earnshaw as ew
    >>> proton = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> said = []
    >>> run = ew.learn(proton, seed=0, report=said.append)
    >>> {type(one).__name__ for one in said}
    {'Progress'}
    """

    done: float
    total: float
    note: str
    compiling: bool = False


COMPILING = "compiling, which takes up to a minute unless it was done before"


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
    piece, starts = 1, loop.states.stop.shape[0]
    try:
        if report is not None:
            report(Progress(int(loop.iteration), iterations, COMPILING, compiling=True))
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
                ended = int(jnp.sum(loop.states.stop != RUNNING))
                many = f"{ended} of {starts} starts done, " if starts > 1 else ""
                done = int(loop.iteration)
                report(Progress(done, iterations, f"iteration {done}, {many}loss {least:.3e}"))
    except KeyboardInterrupt:
        return loop, True
    return loop, False


@compiled
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


@eqx.filter_jit
def descend(
    method: Method, objective: Objective, states: State, steps: Array
) -> tuple[State, Array]:
    """A batch of states after at most so many `steps`, and how many each has made, (starts,).

    Without a history and without random numbers: for many short runs of a method that needs none.
    """
    keys = jax.random.split(jax.random.key(0, impl="threefry2x32"), states.stop.shape[0])

    def going(batch: tuple[State, Array, Array]) -> Array:
        states, _, done = batch
        return jnp.any(states.stop == RUNNING) & (done < steps)

    def one(batch: tuple[State, Array, Array]) -> tuple[State, Array, Array]:
        states, used, done = batch
        used = used + (states.stop == RUNNING)
        return _step_all(method, objective, states, keys), used, done + 1

    begun = states, jnp.zeros_like(states.stop), jnp.zeros_like(steps)
    return jax.lax.while_loop(going, one, begun)[:2]


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


@compiled
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


class History(eqx.Module):
    """Snapshots 0, every, 2 every, ...: `count` of them, the rest of the buffers is empty.

    Shapes: positions (n, starts, k, d), weights (n, starts, k), values and gradient_norms
    (n, starts).
    """

    positions: Array
    weights: Array
    values: Array
    gradient_norms: Array
    every: Array
    count: Array

    @property
    def room(self) -> int:
        """How many snapshots fit."""
        return self.values.shape[0]

    def iterations(self) -> Array:
        """The iteration of each snapshot, (n,)."""
        return self.every * jnp.arange(self.room)


def empty_history(states: State) -> History:
    """Room for snapshots of a batch of states."""
    positions = states.student.positions
    room = LARGEST
    while room > SMALLEST and room * positions.size > ENTRIES:
        room //= 2

    def rows(like: Array) -> Array:
        return jnp.zeros((room, *like.shape))

    weights, value = states.student.weights, states.value
    one, none = jnp.asarray(1), jnp.asarray(0)
    return History(rows(positions), rows(weights), rows(value), rows(value), one, none)


def remember(history: History, states: State) -> History:
    """The history with one more snapshot, thinned first if it is full."""
    full = history.count == history.room
    history = jax.lax.cond(full, thinned, lambda same: same, history)
    student = states.student
    norms = jax.vmap(lambda state: state.gradient_norm)(states)
    new = (student.positions, student.weights, states.value, norms)
    old = (history.positions, history.weights, history.values, history.gradient_norms)
    kept = tuple(row.at[history.count].set(entry) for row, entry in zip(old, new, strict=True))
    return eqx.tree_at(_rows_and_count, history, (*kept, history.count + 1))


def thinned(history: History) -> History:
    """Every second snapshot."""

    def halved(rows: Array) -> Array:
        return jnp.concatenate([rows[::2], jnp.zeros_like(rows[::2])])

    *rows, count = _rows_and_count(history)
    halves = (*map(halved, rows), (count + 1) // 2)
    history = eqx.tree_at(_rows_and_count, history, halves)
    return eqx.tree_at(lambda h: h.every, history, 2 * history.every)


def _rows_and_count(history: History) -> tuple[Array, ...]:
    rows = (history.positions, history.weights, history.values, history.gradient_norms)
    return (*rows, history.count)
