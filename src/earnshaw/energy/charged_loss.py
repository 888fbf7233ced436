"""The energy of units that know how they couple, in a field that somebody else makes.

With K the potential Phi between the student's units, weights c at theta, and F the field of the
hidden network,

    L(c, theta) = c.K(theta, theta) c - 2 c.F(theta) + const,    F(x) = E[f(X) sigma(X, x)].

K follows from the activation and the inputs, which a learner knows. F is all of f that enters, and
where it comes from is left to subclasses: `PopulationLoss` has the teacher's units and sums over
them, `AskedLoss` has an oracle and knows nothing else.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.network import Student, is_concrete
from earnshaw.energy._field import (
    DENSE,
    Field,
    LogPotential,
    best_charges,
    best_charges_by_products,
)
from earnshaw.energy._tiles import units, weigh
from earnshaw.energy.couplings.coupling import Coupling, self_energies_of
from earnshaw.energy.objective import (
    FEW,
    Across,
    FreeUnits,
    Gradient,
    Invariant,
    Objective,
    energy,
    freedom,
)
from earnshaw.energy.variants import VARIANTS, Terms, check_ones
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_memory
from earnshaw.numerics.compiled import compiled, filled, first, room
from earnshaw.numerics.fixed_order import one_blas_thread, sum_all


class ChargedLoss(Objective):
    """L of the module's docstring; see `Objective` for what it offers.

    `field` sums over charges that feel each other, `constant` is E[f^2] where the variant counts
    it, and `unbounded` says whether units that meet have infinite energy.
    """

    field: eqx.AbstractVar[Field]
    constant: eqx.AbstractVar[Array]
    unbounded: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def outer_field(self, points: Array) -> tuple[Array, Array]:
        """F at points (n, d), shape (n,), and its Euclidean gradient (n, d)."""

    def inner_and_outer(self, student: Student) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """What the student's other units make at each of them, and F there; with gradients."""
        charged = units(student.positions, student.weights)
        return self.field.within(charged), self.outer_field(student.positions)

    @abc.abstractmethod
    def log_left(self, points: Array, student: Student) -> LogPotential:
        """C = F - what `student` makes, at points (n, d): sign, log|C|, Euclidean gradient of it.

        In logarithms, so that it is right where C underflows.
        """

    @property
    def terms(self) -> Terms:
        """Which terms of L the variant counts."""
        return VARIANTS[self.name]

    @property
    def invariant(self) -> Invariant:
        """Under which common motions of all units and the teacher's Phi does not change."""
        return self.field.coupling.invariant

    @property
    def degree(self) -> int | None:
        """That of a homogeneous activation on R^d."""
        return self.field.coupling.degree

    @property
    def cusps_across(self) -> Across:
        """The set that a cusp is across."""
        return self.field.coupling.cusps_across

    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        """Value and gradient in one pass over all pairs."""
        c = student.weights
        (among, force_among), (outside, force_outside) = self.inner_and_outer(student)
        value = sum_all(weigh(c, among - 2 * outside)) + self.constant
        by_weights = 2 * (among - outside)
        by_positions = 2 * weigh(c[:, None], force_among - force_outside)
        if self.terms.self_energies:
            alone, force_alone = self.field.coupling.alone(student.positions)
            value = value + sum_all(weigh(c * c, alone))
            by_weights = by_weights + 2 * weigh(c, alone)
            by_positions = by_positions + weigh((c * c)[:, None], force_alone)
        value = value + self.ridge * sum_all(c * c)
        by_weights = by_weights + 2 * self.ridge * c
        # Only unbounded potentials meet infinity - infinity: their energy counts as infinite.
        value = jnp.where(jnp.isnan(value), jnp.inf, value) if self.unbounded else value
        return value, Gradient(by_positions, by_weights)

    def euclidean_hvp(self, student: Student, direction: Gradient) -> Gradient:
        """One forward derivative of the gradient."""

        def slope(positions: Array, weights: Array) -> Gradient:
            return self.euclidean(Student(positions, weights))[1]

        return jax.jvp(slope, (student.positions, student.weights), tuple(direction))[1]

    def metric(self, student: Student) -> Array:
        """G: the second derivatives of Phi in both places, weighed by both charges."""
        size = freedom(self, self.check(student))
        check_memory({"entries of the metric": size**2}, copies=3)
        loss = self.suited_to(student)
        assert isinstance(loss, ChargedLoss)
        return _metric(loss, student)

    def refit(self, student: Student, used: Array | None = None) -> tuple[Student, Array]:
        """The student with the weights a*(theta) that minimise L at its positions, and that L."""
        student = self.check(student)
        if not self.terms.self_energies or self.wrt == "positions":
            raise EarnshawError(
                f"the weights cannot be optimised in the objective {self.name!r} with respect to "
                f"{self.wrt}; allowed: full, regularized, one-node, with respect to weights or both"
            )
        if self.unbounded:
            raise EarnshawError(
                "the potential is unbounded: every unit has infinite energy of its own, and the "
                "best weights are 0; allowed: bounded potentials"
            )
        used = jnp.ones(student.units, dtype=bool) if used is None else used
        if not student.units:
            return student, self.empty_value()
        with one_blas_thread():
            return jax.block_until_ready(_refit(self, student, used))

    def empty_value(self) -> Array:
        """b.K b, where it counts."""
        return self.constant

    def unexplained(self, points: Array, student: Student) -> Array:
        """log|C| minus the logarithm of what the student's units make at most, at points (n, d).

        -inf where C cannot be told from 0.
        """
        return _unexplained(self, points, student)

    def free_units(self, points: ArrayLike) -> FreeUnits:
        """One unit alone at each point; in logarithms, so also where C underflows."""
        return _free_units(self, self.check_points(points))

    def cusp(self, positions: Array) -> Array:
        """The slope of the potential's cusp at each position."""
        return self._at_each(_cusps, positions)[0]

    def antipodal_cusp(self, positions: Array) -> Array:
        """The slope of its cusp at the antipode of each position."""
        return self._at_each(_cusps, positions)[1]

    def self_energies(self, positions: Array) -> Array:
        """Phi(x, x), E[sigma(X, x)^2] for an activation, whether or not the variant counts it."""
        return self._at_each(self_energies_of, positions)

    def _at_each(self, function: Callable[[Coupling, Array], Any], positions: Array) -> Any:
        """function(coupling, positions), arrays with one entry a unit."""
        if self.mixed or not is_concrete(positions):
            return function(self.field.coupling, positions)
        places, _ = filled(positions, np.zeros(len(positions)))
        found = function(self.field.coupling, places)
        return jax.tree.map(lambda part: first(part, len(positions)), found)

    def weight_hessian(self, student: Student) -> Array:
        """2 (K + ridge), (k, k); without the diagonal of K where self-energies do not count."""
        if student.units <= FEW:
            return super().weight_hessian(student)
        return _weight_hessian(self, student.positions)

    def with_room(self, student: Student) -> tuple[ChargedLoss, Student]:
        """Filled up where all pairs are still computed at once, as they are without that."""
        numbers = all(map(is_concrete, (student.positions, student.weights, self.constant)))
        if not numbers or self.mixed or self.field.mesh is not None or self.roomy is None:
            return self, student
        if self.roomy.pair_numbers(room(student.units)) > self.field.small:
            return self, student
        return self.roomy, Student(*filled(student.positions, student.weights))

    @cached_property
    def roomy(self) -> ChargedLoss | None:
        """The loss with room for more hidden units; None where units are known by number."""
        return self

    def pair_numbers(self, units: int) -> int:
        """How many numbers a student of so many units takes if all pairs are computed at once."""
        return units**2 * self.dim * self.field.coupling.scratch

    def check(self, student: Student) -> Student:
        """As for every objective; and the number and weights that the objective's name asks for."""
        student = super().check(student)
        if self.name == "one-node" and student.units != 1:
            raise EarnshawError(f"one-node is for students of 1 unit, this has {student.units}")
        if self.name == "assumption-1" and is_concrete(student.weights):
            check_ones("student", student.weights)
        return student

    def check_points(self, points: ArrayLike) -> Array:
        """Points (n, d) of the manifold, or an error that says why they are none."""
        where = jnp.asarray(points, dtype=float)
        if where.ndim != 2 or where.shape[1] != self.dim:
            raise EarnshawError(f"points have shape {where.shape}; allowed: (n, {self.dim})")
        if is_concrete(where):
            self.manifold.check(where, "point")
        return where


@compiled
def _cusps(coupling: Coupling, positions: Array) -> tuple[Array, Array]:
    return coupling.cusp(positions), coupling.antipodal_cusp(positions)


@compiled
def _metric(loss: ChargedLoss, student: Student) -> Array:
    positions, charges = student.positions, student.weights.reshape(student.units, -1)

    values, slopes, twists = loss.field.bends(positions)
    basis = loss.manifold.basis(positions)
    among = jnp.einsum("io,jo,iejd,idf,jeg->ifjg", charges, charges, twists, basis, basis)
    slopes = jnp.einsum("io,ijd,idf->ifjo", charges, slopes, basis)
    values = values + loss.ridge * jnp.eye(len(values))
    values = jnp.einsum("ij,op->iojp", values, jnp.eye(charges.shape[1]))
    among, between = (x.reshape(student.units * basis.shape[2], -1) for x in (among, slopes))
    of_weights = values.reshape(charges.size, charges.size)
    if loss.wrt == "positions":
        return among
    return (
        of_weights
        if loss.wrt == "weights"
        else jnp.block([[among, between], [between.T, of_weights]])
    )


@compiled
def _weight_hessian(loss: ChargedLoss, positions: Array) -> Array:
    alone, _ = loss.field.coupling.alone(positions)
    diagonal = loss.ridge + (alone if loss.terms.self_energies else jnp.zeros_like(alone))
    return 2 * jnp.fill_diagonal(loss.field.matrix(positions), diagonal, inplace=False)


@compiled
def _free_units(loss: ChargedLoss, points: Array) -> FreeUnits:
    left = loss.log_left(points, Student(jnp.zeros((0, loss.dim)), jnp.zeros(0)))
    own, slope = loss.field.coupling.alone(points)
    own = own + loss.ridge
    gradient = 2 * left.gradient - slope / own[:, None]
    return FreeUnits(
        left.sign * jnp.exp(left.log_size) / own,
        2 * left.log_size - jnp.log(own),
        loss.manifold.gradient(points, gradient),
    )


@compiled
def _unexplained(loss: ChargedLoss, points: Array, student: Student) -> Array:
    own = units(student.positions, jnp.abs(student.weights), len(points))
    made = loss.field.log_at(units(points), own).log_size
    left = loss.log_left(points, student).log_size
    # Below twice the error of an answer there may be nothing at all.
    return jnp.where(left > jnp.log(2 * loss.answer_error), left - made, -jnp.inf)


@compiled
def _refit(loss: ChargedLoss, student: Student, used: Array) -> tuple[Student, Array]:
    count, positions = student.units, student.positions
    alone, _ = loss.field.coupling.alone(positions)
    diagonal = jnp.where(used, alone + loss.ridge, 0.0)
    outside, _ = loss.outer_field(positions)
    pull = jnp.where(used, outside, 0.0)
    if count <= DENSE:
        gram = jnp.where(used[:, None] & used, loss.field.matrix(positions), 0.0)
        gram = jnp.fill_diagonal(gram, diagonal, inplace=False)
        c = best_charges(gram, pull)
        return Student(positions, c), c @ (gram @ c - 2 * pull) + loss.constant

    electrons = units(positions, student.weights)

    def product(c: Array) -> Array:
        among, _ = loss.field.within(electrons._replace(charges=c))
        return jnp.where(used, among, 0.0) + diagonal * c

    c = best_charges_by_products(product, diagonal, pull)
    found = Student(positions, c)
    return found, energy(loss, found)
