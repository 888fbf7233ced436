"""Steps in the metric of functions: Levenberg and Marquardt's method on an exact loss.

    x <- x - (G + t diag G)^-1 grad L / 2,    G = E[grad g grad g^T],

the least of |f - g|^2 with g replaced by its tangent, t for how far the tangent is trusted. It
needs no samples: G is made of the student's charges alone (`Objective.metric`), whatever they are
to learn. Units that nearly coincide, or are saturated, make L a narrow valley in which a
quasi-Newton method creeps: ten erf units with biases in d = 5 were never learned by BFGS
(`benchmarks/networks.py --only recovery`). t falls after a step that did what the tangent promised
and rises after one that did not (Marquardt, J. SIAM 11, 1963; diag G after More, 1978).
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import by_unit, move
from earnshaw.energy.objective import Objective, coordinates_of, direction_of, freedom

FIRST_DAMPING = 1e-3
LEAST, MOST = 1e-16, 1e8  # of the damping
GOOD, POOR = 0.75, 0.25  # parts of the promised decrease
IDLE, GAIN = 8, 1e-2  # steps in a row that took less than this part of the loss away: the end
SMALLEST = 1e-8  # part of the largest scale below which a coordinate counts as having none


class _Descent(NamedTuple):
    student: Student
    value: Array
    slope: Array
    damping: Array
    now: Array
    idle: Array


@eqx.filter_jit
def gauss_newton(
    objective: Objective, student: Student, used: Array, steps: int
) -> tuple[Student, Array]:
    """The student after at most `steps` steps of its `used` units (k,), and its loss.

    Fewer where little is gained; units that are not used stay, with weight 0.
    """
    moving = of_units(objective, student, used)
    both = moving[:, None] & moving

    def look(student: Student) -> tuple[Array, Array]:
        value, gradient = objective.value_and_gradient(student)
        return value, jnp.where(moving, coordinates_of(objective, student, gradient), 0.0)

    def step(here: _Descent) -> _Descent:
        metric = objective.metric(here.student)
        scale = jnp.sqrt(jnp.maximum(jnp.diagonal(metric), 0.0))
        scale = jnp.where(moving, jnp.maximum(scale, SMALLEST * jnp.max(scale)), 1.0)
        scaled = jnp.where(both, metric / scale[:, None] / scale, 0.0)
        matrix = jnp.fill_diagonal(scaled, 1 + here.damping, inplace=False)
        down = -here.slope / scale / 2
        # Where rounding leaves the matrix indefinite this is NaN, no step, and more damping.
        scaled_step = jax.scipy.linalg.solve(matrix, down, assume_a="pos")
        promised = scaled_step @ (down + here.damping * scaled_step)
        direction = direction_of(objective, here.student, scaled_step / scale)
        moved = move(objective, here.student, direction, jnp.ones(()))
        value, slope = look(moved)
        gained = here.value - value
        falls = gained > 0
        trust = jnp.where(gained > GOOD * promised, 0.2, jnp.where(gained < POOR * promised, 2, 1))
        damping = jnp.clip(here.damping * jnp.where(falls, trust, 4.0), LEAST, MOST)
        student, value, slope = jax.tree.map(
            lambda new, old: jnp.where(falls, new, old),
            (moved, value, slope),
            (here.student, here.value, here.slope),
        )
        idle = jnp.where(falls & (gained > GAIN * here.value), 0, here.idle + 1)
        return _Descent(student, value, slope, damping, here.now + 1, idle)

    def going(here: _Descent) -> Array:
        return (here.now < steps) & (here.idle < IDLE) & (here.value > 0)

    weights = jnp.where(by_unit(used, student.weights), student.weights, 0.0)
    start = Student(student.positions, weights)
    zero = jnp.zeros((), dtype=int)
    first = _Descent(start, *look(start), jnp.asarray(FIRST_DAMPING), zero, zero)
    end = jax.lax.while_loop(going, step, first)
    return end.student, end.value


def of_units(objective: Objective, student: Student, used: Array) -> Array:
    """Which of the coordinates that may move are those of `used` units (k,)."""
    of_weights = 0 if objective.wrt == "positions" else student.weights.size // student.units
    of_positions = freedom(objective, student) // student.units - of_weights
    return jnp.concatenate([jnp.repeat(used, of_positions), jnp.repeat(used, of_weights)])
