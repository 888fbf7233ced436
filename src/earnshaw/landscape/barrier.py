"""The path between two students and how high it climbs: `ew.barrier`.

The lowest pass between two minima a and b is min over paths of max of L along the path. The
straight line (on the sphere each unit along its great circle) is one path; a lower one comes from
the string method (E, Ren and Vanden-Eijnden, J. Chem. Phys. 126, 2007): n images on the path step
along -grad L, all of them so far that each loss falls, and are then spread evenly by length again.
From the highest image Newton's method, uphill along the lowest eigenvector and downhill along all
others, looks for the saddle, which becomes an image itself.

What is stated: the polygon through the images is a path, so its highest loss, `top` (sampled, and
refined at the largest), bounds the lowest pass from above. `error` = top - L(saddle) is how much
this path could still come down before it meets its own saddle. Other paths may be lower still:
nothing here bounds the pass from below.

Units of b are matched with those of a first (`alignment.py`): permuted copies are one network.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.optimize import minimize_scalar

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.errors import EarnshawError
from earnshaw.landscape.alignment import aligned
from earnshaw.landscape.certificate import RELATIVE
from earnshaw.landscape.escape import between, rounding
from earnshaw.landscape.slices import flat
from earnshaw.landscape.spectrum import loss_of, spectrum
from earnshaw.limits import check_integer
from earnshaw.numerics.fixed_order import one_blas_thread

IMAGES = 21
ITERATIONS = 500
LINE = 201  # losses on the straight line
SEGMENT = 8  # losses on each side of a polygon
PAUSE, STILL = 20, 1e-4  # the path is at rest if so many steps change the sum of losses by less
GROWTH, SHRINK, ARMIJO = 1.2, 0.5, 0.3  # of the step that all images share
NUDGE = 2e-2  # of the distance: off a line on which the loss is symmetric, a ridge as a rule
NEWTON = 60
SETTLED = 1e-8  # the saddle's gradient, in parts of the loss's `gradient_scale`


@dataclasses.dataclass(frozen=True)
class Barrier:
    """Two students, the line between them, a lower path, and its saddle.

    `end` is matched with `start`. `line` (m,) are the losses at even parts of the line. The path:
    `positions` (n, k, d), `weights` (n, k), `losses` (n,) of its images, `places` (n,) how far
    along it they are, from 0 to 1. `top` is the largest loss on the path, `line_top` that on the
    line, `distance` the length of the line. `saddle` is None where Newton's method found none of
    index 1 at the top; then so are its loss and the `error`. `residual` is the steepest slope
    across the path that is left, relative to the steepest on the line. `matched` says whether units
    were matched first.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0], [3.0]], [1.0, 1.0], "gaussian")
    >>> one, two = ew.Student([[0.0]], [1.0]), ew.Student([[3.0]], [1.0])
    >>> way = ew.barrier(teacher, one, two, wrt="positions")
    >>> bool(way.top <= way.line_top)
    True
    """

    start: Student
    end: Student
    line: np.ndarray
    line_top: float
    positions: np.ndarray
    weights: np.ndarray
    losses: np.ndarray
    places: np.ndarray
    top: float
    distance: float
    iterations: int
    residual: float
    saddle: Student | None = None
    saddle_loss: float | None = None
    saddle_gradient: float | None = None
    saddle_eigenvalue: float | None = None
    matched: bool = True

    @property
    def height(self) -> float:
        """How much the path climbs above its start."""
        return self.top - float(self.losses[0])

    @property
    def height_from_end(self) -> float:
        """The same seen from the other end."""
        return self.top - float(self.losses[-1])

    @property
    def line_height(self) -> float:
        """How much the straight line climbs above its start."""
        return self.line_top - float(self.losses[0])

    @property
    def error(self) -> float | None:
        """How far the path's top is above its saddle; None without one, 0 if nothing is climbed."""
        if self.top <= max(self.losses[0], self.losses[-1]):
            return 0.0
        return None if self.saddle_loss is None else max(self.top - self.saddle_loss, 0.0)

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "losses": [float(self.losses[0]), float(self.losses[-1])],
            "distance": self.distance,
            "line_top": self.line_top,
            "line_height": self.line_height,
            "top": self.top,
            "height": self.height,
            "height_from_end": self.height_from_end,
            "error": self.error,
            "matched": self.matched,
            "images": len(self.losses),
            "iterations": self.iterations,
            "residual": self.residual,
            "saddle": None if self.saddle is None else _plain(self.saddle),
            "saddle_loss": self.saddle_loss,
            "saddle_gradient": self.saddle_gradient,
            "saddle_eigenvalue": self.saddle_eigenvalue,
            "line": self.line.tolist(),
            "path": {"places": self.places.tolist(), "losses": self.losses.tolist()},
        }


@one_blas_thread()
def barrier(
    teacher: Teacher | Objective,
    start: Student,
    end: Student,
    *,
    images: int = IMAGES,
    iterations: int = ITERATIONS,
    match: bool = True,
    objective: str = "full",
    wrt: str | None = None,
) -> Barrier:
    """The loss on the line from `start` to `end`, and on a path that climbs less.

    Parameters
    ----------
    teacher
        a teacher, or a loss of the students.
    start, end
        two students of as many units, minima as a rule.
    images
        points of the path, ends included.
    iterations
        of the string method at most.
    match
        whether to match units first, up to the loss's symmetries.
    objective, wrt
        the loss of a teacher, as in `population_loss`.

    Returns
    -------
    Barrier
        The line, a lower path, and the saddle on it.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0], [3.0]], [1.0, 1.0], "gaussian")
    >>> one, two = ew.Student([[0.0]], [1.0]), ew.Student([[3.0]], [1.0])
    >>> way = ew.barrier(teacher, one, two, wrt="positions")
    >>> bool(way.height <= way.line_height)
    True
    """
    loss = loss_of(teacher, objective, wrt)
    images = check_integer("number of images", images, 3, 1001)
    iterations = check_integer("iterations", iterations, 0)
    start, end = loss.check(start), loss.check(end)
    if not start.units:
        raise EarnshawError("the students have no units; allowed: one or more")
    if match:
        end = aligned(loss, start, end)
    elif end.positions.shape != start.positions.shape:
        raise EarnshawError(f"the students have {start.units} and {end.units} units")
    elif loss.wrt == "positions" and not np.array_equal(start.weights, end.weights):
        raise EarnshawError("the students have different weights, and only positions move")
    elif loss.wrt == "weights" and not np.array_equal(start.positions, end.positions):
        raise EarnshawError("the students have different positions, and only weights move")
    string = _String(loss, start, end, images)
    ran = string.relax(iterations)
    peak = int(np.argmax(string.losses))
    about: dict[str, Any] = {}
    if 0 < peak < images - 1:
        about = _saddle(loss, string, peak)
    if about:
        string.put(peak, about["saddle"])
    line = string.line
    return Barrier(
        start=start,
        end=end,
        line=np.array([float(loss.value(x)) for x in line]),
        line_top=_top(loss, [start, end], LINE - 1),
        positions=string.x,
        weights=string.c,
        losses=string.losses,
        places=string.places(),
        top=_top(loss, [Student(x, c) for x, c in zip(string.x, string.c, strict=True)], SEGMENT),
        distance=float(np.linalg.norm(flat(end) - flat(start))),
        iterations=ran,
        residual=string.residual,
        matched=match,
        **about,
    )


class _String:
    """The images of a path, and how they step."""

    def __init__(self, loss: Objective, start: Student, end: Student, images: int) -> None:
        self.loss, self.shape = loss, start.positions.shape
        self.line = [between(loss, start, end, part) for part in np.linspace(0, 1, LINE)]
        first = [between(loss, start, end, part) for part in np.linspace(0, 1, images)]
        self.x = np.stack([np.asarray(one.positions) for one in first])
        self.c = np.stack([np.asarray(one.weights) for one in first])
        if not np.array_equal(self.x[0], self.x[-1]) and loss.wrt != "weights":
            gap = float(np.linalg.norm(flat(end) - flat(start)))
            bump = np.random.default_rng(0).standard_normal(self.shape)
            bump *= NUDGE * gap / float(np.linalg.norm(bump))
            height = np.sin(np.pi * np.linspace(0, 1, images)[1:-1])[:, None, None]
            self.x[1:-1] = self._on_manifold(self.x[1:-1] + height * bump)
        self.losses, self.slopes = self.look(self.x, self.c)
        self.steepest = float(np.max(np.linalg.norm(self.slopes, axis=1))) or 1.0
        self.rounding = max(rounding(loss, start), rounding(loss, end))

    def look(self, x: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Losses (n,) and gradients (n, k d + k) of students."""
        values, gradient = _all_slopes(self.loss, jnp.asarray(x), jnp.asarray(c))
        parts = [np.asarray(part).reshape(len(x), -1) for part in gradient]
        return np.array(values), np.concatenate(parts, axis=1)

    def points(self) -> np.ndarray:
        return np.concatenate([self.x.reshape(len(self.x), -1), self.c], axis=1)

    def places(self) -> np.ndarray:
        """How far along the path each image is, 0 to 1."""
        steps = np.linalg.norm(np.diff(self.points(), axis=0), axis=1)
        length = np.concatenate([[0.0], np.cumsum(steps)])
        return length / length[-1] if length[-1] > 0 else np.linspace(0, 1, len(length))

    def put(self, number: int, student: Student) -> None:
        """Replace one image."""
        self.x[number], self.c[number] = np.asarray(student.positions), np.asarray(student.weights)
        self.losses[number] = float(self.loss.value(student))

    def relax(self, iterations: int) -> int:
        """Step until the losses on the path no longer change; how many steps that took."""
        spacing = float(np.linalg.norm(self.points()[-1] - self.points()[0])) / len(self.x)
        if not spacing > 0:
            return 0
        step, before = 0.1 * spacing / self.steepest, np.inf
        scale = float(np.ptp(self.losses)) or 1.0
        for done in range(iterations):
            if done % PAUSE == 0:
                total = float(np.sum(self.losses))
                if abs(total - before) <= STILL * scale:
                    return done
                before = total
            downhill = self.slopes.copy()
            downhill[[0, -1]] = 0.0
            size = np.linalg.norm(downhill, axis=1)
            step = min(step, spacing / max(float(np.max(size)), 1e-300))
            x, c = self._moved(-step * downhill)
            losses, _ = self.look(x, c)
            if np.all(losses <= self.losses - ARMIJO * step * size**2 + self.rounding):
                self.x, self.c = x, c
                step *= GROWTH
                self._spread()
            else:
                step *= SHRINK
        return iterations

    @property
    def residual(self) -> float:
        """The steepest slope across the path, in parts of the steepest on the line."""
        tangents = np.gradient(self.points(), axis=0)
        length = np.linalg.norm(tangents, axis=1, keepdims=True)
        tangents /= np.where(length > 0, length, 1.0)
        along = np.sum(self.slopes * tangents, axis=1, keepdims=True)
        across = (self.slopes - along * tangents)[1:-1]
        return float(np.max(np.linalg.norm(across, axis=1))) / self.steepest

    def _moved(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        of_positions, of_weights = np.split(steps, [math.prod(self.shape)], axis=1)
        moved = self.x + of_positions.reshape(self.x.shape)
        return self._on_manifold(moved), self.c + of_weights

    def _on_manifold(self, x: np.ndarray) -> np.ndarray:
        return np.array(self.loss.manifold.project(jnp.asarray(x)))

    def _spread(self) -> None:
        """Images at even distances along the polygon that they are."""
        points, places = self.points(), self.places()
        even = np.linspace(0, 1, len(points))
        spread = np.stack([np.interp(even, places, column) for column in points.T], axis=1)
        spread[[0, -1]] = points[[0, -1]]
        x, self.c = np.split(spread, [math.prod(self.shape)], axis=1)
        self.x = self._on_manifold(x.reshape(self.x.shape))
        self.losses, self.slopes = self.look(self.x, self.c)


@eqx.filter_jit
def _all_slopes(loss: Objective, x: Array, c: Array) -> tuple[Array, Gradient]:
    return jax.vmap(lambda *student: loss.value_and_gradient(Student(*student)))(x, c)


def _saddle(loss: Objective, string: _String, peak: int) -> dict[str, Any]:
    """The saddle of index 1 near an image, by Newton's method; {} where there is none."""
    student = Student(string.x[peak], string.c[peak])
    points = string.points()
    ahead = points[peak + 1] - points[peak - 1]
    spacing = float(np.linalg.norm(ahead)) / 2
    tolerance, gone = RELATIVE * loss.gradient_scale(), 0.0
    for _ in range(NEWTON):
        found = spectrum(loss, student)
        slope = found.vectors @ flat(loss.gradient(student))
        if found.gradient_norm <= SETTLED * loss.gradient_scale():
            break
        uphill = int(np.argmax(np.abs(found.vectors @ ahead)))
        bent = np.abs(found.values)
        bent[uphill] *= -1
        usable = (bent != 0) & ~found.of_symmetry & (np.abs(bent) > tolerance)
        move = -np.where(usable, slope / np.where(usable, bent, 1.0), 0.0) @ found.vectors
        size = float(np.linalg.norm(move))
        if not size > 0:
            break
        move *= min(1.0, 0.5 * spacing / size)
        gone += min(size, 0.5 * spacing)
        ahead = found.vectors[uphill]
        x, c = np.split(move, [student.positions.size])
        step = jnp.asarray(x.reshape(student.positions.shape))
        student = Student(loss.manifold.retract(student.positions, step), student.weights + c)
    found = spectrum(loss, student)
    good = found.gradient_norm <= tolerance and int(np.sum(found.negative)) == 1
    if not good or gone > 10 * spacing or found.held:
        return {}
    return {
        "saddle": student,
        "saddle_loss": found.loss,
        "saddle_gradient": found.gradient_norm,
        "saddle_eigenvalue": float(found.values[found.negative][0]),
    }


def _top(loss: Objective, path: list[Student], pieces: int) -> float:
    """The largest loss on a polygon: sampled, then refined around the largest sample."""
    parts = np.linspace(0.0, 1.0, pieces + 1)
    walked = [
        (between(loss, one, other, part), number, part)
        for number, (one, other) in enumerate(pairwise(path))
        for part in parts[:-1]
    ]
    losses = [float(loss.value(student)) for student, _, _ in walked]
    best, (_, number, part) = max(losses), walked[int(np.argmax(losses))]
    best = max(best, float(loss.value(path[-1])))
    for segment, low, high in (
        (number, max(part - 1 / pieces, 0.0), min(part + 1 / pieces, 1.0)),
        (number - 1, 1 - 1 / pieces, 1.0),
    ):
        if segment < 0 or (segment < number and part > 0):
            continue
        one, other = path[segment], path[segment + 1]
        height = lambda t, a=one, b=other: -float(loss.value(between(loss, a, b, t)))  # noqa: E731
        best = max(best, -minimize_scalar(height, bounds=(low, high), method="bounded").fun)
    return best


def _plain(student: Student) -> dict[str, Any]:
    return {
        "positions": np.asarray(student.positions).tolist(),
        "weights": np.asarray(student.weights).tolist(),
    }
