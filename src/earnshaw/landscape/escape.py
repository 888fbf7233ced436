"""Paths out of a point along which the loss never rises: what shows that a minimum is no trap.

A **spurious valley** is a path-connected component of a sublevel set {L <= l} without a global
minimum (Venturi, Bandeira and Bruna, JMLR 20, 2019). A strict local minimum that is not global is
one by itself: at l = L* its component is that point alone. A minimum that is not strict need not
be: from two units in one place, or from a unit of weight 0, a path leads down,

    1. all weight of the pair goes to one of them: nothing changes, L is level;
    2. the other, of weight 0, is carried to any place y: nothing changes;
    3. its weight becomes the best one, C(y)/Phi(y, y): L falls by C(y)^2/Phi(y, y),

C the potential that the student leaves, which is 0 everywhere only if L = 0. (These are the
embedded minima of Fukumizu and Amari, Neural Networks 13, 2000.)

An `EscapePath` is the polygon of such a path, with the loss along it, so that anyone can check it.
Where a segment changes nothing but weights, L is a convex parabola on it, and where it moves only
units of weight 0, a constant: there the largest of L is at a vertex, and vertices alone decide
(`exact`). Other segments are sampled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.matching import symmetries_of
from earnshaw.charges.network import Student
from earnshaw.duality.symmetry import NONE
from earnshaw.energy.couplings.coupling import COINCIDENT
from earnshaw.energy.objective import ROUNDING, Objective
from earnshaw.errors import EarnshawError

SAMPLES = 32  # of a segment on which L is no parabola


@dataclasses.dataclass(frozen=True)
class EscapePath:
    """A polygon of students, and the loss along it.

    Positions go along geodesics from vertex to vertex, weights on straight lines; or, if
    `refitted`, they are at every place the best ones. `losses` (n,) are those at all vertices and
    samples in order, `vertices` (m,) the indices of vertices among them. `rounding` is the error of
    one loss.
    """

    students: tuple[Student, ...]
    losses: np.ndarray
    vertices: np.ndarray
    exact: bool
    rounding: float
    refitted: bool = False

    @property
    def largest_rise(self) -> float:
        """The most by which the loss exceeds what it was anywhere before; 0 if it never rises."""
        return float(np.max(self.losses - np.minimum.accumulate(self.losses), initial=0.0))

    @property
    def drop(self) -> float:
        """How much lower the loss is at the end."""
        return float(self.losses[0] - self.losses[-1])

    @property
    def never_rises(self) -> bool:
        """Whether the largest rise is one of rounding."""
        return self.largest_rise <= self.rounding

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON: the vertices with their losses, and what was checked."""
        return {
            "vertices": [
                {
                    "positions": np.asarray(student.positions).tolist(),
                    "weights": np.asarray(student.weights).tolist(),
                    "loss": float(self.losses[index]),
                }
                for student, index in zip(self.students, self.vertices, strict=True)
            ],
            "largest_rise": self.largest_rise,
            "drop": self.drop,
            "exact": self.exact,
            "refitted": self.refitted,
        }


def trace(
    objective: Objective, students: Sequence[Student], *, refitted: bool = False
) -> EscapePath:
    """The path through these students, with its losses; at least two, all of one shape.

    `refitted` if all but the first have their best weights, also between vertices.
    """
    if len(students) < 2:
        raise EarnshawError(f"a path has at least two students, not {len(students)}")
    checked = [objective.check(student) for student in students]
    losses, vertices, exact = [_value(objective, checked[0])], [0], True
    for one, other in pairwise(checked):
        if not _is_exact(one, other):
            exact = False
            parts = np.linspace(0.0, 1.0, SAMPLES + 1)[1:-1]
            passed = [between(objective, one, other, part) for part in parts]
            if refitted:
                passed = [objective.optimal_weights(student) for student in passed]
            losses += [_value(objective, student) for student in passed]
        losses.append(_value(objective, other))
        vertices.append(len(losses) - 1)
    error = max(rounding(objective, student) for student in checked)
    return EscapePath(tuple(checked), np.array(losses), np.array(vertices), exact, error, refitted)


def between(objective: Objective, one: Student, other: Student, part: float) -> Student:
    """The student at a `part` in [0, 1] of the segment; on the sphere units turn evenly."""
    weights = (1 - part) * one.weights + part * other.weights
    x, y = np.asarray(one.positions), np.asarray(other.positions)
    if objective.manifold.name != "sphere":
        return Student((1 - part) * x + part * y, weights)
    angle = 2 * np.arctan2(
        np.linalg.norm(x - y, axis=1, keepdims=True), np.linalg.norm(x + y, axis=1, keepdims=True)
    )
    sine = np.where(np.sin(angle) > 1e-8, np.sin(angle), 1.0)
    near = np.sin(angle) <= 1e-8
    first = np.where(near, 1 - part, np.sin((1 - part) * angle) / sine)
    second = np.where(near, part, np.sin(part * angle) / sine)
    mixed = np.where(near & (angle > 1), x, first * x + second * y)  # opposite: no way is shortest
    return Student(np.asarray(objective.manifold.project(jnp.asarray(mixed))), weights)


def escape(objective: Objective, student: Student) -> EscapePath | None:
    """The path of the module's docstring, from a spare unit; None without one, or where L = 0.

    The spare unit is carried to where it lowers the loss most among the teacher's units.
    """
    teacher = objective.teacher
    if objective.wrt != "both" or objective.ridge or teacher is None:
        return None
    freed = _freed(objective, student)
    if freed is None:
        return None
    spare, merged = freed
    best, savings = None, 2 * rounding(objective, merged)
    for place in np.asarray(teacher.positions)[np.asarray(teacher.weights) != 0]:
        x, c = np.array(merged.positions), np.array(merged.weights)
        x[spare] = place
        values = []
        for weight in (-1.0, 0.0, 1.0):
            c[spare] = weight
            values.append(_value(objective, Student(x, c)))
        potential, own = (values[0] - values[2]) / 4, (values[0] + values[2]) / 2 - values[1]
        if own > 0 and potential**2 / own > savings:
            savings = potential**2 / own
            c[spare] = potential / own
            best = Student(x, c)
    if best is None:
        return None
    carried = np.where(np.arange(best.units) == spare, 0.0, np.asarray(best.weights))
    return trace(objective, [student, merged, Student(best.positions, carried), best])


def _freed(objective: Objective, student: Student) -> tuple[int, Student] | None:
    """A unit that can be spared, and the same network with its weight 0."""
    x, c = np.asarray(student.positions), np.array(student.weights)
    (empty,) = np.nonzero(c == 0)
    if len(empty):
        return int(empty[0]), student
    sizes = COINCIDENT * np.maximum(np.linalg.norm(x, axis=1), 1e-300)
    for spare in range(student.units):
        for other in range(spare):
            for side, factor in equal_sides(objective):
                if np.linalg.norm(x[spare] - side * x[other]) <= sizes[spare]:
                    c[other], c[spare] = c[other] + factor * c[spare], 0.0
                    return spare, Student(x, c)
    return None


def equal_sides(objective: Objective) -> list[tuple[float, float]]:
    """A unit at side * x is `factor` times one at x: x itself, and -x of an odd or even one."""
    flips = NONE if objective.teacher is None else symmetries_of(objective.teacher.species)
    if flips.flip is None or flips.constant or flips.linear:
        return [(1.0, 1.0)]
    return [(1.0, 1.0), (-1.0, float(flips.flip))]


def _is_exact(one: Student, other: Student) -> bool:
    """Whether only weights change, or only places of units that have no weight."""
    moved = np.any(np.asarray(one.positions) != np.asarray(other.positions), axis=1)
    weights = np.abs(np.asarray(one.weights)) + np.abs(np.asarray(other.weights))
    if not np.any(moved):
        return True
    changed = np.any(np.asarray(one.weights) != np.asarray(other.weights))
    return not changed and bool(np.all(weights[moved] == 0))


def _value(objective: Objective, student: Student) -> float:
    return float(objective.value(student))


def rounding(objective: Objective, student: Student) -> float:
    """The rounding error of one loss: of a sum of energies of at most (sum |c| + |b|)^2 Phi."""
    known = float(objective.rounding_of_zero(student))
    if known >= 0:
        return known
    total = float(np.sum(np.abs(np.asarray(student.weights))))
    if objective.teacher is not None:
        total += float(np.sum(np.abs(np.asarray(objective.teacher.weights))))
    return ROUNDING * total**2 * max(1.0, objective.gradient_scale())
