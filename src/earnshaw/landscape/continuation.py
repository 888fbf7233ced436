"""Follow a minimum while its teacher changes, until it ends.

A family of teachers T(s) has, near a minimum x(s) that is not degenerate, a curve of them. With y
the coordinates in which the loss is smooth (weights, and positions of units on no cusp) and bound
units on their protons, the curve solves

    F(y, s) = grad_y L(y; T(s)) = 0.

It is followed by its arc length (Keller 1977): from (y, s) with unit tangent t to the solution of F
= 0 at a distance h along t, which exists also where s turns back. On the way three numbers say that
it is a strict minimum: the smallest eigenvalue of the Hessian over y, the least cusp margin, and
the least |weight| (at a weight of 0 its sign, and with it the pull of its cusp, would change). The
minimum ends where the first of them is 0, found to rounding by Brent's method in h. Where that is
the eigenvalue and s turns back there, the minimum meets a saddle and both are gone: a fold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag, null_space
from scipy.optimize import brentq

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.landscape._curvature import smooth_directions
from earnshaw.landscape.binding import Binding, bind
from earnshaw.numerics.fixed_order import one_blas_thread

Family = Callable[[float], Teacher]
Ended = Literal["eigenvalue", "margin", "weight", "range"]

NEWTON = 12  # corrections of a step
SETTLED = 1e-12  # the length of the last of them, relative to 1
CLOSE = 0.1  # corrections that are longer than this part of a step: halve it
GROWTH, LARGEST = 1.5, 0.05  # of steps: after each success, and at most
SMALLEST = 1e-9
DIFFERENCE = 1e-6  # of s, relative: for dF/ds, which only steers


class Waypoint(NamedTuple):
    """A point of the curve: its parameter s, the student, and what makes it a strict minimum.

    `margin` is the least of the bound units', inf without one; `weight` the least |c_i|, negative
    where a weight has changed its sign.
    """

    parameter: float
    student: Student
    loss: float
    eigenvalue: float
    margin: float
    weight: float


@dataclasses.dataclass(frozen=True)
class Branch:
    """A curve of minima, from where it was begun to where it ended.

    `ended` says which number came to 0 at `end`, or "range" if s got to where it was asked to.
    `turns` is |ds/dh| at the end: 0 to rounding at a fold.
    """

    points: tuple[Waypoint, ...]
    end: Waypoint
    ended: Ended
    turns: float


@one_blas_thread()
def follow(family: Family, student: Student, start: float, stop: float) -> Branch:
    """The curve of minima through `student`, from s = `start` towards `stop`.

    Args:
        family: s -> a teacher; the units of all have the same activation and order.
        student: a minimum of the teacher at `start`, up to a few digits.
        start, stop: of the parameter.
    """
    here, direction = settle(family(start), student), float(np.sign(stop - start))
    held_by = bind(population_loss(family(start)), here).held_by
    curve = _Curve(family, held_by, np.sign(np.asarray(here.weights)))
    point = curve.measured(here, start)
    if min(_signs(point)) <= 0:
        raise EarnshawError(f"the curve does not begin at a strict minimum, at s = {start:.6g}")
    tangent, points, step = curve.tangent(here, start, None, direction), [point], abs(start) / 10
    while True:
        found = curve.stepped(point, tangent, step)
        if found is None:
            step /= 2
            if step < SMALLEST:
                raise EarnshawError(f"the curve is lost at s = {point.parameter:.9g}")
            continue
        if min(_signs(found)) <= 0:
            return curve.ended(points, point, tangent, step)
        if (found.parameter - stop) * direction >= 0:
            last = curve.measured(settle(family(stop), found.student), stop)
            return Branch((*points, last), last, "range", 1.0)
        tangent = curve.tangent(found.student, found.parameter, tangent, direction)
        point, step = found, min(GROWTH * step, LARGEST)
        points.append(found)


@one_blas_thread()
def settle(teacher: Teacher, student: Student) -> Student:
    """The critical point near `student`: Newton's method in what is smooth, bound units staying."""
    curve = _Curve(lambda _: teacher, bind(population_loss(teacher), student).held_by)
    for _ in range(NEWTON):
        slope, hessian, motions = curve.smooth(student, 0.0)
        step = _solved(hessian, slope)
        if step is None:
            break
        student = curve.moved(student, motions @ step, 0.0)
        if np.linalg.norm(step) <= SETTLED:
            return student
    raise EarnshawError("Newton's method does not settle: no regular critical point is near")


class _Curve:
    """F(y, s) = 0 for one family, with the units `held_by` (k,) protons on them.

    `sides` (k,) are the signs of the weights where the curve begins.
    """

    def __init__(self, family: Family, held_by: np.ndarray, sides: np.ndarray | None = None):
        if np.any(held_by < -1):
            raise EarnshawError("units that hold each other cannot be followed; allowed: protons")
        self.held_by, self.sides = held_by, sides
        self.loss = lru_cache(maxsize=8)(lambda s: population_loss(family(s)))

    def smooth(self, student: Student, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The gradient (n,), the Hessian (n, n) and the motions (k d + k, n) in y."""
        loss, binding = self._bound(student, s)
        columns = [smooth_directions(loss, binding).toarray(), np.eye(student.units)]
        motions = block_diag(*columns)
        slope = motions.T @ _flat(loss.gradient(binding.student))
        products = [loss.hvp(binding.student, _apart(student, v)) for v in motions.T]
        hessian = motions.T @ np.stack([_flat(one) for one in products], axis=1)
        return slope, (hessian + hessian.T) / 2, motions

    def moved(self, student: Student, motion: np.ndarray, s: float) -> Student:
        """The student after a motion (k d + k,) in what is smooth, its bound units on T(s)."""
        by_positions, by_weights = _apart(student, motion)
        teacher = self.loss(s).teacher
        x = np.array(teacher.manifold.retract(student.positions, jnp.asarray(by_positions)))
        held, w = self.held_by >= 0, np.asarray(teacher.positions)
        home = w[np.maximum(self.held_by, 0)]
        facing = np.sum(np.asarray(student.positions) * home, axis=1) < 0
        side = np.where(facing & (teacher.manifold.name == "sphere"), -1.0, 1.0)[:, None]
        return Student(np.where(held[:, None], side * home, x), student.weights + by_weights)

    def tangent(
        self, student: Student, s: float, before: np.ndarray | None, direction: float
    ) -> np.ndarray:
        """The unit tangent of the curve as a velocity of positions, weights and s, (k d + k + 1,).

        On the same side as that of the point `before`; at first s goes in the `direction`.
        """
        _, hessian, motions = self.smooth(student, s)
        along = null_space(np.column_stack([hessian, motions.T @ self._drift(student, s)]))[:, 0]
        velocity = np.append(motions @ along[:-1], along[-1])
        side = velocity[-1] * direction if before is None else velocity @ before
        return velocity if side > 0 else -velocity

    def stepped(self, point: Waypoint, tangent: np.ndarray, size: float) -> Waypoint | None:
        """The point of the curve at a distance `size` along the tangent; None if it is not near."""
        s = float(point.parameter + size * tangent[-1])
        student, gone = self.moved(point.student, size * tangent[:-1], s), 0.0
        drift = self._drift(student, s)
        for _ in range(NEWTON):
            slope, hessian, motions = self.smooth(student, s)
            across = np.append(motions.T @ tangent[:-1], tangent[-1])
            matrix = np.vstack([np.column_stack([hessian, motions.T @ drift]), across])
            step = _solved(matrix, np.append(slope, 0.0))
            gone += np.inf if step is None else float(np.linalg.norm(step))
            if step is None or not gone <= CLOSE * size + SETTLED:
                return None
            s += float(step[-1])
            student = self.moved(student, motions @ step[:-1], s)
            if np.linalg.norm(step) <= SETTLED:
                return self.measured(student, s)
        return None

    def measured(self, student: Student, s: float) -> Waypoint:
        """The numbers of a point."""
        loss, binding = self._bound(student, s)
        value, gradient = loss.value_and_gradient(binding.student)
        _, hessian, motions = self.smooth(student, s)
        slopes = _flat(gradient)
        across = (slopes - motions @ (motions.T @ slopes))[: student.positions.size]
        forces = np.linalg.norm(across.reshape(student.positions.shape), axis=1)
        margins = (binding.pulls - forces)[binding.held]
        return Waypoint(
            s,
            student,
            float(value),
            float(np.linalg.eigvalsh(hessian)[0]),
            float(np.min(margins, initial=np.inf)),
            float(np.min(np.asarray(student.weights) * self.sides)),
        )

    def ended(
        self, points: list[Waypoint], point: Waypoint, tangent: np.ndarray, size: float
    ) -> Branch:
        """Where between `point` and a step beyond it the first of the three numbers is 0."""
        first, which = size, 0

        def number(h: float, index: int) -> float:
            found = point if h == 0 else self.stepped(point, tangent, h)
            if found is None:
                raise EarnshawError(f"the curve is lost at s = {point.parameter:.9g}")
            return _signs(found)[index]

        for index in range(len(_signs(point))):
            if number(size, index) <= 0:
                root = float(brentq(number, 0.0, size, args=(index,), xtol=1e-13, rtol=1e-12))
                if root <= first:
                    first, which = root, index
        end = self.stepped(point, tangent, first) or point
        turns = abs(self.tangent(end.student, end.parameter, tangent, 1.0)[-1])
        names: tuple[Ended, ...] = ("eigenvalue", "margin", "weight")
        return Branch((*points, end), end, names[which], turns)

    def _bound(self, student: Student, s: float) -> tuple[Objective, Binding]:
        return self.loss(s), bind(self.loss(s), student)

    def _drift(self, student: Student, s: float) -> np.ndarray:
        """d grad L/ds (k d + k,), free units staying."""
        apart = DIFFERENCE * max(abs(s), DIFFERENCE)
        still = np.zeros(student.positions.size + student.units)
        ends = [
            _flat(self.loss(at).gradient(self.moved(student, still, at)))
            for at in (s - apart, s + apart)
        ]
        return (ends[1] - ends[0]) / (2 * apart)


def _signs(point: Waypoint) -> tuple[float, float, float]:
    """The three numbers that are positive at a strict minimum."""
    return point.eigenvalue, point.margin if np.isfinite(point.margin) else 1.0, point.weight


def _solved(matrix: np.ndarray, slope: np.ndarray) -> np.ndarray | None:
    """A Newton step; None where there is none."""
    try:
        step = -np.linalg.solve(matrix, slope)
    except np.linalg.LinAlgError:
        return None
    return step if np.all(np.isfinite(step)) else None


def _flat(gradient: Gradient) -> np.ndarray:
    """As one row (k d + k,)."""
    return np.append(np.asarray(gradient.positions).ravel(), np.asarray(gradient.weights))


def _apart(student: Student, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cut = student.positions.size
    return motion[:cut].reshape(student.positions.shape), motion[cut:]
