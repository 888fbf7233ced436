"""A loss by formula of one unit in the plane, behind the protocol of all losses."""

import jax
import jax.numpy as jnp

from earnshaw.charges.manifolds import Manifold, Space
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Gradient, Moving, Objective


class Toy(Objective):
    """L = (x^2 - 1)^2 + 5 (y + x^2 - 1)^2, and the weight does not move.

    Minima (-1, 0) and (1, 0) with L = 0; between them one saddle (0, 1), L = 1, at the top of the
    valley y = 1 - x^2, on which L = (x^2 - 1)^2. On the straight line y = 0, L = 6 (x^2 - 1)^2.
    """

    manifold: Manifold = Space()
    wrt: Moving = "positions"
    name: str = "full"
    teacher: Teacher | None = None

    @property
    def dim(self):
        return 2

    def formula(self, positions):
        x, y = positions[0]
        return (x**2 - 1) ** 2 + 5 * (y + x**2 - 1) ** 2

    def euclidean(self, student):
        value, slope = jax.value_and_grad(self.formula)(student.positions)
        return value, Gradient(slope, jnp.zeros(1))

    def euclidean_hvp(self, student, direction):
        slope = jax.grad(self.formula)
        bent = jax.jvp(slope, (student.positions,), (direction.positions,))[1]
        return Gradient(bent, jnp.zeros(1))

    def laplacian(self, student, units=None):
        raise NotImplementedError

    refit = left_by = empty_value = unexplained = free_units = laplacian


def at(x, y):
    return Student([[x, y]], [1.0])
