"""The population loss from its definition, in 80 digits, with derivatives by differences.

Nothing here uses earnshaw. The loss is the double sum over all pairs, and every derivative is a
central difference of the loss itself: 80 digits and a step of 1e-25 leave 30 right ones, also for
pairs that are 1e-12 apart, and even at the cusp of a self-pair, which moves as one. On the sphere
the potential is extended to R^d as a function of directions alone: its Euclidean gradient and
Laplacian are then those of the sphere, and its Hessian is so on tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from energy.exact_potentials import Pair, Vector, dot, mp

STEP = mp.mpf(10) ** -25


class ExactLoss:
    """L of mathematics.md in one of its variants, for units of a `Pair` potential, in 80 digits.

    Positions (k, d) and weights (k,) are floats, taken exactly; answers are rounded to floats.
    """

    def __init__(
        self,
        phi: Pair,
        positions: Any,
        weights: Any,
        objective: str = "full",
        on: str = "space",
        step: Any = STEP,
    ) -> None:
        extended = on_directions(phi) if on == "sphere" else phi
        self.phi = lru_cache(maxsize=100_000)(extended)
        self.protons = [tuple(map(mp.mpf, map(float, row))) for row in np.asarray(positions)]
        self.proton_weights = [mp.mpf(float(b)) for b in np.asarray(weights)]
        self.objective, self.on, self.step = objective, on, mp.mpf(step)

    def terms(self, point: list[Any], shape: tuple[int, int]) -> list[Any]:
        """All terms of the double sums, for flat coordinates: positions, then weights."""
        units, dim = shape
        places = [tuple(point[i * dim : (i + 1) * dim]) for i in range(units)]
        c, b = point[units * dim :], self.proton_weights
        terms = [
            (1 if i == j else 2) * c[i] * c[j] * self.phi(places[i], places[j])
            for i in range(units)
            for j in range(i + 1)
            if i != j or self.objective != "without-constants"
        ]
        terms += [
            -2 * c[i] * b[j] * self.phi(places[i], w)
            for i in range(units)
            for j, w in enumerate(self.protons)
        ]
        if self.objective == "regularized":
            terms += [weight * weight for weight in c]
        return terms

    @property
    def constants(self) -> list[Any]:
        """The teacher's own terms."""
        if self.objective in ("without-constants", "one-node"):
            return []
        b, w, count = self.proton_weights, self.protons, range(len(self.protons))
        return [b[i] * b[j] * self.phi(w[i], w[j]) for i in count for j in count]

    def value(self, student: Any) -> float:
        return float(mp.fsum(self.terms(*flat(student)) + self.constants))

    def scale(self, student: Any) -> float:
        """The sum of the sizes of all terms: what errors of the value are relative to."""
        return float(mp.fsum(map(abs, self.terms(*flat(student)) + self.constants)))

    def slope(self, student: Any, direction: Sequence[Any]) -> Any:
        """d/ds L(x + s v) at 0, v flat."""
        point, shape = flat(student)
        high, low = (mp.fsum(self.terms(moved(point, direction, s), shape)) for s in self.steps)
        return (high - low) / (2 * self.step)

    def curvature(self, student: Any, first: Sequence[Any], second: Sequence[Any]) -> Any:
        """d^2/ds dt L(x + s u + t v) at 0, u and v flat."""
        point, shape = flat(student)
        total = mp.mpf(0)
        for i, s in enumerate(self.steps):
            for j, t in enumerate(self.steps):
                there = moved(moved(point, first, s), second, t)
                total += (-1) ** (i + j) * mp.fsum(self.terms(there, shape))
        return total / (4 * self.step**2)

    def gradient(self, student: Any, axes: Sequence[int] | None = None) -> tuple[Any, Any]:
        """In positions (k, d), or only along some `axes` of each, and in weights (k,)."""
        chosen, size, units = coordinates(student, axes)
        return split([self.slope(student, axis(i, size)) for i in chosen], units)

    def hvp(
        self, student: Any, direction: Any, axes: Sequence[int] | None = None
    ) -> tuple[Any, Any]:
        """On the sphere `direction` must be tangent; the answer is projected to be so."""
        along = [mp.mpf(float(a)) for part in direction for a in np.ravel(part)]
        chosen, size, units = coordinates(student, axes)
        rows = [self.curvature(student, axis(i, size), along) for i in chosen]
        positions, weights = split(rows, units)
        if self.on == "sphere":
            x = np.asarray(student.positions)
            positions = positions - np.sum(x * positions, axis=1, keepdims=True) * x
        return positions, weights

    def hessian(self, student: Any) -> np.ndarray:
        """Euclidean, in flat coordinates."""
        size = len(flat(student)[0])
        rows = [
            [self.curvature(student, axis(i, size), axis(j, size)) for j in range(size)]
            for i in range(size)
        ]
        return np.array(rows, dtype=float)

    def laplacian(self, student: Any, group: Sequence[int]) -> tuple[float, float]:
        """sum_l d^2/dt^2 of L with every unit of `group` moved by t along axis l.

        And the sum of the sizes of these terms, which cancel in harmonic potentials.
        """
        point, (_, dim) = flat(student)
        terms = []
        for coordinate in range(dim):
            together = [mp.mpf(0)] * len(point)
            for unit in group:
                together[unit * dim + coordinate] = mp.mpf(1)
            terms.append(self.curvature(student, together, together))
        return float(mp.fsum(terms)), float(mp.fsum(map(abs, terms)))

    def field(self, student: Any, x: Vector) -> Any:
        """C(x) = sum_j b_j Phi(x, w_j) - sum_i c_i Phi(x, theta_i), in mpmath."""
        point, (units, dim) = flat(student)
        pull = (b * self.phi(x, w) for b, w in zip(self.proton_weights, self.protons, strict=True))
        push = (
            point[units * dim + i] * self.phi(x, tuple(point[i * dim : (i + 1) * dim]))
            for i in range(units)
        )
        return mp.fsum(pull) - mp.fsum(push)

    def field_and_gradient(self, student: Any, probe: Any) -> tuple[Any, list[Any]]:
        """C and its gradient at a probe, in mpmath."""
        x = [mp.mpf(float(a)) for a in probe]
        slopes = []
        for i in range(len(x)):
            high, low = (
                self.field(student, tuple(moved(x, axis(i, len(x)), s))) for s in self.steps
            )
            slopes.append((high - low) / (2 * self.step))
        return self.field(student, tuple(x)), slopes

    @property
    def steps(self) -> tuple[Any, Any]:
        return self.step, -self.step


def on_directions(phi: Pair) -> Pair:
    """phi of x/|x| and y/|y|: constant along rays."""

    def turned(x: Vector, y: Vector) -> Any:
        size1, size2 = mp.sqrt(dot(x, x)), mp.sqrt(dot(y, y))
        return phi(tuple(a / size1 for a in x), tuple(b / size2 for b in y))

    return turned


def flat(student: Any) -> tuple[list[Any], tuple[int, int]]:
    positions, weights = np.asarray(student.positions), np.asarray(student.weights)
    values = np.concatenate([positions.ravel(), weights])
    return [mp.mpf(float(a)) for a in values], positions.shape


def coordinates(student: Any, axes: Sequence[int] | None) -> tuple[list[int], int, int]:
    """The flat coordinates of some axes of every position, then of all weights; all; and k."""
    units, dim = np.shape(student.positions)
    places = [i * dim + j for i in range(units) for j in (range(dim) if axes is None else axes)]
    size = units * dim + units
    return [*places, *range(units * dim, size)], size, units


def split(values: list[Any], units: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions, a row a unit, and weights."""
    numbers = np.array([float(v) for v in values])
    count = len(numbers) - units
    return numbers[:count].reshape(units, count // max(units, 1)), numbers[count:]


def moved(point: list[Any], direction: Sequence[Any], step: Any) -> list[Any]:
    return [a + step * v if v else a for a, v in zip(point, direction, strict=True)]


def axis(index: int, size: int) -> list[Any]:
    return [mp.mpf(int(i == index)) for i in range(size)]
