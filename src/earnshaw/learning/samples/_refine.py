"""All placed units move, to mend what placing them one at a time has left.

Two ways, in turn. *Replacing*: each unit in turn is taken out and searched for again around its
place, at several lengths of steps, by the correlation with all other weights refitted; it steps
over samples, at which the loss of a unit of unbounded activation has a barrier. *Levenberg-
Marquardt*: all positions and weights at once, downhill only; it gives the last digits where the
loss is smooth: everywhere for bounded activations, between the samples for others.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.levenberg_marquardt import NormalEquations, levenberg_marquardt
from earnshaw.energy.empirical import EmpiricalLoss
from earnshaw.energy.streaming import Chunk, chunk_rows, total
from earnshaw.learning.samples._correlation import bounded, correlation
from earnshaw.learning.samples._search import climb
from earnshaw.numerics.fixed_order import over_rows, sum_all

FIRST_STEP = 0.25  # of a search, in standard deviations of the inputs
LADDER = (1.0, 0.2, 0.04, 0.008)  # first steps around a unit's place, in those of a search
REPLACE_STEPS = 20
ENOUGH = 1e-10  # a relative decrease of the loss that is too small to go on for


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


def refined(
    loss: EmpiricalLoss, student: Student, used: Array, limit: int = 50
) -> tuple[Student, Array]:
    """The student after at most `limit` Levenberg-Marquardt steps, and its loss: never higher."""
    shape, cut = student.positions.shape, student.positions.size

    def normal(vector: np.ndarray) -> NormalEquations:
        at = jnp.asarray(vector)
        sums = _normal_equations(loss, at[:cut].reshape(shape), at[cut:])
        square, slope, matrix = (np.asarray(part) / loss.samples for part in sums)
        return NormalEquations(float(square), -2 * slope, 2 * matrix, float(square))

    start = np.concatenate([np.ravel(student.positions), student.weights])
    free = np.concatenate([np.repeat(used, student.dim), used])
    found = levenberg_marquardt(normal, start, free, limit, ENOUGH)
    end = Student(found.vector[:cut].reshape(shape), found.vector[cut:])
    return end, jnp.asarray(found.here.value)


@eqx.filter_jit
def _normal_equations(
    loss: EmpiricalLoss, positions: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """|r|^2, J^T r and J^T J: r is y - g(x), J the derivatives of g in positions, then weights."""
    units, dim = positions.shape

    def sums(chunk: Chunk) -> tuple[Array, Array, Array]:
        def outputs(at: Array) -> Array:
            return loss.response.outputs(chunk.x, at)

        def slope(axis: Array) -> tuple[Array, Array]:
            along = jnp.zeros((units, dim)).at[:, axis].set(1.0)
            return jax.jvp(outputs, (positions,), (along,))

        values, slopes = jax.vmap(slope, out_axes=(None, 2))(jnp.arange(dim))
        rows = jnp.concatenate(
            [(slopes * weights[:, None]).reshape(-1, units * dim), values], axis=1
        )
        rows = bounded(jnp.nan_to_num(rows)) * chunk.weight[:, None]
        left = chunk.y - values @ weights
        return sum_all(chunk.weight * left**2), left @ rows, over_rows(rows, rows)

    rows = chunk_rows(loss.samples, units * (dim + 1), loss.chunk)
    return total(sums, loss.x, loss.y, rows)
