"""All placed units move together, to mend what placing them one at a time has left.

While units are still missing, the best place of a free unit is pulled aside by those that overlap
with it. For potentials without cusps some quasi-Newton steps (BFGS, from Optimistix) on all
positions and weights after each round take that back, as in sliding Frank-Wolfe methods for sparse
measures (Denoyelle, Duval, Peyre and Soubies, Inverse Problems 36, 2020); near the end Newton's
method adds the last digits, and units that are not needed are dropped. At a cusp there is nothing
to mend: the place of the maximum is that of the charge.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.loop import begin, run
from earnshaw.descent.newton import Newton
from earnshaw.energy.objective import Objective, energy, freedom

CLOSE = 1e-6  # part of the first loss below which Newton's method takes over
NEEDED = 1e-2  # a unit whose loss, once it is left out and the weights refitted, is above: needed
DENSE = 1500  # coordinates up to which the dense Hessian is affordable
NEWTON_STEPS = 30


def polish(
    objective: Objective, student: Student, used: Array, steps: int, first_loss: float
) -> tuple[Student, Array]:
    """The student after at most `steps` quasi-Newton steps of its `used` units, and its loss."""
    student, value = _quasi_newton(objective, student, used, steps)
    if float(value) > CLOSE * first_loss:
        return student, value
    return _newton(objective, student, used)


def pruned(
    objective: Objective, student: Student, used: Array, steps: int, first_loss: float, least: float
) -> tuple[Student, Array]:
    """The student without the units that it can do without, and which are left.

    Its loss stays below `least`. Such units come of units that were placed twice, or for what
    others had not yet learned.
    """
    tried = 0
    while tried < int(np.sum(used)):
        order = np.argsort(np.where(used, np.abs(student.weights), np.inf))
        without = jnp.asarray(used).at[int(order[tried])].set(False)
        fewer, value = objective.refit(student, without)
        if float(value) <= NEEDED * first_loss:
            fewer, value = polish(objective, fewer, without, steps, first_loss)
        if float(value) <= least:
            student, used, tried = fewer, without, 0
        else:
            tried += 1
    return student, jnp.flatnonzero(used)


@eqx.filter_jit
def _quasi_newton(
    objective: Objective, student: Student, used: Array, steps: int
) -> tuple[Student, Array]:
    def unpacked(flat: tuple[Array, Array]) -> Student:
        positions, weights = flat
        positions = objective.manifold.project(positions)
        kept = jnp.where(used[:, None], positions, student.positions)
        return Student(kept, jnp.where(used, weights, 0.0))

    def loss(flat: tuple[Array, Array], _: None) -> Array:
        return energy(objective, unpacked(flat))

    import optimistix  # takes a third of a second to load, and cusps need none of it

    start = (student.positions, student.weights)
    found: Any = optimistix.minimise(
        loss, optimistix.BFGS(rtol=1e-12, atol=1e-12), start, max_steps=steps, throw=False
    )
    before, after = loss(start, None), loss(found.value, None)
    better = after < before
    chosen = jax.tree.map(lambda new, old: jnp.where(better, new, old), found.value, start)
    return unpacked(chosen), jnp.where(better, after, before)


def _newton(objective: Objective, student: Student, used: Array) -> tuple[Student, Array]:
    """Newton's method on the used units; as they were if that is too much work."""
    if freedom(objective, student) > DENSE:
        return student, objective.value(student)
    method = Newton(used=used)
    batch = Student(student.positions[None], student.weights[None])
    loop = begin(method, objective, batch, jax.random.key(0, impl="threefry2x32"))
    loop, interrupted = run(method, objective, loop, NEWTON_STEPS)
    if interrupted:
        raise KeyboardInterrupt
    moved = loop.states.student
    return Student(moved.positions[0], moved.weights[0]), loop.states.value[0]
