"""The smallest network with the function of a given one, as far as the activation's symmetries go.

A loss of 0 says that student and teacher are one function, not that they have the same units: with
relu(y) = relu(-y) + y a student may have units turned round, and further units that make up for the
linear function which these leave behind. Only the student is needed to undo that. With

    s(-y) = f s(y) + K - A y,    f = +1 or -1                       (`duality/symmetry.py`)

all units on one place +-u (one direction, for homogeneous s) are one unit and a line:

    a s(x.u) + b s(-x.u) = e s(x.u) + b (K - A x.u),    e = a + f b.

Places with e = 0 go. What is left over, K B - A v.x with B = sum b and v = sum b u over all places,
vanishes if units are turned round, since e s(x.u) = f e s(-x.u) + K e + A e x.u: those of a set S
with

    sum_S e u = v   (A != 0),    sum_S e = -B   (K != 0),

a subset sum (`numerics/subset_sum.py`). Then there is one unit a place, and fewer cannot do: the
s(x.u) of different places are independent up to linear functions (for relu each has a kink of its
own). If there is no such S, one place keeps two units where that is enough, or a pair of units is
the line itself: s(y) - s(-y) = A y, s(y) + s(-y) = K.

Without a flip units at one place are merged, and no more. Quadratic units, which no function tells
apart, stay as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike

from earnshaw.duality.symmetry import Symmetries
from earnshaw.numerics.subset_sum import TooMany, subset_with_sum

CANCELLED = 0.1  # where weights of one place cancel to less than this part, means mean nothing


class Smallest(NamedTuple):
    """Units with the same function: positions (m, d), weights (m,).

    `origin` (m,): the unit that each is made of, the heaviest of its place, or -1 for one of a pair
    that is a line. `certain`: whether the search for the smallest was complete. `kinds` (m,) are
    their numbers in a network of several activations.
    """

    positions: np.ndarray
    weights: np.ndarray
    origin: np.ndarray
    certain: bool
    kinds: np.ndarray | None = None

    @property
    def units(self) -> int:
        """How many."""
        return len(self.weights)


class _Places(NamedTuple):
    """Places u (m, d), with their e (m,) and heaviest unit (m,); B and v of what is left over."""

    u: np.ndarray
    e: np.ndarray
    origin: np.ndarray
    constant: float
    linear: np.ndarray


def smallest_form(
    positions: ArrayLike,
    weights: ArrayLike,
    symmetries: Symmetries,
    tolerance: float = 1e-9,
    line: ArrayLike | None = None,
) -> Smallest:
    """The smallest network with the function of the units at positions (k, d), weights (k,).

    And of `line`.x (d,), if there is one; where A is not 0.

    `symmetries` are those of the activation where the units live. Places nearer than `tolerance`
    (of 1 for homogeneous units, else of the longest) are one, and weights below that part of the
    sum of all are 0. What is one place only to a tolerance is merged to its mean, and the function
    changes by as much.
    """
    positions, weights = np.asarray(positions, dtype=float), np.asarray(weights, dtype=float)
    if symmetries.quadratic is not None or not len(weights):
        return Smallest(positions, weights, np.arange(len(weights)), True)
    directions, charges, lengths = _as_directions(positions, weights, symmetries)
    found = _places(directions, charges, symmetries, tolerance)
    if line is not None:
        found = found._replace(linear=found.linear - np.asarray(line) / symmetries.linear)
    turned, split, beta, certain = _made_up_for(found, symmetries, tolerance)
    u, e, origin = found.u, found.e, found.origin
    if beta:  # e s(y) = (e - beta) s(y) + f beta s(-y) + beta (K + A y)
        if split == len(e):  # the line itself, at a place of its own with e = 0
            line = found.linear if symmetries.linear else np.ones(u.shape[1])
            u = np.vstack([u, line / np.linalg.norm(line)])
            e, origin, turned = np.append(e, 0.0), np.append(origin, -1), np.append(turned, False)
        u, origin = np.vstack([u, u[split]]), np.append(origin, origin[split])
        e, turned = np.append(e, beta), np.append(turned, True)
        e[split] -= beta
    u, e = np.where(turned[:, None], -u, u), np.where(turned, (symmetries.flip or 1) * e, e)
    scale = np.where(origin >= 0, lengths[origin], 1.0)
    return Smallest(scale[:, None] * u, e / scale ** (symmetries.degree or 0.0), origin, certain)


def _as_directions(
    positions: np.ndarray, weights: np.ndarray, symmetries: Symmetries
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Homogeneous units as directions with weights c |theta|^n, and |theta|; others as they are."""
    if symmetries.degree is None:
        return positions, weights, np.ones(len(weights))
    lengths = np.linalg.norm(positions, axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return positions / lengths[:, None], weights * lengths**symmetries.degree, lengths


def _places(
    directions: np.ndarray, charges: np.ndarray, symmetries: Symmetries, tolerance: float
) -> _Places:
    """Units at one place, or opposite to it where there is a flip, as one."""
    flip, near = symmetries.flip, tolerance * float(np.max(np.linalg.norm(directions, axis=1)))
    left = np.argsort(-np.abs(charges), kind="stable")
    u: list[np.ndarray] = []
    e: list[float] = []
    origin: list[int] = []
    constant, linear = 0.0, np.zeros(directions.shape[1])
    while len(left):
        heaviest = left[0]
        here = directions[heaviest]
        same = np.linalg.norm(directions[left] - here, axis=1) <= near
        opposite = np.linalg.norm(directions[left] + here, axis=1) <= near
        opposite &= ~same & (flip is not None)
        units, sides = left[same | opposite], np.where(opposite, -1.0, 1.0)[same | opposite]
        left = left[~(same | opposite)]
        c, there = charges[units], sides[:, None] * directions[units]
        visible = np.where(sides > 0, c, (flip or 1) * c)
        total = float(np.sum(visible))
        if abs(total) > CANCELLED * np.sum(np.abs(c)):
            here = visible @ there / total
            if symmetries.degree is not None:
                here = here / np.linalg.norm(here)
        constant += float(np.sum(c[sides < 0]))
        linear += c[sides < 0] @ there[sides < 0]
        u, e, origin = [*u, here], [*e, total], [*origin, heaviest]
    seen = np.abs(e) > tolerance * np.sum(np.abs(charges))
    places, visible, units = (np.asarray(part)[seen] for part in (u, e, origin))
    return _Places(places, visible, units, constant, linear)


def _made_up_for(
    found: _Places, symmetries: Symmetries, tolerance: float
) -> tuple[np.ndarray, int, float, bool]:
    """What makes up for the line left over: (turned, split, beta, certain).

    Which of the m places to turn round, (m,); a place to split, m for a new one, and by how much, 0
    for not at all; and whether less would not do.
    """
    count = len(found.e)
    nobody = np.zeros(count, dtype=bool)
    if not (symmetries.linear or symmetries.constant):
        return nobody, count, 0.0, True
    vectors = found.e[:, None] * found.u if symmetries.linear else found.e[:, None]
    target = found.linear if symmetries.linear else np.array([-found.constant])
    near = tolerance * float(np.sum(np.linalg.norm(vectors, axis=1)) + np.linalg.norm(target))
    if np.linalg.norm(target) <= near:
        return nobody, count, 0.0, True
    certain = True
    try:
        turned = subset_with_sum(vectors, target, near)
        if turned is not None:
            return turned, count, 0.0, True
        if not symmetries.linear:
            return nobody, 0, float(target[0]), True  # any place takes up a constant
        for split, place in enumerate(found.u):
            along, others = place / np.linalg.norm(place), np.arange(count) != split
            across = np.eye(len(along)) - np.outer(along, along)
            turned = subset_with_sum(vectors[others] @ across, target @ across, near)
            if turned is not None:
                turned = np.insert(turned, split, False)
                rest = target - turned @ vectors
                return turned, split, float(rest @ place / (place @ place)), True
    except TooMany:
        certain = False
    beta = np.linalg.norm(target) if symmetries.linear else target[0]
    return nobody, count, float(beta), certain
