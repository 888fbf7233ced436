"""What a degenerate point is, where that can be told: a plateau, a valley or a channel.

A point is `degenerate` where an eigenvalue, or a cusp's margin, is 0 to the tolerance. Second
derivatives say no more; these tests go and look, to a distance of a tenth of the student's size.

- ``valley``   an `EscapePath` was found: the loss never rises along it and is lower at its end. So
  the point is no strict minimum and no spurious valley at its own level; it may still be a local
  minimum (Full, Definition 3.2), as two units that share a place can be.
- ``channel``  the same along a ray that ends nowhere: units go to infinity, or two units of
  opposite weights meet while these grow without bound (sigma and its derivative in the limit).
- ``plateau``  along all flat directions, followed as they bend, the loss is the same to rounding,
  and where they lead no direction falls.

None of these where the loss changes but no path was found: the point stays ``degenerate``. A
verdict of plateau is a finding, not a proof: another path may exist.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag, null_space

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.landscape._curvature import SMALL, smooth_directions
from earnshaw.landscape.binding import Binding, bind
from earnshaw.landscape.escape import EscapePath, escape, rounding, trace
from earnshaw.landscape.symmetries import orbit_directions

FlatKind = Literal["plateau", "valley", "channel"]
FLAT_KINDS = ("degenerate", "plateau", "valley", "channel")

REACH = (1e-3, 1e-2, 1e-1)  # how far flat directions are followed, in sizes of the student
FAR = tuple(10.0**power for power in range(-2, 7))  # the same along rays
CORRECTIONS = 3  # back to the floor of a valley that bends
MIXED = 4  # random combinations of flat directions that are tried as well
HALVINGS = 8  # of the distance of two units that close in on each other


class Flat(NamedTuple):
    """A kind, why, and the path that shows it; None for a plateau."""

    kind: FlatKind
    reason: str
    path: EscapePath | None = None


def flat_kind(objective: Objective, student: Student, tolerance: float) -> Flat | None:
    """What a degenerate `student` is; None where it cannot be told.

    `tolerance` is that of eigenvalues, as in a certificate.
    """
    binding = bind(objective, student)
    student = binding.student
    if not student.units or binding.unsure or objective.samples is not None:
        return None
    path = escape(objective, student)
    if path is not None and path.never_rises:
        return Flat("valley", f"a spare unit can be carried away: {_words(path)}", path)
    for rays in (_outward(objective, student), _closing(objective, student)):
        if rays is not None:
            return Flat("channel", f"the loss falls all the way to infinity: {_words(rays)}", rays)
    ground = _Ground(objective, binding, tolerance)
    return ground.explored() if ground.small else None


class _Ground:
    """The smooth motions at a point, split into flat and curved ones."""

    def __init__(self, objective: Objective, binding: Binding, tolerance: float) -> None:
        self.objective, self.student, self.tolerance = objective, binding.student, tolerance
        count = self.student.units
        smooth = smooth_directions(objective, binding).toarray()
        weights = np.eye(count) if objective.wrt != "positions" else np.zeros((count, 0))
        motions = block_diag(smooth, weights)
        orbit = orbit_directions(objective, self.student)
        inside = motions.T @ orbit
        if inside.shape[1]:
            motions = motions @ null_space(inside.T)
        self.small = 0 < motions.shape[1] <= SMALL
        if not self.small:
            return
        values, vectors = np.linalg.eigh(self._hessian(self.student, motions))
        flat = np.abs(values) <= tolerance
        self.motions = motions
        self.flat = motions @ vectors[:, flat]
        self.curved, self.values = motions @ vectors[:, ~flat], values[~flat]
        parts = (np.asarray(self.student.positions), np.asarray(self.student.weights))
        self.size = max(1.0, *(float(np.max(np.abs(part), initial=0.0)) for part in parts))
        self.value = float(objective.value(self.student))
        self.error = 4 * rounding(objective, self.student)

    def explored(self) -> Flat | None:
        """Follow every flat direction both ways, and some of their combinations."""
        if not self.flat.shape[1] or np.any(self.values < 0):
            return None
        rng = np.random.default_rng(0)
        mixed = self.flat @ rng.standard_normal((self.flat.shape[1], MIXED))
        mixed /= np.linalg.norm(mixed, axis=0)
        level = True
        for motion in (*self.flat.T, *-self.flat.T, *mixed.T):
            line = [self.student]
            for reach in REACH:
                line.append(self._floor(reach * self.size * motion))
                change = float(self.objective.value(line[-1])) - self.value
                level &= abs(change) <= self.error
                falls = line[-1] if change < -self.error else self._fallen(line[-1], change)
                if falls is None:
                    continue
                path = trace(self.objective, [*line, falls] if falls is not line[-1] else line)
                if path.largest_rise <= self.error and path.drop > self.error:
                    return Flat("valley", f"a flat direction leads down: {_words(path)}", path)
        if not level:
            return None
        count = self.flat.shape[1]
        return Flat("plateau", f"the loss is level along {count} flat directions, to {REACH[-1]}")

    def _floor(self, motion: np.ndarray) -> Student:
        """The student after a flat motion, put back where the curved directions are at rest."""
        student = self._moved(self.student, motion)
        for _ in range(CORRECTIONS):
            slope = self.curved.T @ _flat(self.objective.gradient(student))
            student = self._moved(student, -self.curved @ (slope / self.values))
        return student

    def _fallen(self, student: Student, change: float) -> Student | None:
        """Below a point of the same level, if a direction there has negative curvature."""
        if abs(change) > self.error:
            return None
        values, vectors = np.linalg.eigh(self._hessian(student, self.motions))
        if values[0] >= -self.tolerance:
            return None
        slope = self.motions.T @ _flat(self.objective.gradient(student))
        side = -1.0 if vectors[:, 0] @ slope > 0 else 1.0
        return self._moved(student, side * REACH[0] * self.size * (self.motions @ vectors[:, 0]))

    def _moved(self, student: Student, motion: np.ndarray) -> Student:
        by_positions, by_weights = np.split(motion, [student.positions.size])
        step = jnp.asarray(by_positions.reshape(student.positions.shape))
        x = self.objective.manifold.retract(student.positions, step)
        return Student(x, student.weights + by_weights)

    def _hessian(self, student: Student, motions: np.ndarray) -> np.ndarray:
        shape = student.positions.shape
        products = []
        for motion in motions.T:
            by_positions, by_weights = np.split(motion, [student.positions.size])
            moved = by_weights if self.objective.wrt != "positions" else None
            products.append(
                _flat(self.objective.hvp(student, (by_positions.reshape(shape), moved)))
            )
        matrix = motions.T @ np.stack(products, axis=1)
        return (matrix + matrix.T) / 2


def _outward(objective: Objective, student: Student) -> EscapePath | None:
    """A unit that goes away from everything for ever while the loss falls; on R^d only."""
    teacher = objective.teacher
    if objective.manifold.name == "sphere" or objective.wrt == "weights" or teacher is None:
        return None
    x, w = np.asarray(student.positions), np.asarray(teacher.positions)
    for unit in np.flatnonzero(np.asarray(student.weights)):
        others = np.concatenate([w, np.delete(x, unit, axis=0)])
        away = x[unit] - np.mean(others, axis=0)
        size = float(np.linalg.norm(away))
        if size == 0:
            continue
        line = [student]
        for far in FAR:
            moved = np.array(x)
            moved[unit] = x[unit] + far * away
            line.append(Student(moved, student.weights))
        if path := _descending(objective, line):
            return path
    return None


def _closing(objective: Objective, student: Student) -> EscapePath | None:
    """Two units of opposite weights that close in on each other, all weights at their best.

    Of each unit with the nearest of the other sign.
    """
    if objective.wrt != "both" or objective.ridge:
        return None
    x, c = np.asarray(student.positions), np.asarray(student.weights)
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    apart[(np.outer(c, c) >= 0) | (apart == 0)] = np.inf
    for one, other in enumerate(np.argmin(apart, axis=1) if len(x) else ()):
        if not apart[one, other] < np.inf:
            continue
        line = [student, objective.optimal_weights(student)]
        for halving in range(1, HALVINGS + 1):
            moved, middle, gap = np.array(x), (x[one] + x[other]) / 2, x[one] - x[other]
            moved[one] = middle + gap * 2.0 ** -(halving + 1)
            moved[other] = middle - gap * 2.0 ** -(halving + 1)
            placed = objective.manifold.project(jnp.asarray(moved))
            line.append(objective.optimal_weights(Student(placed, student.weights)))
        grows = float(np.max(np.abs(line[-1].weights))) > 100 * float(np.max(np.abs(c)))
        if grows and (path := _descending(objective, line, refitted=True)):
            return path
    return None


def _descending(
    objective: Objective, line: list[Student], refitted: bool = False
) -> EscapePath | None:
    """The path through these students if it never rises and ends lower."""
    values = np.array([float(objective.value(student)) for student in line])
    if np.any(np.diff(values) > rounding(objective, line[-1])):
        return None  # without looking between them
    path = trace(objective, line, refitted=refitted)
    return path if path.never_rises and path.drop > 2 * path.rounding else None


def _words(path: EscapePath) -> str:
    return f"by {path.drop:.3g} in {len(path.students) - 1} steps that never rise"


def _flat(gradient: Gradient) -> np.ndarray:
    """As one row (k d + k,)."""
    return np.append(np.asarray(gradient.positions).ravel(), np.asarray(gradient.weights))
