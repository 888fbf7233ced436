"""The exact population loss E[(f - g)^2] of a student g of a teacher f, as an energy of charges.

With K the potential Phi between units, teacher weights b at w and student weights c at theta,

    L(c, theta) = c.K(theta, theta) c - 2 c.K(theta, w) b + b.K(w, w) b,

raw potentials throughout, so that the value is the mean squared difference itself. The papers'
charges are a = -c. `variants.py` has the variants of L that the papers use, `charged_loss.py` what
does not depend on where the teacher's field comes from: here it is summed over the teacher's units.

`PopulationLoss.node(i, student)` is the loss of unit i with all others fixed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.manifolds import Manifold, check_squares
from earnshaw.charges.network import Student, Teacher, is_concrete
from earnshaw.duality.named import is_activation
from earnshaw.energy._field import Field, LogPotential, choose_coupling, devices_mesh
from earnshaw.energy._laplacian import charged_laplacians, group_laplacian, moved_together
from earnshaw.energy._tiles import TILE, Units, units, weigh
from earnshaw.energy.charged_loss import ChargedLoss
from earnshaw.energy.objective import ROUNDING, Moving, Objective, what_moves
from earnshaw.energy.variants import VARIANTS, Terms, check_ones
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.limits import check_integer, check_work
from earnshaw.numerics.fixed_order import sum_all

OBJECTIVES = tuple(VARIANTS)


class PopulationLoss(ChargedLoss):
    """L of the module's docstring, for one teacher; see `Objective` for what it offers."""

    teacher: Teacher
    field: Field
    constant: Array
    manifold: Manifold
    name: str = eqx.field(static=True)
    wrt: Moving = eqx.field(static=True)
    unbounded: bool = eqx.field(static=True)  # whether units that meet have infinite energy

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.teacher.dim

    def outer_field(self, points: Array) -> tuple[Array, Array]:
        """sum_j b_j Phi(x, w_j) at points (n, d), shape (n,), and its gradient (n, d)."""
        return self.field.at(units(points), self._protons(len(points)))

    def log_left(self, points: Array, student: Student) -> LogPotential:
        """C at points (n, d) as one sum over the charges of both, in which equal ones cancel."""
        return self.field.log_at(*_all_charges(self, points, student))

    def laplacian(self, student: Student, units: ArrayLike | Iterable[int] | None = None) -> Array:
        """The Laplacian of L in each unit alone, shape (k,); or in a group moved together, ().

        On R^d the group moves by one common translation; on the sphere by one common rotation, and
        the Laplacian is that over all rotations, which for a single unit is the Laplace-Beltrami
        operator. Motions that leave Phi unchanged drop the pairs within the group: the papers'
        correlated move (Full, Theorem 3.6 and Theorem F.2).
        """
        student = self.check(student)
        if units is None:
            return _unit_laplacians(self, student)
        chosen = moved_together(units, student.units)
        return _group_laplacian(self, student, chosen)

    def node(self, unit: int, student: Student) -> PopulationLoss:
        """The loss as a function of one unit, all others fixed: a teacher of what they leave.

        Its value at that unit, as a student of one, is this loss at the whole student.
        """
        student = self.check(student)
        unit = check_integer("unit", unit, 0, student.units - 1)
        rest = np.delete(np.arange(student.units), unit)
        return self.left_by(Student(student.positions[rest], student.weights[rest]))

    def left_by(self, student: Student) -> PopulationLoss:
        """The loss of further units: its teacher is this one, less the student."""
        left = Teacher(
            jnp.concatenate([self.teacher.positions, student.positions]),
            jnp.concatenate([self.teacher.weights, -student.weights]),
            self.teacher.species,
            on=self.teacher.manifold,
        )
        constant = self.value(student) if self.name != "one-node" else self.constant
        return dataclasses.replace(self, teacher=left, constant=constant)

    def kink_at(self, student: Student) -> str:
        """The origin for an activation with a kink, a ridge of a product, a cusp of a formula."""
        if self.unbounded or not student.units:
            return ""
        w = np.asarray(self.teacher.positions)[np.asarray(self.teacher.weights) != 0]
        return self.field.coupling.kink_at(np.asarray(student.positions), w)

    def gradient_scale(self) -> float:
        """s min(1, s) Phi: s the teacher's largest weight, Phi the largest Phi(w_j, w_j)."""
        size = float(np.max(np.abs(np.asarray(self.teacher.weights))))
        power = abs(float(np.max(self.self_energies(self.teacher.positions))))
        known = 0 < size < np.inf and 0 < power < np.inf
        return size * min(1.0, size) * power if known else 1.0

    def rounding_of_zero(self, student: Student) -> float:
        """The rounding of c.K c - 2 c.K b + b.K b where that is E[(f - g)^2].

        Its terms sum to at most (sum_i |c_i| Phi_ii^(1/2) + the same of b)^2 in size, since K is
        positive semidefinite.
        """
        if not self._is_mean_square():
            return -1.0
        total = 0.0
        for network in (student, self.teacher):
            sizes = np.sqrt(np.abs(np.asarray(self.self_energies(network.positions))))
            total += float(np.abs(np.asarray(network.weights)) @ sizes)
        return ROUNDING * total**2

    def gram(self, positions: Array, others: Array) -> Array:
        """K: Phi(x_i, y_j) between positions (k, d) and others (m, d), shape (k, m)."""
        return self.field.matrix(positions, others)

    def pair_numbers(self, units: int) -> int:
        """How many numbers a student of so many units takes if all pairs are computed at once."""
        pairs = units * (units + self.teacher.units)
        return pairs * self.dim * self.field.coupling.scratch

    def potential(self, points: ArrayLike, student: Student | None = None) -> Array:
        """C at points (n, d): what teacher and student together make there; shape (n,)."""
        return _probe(self, *self._probes(points, student))[0]

    def potential_gradient(self, points: ArrayLike, student: Student | None = None) -> Array:
        """The Riemannian gradient of C at points (n, d); the same shape."""
        return _probe(self, *self._probes(points, student))[1]

    def log_potential(self, points: ArrayLike, student: Student | None = None) -> LogPotential:
        """The sign of C, log|C| and its Riemannian gradient, right also where C underflows."""
        return _log_probe(self, *self._probes(points, student))

    def _is_mean_square(self) -> bool:
        """Whether L = E[(f - g)^2]: of an activation, and with all its terms."""
        species = self.teacher.species
        # Potentials by name (distance, harmonic) and formulas need not have an activation.
        named = species.origin == "activation" and is_activation(species.name)
        known = species.given is not None or named
        return known and self.terms == Terms()

    def _electrons(self, student: Student) -> Units:
        return units(student.positions, student.weights)

    def _protons(self, first: int) -> Units:
        return units(self.teacher.positions, self.teacher.weights, first)

    def _probes(self, points: ArrayLike, student: Student | None) -> tuple[Array, Student]:
        empty = Student(jnp.zeros((0, self.dim)), jnp.zeros(0))
        return self.check_points(points), empty if student is None else Objective.check(
            self, student
        )


def population_loss(
    teacher: Teacher,
    objective: str = "full",
    *,
    wrt: str | None = None,
    devices: Iterable[Any] | None = None,
    tile: int = TILE,
) -> PopulationLoss:
    """The exact loss E[(f - g)^2] of students of `teacher`, or a variant of it.

    Args:
        teacher: the hidden network f.
        objective: "full", "without-constants", "regularized", "assumption-1" or "one-node".
        wrt: what may move: "both" (the default; "positions" under Assumption 1), "positions" or
            "weights".
        devices: JAX devices to share the work with, e.g. ``jax.devices()``.
        tile: entries of the largest matrix that is ever made.
    """
    if not isinstance(teacher, Teacher):
        raise EarnshawError(f"a population loss needs a Teacher, not {type(teacher).__name__}")
    if objective not in OBJECTIVES:
        raise UnknownName("objective", str(objective), OBJECTIVES)
    moving = what_moves(objective, wrt)
    if objective == "assumption-1":
        check_ones("teacher", teacher.weights)
    if is_concrete(teacher.positions):
        check_squares(teacher.positions, "teacher unit")
    pairs = {"pairs of units": teacher.units**2, "dimensions": teacher.dim}
    check_work("one value of the loss", pairs)
    coupling = choose_coupling(teacher.potential, teacher.manifold, teacher.dim)
    field = Field(coupling, devices_mesh(devices), check_integer("tile", tile, 64))
    unbounded = coupling.unbounded(teacher.positions[0])
    loss = PopulationLoss(
        teacher=teacher,
        field=field,
        constant=jnp.zeros(()),
        manifold=teacher.manifold,
        name=objective,
        wrt=moving,
        unbounded=unbounded,
    )
    if not loss.terms.constant:
        return loss
    return eqx.tree_at(lambda loss: loss.constant, loss, _teacher_energy(loss))


@eqx.filter_jit
def _teacher_energy(loss: PopulationLoss) -> Array:
    b = loss.teacher.weights
    among, _ = loss.field.within(loss._protons(0))
    alone, _ = loss.field.coupling.alone(loss.teacher.positions)
    return sum_all(weigh(b, among)) + sum_all(weigh(b * b, alone))


@eqx.filter_jit
def _unit_laplacians(loss: PopulationLoss, student: Student) -> Array:
    electrons, protons = loss._electrons(student), loss._protons(student.units)
    total = charged_laplacians(loss.field, electrons, electrons, protons)
    if loss.terms.self_energies:
        alone = loss.field.coupling.alone_laplacian(student.positions)
        total = total + weigh(student.weights**2, alone)
    return total


@eqx.filter_jit
def _group_laplacian(loss: PopulationLoss, student: Student, chosen: Array) -> Array:
    unchanged = {"space": ("translations", "both"), "sphere": ("rotations", "both")}
    if loss.invariant not in unchanged[loss.manifold.name]:
        return group_laplacian(loss, student, chosen)
    inside = jnp.zeros(student.units, dtype=bool).at[chosen].set(True)
    electrons, protons = loss._electrons(student), loss._protons(student.units)
    outside = electrons._replace(charges=jnp.where(inside, 0.0, electrons.charges))
    alone = charged_laplacians(loss.field, electrons, outside, protons)
    return sum_all(jnp.where(inside, alone, 0.0))


@eqx.filter_jit
def _probe(loss: PopulationLoss, points: Array, student: Student) -> tuple[Array, Array]:
    value, gradient = loss.field.at(*_all_charges(loss, points, student))
    return value, loss.manifold.gradient(points, gradient)


@eqx.filter_jit
def _log_probe(loss: PopulationLoss, points: Array, student: Student) -> LogPotential:
    found = loss.log_left(points, student)
    return found._replace(gradient=loss.manifold.gradient(points, found.gradient))


def _all_charges(loss: PopulationLoss, points: Array, student: Student) -> tuple[Units, Units]:
    teacher = loss.teacher
    sources = units(
        jnp.concatenate([teacher.positions, student.positions]),
        jnp.concatenate([teacher.weights, -student.weights]),
        len(points),
    )
    return units(points), sources
