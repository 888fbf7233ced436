"""The loss over a plane of students: `ew.loss_slice`.

From a point (theta, c) and two orthonormal motions u, v of positions and weights,

    L(s, t) = L((theta, c) + s u + t v),

where on the sphere each unit is put back on it: (theta + s u)/|theta + s u|. The motions are
eigenvectors of the Hessian at the point, or lead to other students: of three students, all are in
the plane. Before that, units of the others are matched with those of the first (`alignment.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Gradient, Objective, energy
from earnshaw.errors import EarnshawError
from earnshaw.landscape.alignment import aligned
from earnshaw.landscape.spectrum import loss_of, spectrum
from earnshaw.limits import check_integer, check_real

GRID = 81
MARGIN = 0.35  # around the students of a plane, in parts of their extent
BATCH = 256  # students whose losses are computed at once


class Axis(NamedTuple):
    """A direction of a slice: the motion, what it is in words, the curvature of the loss along it.

    `curvature` is None where the direction is no eigenvector.
    """

    motion: Gradient
    words: str
    curvature: float | None = None


@dataclasses.dataclass(frozen=True)
class Slice:
    """The loss on a plane of students.

    `losses` (n, m) at heights t = `ups` (n,) and s = `rights` (m,), along `axes` from `origin`.
    `points` (p, 2) are where the students of the plane are in it, `point_losses` (p,) their losses.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> plane = ew.loss_slice(teacher, teacher.student(), grid=11)
    >>> plane.rights.shape, plane.losses.shape
    ((11,), (11, 11))
    """

    origin: Student
    axes: tuple[Axis, Axis]
    rights: np.ndarray
    ups: np.ndarray
    losses: np.ndarray
    points: np.ndarray
    point_losses: np.ndarray

    def project(self, student: Student) -> np.ndarray:
        """(s, t) of the nearest point of the plane to a student, on R^d."""
        gap = flat(student) - flat(self.origin)
        return np.array([gap @ flat(axis.motion) for axis in self.axes])

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "axes": [{"words": one.words, "curvature": one.curvature} for one in self.axes],
            "rights": self.rights.tolist(),
            "ups": self.ups.tolist(),
            "losses": self.losses.tolist(),
            "points": self.points.tolist(),
            "point_losses": self.point_losses.tolist(),
        }


def loss_slice(
    teacher: Teacher | Objective,
    student: Student,
    *others: Student,
    along: tuple[int, int] = (0, -1),
    reach: float | None = None,
    grid: int = GRID,
    match: bool = True,
    objective: str = "full",
    wrt: str | None = None,
) -> Slice:
    """The loss over a plane through `student`.

    Parameters
    ----------
    teacher
        a teacher, or a loss of the student.
    student
        the point in the middle, or the first of several.
    others
        one or two students that the plane goes through too, up to the loss's symmetries.
        With one, the other direction is the first of `along` that leaves the line.
    along
        without others, which eigenvectors of the Hessian: 0 is that of the smallest
        eigenvalue, -1 of the largest. Those of symmetries are not counted.
    reach
        how far the plane is shown on each side; half the usual length of a unit.
    grid
        values a side.
    match
        whether to match the units of others with those of `student` first.
    objective, wrt
        the loss of a teacher, as in `population_loss`.

    Returns
    -------
    Slice
        The losses on a grid, and the two directions.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> plane = ew.loss_slice(teacher, teacher.student(), grid=11)
    >>> plane.losses.shape
    (11, 11)
    """
    loss = loss_of(teacher, objective, wrt)
    grid = check_integer("grid", grid, 3, 1001)
    student = loss.check(student)
    if len(others) > 2:
        raise EarnshawError(f"a plane goes through three students, not {len(others) + 1}")
    if reach is not None:
        reach = check_real("reach", reach, 0.0)
    if others:
        others = tuple(map(loss.check, others))
        if match:
            others = tuple(aligned(loss, student, other) for other in others)
        return _through(loss, student, others, along, reach, grid)
    found = spectrum(loss, student)
    axes = []
    for number in along:
        motion = found.direction(number)
        value = float(found.values[~found.of_symmetry][number])
        axes.append(Axis(motion, _rank(number, int(np.sum(~found.of_symmetry))), value))
    if along[0] == along[1] or np.isclose(abs(flat(axes[0].motion) @ flat(axes[1].motion)), 1.0):
        raise EarnshawError(f"eigenvectors {along[0]} and {along[1]} are one; allowed: two")
    far = reach or usual_length(found.student) / 2
    return plane(loss, found.student, (axes[0], axes[1]), (-far, far), (-far, far), grid)


def plane(
    loss: Objective,
    origin: Student,
    axes: tuple[Axis, Axis],
    across: tuple[float, float],
    upward: tuple[float, float],
    grid: int = GRID,
    students: Sequence[Student] = (),
) -> Slice:
    """The loss on `grid` x `grid` points of the plane, s in `across` and t in `upward`."""
    rights, ups = np.linspace(*across, grid), np.linspace(*upward, grid)
    s, t = (part.ravel() for part in np.meshgrid(rights, ups))
    steps, changes = (
        np.multiply.outer(s, np.asarray(one)) + np.multiply.outer(t, np.asarray(other))
        for one, other in zip(axes[0].motion, axes[1].motion, strict=True)
    )
    values = np.asarray(
        _moved_losses(
            loss, origin.positions, origin.weights, jnp.asarray(steps), jnp.asarray(changes)
        )
    )
    marked = [origin, *students]
    start = flat(origin)
    where = [[(flat(x) - start) @ flat(a.motion) for a in axes] for x in marked]
    return Slice(
        origin=origin,
        axes=axes,
        rights=rights,
        ups=ups,
        losses=values.reshape(grid, grid),
        points=np.array(where),
        point_losses=np.array([float(loss.value(x)) for x in marked]),
    )


@eqx.filter_jit
def _moved_losses(loss: Objective, x: Array, c: Array, steps: Array, changes: Array) -> Array:
    def one(step: tuple[Array, Array]) -> Array:
        return energy(loss, Student(loss.manifold.retract(x, step[0]), c + step[1]))

    return jax.lax.map(one, (steps, changes), batch_size=BATCH)


def _through(
    loss: Objective,
    student: Student,
    others: Sequence[Student],
    along: tuple[int, int],
    reach: float | None,
    grid: int,
) -> Slice:
    """The plane through two or three students."""
    gaps = [flat(other) - flat(student) for other in others]
    length = float(np.linalg.norm(gaps[0]))
    if length <= 1e-12 * max(1.0, float(np.linalg.norm(flat(student)))):
        raise EarnshawError("the students are one and the same, up to symmetry: no line joins them")
    first = gaps[0] / length
    candidates: list[tuple[np.ndarray, str, float | None]]
    if len(gaps) == 2:
        candidates = [(gaps[1], "to student 2", None)]
    else:
        found = spectrum(loss, student)
        values = found.values[~found.of_symmetry]
        candidates = [
            (flat(found.direction(number)), _rank(number, len(values)), float(values[number]))
            for number in along
        ]
    lefts = [vector - (vector @ first) * first for vector, _, _ in candidates]
    shares = [
        float(np.linalg.norm(left) / np.linalg.norm(vector))
        for left, (vector, _, _) in zip(lefts, candidates, strict=True)
    ]
    if max(shares) <= 1e-6:
        raise EarnshawError("the students are on one line: no plane is theirs")
    chosen = next(i for i, share in enumerate(shares) if share > 1e-6)
    second = lefts[chosen] / np.linalg.norm(lefts[chosen])
    _, words, curvature = candidates[chosen]
    if len(gaps) == 1 and shares[chosen] < 1 - 1e-9:
        words, curvature = f"{words}, across the line", None
    axes = (
        Axis(_motion(student, first), "to student 1", None),
        Axis(_motion(student, second), words, curvature),
    )
    where = np.array([[0.0, 0.0], *([gap @ first, gap @ second] for gap in gaps)])
    low, high = where.min(axis=0), where.max(axis=0)
    room = MARGIN * float(np.max(high - low))
    spans = [(a - room, b + room) for a, b in zip(low, high, strict=True)]
    if len(gaps) == 1:  # as high as it is wide
        far = (spans[0][1] - spans[0][0]) / 2
        spans[1] = (-far, far)
    if reach is not None:
        middle = (low + high) / 2
        spans = [(m - reach, m + reach) for m in middle]
    return plane(loss, student, axes, spans[0], spans[1], grid, others)


def flat(student: Student | Gradient) -> np.ndarray:
    """Positions row by row, then weights: (k d + k,)."""
    return np.concatenate([np.asarray(student.positions).ravel(), np.asarray(student.weights)])


def usual_length(student: Student) -> float:
    """The root mean square of |theta_i|; 1 where all are 0."""
    x = np.asarray(student.positions)
    return float(np.sqrt(np.mean(np.sum(x**2, axis=1)))) or 1.0


def _motion(student: Student, vector: np.ndarray) -> Gradient:
    positions, weights = np.split(vector, [student.positions.size])
    return Gradient(jnp.asarray(positions.reshape(student.positions.shape)), jnp.asarray(weights))


def _rank(number: int, count: int) -> str:
    place = number if number >= 0 else count + number
    if place == 0:
        return "eigenvector of the smallest eigenvalue"
    if place == count - 1:
        return "eigenvector of the largest eigenvalue"
    return f"eigenvector {place}"
