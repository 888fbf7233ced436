"""The exact population loss E[(f - g)^2] of a student g of a teacher f, as an energy of charges.

With K the potential Phi between units, teacher weights b at w and student weights c at theta,

    L(c, theta) = c.K(theta, theta) c - 2 c.K(theta, w) b + b.K(w, w) b,

raw potentials throughout, so that the value is the mean squared difference itself. The papers'
charges are a = -c. Variants, by the name of the objective:

- "full"               L (Full, eq. 1);
- "without-constants"  no b.K b, and no self-energies c_i^2 Phi(theta_i, theta_i) (Full, eq. 2): the
                       only one that is finite for unbounded potentials;
- "regularized"        L + |c|^2, the papers' G (Full, Section 4);
- "assumption-1"       L with all weights 1, teacher's and student's, and only positions moving
                       (Full, eq. 3; the papers drop constants that positions do not change);
- "one-node"           one unit alone, without b.K b (Full, eq. 4).

`PopulationLoss.node(i, student)` is the loss of unit i with all others fixed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.charges.network import Student, Teacher, is_concrete
from earnshaw.energy.couplings.choose import choose_coupling
from earnshaw.energy.field import Field, devices_mesh
from earnshaw.energy.group import group_laplacian, moved_together
from earnshaw.energy.objective import (
    FreeUnits,
    Gradient,
    Moving,
    Objective,
    check_moving,
    check_ones,
    energy,
)
from earnshaw.energy.probe import LogPotential, log_field
from earnshaw.energy.solve import DENSE, solve_by_products, solve_dense
from earnshaw.energy.tiles import TILE, Units, units, weigh
from earnshaw.errors import EarnshawError, UnknownName, check_integer
from earnshaw.manifolds import Manifold

OBJECTIVES = ("full", "without-constants", "regularized", "assumption-1", "one-node")


class PopulationLoss(Objective):
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

    @property
    def ridge(self) -> float:
        """The factor of |c|^2."""
        return 1.0 if self.name == "regularized" else 0.0

    @property
    def with_self_energy(self) -> bool:
        """Whether c_i^2 Phi(theta_i, theta_i) counts."""
        return self.name != "without-constants"

    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        """Value and gradient in one pass over all pairs."""
        c = student.weights
        among, force_among = self.field.within(self._electrons(student))
        from_teacher, force_from_teacher = self.field.at(
            self._electrons(student), self._protons(student.units)
        )
        value = jnp.sum(weigh(c, among - 2 * from_teacher)) + self.constant
        by_weights = 2 * (among - from_teacher)
        by_positions = 2 * weigh(c[:, None], force_among - force_from_teacher)
        if self.with_self_energy:
            alone, force_alone = self.field.coupling.alone(student.positions)
            value = value + jnp.sum(weigh(c * c, alone))
            by_weights = by_weights + 2 * weigh(c, alone)
            by_positions = by_positions + weigh((c * c)[:, None], force_alone)
        value = value + self.ridge * jnp.sum(c * c)
        by_weights = by_weights + 2 * self.ridge * c
        # Only unbounded potentials meet infinity - infinity: their energy counts as infinite.
        value = jnp.where(jnp.isnan(value), jnp.inf, value) if self.unbounded else value
        return value, Gradient(by_positions, by_weights)

    def euclidean_hvp(self, student: Student, direction: Gradient) -> Gradient:
        """One forward derivative of the gradient."""

        def slope(positions: Array, weights: Array) -> Gradient:
            return self.euclidean(_student(positions, weights))[1]

        return jax.jvp(slope, (student.positions, student.weights), tuple(direction))[1]

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

    def refit(self, student: Student, used: Array | None = None) -> tuple[Student, Array]:
        """The student with the weights a*(theta) that minimise L at its positions, and that L."""
        student = self.check(student)
        if not self.with_self_energy or self.wrt == "positions":
            raise EarnshawError(
                f"the weights cannot be optimised in the objective {self.name!r} with respect to "
                f"{self.wrt}; allowed: full, regularized, one-node, with respect to weights or both"
            )
        if self.unbounded:
            raise EarnshawError(
                f"{self.teacher.species.name} is unbounded: every unit has infinite energy of its "
                "own, and the best weights are 0; allowed: bounded potentials"
            )
        used = jnp.ones(student.units, dtype=bool) if used is None else used
        return _refit(self, student, used) if student.units else (student, self.empty_value())

    def node(self, unit: int, student: Student) -> PopulationLoss:
        """The loss as a function of one unit, all others fixed: a teacher of what they leave.

        Its value at that unit, as a student of one, is this loss at the whole student.
        """
        student = self.check(student)
        unit = check_integer("unit", unit, 0, student.units - 1)
        rest = np.delete(np.arange(student.units), unit)
        return self.left_by(_student(student.positions[rest], student.weights[rest]))

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

    def empty_value(self) -> Array:
        """b.K b, where it counts."""
        return self.constant

    def unexplained(self, points: Array, student: Student) -> Array:
        """log|C| minus the logarithm of what the student's units make at most, at points (n, d)."""
        return _unexplained(self, points, student)

    def free_units(self, points: ArrayLike) -> FreeUnits:
        """One unit alone at each point; in logarithms, so also where C underflows."""
        return _free_units(self, self._probes(points, None)[0])

    def clearance(self, student: Student) -> Array:
        """The distance from each unit to the nearest other one, or antipode of one on the sphere.

        Of the teacher or the student, (k,).
        """
        x = student.positions
        others = jnp.concatenate([self.teacher.positions, x])
        itself = jnp.eye(student.units, len(others), self.teacher.units, dtype=bool)
        if self.manifold.name == "sphere":
            others, itself = jnp.concatenate([others, -others]), jnp.tile(itself, 2)
        apart = lambda x: jnp.min(jnp.linalg.norm(x[0] - others, axis=1) + x[1])  # noqa: E731
        return jax.lax.map(apart, (x, jnp.where(itself, jnp.inf, 0.0)), batch_size=16)

    def cusp(self, positions: Array) -> Array:
        """The slope of the potential's cusp at each position."""
        return self.field.coupling.cusp(positions)

    def potential(self, points: ArrayLike, student: Student | None = None) -> Array:
        """C at points (n, d): what teacher and student together make there; shape (n,)."""
        return _probe(self, *self._probes(points, student))[0]

    def potential_gradient(self, points: ArrayLike, student: Student | None = None) -> Array:
        """The Riemannian gradient of C at points (n, d); the same shape."""
        return _probe(self, *self._probes(points, student))[1]

    def log_potential(self, points: ArrayLike, student: Student | None = None) -> LogPotential:
        """The sign of C, log|C| and its Riemannian gradient, right also where C underflows."""
        return _log_probe(self, *self._probes(points, student))

    def check(self, student: Student) -> Student:
        """As for every objective; and the number and weights that the objective's name asks for."""
        student = super().check(student)
        if self.name == "one-node" and student.units != 1:
            raise EarnshawError(f"one-node is for students of 1 unit, this has {student.units}")
        if self.name == "assumption-1" and is_concrete(student.weights):
            check_ones("student", student.weights)
        return student

    def _electrons(self, student: Student) -> Units:
        return units(student.positions, student.weights)

    def _protons(self, first: int) -> Units:
        return units(self.teacher.positions, self.teacher.weights, first)

    def _probes(self, points: ArrayLike, student: Student | None) -> tuple[Array, Student]:
        where = jnp.asarray(points, dtype=float)
        if where.ndim != 2 or where.shape[1] != self.dim:
            raise EarnshawError(f"points have shape {where.shape}; allowed: (n, {self.dim})")
        if is_concrete(where):
            self.manifold.check(where, "point")
        empty = _student(jnp.zeros((0, self.dim)), jnp.zeros(0))
        return where, empty if student is None else super().check(student)


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
    moving = check_moving(wrt or ("positions" if objective == "assumption-1" else "both"))
    if objective == "assumption-1":
        check_ones("teacher", teacher.weights)
        if moving != "positions":
            raise EarnshawError(
                "under assumption-1 the weights are fixed; allowed: wrt='positions'"
            )
    coupling = choose_coupling(teacher.potential, teacher.manifold, teacher.dim)
    field = Field(coupling, devices_mesh(devices), check_integer("tile", tile, 64))
    unbounded = bool(jnp.any(jnp.isinf(coupling.alone(teacher.positions[:1])[0])))
    loss = PopulationLoss(
        teacher=teacher,
        field=field,
        constant=jnp.zeros(()),
        manifold=teacher.manifold,
        name=objective,
        wrt=moving,
        unbounded=unbounded,
    )
    if objective in ("without-constants", "one-node"):
        return loss
    return eqx.tree_at(lambda loss: loss.constant, loss, _teacher_energy(loss))


def _student(positions: Array, weights: Array) -> Student:
    return Student(positions, weights)


@eqx.filter_jit
def _teacher_energy(loss: PopulationLoss) -> Array:
    b = loss.teacher.weights
    among, _ = loss.field.within(loss._protons(0))
    alone, _ = loss.field.coupling.alone(loss.teacher.positions)
    return jnp.sum(weigh(b, among)) + jnp.sum(weigh(b * b, alone))


@eqx.filter_jit
def _unit_laplacians(loss: PopulationLoss, student: Student) -> Array:
    electrons, protons = loss._electrons(student), loss._protons(student.units)
    c, field = student.weights, loss.field
    among, from_teacher = (field.laplacian_at(electrons, who) for who in (electrons, protons))
    total = 2 * weigh(c, among - from_teacher)
    if loss.with_self_energy:
        total = total + weigh(c * c, field.coupling.alone_laplacian(student.positions))
    return total


@eqx.filter_jit
def _group_laplacian(loss: PopulationLoss, student: Student, chosen: Array) -> Array:
    unchanged = {"space": ("translations", "both"), "sphere": ("rotations", "both")}
    if loss.field.coupling.invariant not in unchanged[loss.manifold.name]:
        return group_laplacian(loss, student, chosen)
    inside = jnp.zeros(student.units, dtype=bool).at[chosen].set(True)
    electrons, protons = loss._electrons(student), loss._protons(student.units)
    outside = electrons._replace(charges=jnp.where(inside, 0.0, electrons.charges))
    among, from_teacher = (loss.field.laplacian_at(electrons, who) for who in (outside, protons))
    return jnp.sum(jnp.where(inside, 2 * weigh(student.weights, among - from_teacher), 0.0))


@eqx.filter_jit
def _free_units(loss: PopulationLoss, points: Array) -> FreeUnits:
    potential = _log_probe(loss, points, _student(jnp.zeros((0, loss.dim)), jnp.zeros(0)))
    own, slope = loss.field.coupling.alone(points)
    own = own + loss.ridge
    slope = loss.manifold.gradient(points, slope) / own[:, None]
    return FreeUnits(
        potential.sign * jnp.exp(potential.log_size) / own,
        2 * potential.log_size - jnp.log(own),
        2 * potential.gradient - slope,
    )


@eqx.filter_jit
def _unexplained(loss: PopulationLoss, points: Array, student: Student) -> Array:
    probes, sources = _all_charges(loss, points, student)
    own = jnp.zeros(loss.teacher.units)
    own = jnp.concatenate([own, jnp.abs(student.weights)])
    # Both sums at once: the distances and potentials of all pairs are the same.
    charges = jnp.stack([sources.charges, own])
    found = jax.vmap(lambda q: log_field(loss.field, probes, sources._replace(charges=q)))(charges)
    left, made = found.log_size
    return left - made


@eqx.filter_jit
def _refit(loss: PopulationLoss, student: Student, used: Array) -> tuple[Student, Array]:
    count, positions = student.units, student.positions
    alone, _ = loss.field.coupling.alone(positions)
    diagonal = jnp.where(used, alone + loss.ridge, 0.0)
    if count <= DENSE:
        # K and the teacher's pull from one table of potentials.
        everyone = jnp.concatenate([positions, loss.teacher.positions])
        table = jnp.where(used[:, None], loss.field.matrix(positions, everyone), 0.0)
        gram = jnp.where(used, table[:, :count], 0.0)
        gram = jnp.fill_diagonal(gram, diagonal, inplace=False)
        pull = table[:, count:] @ loss.teacher.weights
        c = solve_dense(gram, pull)
        return _student(positions, c), c @ (gram @ c - 2 * pull) + loss.constant

    electrons = loss._electrons(student)
    pull, _ = loss.field.at(electrons, loss._protons(count))

    def product(c: Array) -> Array:
        among, _ = loss.field.within(electrons._replace(charges=c))
        return jnp.where(used, among, 0.0) + diagonal * c

    c = solve_by_products(product, diagonal, jnp.where(used, pull, 0.0))
    found = _student(positions, c)
    return found, energy(loss, found)


@eqx.filter_jit
def _probe(loss: PopulationLoss, points: Array, student: Student) -> tuple[Array, Array]:
    value, gradient = loss.field.at(*_all_charges(loss, points, student))
    return value, loss.manifold.gradient(points, gradient)


@eqx.filter_jit
def _log_probe(loss: PopulationLoss, points: Array, student: Student) -> LogPotential:
    found = log_field(loss.field, *_all_charges(loss, points, student))
    return found._replace(gradient=loss.manifold.gradient(points, found.gradient))


def _all_charges(loss: PopulationLoss, points: Array, student: Student) -> tuple[Units, Units]:
    teacher = loss.teacher
    sources = units(
        jnp.concatenate([teacher.positions, student.positions]),
        jnp.concatenate([teacher.weights, -student.weights]),
        len(points),
    )
    return units(points), sources
