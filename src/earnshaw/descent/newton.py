"""Saddle-free Newton steps on all units at once: to polish what another method has found.

    x <- x - t |H|^-1 grad L,    |H| the Hessian with the sizes of its eigenvalues,

t = 1, 1/2, 1/4, ... until the loss falls. Near a minimum with a regular Hessian the number of right
digits doubles each step. Directions in which the Hessian is flat (a relu unit longer with a smaller
weight) are left alone. For smooth potentials only, and for some hundreds of coordinates: the dense
Hessian takes as many Hessian-vector products, and its eigenvectors the cube of their number.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.method import Method, State, dot, move, norm, settled
from earnshaw.descent.stop import RUNNING, Stop
from earnshaw.energy.objective import Gradient, Objective, direction_of

FLAT = 1e-11  # eigenvalues below this part of the largest are rounding
SHORTEST = 2.0**-20
PROMISE = 1e-4  # of the decrease that the gradient predicts


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
            jnp.where(self.used, direction.weights, 0.0),
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
            moved = State(student, value, gradient, size, state.smallest_eigenvalue, state.stop)
            return size, moved, better

        def searching(last: tuple[Array, State, Array]) -> Array:
            return ~last[2] & (last[0] > SHORTEST)

        _, moved, good = jax.lax.while_loop(
            searching, lambda last: attempt(last[0] / 2), attempt(jnp.ones(()))
        )
        small = moved.gradient_norm <= self.tolerance
        stop = jnp.where(good, jnp.where(small, Stop.STATIONARY.code, RUNNING), _END)
        return settled(state, moved, good, stop)


_END = Stop.NO_DECREASE.code


def newton_direction(objective: Objective, state: State, used: Array) -> Gradient:
    """-|H|^-1 grad L over the units that are `used`, as a tangent direction."""
    slope = _coordinates(objective, state.student, state.gradient)
    of_weights = 0 if objective.wrt == "positions" else len(used)
    of_positions = (len(slope) - of_weights) // len(used)
    moving = jnp.concatenate([jnp.repeat(used, of_positions), used[:of_weights]])
    hessian = jnp.where(moving[:, None] & moving, objective.hessian(state.student), 0.0)
    values, vectors = jnp.linalg.eigh(hessian)
    sizes = jnp.abs(values)
    curved = sizes > FLAT * jnp.max(sizes)
    inverse = jnp.where(curved, 1 / jnp.where(curved, sizes, 1.0), 0.0)
    step = -vectors @ (inverse * (vectors.T @ slope))
    return direction_of(objective, state.student, step)


def _coordinates(objective: Objective, student: Student, direction: Gradient) -> Array:
    """Those of a tangent direction, in the order of the dense Hessian."""
    basis = objective.manifold.basis(student.positions)
    along = jnp.einsum("kdf,kd->kf", basis, direction.positions).ravel()
    if objective.wrt == "positions":
        return along
    if objective.wrt == "weights":
        return direction.weights
    return jnp.append(along, direction.weights)
