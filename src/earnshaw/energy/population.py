"""The exact population loss E[(f - g)^2] of a student g of a teacher f, as an energy of charges.

With K the potential Phi between units, teacher weights b at w and student weights c at theta,

    L(c, theta) = c.K(theta, theta) c - 2 c.K(theta, w) b + b.K(w, w) b,

raw potentials throughout, so that the value is the mean squared difference itself. The papers'
charges are a = -c. `variants.py` has the variants of L that the papers use, `charged_loss.py` what
does not depend on where the teacher's field comes from: here it is summed over the teacher's units.

The student's units may be of other activations than the teacher's (`kinds.py`), and there may be
several outputs (`outputs.py`). `PopulationLoss.node(i, student)` is the loss of unit i with all
others fixed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from inspect import unwrap
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh
from jax.typing import ArrayLike

from earnshaw.charges.manifolds import Manifold, check_squares
from earnshaw.charges.matching import symmetries_of
from earnshaw.charges.mixed import kinds_like, kinds_of, same_activation
from earnshaw.charges.network import Student, Teacher, UnitKind, given_units, is_concrete
from earnshaw.charges.species import Species
from earnshaw.duality.affine_dual import AffineDual, MixedDual
from earnshaw.duality.named import is_activation
from earnshaw.energy._field import Field, LogPotential, choose_coupling, devices_mesh, logarithm
from earnshaw.energy._laplacian import (
    charged_laplacians,
    group_laplacian,
    moved_together,
    unit_laplacians,
)
from earnshaw.energy._tiles import TILE, Units, units, weigh
from earnshaw.energy.charged_loss import ChargedLoss
from earnshaw.energy.couplings.coupling import Coupling, self_energies_of
from earnshaw.energy.kinds import Between, MixedCoupling, fields_of, mixed_field
from earnshaw.energy.objective import (
    ROUNDING,
    FreeUnits,
    Gradient,
    Moving,
    Objective,
    what_moves,
)
from earnshaw.energy.outputs import added_up, for_all_outputs, free_units_of_all, over_outputs
from earnshaw.energy.variants import VARIANTS, Terms, check_ones
from earnshaw.errors import EarnshawError, NotSquareIntegrable, UnknownName
from earnshaw.limits import check_integer, check_work
from earnshaw.numerics.compiled import compiled, filled, first, weightless
from earnshaw.numerics.fixed_order import sum_all

OBJECTIVES = tuple(VARIANTS)
SUMS = ("auto", "tiles", "fast")


class PopulationLoss(ChargedLoss):
    """L of the module's docstring, for one teacher; see `Objective` for what it offers.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> loss = ew.population_loss(teacher)
    >>> float(loss.value(ew.Student([[0.0, 0.0]], [3.0])))  # (1 - 3)^2 Phi(0)
    4.0
    """

    teacher: Teacher
    field: Field
    constant: Array
    manifold: Manifold
    name: str = eqx.field(static=True)
    wrt: Moving = eqx.field(static=True)
    unbounded: bool = eqx.field(static=True)  # whether units that meet have infinite energy
    across: Between | None = None  # of the teacher's units at the student's, if of other kinds
    kind: UnitKind | None = None  # of the student's units, if not the teacher's

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.teacher.dim

    @property
    def charge_shape(self) -> tuple[int, ...]:
        """Of the weight of a unit: () for one output, (m,) for m."""
        return self.teacher.weights.shape[1:]

    @property
    def mixed(self) -> bool:
        """Whether its students have units of several activations."""
        return isinstance(self.field.coupling, MixedCoupling)

    def degrees(self, units: int) -> tuple[int | None, ...]:
        """`degree` of each unit of a student of so many."""
        coupling = self.field.coupling
        if isinstance(coupling, MixedCoupling):
            return tuple(coupling.kinds[kind].degree for kind in coupling.which)
        if self.across is not None:
            return (self.degree,) * units
        # Activations with no homogeneous formula may be homogeneous, too: hermite-1, a function.
        degree = symmetries_of(self.teacher.species).degree
        return (None if degree is None else int(degree),) * units

    @property
    def of_another_kind(self) -> bool:
        """Whether its students have other activations than the teacher."""
        return self.kind is not None

    @property
    def sums(self) -> str:
        """How its sums over pairs of units are done: "tiles", "fast" or "auto", as it was asked.

        "tiles" also where "auto" has no choice. Of one student see `sums_for`.
        """
        return self.field.sums

    def sums_for(self, student: Student) -> str:
        """What value and derivatives at this student are computed by: "fast" or "tiles"."""
        loss = self.suited_to(self.check(student))
        return "fast" if loss.runs_eagerly(student) or loss.sums == "fast" else "tiles"

    def runs_eagerly(self, student: Student) -> bool:
        """Where its sums are fast, and these are numbers."""
        arrays = student.positions, student.weights, self.teacher.positions, self.constant
        numbers = self.teacher.outputs is None and all(map(is_concrete, arrays))
        if self.sums == "tiles" or not numbers:
            return False
        return self.field.is_fast_for(student.positions, self.teacher.positions)

    @property
    def outer(self) -> Field | Between:
        """What the student's units feel of the teacher's."""
        return self.field if self.across is None else self.across

    def outer_field(self, points: Array) -> tuple[Array, Array]:
        """sum_j b_j Phi(x, w_j) at points (n, d), shape (n,), and its gradient (n, d)."""
        return self.outer.at(units(points), self._protons(len(points)))

    def inner_and_outer(self, student: Student) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """In one pass, unless the teacher's units are of another kind."""
        if self.across is not None:
            return super().inner_and_outer(student)
        protons = self._protons(student.units)
        inner, outer = self.field.within_and_of(self._electrons(student), (protons,))
        return inner, outer

    def log_left(self, points: Array, student: Student) -> LogPotential:
        """C at points (n, d) as one sum over the charges of both, in which equal ones cancel."""
        if self.across is None:
            return self.field.log_at(*_all_charges(self, points, student))
        return logarithm(*_left(self, points, student))

    @cached_property
    def roomy(self) -> PopulationLoss | None:
        """With teacher units of weight 0, unless its units are of several kinds."""
        teacher = self.teacher
        if self.across is not None or not is_concrete(teacher.positions):
            return None
        arrays = filled(teacher.positions, teacher.weights)
        roomy = eqx.tree_at(lambda teacher: (teacher.positions, teacher.weights), teacher, arrays)
        return dataclasses.replace(self, teacher=roomy)

    def suited_to(self, student: Student) -> PopulationLoss:
        """The same loss, or that of a student whose activation is its own."""
        return suited(self, student)

    def check(self, student: Student) -> Student:
        """As for every charged loss; and as many outputs as the teacher has."""
        student = super().check(student)
        if student.outputs != self.teacher.outputs:
            asked = self.teacher.weights.shape[1:]
            raise EarnshawError(
                f"the student's weights have shape {student.weights.shape}; allowed: "
                f"{(student.units, *asked)}, as the teacher's"
            )
        return student

    def of_output(self, weights: Array, constant: Array) -> PopulationLoss:
        """The loss of one output: with these weights (k,) of the teacher's, and its constant."""
        return dataclasses.replace(
            self, teacher=self.teacher.with_weights(weights), constant=constant
        )

    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        """Value and gradient in one pass over all pairs, of all outputs."""
        if self.teacher.outputs is None:
            return super().euclidean(student)
        return added_up(self, student)

    def refit(self, student: Student, used: Array | None = None) -> tuple[Student, Array]:
        """The student with the weights that minimise L at its positions, and that L."""
        loss = self.suited_to(student)
        if loss is not self:
            return loss.refit(student, used)
        if self.teacher.outputs is None:
            return super().refit(student, used)
        self.check(student)
        one = lambda loss, c: loss.refit(Student(student.positions, c), used)  # noqa: E731
        found, values = over_outputs(self, one, student.weights)
        return Student(student.positions, found.weights.T), jnp.sum(values)

    def empty_value(self) -> Array:
        """b.K b, where it counts."""
        return self.constant if self.teacher.outputs is None else jnp.sum(self.constant)

    def unexplained(self, points: Array, student: Student) -> Array:
        """As for one output; the most of all outputs."""
        if self.teacher.outputs is None:
            return super().unexplained(points, student)
        one = lambda loss, c: loss.unexplained(points, Student(student.positions, c))  # noqa: E731
        return jnp.max(over_outputs(self, one, student.weights), axis=0)

    def free_units(self, points: ArrayLike) -> FreeUnits:
        """One unit alone at each point; in logarithms, so also where C underflows."""
        if self.teacher.outputs is None:
            return super().free_units(points)
        return free_units_of_all(over_outputs(self, lambda loss: loss.free_units(points)))

    def weight_hessian(self, student: Student) -> Array:
        """2 (K + ridge), (k, k); for m outputs (k m, k m)."""
        outputs = self.teacher.outputs
        if outputs is None:
            return super().weight_hessian(student)
        one = self.of_output(self.teacher.weights[:, 0], self.constant[0])
        alike = Student(student.positions, student.weights[:, 0])
        return for_all_outputs(one.weight_hessian(alike), outputs)

    def laplacian(self, student: Student, units: ArrayLike | Iterable[int] | None = None) -> Array:
        """The Laplacian of L in each unit alone, shape (k,); or in a group moved together, ().

        On R^d the group moves by one common translation; on the sphere by one common rotation, and
        the Laplacian is that over all rotations, which for a single unit is the Laplace-Beltrami
        operator. Motions that leave Phi unchanged drop the pairs within the group: the papers'
        correlated move (Full, Theorem 3.6 and Theorem F.2).
        """
        count = self.check(student).units
        loss, student = self.suited_to(student).with_room(student)
        assert isinstance(loss, PopulationLoss)
        if units is None:
            plain = loss.across is None and student.outputs is None
            each = _unit_laplacians if plain else unit_laplacians
            return first(each(loss, student), count)
        inside = weightless(moved_together(units, count), student.units)
        return _group_laplacian(loss, student, inside)

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
        loss = self.suited_to(student)
        left = eqx.tree_at(
            lambda teacher: (teacher.positions, teacher.weights),
            loss.teacher,
            (
                jnp.concatenate([loss.teacher.positions, student.positions]),
                jnp.concatenate([loss.teacher.weights, -student.weights]),
            ),
        )
        across = None
        if loss.across is not None:
            across = loss.across.joined(loss.field, student.units)
        constant = loss.constant
        if self.name != "one-node" and student.outputs is None:
            constant = loss.value(student)
        elif self.name != "one-node":
            one = lambda loss, c: loss.value(Student(student.positions, c))  # noqa: E731
            constant = over_outputs(loss, one, student.weights)
        return dataclasses.replace(loss, teacher=left, constant=constant, across=across)

    def kink_at(self, student: Student) -> str:
        """The origin for an activation with a kink, a ridge of a product, a cusp of a formula."""
        if self.unbounded or not student.units:
            return ""
        charged = np.asarray(self.teacher.weights).reshape(self.teacher.units, -1)
        w = np.asarray(self.teacher.positions)[np.any(charged != 0, axis=1)]
        return self.field.coupling.kink_at(np.asarray(student.positions), w)

    def gradient_scale(self) -> float:
        """s min(1, s) Phi: s the teacher's largest weight, Phi the largest Phi(w_j, w_j)."""
        size = float(np.max(np.abs(np.asarray(self.teacher.weights))))
        power = abs(float(np.max(self._proton_energies())))
        known = 0 < size < np.inf and 0 < power < np.inf
        return size * min(1.0, size) * power if known else 1.0

    def rounding_of_zero(self, student: Student) -> float:
        """The rounding of c.K c - 2 c.K b + b.K b where that is E[(f - g)^2].

        Its terms sum to at most (sum_i |c_i| Phi_ii^(1/2) + the same of b)^2 in size, since K is
        positive semidefinite.
        """
        if not self._is_mean_square():
            return -1.0
        energies = (self.self_energies(student.positions), self._proton_energies())
        total = sum(
            np.sqrt(np.abs(np.asarray(own))) @ np.abs(np.asarray(weights))
            for own, weights in zip(energies, (student.weights, self.teacher.weights), strict=True)
        )
        return ROUNDING * float(np.sum(np.square(total)))

    def gram(self, positions: Array, others: Array) -> Array:
        """K: Phi(x_i, y_j) between positions (k, d) and others (m, d), shape (k, m)."""
        return self.field.matrix(positions, others)

    def pair_numbers(self, units: int) -> int:
        """How many numbers a student of so many units takes if all pairs are computed at once."""
        pairs = units * (units + self.teacher.units)
        return pairs * self.dim * self.field.coupling.scratch

    def potential(self, points: ArrayLike, student: Student | None = None) -> Array:
        """C at points (n, d): what teacher and student together make there; shape (n,)."""
        return self._at_probes(points, student)[0]

    def potential_gradient(self, points: ArrayLike, student: Student | None = None) -> Array:
        """The Riemannian gradient of C at points (n, d); the same shape."""
        return self._at_probes(points, student)[1]

    def log_potential(self, points: ArrayLike, student: Student | None = None) -> LogPotential:
        """The sign of C, log|C| and its Riemannian gradient, right also where C underflows."""
        return _log_probe(*self._probes(points, student))

    def _is_mean_square(self) -> bool:
        """Whether L = E[(f - g)^2]: of an activation, and with all its terms."""
        species = self.teacher.species
        # Potentials by name (distance, harmonic) and formulas need not have an activation.
        named = species.origin == "activation" and is_activation(species.name)
        known = species.given is not None or named or isinstance(species.potential, MixedDual)
        return known and self.terms == Terms()

    def _proton_energies(self) -> Array:
        """Phi(w_j, w_j) of the teacher's units, each of its own kind: (k,)."""
        if self.across is None:
            return self.self_energies(self.teacher.positions)
        kinds = _kinds(self.teacher)
        positions = self.teacher.positions[: len(kinds.which)]
        return self_energies_of(mixed_field(kinds).coupling, positions)

    def _electrons(self, student: Student) -> Units:
        return units(student.positions, student.weights)

    def _protons(self, first: int) -> Units:
        return units(self.teacher.positions, self.teacher.weights, first)

    def _at_probes(self, points: ArrayLike, student: Student | None) -> tuple[Array, Array]:
        loss, where, student = self._probes(points, student)
        eager = loss.runs_eagerly(Student(where, jnp.zeros(len(where))))
        return (unwrap(_probe) if eager else _probe)(loss, where, student)

    def _probes(
        self, points: ArrayLike, student: Student | None
    ) -> tuple[PopulationLoss, Array, Student]:
        """The loss of the student's kind, the points, and the student."""
        if self.teacher.outputs is not None:
            raise EarnshawError(
                f"the potential of {self.teacher.outputs} outputs is a vector; allowed: that of "
                "one, population_loss(Teacher(positions, weights[:, 0], ...))"
            )
        where = self.check_points(points)
        if student is None:
            return self, where, Student(jnp.zeros((0, self.dim)), jnp.zeros(0))
        return self.suited_to(student), where, Objective.check(self, student)


def population_loss(
    teacher: Teacher,
    objective: str = "full",
    *,
    wrt: str | None = None,
    devices: Iterable[Any] | None = None,
    tile: int = TILE,
    activation: Any = None,
    sums: str = "auto",
    tolerance: float | None = None,
) -> PopulationLoss:
    """The exact loss E[(f - g)^2] of students of `teacher`, or a variant of it.

    Of several outputs it is E|f - g|^2.

    Parameters
    ----------
    teacher
        the hidden network f.
    objective
        "full", "without-constants", "regularized", "assumption-1" or "one-node".
    wrt
        what may move: "both" (the default; "positions" under Assumption 1), "positions" or
        "weights".
    devices
        JAX devices to share the work with, e.g. ``jax.devices()``.
    tile
        entries of the largest matrix that is ever made.
    activation
        that of the students, by default the teacher's; or a list, one a unit. A student
        that was made with an activation needs no mention here.
    sums
        how the sums over all pairs of units are done: "tiles"; "fast", by non-uniform FFTs, for
        potentials gaussian and almost-harmonic on R^d, d <= 3, and bessel in d = 1, with the extra
        `fast`; or "auto", whichever is estimated to take less time, and tiles within compiled
        code.
    tolerance
        of fast sums: the largest error of a sum of potentials sum_j q_j Phi(x - y_j), relative to
        Phi(0) sum_j |q_j|, and of its gradient, relative to max|grad Phi| sum_j |q_j|. From 1e-13
        to 1e-2; by default 1e-11.

    Returns
    -------
    PopulationLoss
        `.value(student)`, `.gradient`, `.hessian`, `.hvp`, `.laplacian`, `.optimal_weights`, all
        of them pure JAX functions.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
    >>> loss = ew.population_loss(teacher)
    >>> float(loss.value(ew.Student([[0.0, 0.0]], [3.0])))  # (1 - 3)^2 Phi(0)
    4.0
    >>> float(loss.gradient(ew.Student([[0.0, 0.0]], [3.0])).weights[0])
    4.0
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
    if teacher.outputs is not None and objective not in ("full", "without-constants"):
        raise EarnshawError(f"{objective} is for one output; allowed: full, without-constants")
    like = devices_mesh(devices), check_integer("tile", tile, 64)
    if sums not in SUMS:
        raise UnknownName("way to do sums", str(sums), SUMS)
    if activation is not None or isinstance(teacher.potential, MixedDual):
        if sums == "fast":
            raise EarnshawError("fast sums are for one potential; allowed: sums='tiles' or 'auto'")
        kind = None if activation is None else UnitKind(given_units(activation))
        made = _of_kinds(teacher, kind, like, objective, moving)
    else:
        coupling = choose_coupling(teacher.potential, teacher.manifold, teacher.dim)
        made = PopulationLoss(
            teacher=teacher,
            field=_chosen_field(teacher, coupling, like, sums, tolerance),
            constant=jnp.zeros(()),
            manifold=teacher.manifold,
            name=objective,
            wrt=moving,
            unbounded=coupling.unbounded(filled(teacher.positions, teacher.weights)[0]),
        )
    constant = jnp.zeros(teacher.weights.shape[1:])
    if made.terms.constant:
        among = made.field if made.across is None else mixed_field(_kinds(teacher), *like)
        roomy = teacher if made.roomy is None else made.roomy.teacher
        numbers = is_concrete(teacher.positions) and is_concrete(teacher.weights)
        eager = numbers and teacher.outputs is None and among.is_fast_for(roomy.positions)
        program = unwrap(_energy_of) if eager else _energy_of
        energy = lambda b: program(among, roomy.with_weights(b))  # noqa: E731
        b = roomy.weights
        constant = energy(b) if teacher.outputs is None else jax.vmap(energy, in_axes=1)(b)
        if isinstance(teacher.potential, (AffineDual, MixedDual)):  # others are checked when made
            _check_power(constant, teacher)
    return eqx.tree_at(lambda loss: loss.constant, made, constant)


def _check_power(power: Array, teacher: Teacher) -> None:
    """Refuse units that grow so fast that E[f^2] is not finite under these inputs."""
    if is_concrete(power) and not np.all(np.isfinite(np.asarray(power))):
        raise NotSquareIntegrable(
            f"E[f(X)^2] of {teacher.species.name} is not finite under these inputs; allowed: units "
            "that grow slower than exp(u^2/(4 q)), q the variance of the input u of a unit"
        )


def _chosen_field(
    teacher: Teacher,
    coupling: Coupling,
    like: tuple[Mesh | None, int],
    sums: str,
    tolerance: float | None,
) -> Field:
    """Tiles; or a field with fast sums, where there are such or they are asked for."""
    if tolerance is not None or sums == "fast":
        from earnshaw.energy.fast_sums.choose import check_tolerance

        tolerance = check_tolerance(tolerance)
    tiles = Field(coupling, *like)
    never = teacher.dim > 3 or teacher.potential.kind == "zonal"
    if sums == "tiles" or (sums == "auto" and never):
        return tiles
    from earnshaw.energy.fast_sums.field import fast_field

    found = fast_field(tiles, teacher.potential, teacher.manifold, sums == "fast", tolerance)
    return tiles if found is None else found


def suited(loss: PopulationLoss, student: Student) -> PopulationLoss:
    """The loss of students with the activation of this one, where that is not the loss's own."""
    kind, own = student.unit_kind, loss.kind or loss.teacher.unit_kind
    if kind is None or kind.units is own.units:
        return loss
    if isinstance(own.units, Species) and own.units.is_like(kind.units):
        return loss
    if _same_units(kind.responses, own.responses):
        return loss
    if loss.manifold.name == "sphere":
        raise EarnshawError(
            f"the student is of {kind.name}, the teacher of {own.name}; allowed on the sphere: the "
            "same activation"
        )
    like = loss.field.mesh, loss.field.tile
    other = _of_kinds(loss.teacher, kind, like, loss.name, loss.wrt)
    return dataclasses.replace(other, constant=loss.constant)


def _of_kinds(
    teacher: Teacher,
    kind: UnitKind | None,
    like: tuple[Mesh | None, int],
    name: str,
    wrt: Moving,
) -> PopulationLoss:
    """The loss, its constant still 0, of students of another kind, or of a mixed teacher's."""
    theirs = _kinds(teacher)
    mine = theirs if kind is None else kinds_like(teacher.species, kind.responses, teacher.dim)
    fields = fields_of(mine, theirs, *like)
    several = len(mine.parts) > 1
    return PopulationLoss(
        teacher=teacher,
        field=mixed_field(mine, *like),
        constant=jnp.zeros(()),
        manifold=teacher.manifold,
        name=name,
        wrt=wrt,
        unbounded=False,
        across=Between(fields, mine.which if several else None, theirs.which),
        kind=kind,
    )


def _kinds(teacher: Teacher) -> MixedDual:
    return kinds_of(teacher.species, teacher.units, teacher.dim)


def _same_units(first: Any, second: Any) -> bool:
    """Whether two networks have the same activations, unit by unit."""
    one, other = (each if isinstance(each, tuple) else (each,) for each in (first, second))
    return len(one) == len(other) and all(map(same_activation, one, other))


@compiled
def _energy_of(field: Field, teacher: Teacher) -> Array:
    b = teacher.weights
    among, _ = field.within(units(teacher.positions, b))
    alone, _ = field.coupling.alone(teacher.positions)
    return sum_all(weigh(b, among)) + sum_all(weigh(b * b, alone))


@compiled
def _unit_laplacians(loss: PopulationLoss, student: Student) -> Array:
    electrons, protons = loss._electrons(student), loss._protons(student.units)
    total = charged_laplacians(loss.field, electrons, electrons, protons)
    if loss.terms.self_energies:
        alone = loss.field.coupling.alone_laplacian(student.positions)
        total = total + weigh(student.weights**2, alone)
    return total


@compiled
def _group_laplacian(loss: PopulationLoss, student: Student, inside: Array) -> Array:
    unchanged = {"space": ("translations", "both"), "sphere": ("rotations", "both")}
    if loss.invariant not in unchanged[loss.manifold.name]:
        return group_laplacian(loss, student, inside)
    electrons, protons = loss._electrons(student), loss._protons(student.units)
    outside = electrons._replace(charges=jnp.where(inside, 0.0, electrons.charges))
    alone = charged_laplacians(loss.field, electrons, outside, protons)
    return sum_all(jnp.where(inside, alone, 0.0))


@compiled
def _probe(loss: PopulationLoss, points: Array, student: Student) -> tuple[Array, Array]:
    value, gradient = _left(loss, points, student)
    return value, loss.manifold.gradient(points, gradient)


@compiled
def _log_probe(loss: PopulationLoss, points: Array, student: Student) -> LogPotential:
    found = loss.log_left(points, student)
    return found._replace(gradient=loss.manifold.gradient(points, found.gradient))


def _left(loss: PopulationLoss, points: Array, student: Student) -> tuple[Array, Array]:
    """C at points (n, d) and its Euclidean gradient: what a further unit of the student's feels."""
    if loss.across is None:
        return loss.field.at(*_all_charges(loss, points, student))
    value, gradient = loss.outer_field(points)
    own = units(student.positions, student.weights, len(points))
    made, force = loss.field.at(units(points), own)
    return value - made, gradient - force


def _all_charges(loss: PopulationLoss, points: Array, student: Student) -> tuple[Units, Units]:
    teacher = loss.teacher
    sources = units(
        jnp.concatenate([teacher.positions, student.positions]),
        jnp.concatenate([teacher.weights, -student.weights]),
        len(points),
    )
    return units(points), sources
