"""Where a descent among cones has ended: at the teacher, in a bad minimum, or nowhere yet.

Units that ended within `NEAR` of a proton, or of each other, are put in one *place*; on the sphere
a unit at -w with weight c is one at w with weight -c, since sign is odd. The net weights of places
are refitted and free places polished; then L is at a local minimum where

- units that share a place are held (`cones.held_margin`), with a margin, and
- L as a function of the free places, net weights refitted, has a positive Hessian there:

all motions of units out of their places cost at first order, and what is smooth is at a minimum.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

import numpy as np
from scipy.optimize import minimize

from earnshaw.papers.claims.sign._cones import Cone, held_margin

NEAR = 2e-3  # a place: wider than what the last steps of a descent leave
LEFT = 1e-6  # of the teacher's energy: less counts as learned
MARGIN = 1e-3  # a smaller margin, or weight, or eigenvalue, decides nothing
STEP = 1e-4  # of the second differences

Kind = Literal["teacher", "shared", "distinct", "unsettled"]


@dataclasses.dataclass(frozen=True)
class Ending:
    """`kind` is "teacher" (L = 0), "shared" or "distinct" for a bad minimum with or without units
    that share a place, or "unsettled"; `loss` is relative; `margin` is that of the held units.
    """

    kind: Kind
    loss: float
    margin: float = math.nan
    free: int = 0
    note: str = ""


def ending(
    cone: Cone, c: np.ndarray, x: np.ndarray, b: np.ndarray, w: np.ndarray, neutral: bool = False
) -> Ending:
    """What kind of end c (n,), x (n, d) is."""
    scale = float(b @ cone.field(w, w, b)) if cone.level else float(np.sum(np.abs(b)) ** 2)
    rough = float(cone.loss(c, x, b, w)) / scale
    if rough < LEFT:
        return Ending("teacher", rough)
    member, weights, home, where = _places(cone, c, x, w)
    free = np.nonzero(home < 0)[0]
    if np.min(np.abs(weights)) < MARGIN:
        return Ending("unsettled", rough, note="a weight vanishes")
    where, moved = _polished(cone, where, free, b, w, neutral)
    if moved > 20 * NEAR:
        return Ending("unsettled", rough, note="still moving")
    net, loss = _refit(cone, where, b, w, neutral)
    loss /= scale
    if loss < LEFT:
        return Ending("teacher", loss)
    margin = math.inf
    for place in range(len(where)):
        here = member == place
        shared = weights[here] + (net[place] - np.sum(weights[here])) / np.sum(here)
        anchored = home[place] >= 0
        protons = float(b[home[place]]) if anchored else 0.0
        force = _force(cone, place, home, where, net, b, w)
        margin = min(margin, held_margin(shared, protons, force, anchored))
    if not margin > MARGIN:
        return Ending("unsettled", loss, margin, note="a unit is not held")
    if len(free) and not _least_curvature(cone, where, free, b, w, neutral) > MARGIN:
        return Ending("unsettled", loss, margin, note="a free place is at no minimum")
    kind: Kind = "shared" if len(where) < len(c) else "distinct"
    return Ending(kind, loss, margin, len(free))


def _places(
    cone: Cone, c: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The place of each unit, weights turned to it, and of each place its proton (-1) and point."""
    points, home = list(w), list(range(len(w)))
    member, weights = np.zeros(len(c), dtype=int), np.array(c)
    for unit, at in enumerate(x):
        far = cone.distance(at[None], np.asarray(points))[0]
        turned = far > math.pi / 2 if cone.on == "sphere" else np.zeros(len(far), dtype=bool)
        far = np.where(turned, math.pi - far, far)
        nearest = int(np.argmin(far))
        if far[nearest] > NEAR:
            points.append(at)
            home.append(-1)
            member[unit] = len(points) - 1
            continue
        member[unit] = nearest
        weights[unit] *= -1.0 if turned[nearest] else 1.0
    used, member = np.unique(member, return_inverse=True)
    return member.ravel(), weights, np.asarray(home)[used], np.asarray(points)[used]


def _refit(
    cone: Cone, where: np.ndarray, b: np.ndarray, w: np.ndarray, neutral: bool
) -> tuple[np.ndarray, float]:
    """The best net weights of places, and the loss they leave."""
    # With the total given, the level counts for nothing: a high one makes the matrix definite.
    level = Cone(cone.on, cone.level + (100.0 if neutral else 0.0), cone.slope)
    within, across = level.between(where, where), level.field(where, w, b)
    net = np.linalg.solve(within, across)
    if neutral:
        one = np.linalg.solve(within, np.ones(len(net)))
        net = net + one * (np.sum(b) - np.sum(net)) / np.sum(one)
    return net, float(cone.loss(net, where, b, w))


def _polished(
    cone: Cone, where: np.ndarray, free: np.ndarray, b: np.ndarray, w: np.ndarray, neutral: bool
) -> tuple[np.ndarray, float]:
    """Free places at the least loss nearby, and how far the farthest went."""
    if not len(free):
        return where, 0.0
    found = minimize(
        lambda flat: _left(cone, where, free, b, w, neutral, flat),
        np.zeros(where[free].size),
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 200},
    )
    polished = _moved(cone, where, free, found.x)
    return polished, float(np.max(np.diag(cone.distance(where, polished))))


def _moved(cone: Cone, where: np.ndarray, free: np.ndarray, flat: np.ndarray) -> np.ndarray:
    moved = np.array(where)
    moved[free] = cone.project(where[free] + flat.reshape(len(free), -1))
    return moved


def _left(
    cone: Cone,
    where: np.ndarray,
    free: np.ndarray,
    b: np.ndarray,
    w: np.ndarray,
    neutral: bool,
    flat: np.ndarray,
) -> float:
    return _refit(cone, _moved(cone, where, free, flat), b, w, neutral)[1]


def _least_curvature(
    cone: Cone, where: np.ndarray, free: np.ndarray, b: np.ndarray, w: np.ndarray, neutral: bool
) -> float:
    """The least eigenvalue of the refitted loss over tangent motions of the free places."""
    columns = []
    for row, at in enumerate(where[free]):
        basis = np.eye(len(at))
        if cone.on == "sphere":
            basis = np.linalg.svd(at[None])[2][1:]
        for axis in basis:
            column = np.zeros((len(free), len(at)))
            column[row] = axis
            columns.append(column.ravel())
    value = lambda flat: _left(cone, where, free, b, w, neutral, flat)  # noqa: E731
    hessian = np.empty((len(columns), len(columns)))
    for i, u in enumerate(columns):
        for j, v in enumerate(columns):
            corners = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
            total = sum(s * value(STEP * (a * u + e * v)) for a, e, s in corners)
            hessian[i, j] = total / (4 * STEP**2)
    return float(np.linalg.eigvalsh(hessian)[0])


def _force(
    cone: Cone,
    place: int,
    home: np.ndarray,
    where: np.ndarray,
    net: np.ndarray,
    b: np.ndarray,
    w: np.ndarray,
) -> float:
    """|g|: the pull of everything that is not in this place."""
    others = np.arange(len(where)) != place
    protons = np.arange(len(w)) != home[place]
    sources = np.concatenate([w[protons], where[others]])
    charges = np.concatenate([b[protons], -net[others]])
    if not len(charges):
        return 0.0
    return float(np.linalg.norm(cone.pull(where[place][None], sources, charges)))
