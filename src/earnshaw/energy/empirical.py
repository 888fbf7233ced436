"""The empirical loss: the mean squared difference of a network from samples.

    L(c, theta) = 1/n sum_m (y_m - g(x_m))^2,    g(x) = sum_i c_i sigma(x, theta_i),

behind the same protocol as the population loss, so that every method runs on both. Samples are
streamed in chunks: memory does not hold n x k numbers, and results depend on the size of a chunk
only by rounding. Value and gradient cost one pass over the samples, a Hessian-vector product (of
the true Hessian, not of its Gauss-Newton part) one.

At kinks of the activation, derivatives of the sum are not estimates of the population's (the
empirical loss of sign has gradient 0 almost everywhere). `responses/dot_product.py` has the bumps
that stand in for what the samples miss; `kink_width` changes or drops them. The value is always the
plain mean; the gradient is its derivative if s is continuous, and the Hessian that of the gradient
if s' is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.manifolds import Manifold, Sphere, manifold
from earnshaw.charges.network import Student, Teacher, is_concrete
from earnshaw.duality.activation import Activation
from earnshaw.energy._data import checked_data, checked_inputs, drawn, student_activation
from earnshaw.energy._laplacian import moved_together
from earnshaw.energy.objective import (
    FEW,
    ROUNDING,
    FreeUnits,
    Gradient,
    Moving,
    Objective,
    coordinates_of,
    energy,
    what_moves,
)
from earnshaw.energy.responses.choose import choose_response
from earnshaw.energy.responses.response import Response
from earnshaw.energy.streaming import Chunk, chunk_rows, fold, total
from earnshaw.energy.variants import VARIANTS, Terms, check_ones
from earnshaw.errors import EarnshawError, OutOfRange, UnknownName
from earnshaw.inputs import Inputs
from earnshaw.limits import check_integer
from earnshaw.numerics.fixed_order import one_blas_thread, over_rows, sum_all
from earnshaw.numerics.least_squares import append_rows, solve_triangle
from earnshaw.numerics.subsets import random_subset

Variant = Literal["full", "regularized", "assumption-1"]
ALLOWED = ("full", "regularized", "assumption-1")
OF_CHARGES = ("without-constants", "one-node")  # these leave out terms that samples cannot separate


class EmpiricalLoss(Objective):
    """The mean squared difference from samples `x` (n, d), `y` (n,); made by `empirical_loss`.

    `truth` has the units of the teacher that the samples were drawn from, if they were: only
    `fresh` samples ask it. The `teacher` of the protocol is not told.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import numpy as np
    >>> x = np.array([[1.0], [2.0]])
    >>> loss = ew.empirical_loss((x, np.array([1.0, 3.0])), activation="relu")
    >>> float(loss.value(ew.Student([[1.0]], [1.0])))  # mean of (1 - 1)^2 and (3 - 2)^2
    0.5
    """

    x: Array
    y: Array
    constant: Array
    response: Response
    manifold: Manifold
    truth: Student | None
    inputs: Inputs | None
    wrt: Moving = eqx.field(static=True)
    name: Variant = eqx.field(static=True)
    batch: int | None = eqx.field(static=True)
    chunk: int | None = eqx.field(static=True)
    teacher: None = eqx.field(init=False, default=None)

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.x.shape[1]

    @property
    def samples(self) -> int:
        """n, the number of samples."""
        return self.x.shape[0]

    @property
    def sampled_activation(self) -> Activation:
        """The activation of the student's units."""
        return self.response.activation

    @property
    def terms(self) -> Terms:
        """Which terms of L the variant counts."""
        return VARIANTS[self.name]

    def suited_to(self, student: Student) -> EmpiricalLoss:
        """The loss itself: samples are compared with students of one activation."""
        kind, own = student.unit_kind, self.sampled_activation
        if kind is not None and kind.name != own.name:
            raise EarnshawError(
                f"the student is of {kind.name}, the loss of samples of {own.name}; allowed: the "
                "same activation"
            )
        return self

    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        """The value, and the gradient in R^(k d) x R^k."""
        squares, (positions, weights) = self._total(
            student, lambda chunk: self.response.squares(student, chunk)
        )
        value = squares / self.samples + self.ridge * sum_all(student.weights**2) + self.constant
        weights = weights / self.samples + 2 * self.ridge * student.weights
        return value, Gradient(positions / self.samples, weights)

    def euclidean_hvp(self, student: Student, direction: Gradient) -> Gradient:
        """The Hessian of R^(k d) x R^k applied to `direction`."""
        positions, weights = self._total(
            student, lambda chunk: self.response.hvp(student, direction, chunk)
        )
        weights = weights / self.samples + 2 * self.ridge * direction.weights
        return Gradient(positions / self.samples, weights)

    def metric(self, student: Student) -> Array:
        """G: the mean over the samples of grad g(x) grad g(x)^T, plus the ridge."""
        return _metric(self, self.check(student))

    def laplacian(self, student: Student, units: Any = None) -> Array:
        """The Laplacian in each unit, (k,); or in the group of `units` moved together, a number.

        A group moves by a common translation on R^d, by a common rotation on the sphere.
        """
        student = self.check(student)
        if units is None:
            return _laplacian(self, student, None)
        group = jnp.asarray(moved_together(units, student.units), dtype=float)
        return _laplacian(self, student, group)

    def refit(self, student: Student, used: Array | None = None) -> tuple[Student, Array]:
        """The student with the weights of least loss, by a QR factorisation of all outputs.

        The factorisation goes chunk by chunk and never forms the normal equations. Of weights that
        the samples do not determine (units that coincide), the smallest.
        """
        if self.wrt == "positions":
            raise EarnshawError(
                "the weights are fixed with respect to positions; allowed: both, weights"
            )
        used = jnp.ones(student.units, dtype=bool) if used is None else used
        with one_blas_thread():
            return jax.block_until_ready(_refit(self, self.check(student), used))

    def subset(self, indices: ArrayLike) -> EmpiricalLoss:
        """The loss on some of the samples. Averages over a partition into equal parts are exact."""
        picked = jnp.asarray(indices)
        if picked.ndim != 1 or picked.size == 0 or not jnp.issubdtype(picked.dtype, jnp.integer):
            raise EarnshawError("a subset needs a list of indices of samples, one or more")
        if is_concrete(picked) and (picked.min() < 0 or picked.max() >= self.samples):
            raise EarnshawError(f"a subset has indices out of range; allowed: below {self.samples}")
        return self._on(self.x[picked], self.y[picked])

    def minibatch(self, key: Array) -> EmpiricalLoss:
        """The loss on `batch` of the samples, drawn without replacement: unbiased.

        Works in compiled loops: ``loss.minibatch(key).gradient(student)``.
        """
        if self.batch is None:
            raise EarnshawError("a minibatch needs a size; make the loss with batch=")
        return self.subset(random_subset(key, self.samples, self.batch))

    def fresh(self, key: Array) -> EmpiricalLoss:
        """The loss on new samples from the teacher: `batch` of them, or n without a batch size."""
        if self.truth is None or self.inputs is None:
            raise EarnshawError("fresh samples need a teacher; this loss was made from data")
        count = self.samples if self.batch is None else self.batch
        x = self.inputs.sample(key, count, self.dim)
        return self._on(x, _answers(self.response, self.truth, x, self.chunk))

    def node(self, unit: int, student: Student) -> EmpiricalLoss:
        """The loss of a student of one unit, in place of `unit` of `student`: others stay fixed.

        Its value at that unit is this loss at the whole student.
        """
        student = self.check(student)
        unit = check_integer("unit", unit, 0, student.units - 1)
        weights = student.weights.at[unit].set(0.0)
        return self.left_by(Student(student.positions, weights))

    def left_by(self, student: Student) -> EmpiricalLoss:
        """The loss of further units: its answers y are these, less the student's."""
        return dataclasses.replace(
            self,
            y=self.y - _answers(self.response, student, self.x, self.chunk),
            constant=self.constant + self.ridge * sum_all(student.weights**2),
            truth=None,
        )

    def empty_value(self) -> Array:
        """The mean of y^2, and what fixed units add: the loss of an empty student, ()."""
        return sum_all(self.y**2) / self.samples + self.constant

    def unexplained(self, points: Array, student: Student) -> Array:
        """log|C| minus the logarithm of what the student's units make at most, at points (n, d)."""
        sizes = Student(student.positions, jnp.abs(student.weights))
        made = _answers(self.response, sizes, self.x, self.chunk)
        left = self.left_by(student).free_units(points).log_savings
        return (left - self._on(self.x, made).free_units(points).log_savings) / 2

    def free_units(self, points: ArrayLike) -> FreeUnits:
        """One unit alone at each point, from the loss of that unit with weights 1 and -1.

        L(c) = c^2 Phi - 2 c C + const has slopes 2 Phi - 2 C and -2 Phi - 2 C there.
        """
        return _free_units(self, jnp.asarray(points, dtype=float))

    def self_energies(self, positions: Array) -> Array:
        """The mean over the samples of sigma(x, theta)^2, (k,)."""
        return _self_energies(self, positions)

    def gradient_scale(self) -> float:
        """s min(1, s), s the root mean square of y; the energy of a unit counts as 1."""
        size = float(np.sqrt(np.mean(np.square(np.asarray(self.y)))))
        return size * min(1.0, size) if 0 < size < np.inf else 1.0

    def rounding_of_zero(self, student: Student) -> float:
        """A sum of squares has nothing to cancel: it is 0 beside the mean of y^2."""
        return ROUNDING * float(np.mean(np.square(np.asarray(self.y))))

    def weight_hessian(self, student: Student) -> Array:
        """2 (K + ridge), (k, k), K the mean over the samples of sigma_i sigma_l."""
        if student.units <= FEW:
            return super().weight_hessian(student)
        return 2 * (_gram(self, student.positions) + self.ridge * jnp.eye(student.units))

    def check(self, student: Student) -> Student:
        """As for every objective; under Assumption 1 all weights must be 1."""
        student = super().check(student)
        if self.name == "assumption-1":
            check_ones("student", student.weights)
        return student

    def _on(self, x: Array, y: Array) -> EmpiricalLoss:
        return dataclasses.replace(self, x=x, y=y)

    def _total(self, student: Student, function: Callable[[Chunk], Any]) -> Any:
        entries = self.response.entries(student.units, student.dim)
        return total(function, self.x, self.y, chunk_rows(self.samples, entries, self.chunk))


def empirical_loss(
    data: Teacher | tuple[ArrayLike, ArrayLike],
    samples: int | None = None,
    *,
    seed: int = 0,
    inputs: Inputs | None = None,
    wrt: str | None = None,
    objective: str = "full",
    batch: int | None = None,
    activation: str | Activation | Callable[[Any], Any] | None = None,
    on: str | Manifold | None = None,
    kinks: Sequence[float] = (),
    kink_width: float | None = None,
    chunk: int | None = None,
    **parameters: Any,
) -> EmpiricalLoss:
    """The loss L(c, theta) = mean (y - g(x))^2 over samples, g(x) = sum_i c_i sigma(x, theta_i).

    Parameters
    ----------
    data
        a teacher f, of which `samples` inputs x are drawn and y = f(x); or arrays (x, y) of
        shapes (n, d) and (n,), with `activation`.
    samples
        n, for a teacher.
    seed
        that of the inputs.
    inputs
        their distribution, `Gaussian` or `TruncatedGaussian`; the teacher's if not given.
    wrt
        what may move: ``"both"`` (the default; ``"positions"`` under Assumption 1),
        ``"positions"`` or ``"weights"``.
    objective
        ``"full"``; ``"regularized"``, plus |c|^2; ``"assumption-1"``, all weights of
        the teacher 1 and those of the student fixed, constants kept.
    batch
        the size of minibatches and of fresh batches.
    activation
        of the student, for (x, y): a name with its parameters as further keywords, an
        activation, or a function of one variable (with its `kinks`).
    on
        ``"space"`` or ``"sphere"``; if not given, the teacher's manifold, or space.
    kinks
        where a function given as `activation` is not smooth.
    kink_width
        the width of the bumps that stand for point masses at the activation's kinks,
        relative to the standard deviation of x.theta; by default n^(-1/3), and n^(-1/5) for
        the derivatives of bumps (of an activation that jumps). 0 leaves them out.
    chunk
        how many samples are worked on at once; by default, few enough for the cache.
    **parameters
        those of the named activation.

    Returns
    -------
    EmpiricalLoss
        the same protocol as `population_loss`, over these samples.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import numpy as np
    >>> x = np.array([[1.0], [2.0]])
    >>> loss = ew.empirical_loss((x, np.array([1.0, 3.0])), activation="relu")
    >>> float(loss.value(ew.Student([[1.0]], [1.0])))  # mean of (1 - 1)^2 and (3 - 2)^2
    0.5
    """
    name, moving = _variant(objective, wrt)
    batch = None if batch is None else check_integer("batch", batch, 1)
    chunk = None if chunk is None else check_integer("chunk", chunk, 1)
    truth, source = None, None
    if isinstance(data, Teacher):
        if activation is not None or parameters or len(kinks):
            raise EarnshawError("activation= and its parameters are for data (x, y), not a teacher")
        if name == "assumption-1":
            check_ones("teacher", data.weights)
        if data.outputs is not None:
            raise EarnshawError(f"samples of {data.outputs} outputs; allowed: a teacher of one")
        sigma, lives = data.activation, data.species.manifold(data.manifold if on is None else on)
        source = data.species.inputs if inputs is None else checked_inputs(inputs)
        x = drawn(source, samples, seed, data.dim)
        truth = data.student()
    else:
        if samples is not None or inputs is not None:
            raise EarnshawError("samples= and inputs= are for a teacher, not for data (x, y)")
        x, y = checked_data(data)
        sigma = student_activation(activation, x.shape[1], kinks, parameters)
        lives = manifold("space" if on is None else on)
    if batch is not None and batch > x.shape[0]:
        raise OutOfRange("batch", batch, f"an integer from 1 to {x.shape[0]}, the samples")
    response = choose_response(sigma, x, kink_width)
    if truth is not None:
        y = _answers(response, truth, x, chunk)
    return EmpiricalLoss(
        x=x,
        y=y,
        constant=jnp.zeros(()),
        response=response,
        manifold=lives,
        truth=truth,
        inputs=source,
        wrt=moving,
        name=name,
        batch=batch,
        chunk=chunk,
    )


def _variant(objective: str, wrt: str | None) -> tuple[Variant, Moving]:
    if objective in OF_CHARGES:
        raise EarnshawError(
            f"{objective} leaves out energies of pairs, which samples do not tell apart; "
            f"allowed: {', '.join(ALLOWED)}"
        )
    if objective not in ALLOWED:
        raise UnknownName("objective", str(objective), ALLOWED)
    return objective, what_moves(objective, wrt)  # type: ignore[return-value]


@eqx.filter_jit
def _answers(response: Response, student: Student, x: Array, chunk: int | None) -> Array:
    """g(x) at every input, shape (n,)."""
    rows = chunk_rows(x.shape[0], response.entries(student.units, student.dim), chunk)

    def answer(one: Array) -> Array:
        return response.outputs(one[None], student.positions)[0] @ student.weights

    return jax.lax.map(answer, x, batch_size=rows)


@eqx.filter_jit
def _free_units(loss: EmpiricalLoss, points: Array) -> FreeUnits:
    def at(weight: float) -> Gradient:
        one = lambda x: loss.euclidean(Student(x[None], jnp.full(1, weight)))[1]  # noqa: E731
        found = jax.vmap(one)(points)
        return Gradient(found.positions[:, 0], found.weights[:, 0])

    up, down = at(1.0), at(-1.0)
    own, potential = (up.weights - down.weights) / 4, -(up.weights + down.weights) / 4
    # The loss at weight +-1 is Phi -+ 2 C + const.
    own_slope = (up.positions + down.positions) / 2
    potential_slope = (down.positions - up.positions) / 4
    there = potential != 0
    potential_slope = potential_slope / jnp.where(there, potential, jnp.inf)[:, None]
    gradient = 2 * potential_slope - own_slope / own[:, None]
    return FreeUnits(
        potential / own,
        2 * jnp.log(jnp.abs(potential)) - jnp.log(own),
        loss.manifold.gradient(points, gradient),
    )


@eqx.filter_jit
def _self_energies(loss: EmpiricalLoss, positions: Array) -> Array:
    student = Student(positions, jnp.zeros(len(positions)))
    squares = lambda chunk: chunk.weight @ loss.response.outputs(chunk.x, positions) ** 2  # noqa: E731
    return loss._total(student, squares) / loss.samples


@eqx.filter_jit
def _gram(loss: EmpiricalLoss, positions: Array) -> Array:
    """The mean over the samples of sigma(x, theta_i) sigma(x, theta_l), (k, k)."""

    def products(chunk: Chunk) -> Array:
        outputs = loss.response.outputs(chunk.x, positions) * chunk.weight[:, None]
        return over_rows(outputs, outputs)

    return loss._total(Student(positions, jnp.zeros(len(positions))), products) / loss.samples


@eqx.filter_jit
def _metric(loss: EmpiricalLoss, student: Student) -> Array:
    def answer(student: Student, x: Array) -> Array:
        return loss.response.outputs(x[None], student.positions)[0] @ student.weights

    def slope(x: Array) -> Array:
        found = jax.grad(answer)(student, x)
        return coordinates_of(loss, student, Gradient(found.positions, found.weights))

    def products(chunk: Chunk) -> Array:
        slopes = jax.vmap(slope)(chunk.x) * chunk.weight[:, None]
        return over_rows(slopes, slopes)

    ridge = Gradient(jnp.zeros_like(student.positions), jnp.full_like(student.weights, loss.ridge))
    mean = loss._total(student, products) / loss.samples
    return mean + jnp.diag(coordinates_of(loss, student, ridge))


@eqx.filter_jit
def _laplacian(loss: EmpiricalLoss, student: Student, group: Array | None) -> Array:
    on_sphere = isinstance(loss.manifold, Sphere)
    sums = loss._total(
        student, lambda chunk: loss.response.laplacian(student, group, on_sphere, chunk)
    )
    return sums / loss.samples


@eqx.filter_jit
def _refit(loss: EmpiricalLoss, student: Student, used: Array) -> tuple[Student, Array]:
    count = student.units
    entries = loss.response.entries(count, student.dim)
    rows = chunk_rows(loss.samples, entries, loss.chunk)
    rows = min(loss.samples, max(rows, 4 * (count + 1)))
    # A ridge is k more equations, sqrt(n ridge) c = 0.
    start = jnp.diag(jnp.sqrt(loss.samples * loss.ridge) * jnp.ones(count + 1).at[count].set(0.0))

    def step(triangle: Array, chunk: Chunk) -> Array:
        outputs = loss.response.outputs(chunk.x, student.positions) * used
        table = jnp.concatenate([outputs, chunk.y[:, None]], axis=1)
        return append_rows(triangle, chunk.weight[:, None] * table)

    weights = solve_triangle(fold(step, start, loss.x, loss.y, rows))
    # The smallest solution gives columns of zeros weight 0 but for rounding.
    found = Student(student.positions, jnp.where(used, weights, 0.0))
    return found, energy(loss, found)
