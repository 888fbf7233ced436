"""What a run remembers on its way: snapshots, thinned as it grows.

A buffer of fixed size inside the compiled loop. Snapshots are taken every `every` iterations,
beginning with 1; whenever the buffer is full, every second one is dropped and `every` doubles. So
memory is bounded, the whole run is covered evenly, and what is kept depends only on the number of
iterations, not on how the run was cut into pieces.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.descent.method import State

LARGEST, SMALLEST = 256, 16
ENTRIES = 2**22  # numbers that all snapshots of positions together may have


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
