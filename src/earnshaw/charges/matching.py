"""Which student unit learned which teacher unit: `ew.match`.

Units are matched up to their order and the activation's symmetries (`duality/symmetry.py`): a
student unit may first be flipped, and on R^d rescaled if the activation is homogeneous. Flips that
leave a constant or a linear function behind are allowed too, and what they leave is reported: with
g the student, `aligned` the student after the flips and scalings,

    g(x) = aligned(x) + leftover_constant + leftover_linear.x      exactly,

so units that all lie on the teacher's make equal networks exactly if nothing is left over.

The assignment minimises the sum over matched pairs of

    log(1 + (|theta - w| / reach)^2) + 1e-3 v/(1 + v) + 1e-12 [flipped],

v = |c - b| / max|b|, `reach` half the smallest distance of two different teacher units, everything
after the symmetries (homogeneous units as directions of length 1 with weight c |theta|^n). This is
Cauchy's robust cost: as it is concave beyond `reach`, a unit that has arrived keeps its place
however far the others are; weights only decide between units at one place, flips between equals.
Units of weight 0 are matched like any other.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import equinox as eqx
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from earnshaw.charges._quadratic import Quadratic, quadratic
from earnshaw.charges.mixed import same_activation
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.species import Species
from earnshaw.duality.activation import Activation
from earnshaw.duality.affine_dual import AffineDual, MixedDual
from earnshaw.duality.dual import Dual
from earnshaw.duality.potential import Zonal
from earnshaw.duality.symmetry import NONE, Symmetries, detected
from earnshaw.errors import EarnshawError

SAME_PLACE = 1e-8  # teacher units nearer than this part of their length are at one place
WEIGHT_COST = 1e-3
FLIP_COST = 1e-12
RECOVERED = 1e-3  # of the longest position and the largest weight: nearer is the same unit
FARTHEST = 1e100  # a diverged unit is as good as infinitely far


class Matching(eqx.Module):
    """A student, unit by unit, on top of its teacher.

    Attributes
    ----------
    permutation
        for each teacher unit its student unit, or -1; shape (k,).
    flipped
        whether that student unit was flipped; shape (k,).
    distance
        |theta - w| after flip and scale; infinite where unmatched; shape (k,).
    weight_error
        |c - b| after flip and scale; infinite where unmatched; shape (k,).
    unmatched
        the student units that belong to no teacher unit.
    aligned
        the student after permutation, flips and scalings: the matched units in the order
        of the teacher's, then the unmatched ones as they were.
    is_permutation
        whether there are as many student as teacher units, and each student unit
        has no teacher unit nearer than its own.
    is_recovery
        whether it is a permutation with every position and weight right, to 1e-3 of
        the teacher's longest and largest. An equal function is not enough: other units can
        make the same.
    leftover_constant
        what the flips leave behind: the sum of c K over the flipped units; for
        m outputs (m,).
    leftover_linear
        the same for linear functions, as a vector (d,), or (m, d).
    teacher_form
        for activations of degree 2 at most, whose units are not identifiable, the
        teacher as a quadratic function of x; else None.
    student_form
        the same for the student.
    symmetries
        those of the activation that were allowed.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [2.0, 3.0], "erf")
    >>> found = ew.match(teacher, ew.Student([[0.0, -1.0], [1.0, 0.0]], [-3.0, 2.0]))
    >>> found.permutation.tolist(), found.flipped.tolist()
    ([1, 0], [False, True])
    """

    permutation: np.ndarray
    flipped: np.ndarray
    distance: np.ndarray
    weight_error: np.ndarray
    unmatched: np.ndarray
    aligned: Student
    is_permutation: bool
    is_recovery: bool
    leftover_constant: float | np.ndarray
    leftover_linear: np.ndarray
    teacher_form: Quadratic | None
    student_form: Quadratic | None
    symmetries: Symmetries = eqx.field(static=True)

    def __repr__(self) -> str:
        found = self.permutation >= 0
        far = f", {np.max(self.distance[found]):.1e} apart at most" if np.any(found) else ""
        order = "a permutation" if self.is_permutation else "no permutation"
        return f"Matching({np.sum(found)} of {len(found)} units{far}, {order})"

    @property
    def form_distance(self) -> float | None:
        """For activations of degree 2 at most: 0 exactly if the two networks are equal."""
        if self.teacher_form is None or self.student_form is None:
            return None
        return self.teacher_form.distance(self.student_form)

    def recovered(self, tolerance: float = math.inf) -> list[dict[str, Any]]:
        """The matched teacher units whose distance and weight error are at most `tolerance`.

        Plain numbers, for JSON: ``[{"unit": 0, "distance": 1e-15, "weight_error": 0.0}, ...]``.
        """
        good = (self.permutation >= 0) & (np.maximum(self.distance, self.weight_error) <= tolerance)
        return [
            {
                "unit": int(unit),
                "distance": float(self.distance[unit]),
                "weight_error": float(self.weight_error[unit]),
            }
            for unit in np.flatnonzero(good)
        ]


@np.errstate(over="ignore", invalid="ignore")  # diverged units: infinitely far, not an accident
def match(teacher: Teacher, student: Student) -> Matching:
    """The best assignment of student units to teacher units, up to the activation's symmetries.

    Of units of several activations only those of the same one are matched.

    Parameters
    ----------
    teacher
        whose units are to be found.
    student
        of any number of units.

    Returns
    -------
    Matching
        `.permutation`, `.distance`, `.weight_error`, `.is_recovery`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [2.0, 3.0], "erf")
    >>> student = ew.Student([[0.0, -1.0], [1.0, 0.0]], [-3.0, 2.0])  # erf is odd
    >>> found = ew.match(teacher, student)
    >>> found.permutation.tolist(), found.is_recovery
    ([1, 0], True)
    """
    _check(teacher, student)
    network = np.asarray(teacher.positions), np.asarray(teacher.weights)
    found = np.asarray(student.positions), np.asarray(student.weights)
    kinds = _kinds(teacher, student)
    if kinds is None:
        return _matched(unit_symmetries(teacher), network, found)
    return _by_kind(kinds, network, found)


def _matched(
    symmetries: Symmetries,
    teacher: tuple[np.ndarray, np.ndarray],
    student: tuple[np.ndarray, np.ndarray],
) -> Matching:
    """Of units of one activation: positions (k, d), weights (k,) or (k, m)."""
    (places, weights), (theta, c) = teacher, student
    pairs = _Pairs(symmetries, teacher, student)
    rows, columns = linear_sum_assignment(pairs.cost)
    permutation = np.full(len(places), -1)
    permutation[rows] = columns
    flipped = np.zeros(len(places), dtype=bool)
    flipped[rows] = pairs.flipped[rows, columns]
    unmatched = np.setdiff1d(np.arange(len(theta)), columns)

    turned = columns[flipped[rows]]  # the student units that were flipped
    moved, charged = _moved(symmetries, places[rows], theta[columns], c[columns], flipped[rows])
    distance, weight_error = np.full((2, len(places)), np.inf)
    distance[rows] = _length(moved - places[rows])
    weight_error[rows] = _size(charged - weights[rows])
    permuted = len(theta) == len(places) and pairs.nearest(rows, columns)
    longest, largest = float(np.max(_length(places))), float(np.max(_size(weights)))
    right = (distance <= RECOVERED * longest) & (weight_error <= RECOVERED * largest)
    forms = [
        None
        if symmetries.quadratic is None or weights.ndim > 1
        else quadratic(symmetries.quadratic, *units)
        for units in (teacher, student)
    ]
    lost = np.sum(c[turned], axis=0)
    return Matching(
        permutation=permutation,
        flipped=flipped,
        distance=distance,
        weight_error=weight_error,
        unmatched=unmatched,
        aligned=Student(
            np.concatenate([moved, theta[unmatched]]), np.concatenate([charged, c[unmatched]])
        ),
        is_permutation=permuted,
        is_recovery=permuted and bool(np.all(right)),
        leftover_constant=symmetries.constant * (float(lost) if lost.ndim == 0 else lost),
        leftover_linear=symmetries.linear * (c[turned].T @ theta[turned]),
        teacher_form=forms[0],
        student_form=forms[1],
        symmetries=symmetries,
    )


def _kinds(teacher: Teacher, student: Student) -> tuple[list[Activation], list[Activation]] | None:
    """The activations of all units of both; None if they are all the teacher's one."""
    own, kind = teacher.species, student.unit_kind
    if (kind is None or own.is_like(kind.units)) and not isinstance(own.potential, MixedDual):
        return None
    responses = teacher.species.responses if kind is None else kind.responses
    both = []
    for each, units in ((teacher.species.responses, teacher.units), (responses, student.units)):
        listed = list(each) if isinstance(each, tuple) else [each] * units
        if len(listed) != units:
            raise EarnshawError(f"{len(listed)} activations for {units} units; allowed: one a unit")
        both.append(listed)
    return both[0], both[1]


def _by_kind(
    kinds: tuple[list[Activation], list[Activation]],
    teacher: tuple[np.ndarray, np.ndarray],
    student: tuple[np.ndarray, np.ndarray],
) -> Matching:
    """The matchings of all activations as one."""
    theirs, ours = kinds
    (places, weights), (theta, c) = teacher, student
    k, dim = places.shape
    permutation, flipped = np.full(k, -1), np.zeros(k, dtype=bool)
    distance, weight_error = np.full((2, k), np.inf)
    moved, charged = np.array(places), np.array(weights)
    constant, linear = np.zeros(c.shape[1:]), np.zeros((*c.shape[1:], dim))
    permuted = right = len(c) == k
    symmetries = theirs[0].symmetries
    for activation in {id(each): each for each in theirs}.values():
        rows = np.flatnonzero([each is activation for each in theirs])
        columns = np.flatnonzero([same_activation(each, activation) for each in ours])
        if not len(columns):
            permuted = right = False
            continue
        parts = (places[rows], weights[rows]), (theta[columns], c[columns])
        found = _matched(activation.symmetries, *parts)
        there = found.permutation >= 0
        permutation[rows[there]] = columns[found.permutation[there]]
        flipped[rows], distance[rows] = found.flipped, found.distance
        weight_error[rows] = found.weight_error
        count = int(np.sum(there))
        moved[rows[there]] = np.asarray(found.aligned.positions)[:count]
        charged[rows[there]] = np.asarray(found.aligned.weights)[:count]
        constant, linear = constant + found.leftover_constant, linear + found.leftover_linear
        permuted, right = permuted and found.is_permutation, right and found.is_recovery
    matched = permutation >= 0
    unmatched = np.setdiff1d(np.arange(len(c)), permutation[matched])
    return Matching(
        permutation=permutation,
        flipped=flipped,
        distance=distance,
        weight_error=weight_error,
        unmatched=unmatched,
        aligned=Student(
            np.concatenate([moved[matched], theta[unmatched]]),
            np.concatenate([charged[matched], c[unmatched]]),
        ),
        is_permutation=permuted,
        is_recovery=permuted and right,
        leftover_constant=float(constant) if constant.ndim == 0 else constant,
        leftover_linear=linear,
        teacher_form=None,
        student_form=None,
        symmetries=symmetries,
    )


def unit_symmetries(teacher: Teacher) -> Symmetries:
    """Those of the teacher's activation where its units live."""
    symmetries = symmetries_of(teacher.species)
    return symmetries.on_sphere() if teacher.manifold.name == "sphere" else symmetries


def symmetries_of(species: Species) -> Symmetries:
    """Those of the activation; without making one where only the potential is known.

    Potentials on R^d belong to translation activations, which have none. A potential f(rho) on the
    sphere flips as its activation s does: f = sum_n a_n^2 rho^n where s = sum_n a_n he_n.
    """
    potential = species.potential
    if isinstance(potential, AffineDual):
        return potential.origin.symmetries
    if isinstance(potential, MixedDual):
        return NONE  # each unit has its own
    if not isinstance(potential, Zonal):
        return NONE
    if isinstance(potential, Dual) and potential.origin is not None:
        return potential.origin.symmetries
    if species.given is not None or species.origin == "activation":
        return species.activation.symmetries
    found = detected(potential.value, np.linspace(0.011, 0.983, 61))
    forms = found.quadratic
    if forms is not None:
        a = [math.sqrt(abs(coefficient)) for coefficient in forms]
        forms = (a[0] - a[2] * math.sqrt(0.5), a[1], a[2] * math.sqrt(0.5))
    return dataclasses.replace(
        found,
        constant=math.sqrt(2 * abs(found.constant)),
        linear=math.sqrt(2 * abs(found.linear)),
        degree=None,
        quadratic=forms,
    )


class _Pairs:
    """All pairs of a teacher unit (row) and a student unit (column), each with its better flip."""

    def __init__(
        self,
        symmetries: Symmetries,
        teacher: tuple[np.ndarray, np.ndarray],
        student: tuple[np.ndarray, np.ndarray],
    ) -> None:
        w, b = _canonical(symmetries, *teacher)
        theta, c = _canonical(symmetries, *student)
        self.size = float(np.max(_length(w))) or 1.0
        flips = (1,) if symmetries.flip is None else (1, -1)
        own = np.minimum.reduce([cdist(w, sign * w) for sign in flips])
        apart = own[own > SAME_PLACE * self.size]
        reach = 0.5 * float(np.min(apart, initial=self.size))
        scale = float(np.max(_size(b))) or 1.0

        distances, costs = [], []
        for sign in flips:
            gap = cdist(w, sign * theta)
            charged = c if sign == 1 else (symmetries.flip or 1) * c
            wrong = _size(b[:, None] - charged[None, :], 2)
            cost = np.log1p(np.square(np.minimum(gap / reach, FARTHEST)))
            cost += WEIGHT_COST * (1 - scale / (scale + wrong))
            distances.append(gap)
            costs.append(cost + FLIP_COST * (sign == -1))
        best = np.argmin(costs, axis=0)
        self.flipped = best == 1
        self.cost = np.minimum.reduce(costs)
        self.distance = np.take_along_axis(np.asarray(distances), best[None], axis=0)[0]

    def nearest(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        """Whether no student unit is nearer to another teacher unit than to its own."""
        own = self.distance[rows, columns]
        return bool(np.all(own <= np.min(self.distance, axis=0)[columns] + SAME_PLACE * self.size))


def _canonical(
    symmetries: Symmetries, positions: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Homogeneous units as directions of length 1 and weights c |theta|^n; others as they are."""
    if symmetries.degree is None:
        return positions, weights
    length = _length(positions)
    directions = positions / np.where(length > 0, length, 1.0)[:, None]
    return directions, np.nan_to_num(_times(weights, length**symmetries.degree))


def _moved(
    symmetries: Symmetries,
    places: np.ndarray,
    theta: np.ndarray,
    c: np.ndarray,
    flipped: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Student units after their flip and, if homogeneous, at the length of their teacher unit."""
    theta = np.where(flipped[:, None], -theta, theta)
    c = _times(c, np.where(flipped, symmetries.flip or 1, 1))
    if symmetries.degree is None:
        return theta, c
    wanted, length = _length(places), _length(theta)
    possible = (wanted > 0) & (length > 0)  # a unit at the origin has no length to change
    growth = np.where(possible, length, 1.0) / np.where(possible, wanted, 1.0)
    scale = growth**symmetries.degree
    possible &= np.isfinite(_size(_times(c, scale)))
    return (
        theta / np.where(possible, growth, 1.0)[:, None],
        _times(c, np.where(possible, scale, 1.0)),
    )


def _length(vectors: np.ndarray) -> np.ndarray:
    """|v| over the last axis, without overflow."""
    return np.hypot.reduce(vectors, axis=-1)


def _size(weights: np.ndarray, axes: int = 1) -> np.ndarray:
    """|c| of weights (k,), or (k, m) for m outputs; of differences with two `axes` of units."""
    return np.abs(weights) if weights.ndim == axes else _length(weights)


def _times(weights: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Weights (k,) or (k, m), each times its factor (k,)."""
    return weights * factors.reshape(-1, *(1,) * (weights.ndim - 1))


def _check(teacher: Teacher, student: Student) -> None:
    if not isinstance(teacher, Teacher) or not isinstance(student, Student):
        raise EarnshawError("match needs a teacher and a student, in this order")
    for what, units in (("teacher", teacher), ("student", student)):
        if units.positions.ndim != 2:
            raise EarnshawError(
                f"the {what}'s positions have shape {units.positions.shape}; "
                "allowed for matching: (units, dimension)"
            )
    if student.dim != teacher.dim:
        raise EarnshawError(
            f"the student has dimension {student.dim}; allowed: {teacher.dim}, the teacher's"
        )
    if student.outputs != teacher.outputs:
        raise EarnshawError(
            f"the student's weights have shape {student.weights.shape}; allowed: "
            f"{(student.units, *teacher.weights.shape[1:])}"
        )
    teacher.manifold.check(student.positions, "student unit")
