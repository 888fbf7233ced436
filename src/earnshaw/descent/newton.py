"""Saddle-free Newton steps on all units at once: the last digits of what another method found.

    x <- x - t |H|^-1 grad L,    |H| the Hessian with the sizes of its eigenvalues,

t = 1, 1/2, 1/4, ... until the loss falls. Near a minimum with a regular Hessian the number of right
digits doubles each step. Directions in which the Hessian is flat (a relu unit longer with a smaller
weight) are left alone. For smooth potentials only, and for some hundreds of coordinates: the dense
Hessian takes as many Hessian-vector products, and its eigenvectors the cube of their number.

`refine` is what node-wise learning needs of it. While units are still missing, the best place of a
free unit is pulled aside by those that overlap with it. For potentials without cusps some steps of
all positions and weights after each round take that back, as in sliding Frank-Wolfe methods for
sparse measures (Denoyelle, Duval, Peyre and Soubies, Inverse Problems 36, 2020): those of
`gauss_newton.py`, or of BFGS (Optimistix) where there are too many coordinates for a dense metric.
Near the end Newton's method takes over. At a cusp there is nothing to mend: the place of the
maximum is that of the charge.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.gauss_newton import gauss_newton, of_units
from earnshaw.descent.loop import begin, run
from earnshaw.descent.method import (
    RUNNING,
    Method,
    State,
    Stop,
    accepted,
    by_unit,
    dot,
    move,
    norm,
)
from earnshaw.energy.objective import (
    Gradient,
    Objective,
    coordinates_of,
    direction_of,
    energy,
    freedom,
)

FLAT = 1e-11  # eigenvalues below this part of the largest are rounding
SHORTEST = 2.0**-20  # the last t that is tried
PROMISE = 1e-4  # the part of the predicted decrease that a step must make (Armijo's condition)
CLOSE = 1e-6  # part of the first loss below which Newton's method takes over
DENSE = 1500  # coordinates up to which a dense Hessian or metric is affordable
NEWTON_STEPS = 30  # at most


class Newton(Method):
    """Stops where |grad L| <= tolerance, or where no step lowers the loss or the gradient.

    Units that are not `used` (k,) stay where they are: room for units to come.
    """

    looks_at_curvature: ClassVar[bool] = True
    tolerance: Array = eqx.field(default=1e-14, converter=jnp.asarray)
    used: Array | None = None

    def init(self, objective: Objective, student: Student) -> State:
        state = super().init(objective, student)
        return eqx.tree_at(lambda s: s.gradient, state, self._of_used(state.gradient))

    def _of_used(self, direction: Gradient) -> Gradient:
        """The direction, 0 for units that are not used."""
        if self.used is None:
            return direction
        return Gradient(
            jnp.where(self.used[:, None], direction.positions, 0.0),
            jnp.where(by_unit(self.used, direction.weights), direction.weights, 0.0),
        )

    def step(self, objective: Objective, state: State, key: Array) -> State:
        used = jnp.ones(state.student.units, dtype=bool) if self.used is None else self.used
        direction = newton_direction(objective, state, used)
        slope = dot(direction, state.gradient)
        rounding = 1e-15 * jnp.abs(state.value) + 1e-300

        def attempt(size: Array) -> tuple[Array, State, Array]:
            student = move(objective, state.student, direction, size)
            value, gradient = objective.value_and_gradient(student)
            gradient = self._of_used(gradient)
            falls = value <= state.value + PROMISE * size * slope - rounding
            # Where the loss is all rounding, the gradient still tells up from down.
            calms = (value <= state.value + rounding) | (jnp.abs(slope) < 1e-13)
            better = falls | (calms & (norm(gradient) < 0.9 * state.gradient_norm))
            moved = eqx.tree_at(
                lambda s: (s.student, s.value, s.gradient, s.step_size),
                state,
                (student, value, gradient, size),
            )
            return size, moved, better

        def searching(last: tuple[Array, State, Array]) -> Array:
            return ~last[2] & (last[0] > SHORTEST)

        _, moved, good = jax.lax.while_loop(
            searching, lambda last: attempt(last[0] / 2), attempt(jnp.ones(()))
        )
        small = moved.gradient_norm <= self.tolerance
        stop = jnp.where(small, Stop.STATIONARY.code, RUNNING)
        stop = jnp.where(good, stop, Stop.NO_DECREASE.code)
        return accepted(state, moved, good, stop)


def newton_direction(objective: Objective, state: State, used: Array) -> Gradient:
    """-|H|^-1 grad L over the units that are `used`, as a tangent direction."""
    slope = coordinates_of(objective, state.student, state.gradient)
    moving = of_units(objective, state.student, used)
    hessian = jnp.where(moving[:, None] & moving, objective.hessian(state.student), 0.0)
    values, vectors = jnp.linalg.eigh(hessian)
    sizes = jnp.abs(values)
    curved = sizes > FLAT * jnp.max(sizes)
    inverse = jnp.where(curved, 1 / jnp.where(curved, sizes, 1.0), 0.0)
    step = -vectors @ (inverse * (vectors.T @ slope))
    return direction_of(objective, state.student, step)


def refine(
    objective: Objective, student: Student, used: Array, steps: int, first_loss: float
) -> tuple[Student, Array]:
    """The student after at most `steps` steps of its `used` units together, and its loss.

    Where less than a millionth of `first_loss` is left, Newton's method adds the last digits.
    """
    dense = freedom(objective, student) <= DENSE
    descend = gauss_newton if dense else _quasi_newton
    student, value = descend(objective, student, used, steps)
    if float(value) > CLOSE * first_loss:
        return student, value
    return newton_to_rounding(objective, student, used)


@eqx.filter_jit
def _quasi_newton(
    objective: Objective, student: Student, used: Array, steps: int
) -> tuple[Student, Array]:
    def unpacked(flat: tuple[Array, Array]) -> Student:
        positions, weights = flat
        positions = objective.manifold.project(positions)
        kept = jnp.where(used[:, None], positions, student.positions)
        return Student(kept, jnp.where(by_unit(used, weights), weights, 0.0))

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


def newton_to_rounding(
    objective: Objective, student: Student, used: Array
) -> tuple[Student, Array]:
    """The student after Newton's method on its `used` units, and its loss.

    Unchanged where there are too many coordinates for a dense Hessian.
    """
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
