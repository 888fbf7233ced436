"""What an objective is: a loss of the student, with its first and second derivatives.

Population and empirical losses stand behind this one protocol, so that every descent method runs on
both. An objective supplies two Euclidean pieces, `euclidean` (value and gradient in one pass) and
`euclidean_hvp`; this class makes everything else of them, on the manifold the units live on:

    value, gradient, value_and_gradient, hvp, hessian, smallest_eigenpair;

and `metric`, which knows the student alone.

`wrt` says what may move: "positions", "weights" or "both". What may not move has gradient zero, and
no rows in the dense Hessian. Gradients and Hessians are Riemannian: on the sphere the gradient is
tangent, and the dense Hessian is in the orthonormal basis `manifold.basis(student.positions)`.
`jax.grad` of `value` works too, and gives the Euclidean gradient.

What else a method, a certificate or a learner may want to know of a loss is asked here, never of
the class: the defaults are those of a smooth function of which nothing is known. With Phi(x, y) the
energy of two units of weight 1,

    what it is made of      teacher or samples, name and terms;
    how large things are    gradient_scale, self_energies, rounding_of_zero, answer_error;
    where it is not smooth  cusp, antipodal_cusp, cusps_across, kink_at;
    what leaves it as it is invariant, degree;
    in the weights alone    weight_hessian, refit, free_units.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from inspect import unwrap
from typing import Any, Literal, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.manifolds import Manifold, check_squares
from earnshaw.charges.network import Student, Teacher, is_concrete
from earnshaw.duality.activation import Activation
from earnshaw.energy.variants import Terms
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.limits import check_memory
from earnshaw.numerics.compiled import block, compiled, first, in_batches, weightless
from earnshaw.numerics.eigenpairs import Eigenpair, smallest_eigenpair
from earnshaw.numerics.fixed_order import sum_all

T = TypeVar("T")
Moving = Literal["both", "positions", "weights"]
MOVING = ("both", "positions", "weights")
Across = Literal["points", "rays", "hyperplanes"]
Invariant = Literal["translations", "rotations", "both", "neither"]
ROUNDING = 16 * float(np.finfo(float).eps)  # of a sum of energies, relative to its terms
FEW = 64  # weights up to which a gradient for each takes less time than to compile a matrix K


class Gradient(NamedTuple):
    """Derivatives in `positions` (k, d) and `weights` (k,), or (k, m) for m outputs."""

    positions: Array
    weights: Array


class FreeUnits(NamedTuple):
    """One unit alone, at each of n points: C is the potential there, Phi its own energy.

    `weights` (n,) are the best ones C/Phi; `log_savings` (n,) the logarithms of C^2/Phi, by which
    they lower the loss; `gradients` (n, d) the Riemannian gradients of these logarithms.
    """

    weights: Array
    log_savings: Array
    gradients: Array


class Objective(eqx.Module):
    """A loss of the student; `dim` is the dimension its units must have.

    `name` is that of the variant, "full" for the loss itself. `teacher` is the hidden network f
    whose exact loss this is; None where f is seen only through samples, or there is none.
    """

    manifold: eqx.AbstractVar[Manifold]
    wrt: eqx.AbstractVar[Moving]
    name: eqx.AbstractVar[str]
    teacher: eqx.AbstractVar[Teacher | None]

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

    def metric(self, student: Student) -> Array:
        """G = E[grad g grad g^T], plus the ridge: how far the function g goes when units move.

        In the coordinates of the dense Hessian, (n, n). Half the Hessian of the loss where nothing
        is left of f - g; elsewhere what Gauss, Levenberg and Marquardt put in its place, which has
        no negative eigenvalue.
        """
        raise NotImplementedError(f"{type(self).__name__} is no distance of functions")

    @abc.abstractmethod
    def laplacian(self, student: Student, units: Any = None) -> Array:
        """The Laplacian in each unit, shape (k,); or in a group of `units` moved together."""

    @abc.abstractmethod
    def refit(self, student: Student, used: Array | None = None) -> tuple[Student, Array]:
        """The student with the weights that minimise the loss at its positions, and that loss.

        Units that are not `used` (k,) get weight 0: room for units to come.
        """

    @abc.abstractmethod
    def left_by(self, student: Student) -> Objective:
        """The loss of further units, those of `student` fixed: of what they leave to be learned."""

    @abc.abstractmethod
    def empty_value(self) -> Array:
        """The loss of a student without units."""

    @abc.abstractmethod
    def unexplained(self, points: Array, student: Student) -> Array:
        """How much `student` leaves at points (n, d), relative to what its own units make there.

        The logarithm of |C| over that of sum_i |c_i Phi(x, theta_i)|, (n,); infinite for an empty
        student.
        """

    @abc.abstractmethod
    def free_units(self, points: ArrayLike) -> FreeUnits:
        """What one unit alone would do at each of the points (n, d), with its best weight there."""

    @property
    def charge_shape(self) -> tuple[int, ...]:
        """Of the weight of a unit: () for one output, (m,) for m."""
        return ()

    @property
    def mixed(self) -> bool:
        """Whether its students have units of several activations, which are known by number."""
        return False

    @property
    def of_another_kind(self) -> bool:
        """Whether its students have other activations than the teacher."""
        return False

    def degrees(self, units: int) -> tuple[int | None, ...]:
        """`degree` of each unit of a student of so many."""
        return (self.degree,) * units

    def __call__(self, student: Student) -> Array:
        """The loss of a student: `value`."""
        return self.value(student)

    def __repr__(self) -> str:
        what = f"of {self.teacher!r}" if self.teacher is not None else f"in d = {self.dim}"
        samples = "" if self.samples is None else f" on {self.samples} samples"
        return f"{type(self).__name__}({self.name}, {what}{samples})"

    def optimal_weights(self, student: Student) -> Student:
        """The student with the weights that minimise the loss at its positions."""
        return self.refit(student)[0]

    @property
    def samples(self) -> int | None:
        """n, where the loss is a mean over n samples; None for an exact loss.

        Derivatives of a mean over samples are estimates where the activation has a jump or a kink.
        """
        return None

    @property
    def answer_error(self) -> Array:
        """tau, the largest error of what is told of the hidden network: 0 unless it is asked."""
        return jnp.zeros(())

    @property
    def sampled_activation(self) -> Activation | None:
        """The activation whose outputs at the samples make the loss; None for an exact loss."""
        return None

    @property
    def terms(self) -> Terms:
        """Which terms the loss counts."""
        return Terms()

    @property
    def ridge(self) -> float:
        """The factor of |c|^2."""
        return self.terms.ridge

    @property
    def invariant(self) -> Invariant:
        """Under which common motions of all units and the teacher's Phi does not change."""
        return "neither"

    @property
    def degree(self) -> int | None:
        """n with Phi(t x, y) = t^n Phi(x, y) for all t > 0, or None; None on the sphere.

        A unit (theta, c) then does what (t theta, t^-n c) does, and Phi is a cone at the origin
        for n = 1.
        """
        return None

    def self_energies(self, positions: Array) -> Array:
        """Phi(x, x) at positions (k, d), the energy of one unit of weight 1 alone: shape (k,)."""
        raise NotImplementedError(f"{type(self).__name__} has no units with energies of their own")

    def gradient_scale(self) -> float:
        """The size of gradients and second derivatives, to which tolerances are relative.

        s min(1, s) Phi, with s the size of the weights that are to be learned and Phi that of
        Phi(x, x): gradients are of order s Phi in weights and s^2 Phi in positions, second
        derivatives of order Phi and s^2 Phi. 1 where that is not known, or 0, or infinite.
        """
        return 1.0

    def rounding_of_zero(self, student: Student) -> float:
        """How large the loss may be and still be 0: its rounding errors at `student`.

        -1 where a loss of 0 need not be the least: 0 is, of a mean square.
        """
        return -1.0

    def cusp(self, positions: Array) -> Array:
        """kappa in Phi(y, x) = Phi(x, x) - kappa |y - x| + ..., at positions x (k, d).

        Shape (k,): the slope of the potential's cusp where two units meet, 0 where it is smooth.
        """
        return jnp.zeros(positions.shape[:-1])

    def antipodal_cusp(self, positions: Array) -> Array:
        """The same at the antipode: kappa' in Phi(y, x) = Phi(-x, x) - kappa' |y + x| + ...

        For sign kappa' = -kappa: a unit at -w of the opposite weight is as good as one at w.
        """
        return jnp.zeros(positions.shape[:-1])

    @property
    def cusps_across(self) -> Across:
        """The set that a cusp is across: where Phi(., y) has a slope kappa and no derivative.

        "points" y (and -y); "rays" through y and the origin, along which Phi is smooth; or
        "hyperplanes" where one coordinate of x - y is 0: a cusp |v|_1 instead of |v|.
        """
        return "points"

    def kink_at(self, student: Student) -> str:
        """Where a unit is that no slope of a cusp describes, in words; empty if there is none."""
        return ""

    def weight_hessian(self, student: Student) -> Array:
        """The Hessian of the weights alone, 2 (K + ridge): (k, k).

        A loss is quadratic in the weights: column i is how the gradient changes by the weight c_i.
        """
        slope = lambda c: self.gradient(Student(student.positions, c)).weights  # noqa: E731
        origin = slope(np.zeros(student.units))
        return jnp.stack([slope(axis) - origin for axis in np.eye(student.units)], axis=1)

    def value(self, student: Student) -> Array:
        """L at the student, shape ()."""
        return _run(_value, *self.suited_to(student).with_room(self.check(student)))

    def gradient(self, student: Student) -> Gradient:
        """The Riemannian gradient in positions (k, d) and weights (k,)."""
        return self.value_and_gradient(student)[1]

    def value_and_gradient(self, student: Student) -> tuple[Array, Gradient]:
        """Both, for the price of one."""
        count = self.check(student).units
        loss, roomy = self.suited_to(student).with_room(student)
        value, slope = _run(_value_and_gradient, loss, roomy)
        return value, Gradient(*(first(part, count) for part in slope))

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
        loss, roomy = self.suited_to(student).with_room(student)
        moved = Gradient(*(weightless(part, roomy.units) for part in moved))
        product = _run(_hvp, loss, roomy, moved)
        return Gradient(*(first(part, student.units) for part in product))

    def hessian(self, student: Student) -> Array:
        """The dense Hessian: tangent coordinates of the moving positions, then moving weights.

        Shape (n, n) with n = k d (k (d - 1) on the sphere), plus k for the weights. One
        Hessian-vector product a column, in batches: n^2 memory, so for small students.
        """
        size = freedom(self, self.check(student))
        check_memory({"entries of the Hessian": size**2}, copies=3)
        loss, roomy = self.suited_to(student).with_room(student)
        there = np.arange(roomy.units) < student.units
        return block(_hessian(loss, roomy), of_units(loss, roomy, there))

    def smallest_eigenpair(
        self, student: Student, *, tolerance: float = 1e-6, max_products: int = 300, seed: int = 0
    ) -> tuple[Eigenpair, Gradient]:
        """The smallest Hessian eigenvalue and its direction, by Hessian-vector products alone.

        The eigenpair has the residual and why the search stopped; its vector, in the coordinates of
        the dense Hessian, is given again as a unit tangent direction.
        """
        loss, student = self.suited_to(student), self.check(student)
        found = smallest_eigenpair(
            lambda coordinates: coordinate_hvp(loss, student, coordinates),
            freedom(self, student),
            tolerance=tolerance,
            max_products=max_products,
            seed=seed,
        )
        return found, direction_of(self, student, found.vector)

    def suited_to(self, student: Student) -> Objective:
        """The loss itself; or the same for students of another activation, where it has such."""
        return self

    def with_room(self, student: Student) -> tuple[Objective, Student]:
        """Loss and student as they are compiled: themselves, or filled up with units of weight 0.

        For numbers, and few units, of losses for which such a unit is none (`compiled.py`).
        """
        return self, student

    def runs_eagerly(self, student: Student) -> bool:
        """Whether sums over its units are done by other libraries than JAX, outside compiled code.

        True only of numbers, never inside compiled code.
        """
        return False

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
            check_squares(student.positions, "student unit")
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


def what_moves(variant: str, wrt: str | None) -> Moving:
    """What moves if `wrt` is asked for: by default both, under Assumption 1 positions alone."""
    fixed = variant == "assumption-1"
    moving = check_moving(wrt or ("positions" if fixed else "both"))
    if fixed and moving != "positions":
        raise EarnshawError("under assumption-1 the weights are fixed; allowed: wrt='positions'")
    return moving


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
    change = sum((sum_all(g * v) for g, v in terms if v is not None), start=jnp.zeros(()))
    return value, change


def _run(program: Callable[..., T], objective: Objective, student: Student, *rest: Any) -> T:
    """A compiled program of the objective; or the same line by line, where that suits it."""
    run = unwrap(program) if objective.runs_eagerly(student) else program
    return run(objective, student, *rest)


@compiled
def _value(objective: Objective, student: Student) -> Array:
    return energy(objective, student)


@compiled
def _value_and_gradient(objective: Objective, student: Student) -> tuple[Array, Gradient]:
    value, gradient = objective.euclidean(student)
    positions = objective.manifold.gradient(student.positions, gradient.positions)
    return value, objective.keep_moving(Gradient(positions, gradient.weights))


@compiled
def _hvp(objective: Objective, student: Student, direction: Gradient) -> Gradient:
    tangent = objective.manifold.tangent(student.positions, direction.positions)
    moved = objective.keep_moving(Gradient(tangent, direction.weights))
    product = objective.euclidean_hvp(student, moved)
    positions = product.positions
    if _curved(objective):
        slope = objective.euclidean(student)[1].positions
        positions = objective.manifold.hvp(student.positions, moved.positions, slope, positions)
    return objective.keep_moving(Gradient(positions, product.weights))


@compiled
def _hessian(objective: Objective, student: Student) -> Array:
    column = lambda coordinates: coordinate_hvp(objective, student, coordinates)  # noqa: E731
    matrix = in_batches(column, jnp.eye(freedom(objective, student)), 16)
    return (matrix + matrix.T) / 2


@compiled
def coordinate_hvp(objective: Objective, student: Student, coordinates: Array) -> Array:
    """The Hessian-vector product in the coordinates of the dense Hessian."""
    product = _hvp(objective, student, direction_of(objective, student, coordinates))
    return coordinates_of(objective, student, product)


def freedom(objective: Objective, student: Student) -> int:
    """The number of coordinates that may move."""
    of_positions = student.positions.size - (student.units if _curved(objective) else 0)
    of_weights = student.weights.size
    return {
        "positions": of_positions,
        "weights": of_weights,
        "both": of_positions + of_weights,
    }[objective.wrt]


def of_units(objective: Objective, student: Student, used: Any) -> Any:
    """Which of the coordinates that may move are those of `used` units (k,): booleans (n,)."""
    units = max(student.units, 1)  # an empty student has no coordinates
    of_weights = 0 if objective.wrt == "positions" else student.weights.size // units
    of_positions = freedom(objective, student) // units - of_weights
    repeat = np if isinstance(used, np.ndarray) else jnp
    parts = (repeat.repeat(used, of_positions), repeat.repeat(used, of_weights))
    return repeat.concatenate(parts)


def direction_of(objective: Objective, student: Student, coordinates: Array) -> Gradient:
    """The tangent direction with the given coordinates: of moving positions, then weights."""
    positions, weights = jnp.zeros_like(student.positions), jnp.zeros_like(student.weights)
    if objective.wrt != "positions":
        coordinates, weights = jnp.split(coordinates, [len(coordinates) - student.weights.size])
        weights = weights.reshape(student.weights.shape)
    if objective.wrt != "weights":
        basis = objective.manifold.basis(student.positions)
        along = coordinates.reshape(student.units, basis.shape[2])
        positions = jnp.einsum("kdf,kf->kd", basis, along)
    return Gradient(positions, weights)


def coordinates_of(objective: Objective, student: Student, direction: Gradient) -> Array:
    """The coordinates of a tangent direction, those of what may move: undoes `direction_of`."""
    basis = objective.manifold.basis(student.positions)
    along = jnp.einsum("kdf,kd->kf", basis, direction.positions).ravel()
    if objective.wrt == "positions":
        return along
    of_weights = direction.weights.ravel()
    return of_weights if objective.wrt == "weights" else jnp.append(along, of_weights)


def _curved(objective: Objective) -> bool:
    return objective.manifold.name == "sphere"
