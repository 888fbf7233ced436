"""What an objective is: a loss of the student, with its first and second derivatives.

Population and empirical losses stand behind this one protocol, so that every descent method runs on
both. An objective supplies two Euclidean pieces, `euclidean` (value and gradient in one pass) and
`euclidean_hvp`; this class makes everything else of them, on the manifold the units live on:

    value, gradient, value_and_gradient, hvp, hessian.

`wrt` says what may move: "positions", "weights" or "both". What may not move has gradient zero, and
no rows in the dense Hessian. Gradients and Hessians are Riemannian: on the sphere the gradient is
tangent, and the dense Hessian is in the orthonormal basis `manifold.basis(student.positions)`.
`jax.grad` of `value` works too, and gives the Euclidean gradient.
"""

from __future__ import annotations

import abc
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.network import Student, is_concrete
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.manifolds import Manifold

Moving = Literal["both", "positions", "weights"]
MOVING = ("both", "positions", "weights")


class Gradient(NamedTuple):
    """Derivatives in `positions` (k, d) and `weights` (k,)."""

    positions: Array
    weights: Array


class Objective(eqx.Module):
    """A loss of the student; `dim` is the dimension its units must have."""

    manifold: eqx.AbstractVar[Manifold]
    wrt: eqx.AbstractVar[Moving]

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """d, the dimension of the inputs."""

    @abc.abstractmethod
    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        """The value, and the gradient in R^(k d) x R^k, `wrt` notwithstanding."""

    @abc.abstractmethod
    def euclidean_hvp(self, student: Student, direction: Gradient) -> Gradient:
        """The Hessian of R^(k d) x R^k applied to `direction`, `wrt` notwithstanding."""

    @abc.abstractmethod
    def laplacian(self, student: Student, units: Any = None) -> Array:
        """The Laplacian in each unit, shape (k,); or in a group of `units` moved together."""

    @abc.abstractmethod
    def optimal_weights(self, student: Student) -> Student:
        """The student with the weights that minimise the loss at its positions."""

    def value(self, student: Student) -> Array:
        """The loss."""
        return _value(self, self.check(student))

    def gradient(self, student: Student) -> Gradient:
        """The Riemannian gradient in positions (k, d) and weights (k,)."""
        return self.value_and_gradient(student)[1]

    def value_and_gradient(self, student: Student) -> tuple[Array, Gradient]:
        """Both, for the price of one."""
        return _value_and_gradient(self, self.check(student))

    def hvp(
        self, student: Student, direction: tuple[ArrayLike | None, ArrayLike | None]
    ) -> Gradient:
        """The Riemannian Hessian applied to a direction (positions, weights); None stands for 0."""
        student = self.check(student)
        shapes = (student.positions, student.weights)
        moved = Gradient(
            *(
                jnp.zeros_like(like) if part is None else jnp.asarray(part, dtype=float)
                for part, like in zip(direction, shapes, strict=True)
            )
        )
        for part, like in zip(moved, shapes, strict=True):
            if part.shape != like.shape:
                raise EarnshawError(
                    f"the direction has shape {part.shape}; allowed: {like.shape}, as the student"
                )
        return _hvp(self, student, moved)

    def hessian(self, student: Student) -> Array:
        """The dense Hessian: tangent coordinates of the moving positions, then moving weights.

        Shape (n, n) with n = k d (k (d - 1) on the sphere), plus k for the weights. One
        Hessian-vector product a column, in batches: n^2 memory, so for small students.
        """
        return _hessian(self, self.check(student))

    def check(self, student: Student) -> Student:
        """The student itself, or an error that says why it cannot be this objective's."""
        if student.positions.ndim != 2:
            raise EarnshawError(
                f"the student's positions have shape {student.positions.shape}; "
                "allowed: (units, dimension); batch with jax.vmap"
            )
        if student.dim != self.dim:
            raise EarnshawError(
                f"the student's positions have dimension {student.dim}; allowed: {self.dim}, "
                "as the teacher"
            )
        if is_concrete(student.positions):
            self.manifold.check(student.positions, "student unit")
        return student

    def keep_moving(self, gradient: Gradient) -> Gradient:
        """The gradient with zeros for what may not move."""
        positions, weights = gradient
        if self.wrt == "weights":
            positions = jnp.zeros_like(positions)
        if self.wrt == "positions":
            weights = jnp.zeros_like(weights)
        return Gradient(positions, weights)


def check_moving(wrt: str) -> Moving:
    """`wrt` if it is one of the three, else an error."""
    if wrt not in MOVING:
        raise UnknownName("wrt", str(wrt), MOVING)
    return wrt  # type: ignore[return-value]


@eqx.filter_custom_jvp
def energy(objective: Objective, student: Student) -> Array:
    """The loss, differentiable in the student by the objective's own gradient."""
    return objective.euclidean(student)[0]


@energy.def_jvp
def _energy_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    objective, student = primals
    if jax.tree.leaves(tangents[0]):
        raise EarnshawError("a loss is differentiated in the student only, not in its teacher")
    value, gradient = objective.euclidean(student)
    moved = tangents[1]
    terms = ((gradient.positions, moved.positions), (gradient.weights, moved.weights))
    change = sum((jnp.sum(g * v) for g, v in terms if v is not None), start=jnp.zeros(()))
    return value, change


@eqx.filter_jit
def _value(objective: Objective, student: Student) -> Array:
    return energy(objective, student)


@eqx.filter_jit
def _value_and_gradient(objective: Objective, student: Student) -> tuple[Array, Gradient]:
    value, gradient = objective.euclidean(student)
    positions = objective.manifold.gradient(student.positions, gradient.positions)
    return value, objective.keep_moving(Gradient(positions, gradient.weights))


@eqx.filter_jit
def _hvp(objective: Objective, student: Student, direction: Gradient) -> Gradient:
    tangent = objective.manifold.tangent(student.positions, direction.positions)
    moved = objective.keep_moving(Gradient(tangent, direction.weights))
    product = objective.euclidean_hvp(student, moved)
    # On R^d the gradient is not needed, and the compiler drops it.
    slope = objective.euclidean(student)[1].positions
    positions = objective.manifold.hvp(student.positions, moved.positions, slope, product.positions)
    return objective.keep_moving(Gradient(positions, product.weights))


@eqx.filter_jit
def _hessian(objective: Objective, student: Student) -> Array:
    basis = objective.manifold.basis(student.positions)
    units, _, freedom = basis.shape
    of_positions = units * freedom if objective.wrt != "weights" else 0
    of_weights = units if objective.wrt != "positions" else 0

    def column(index: Array) -> Array:
        coordinates = jax.nn.one_hot(index, of_positions + of_weights, dtype=float)
        turned = jnp.zeros_like(student.positions)
        if of_positions:
            along = coordinates[:of_positions].reshape(units, freedom)
            turned = jnp.einsum("kdf,kf->kd", basis, along)
        weights = coordinates[of_positions:] if of_weights else jnp.zeros_like(student.weights)
        product = _hvp(objective, student, Gradient(turned, weights))
        back = jnp.einsum("kdf,kd->kf", basis, product.positions).ravel()
        return jnp.concatenate([back[:of_positions], product.weights[:of_weights]])

    matrix = jax.lax.map(column, jnp.arange(of_positions + of_weights), batch_size=16)
    return (matrix + matrix.T) / 2
