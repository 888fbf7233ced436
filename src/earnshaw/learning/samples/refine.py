"""All placed units move, to mend what placing them one at a time has left.

Two ways, in turn. *Replacing*: each unit in turn is taken out and searched for again around its
place, at several lengths of steps, by the correlation with all other weights refitted; it steps
over samples, at which the loss of a unit of unbounded activation has a barrier. *Levenberg-
Marquardt*: all positions and weights at once, downhill only; it gives the last digits where the
loss is smooth: everywhere for bounded activations, between the samples for others.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.empirical import EmpiricalLoss
from earnshaw.energy.objective import energy
from earnshaw.energy.streaming import Chunk, chunk_rows, total
from earnshaw.learning.samples.correlation import bounded, correlation
from earnshaw.learning.samples.search import climb

FIRST_STEP = 0.25  # of a search, in standard deviations of the inputs
LADDER = (1.0, 0.2, 0.04, 0.008)  # first steps around a unit's place, in those of a search
REPLACE_STEPS = 20
SOFTER, HARDER = 0.2, 4.0  # how the damping changes
STIFF = 1e6  # damping at which no step is left
FREE, ENOUGH = 1e-3, 1e-10  # damping up to which so small a relative decrease means the end


def replaced(
    loss: EmpiricalLoss, student: Student, used: Array, unit: int, key: Array
) -> tuple[Student, Array]:
    """The student with one unit searched for again, weights refitted, and its loss."""
    others = used & (jnp.arange(student.units) != unit)
    field, without = correlation(loss, student, others)
    starts = jnp.broadcast_to(student.positions[unit], (len(LADDER), student.dim))
    now = jnp.full(len(LADDER), without - loss.value(student))
    lengths = FIRST_STEP * field.spread * jnp.asarray(LADDER)
    found = climb(field, starts, now, lengths, key, jnp.asarray(REPLACE_STEPS))
    place = found.points[jnp.argmax(found.savings)]
    return loss.refit(Student(student.positions.at[unit].set(place), student.weights), used)


def swept(loss: EmpiricalLoss, student: Student, used: Array, key: Array) -> tuple[Student, Array]:
    """Every unit replaced once, if its activation is unbounded; then all refined."""
    value = loss.value(student)
    for unit in range(int(jnp.sum(used)) if _unbounded(loss) else 0):
        tried, lower = replaced(loss, student, used, unit, jax.random.fold_in(key, unit))
        if float(lower) < float(value):
            student, value = tried, lower
    return refined(loss, student, used)


def _unbounded(loss: EmpiricalLoss) -> bool:
    origin = jnp.zeros((1, loss.dim))
    return not bool(jnp.isfinite(loss.response.outputs(origin, origin)[0, 0]))


class _Descent(NamedTuple):
    student: Student
    value: Array
    damping: Array
    going: Array
    steps: Array


@eqx.filter_jit
def refined(
    loss: EmpiricalLoss, student: Student, used: Array, limit: int = 50
) -> tuple[Student, Array]:
    """The student after at most `limit` Levenberg-Marquardt steps, and its loss: never higher."""
    free = jnp.repeat(used, student.dim), used
    kept = jnp.concatenate(free)

    def step(at: _Descent) -> _Descent:
        matrix, slope = _normal_equations(loss, at.student)
        diagonal = jnp.diagonal(matrix)
        stiff = jnp.where(kept & (diagonal > 0), at.damping * diagonal, 1.0)
        matrix = jnp.where(kept[:, None] & kept[None], matrix, 0.0) + jnp.diag(stiff)
        move = jnp.linalg.solve(matrix, jnp.where(kept, slope, 0.0))
        cut = student.positions.size
        tried = Student(
            at.student.positions + move[:cut].reshape(student.positions.shape),
            at.student.weights + move[cut:],
        )
        value = energy(loss, tried)
        better = value < at.value
        damping = jnp.where(better, jnp.maximum(SOFTER * at.damping, 1e-15), HARDER * at.damping)
        little = better & (at.damping <= FREE) & (at.value - value <= ENOUGH * at.value)
        return _Descent(
            jax.tree.map(lambda new, old: jnp.where(better, new, old), tried, at.student),
            jnp.where(better, value, at.value),
            damping,
            ~little & (damping < STIFF) & (value > 0),
            at.steps + 1,
        )

    def going(at: _Descent) -> Array:
        return at.going & (at.steps < limit)

    start = _Descent(
        student, energy(loss, student), jnp.asarray(1e-3), jnp.asarray(True), jnp.asarray(0)
    )
    end = jax.lax.while_loop(going, step, start)
    return end.student, end.value


def _normal_equations(loss: EmpiricalLoss, student: Student) -> tuple[Array, Array]:
    """J^T J and J^T r, J the derivatives of g(x) in positions, then weights."""
    units, dim = student.units, student.dim

    def sums(chunk: Chunk) -> tuple[Array, Array]:
        def outputs(at: Array) -> Array:
            return loss.response.outputs(chunk.x, at)

        def slope(axis: Array) -> tuple[Array, Array]:
            along = jnp.zeros((units, dim)).at[:, axis].set(1.0)
            return jax.jvp(outputs, (student.positions,), (along,))

        values, slopes = jax.vmap(slope, out_axes=(None, 2))(jnp.arange(dim))
        rows = jnp.concatenate(
            [(slopes * student.weights[:, None]).reshape(-1, units * dim), values], axis=1
        )
        rows = bounded(jnp.nan_to_num(rows)) * chunk.counted[:, None]
        left = chunk.y - values @ student.weights
        return rows.T @ rows, rows.T @ left

    rows = chunk_rows(loss.samples, units * (dim + 1), loss.chunk)
    return total(sums, loss.x, loss.y, rows)
