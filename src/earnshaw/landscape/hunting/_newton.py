"""The last digits of a start, by Newton's method where it cannot lead anywhere else.

Gradient descent decides where a start ends; Newton's method only saves it the way to the bottom of
a bowl that it is already in. With H = sum_a lambda_a v_a v_a^T the Hessian at x, eigenvalues below
1e-6 of the largest counted as flat (orbits of symmetries, and more where minima are no isolated
points), a step

    p = - sum over curved a of (v_a.grad L / lambda_a) v_a

is tried only if every curved lambda_a is positive. It is kept only if the gradient that it leaves
is small beside the one that it removed: with K the Lipschitz constant of the Hessian and lambda the
least curved eigenvalue, |grad L(x + p)| is about K |p|^2 / 2, and

    |grad L(x + p)| <= CONTRACTION lambda |p|

says K |p| <= 2 CONTRACTION lambda: H is positive in a ball around x several times as wide as the
step, so the loss is convex there, the ball has one minimum, and gradient descent would have ended
in it too (the Newton-Kantorovich condition, with K measured instead of bounded). Further steps keep
H as it is, each adding as many digits as the first, until the gradient is at most the tolerance.
Where a test fails descent goes on. So no start ends in a saddle, or in another bowl, by a Newton
step.

At cusps (`binding.py`), units that sit on a charge are put exactly there and stay; the rest is
smooth. The pull of each cusp must exceed the net force on its unit, else the unit is on its way.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve

from earnshaw.energy.objective import Moving
from earnshaw.landscape._curvature import smooth_directions
from earnshaw.landscape.binding import bind
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._walkers import Walkers
from earnshaw.landscape.symmetries import moving_velocities

FLAT = 1e-6  # eigenvalues below this part of the largest are left alone
CONTRACTION = 0.1
CHORDS = 12  # steps with one Hessian


def newton_to_bottom(batches: Batches, walkers: Walkers, near: float) -> tuple[Walkers, np.ndarray]:
    """The walkers at the bottom of their bowls, and which of them got there, (s,).

    Those whose gradient exceeds `near` are not tried. With cusps the gradient is that over the
    smooth motions, which is also what walkers that got there have as theirs.
    """
    due, smooth = np.ones(len(walkers.value), dtype=bool), None
    if batches.cusps:
        walkers, smooth, due = _bound(batches, walkers)
    due &= walkers.gradient_norms <= near
    arrived = due & (walkers.gradient_norms <= batches.tolerance)
    trying = np.flatnonzero(due & ~arrived)
    if len(trying):
        chosen = walkers.take(trying)
        kept = [None if smooth is None else smooth[i] for i in trying]
        parts = zip(*batches.hessians(chosen), kept, strict=True)
        bowls = [_Bowl(*part, batches.loss.wrt) for part in parts]
        arrived[trying] = _chords(batches, chosen, bowls)
        walkers.put(trying, chosen)
    return walkers, arrived


class _Bowl:
    """The inverse of a Hessian over its curved directions, and over smooth motions.

    `velocities` (k d + k, n) are the motions that are allowed. `good` if every curved eigenvalue is
    positive; `least` is the smallest of them.
    """

    def __init__(
        self, matrix: np.ndarray, basis: np.ndarray, smooth: np.ndarray | None, wrt: Moving
    ) -> None:
        self.velocities = moving_velocities(basis, wrt)
        if smooth is not None:
            within = self.velocities.T @ smooth
            self.velocities, matrix = smooth, within.T @ matrix @ within
        self.good = bool(matrix.size) and bool(np.all(np.isfinite(matrix)))
        if not self.good:
            return
        # Values alone, and Cholesky's factors, are much cheaper than vectors; mostly they suffice.
        values = np.linalg.eigvalsh(matrix)
        curved = np.abs(values) > FLAT * np.max(np.abs(values))
        self.least = float(np.min(values[curved], initial=np.inf))
        self.good = bool(np.any(curved)) and self.least > 0
        if not self.good:
            return
        if np.all(curved):
            factor = cho_factor(matrix, check_finite=False)
            self.solve = lambda slope: cho_solve(factor, slope, check_finite=False)
        else:
            values, vectors = np.linalg.eigh(matrix)
            self.velocities, values = self.velocities @ vectors[:, curved], values[curved]
            self.solve = lambda slope: slope / values

    def step(self, slope: np.ndarray) -> np.ndarray:
        """-H^-1 of a gradient (k d + k,)."""
        return -self.velocities @ self.solve(self.velocities.T @ slope)

    def along(self, slope: np.ndarray) -> np.ndarray:
        """The part of a gradient along smooth motions."""
        return self.velocities @ (self.velocities.T @ slope)


def _chords(batches: Batches, walkers: Walkers, bowls: list[_Bowl]) -> np.ndarray:
    """Newton steps in place, as far as they are allowed; which walkers arrived, (s,)."""
    going = np.array([bowl.good for bowl in bowls])
    arrived = np.zeros(len(going), dtype=bool)
    for turn in range(CHORDS):
        (some,) = np.nonzero(going)
        if not len(some):
            break
        before = walkers.take(some)
        steps = np.stack([bowls[i].step(s) for i, s in zip(some, _flat(before), strict=True)])
        after = batches.evaluate(before.positions, before.weights, _split(before, steps))
        if batches.cusps:
            # On the sphere the motions turn a little on the way; descent would not see more either.
            slopes = [bowls[i].along(s) for i, s in zip(some, _flat(after), strict=True)]
            by_positions, by_weights = _split(after, np.stack(slopes))
            after = after._replace(by_positions=by_positions, by_weights=by_weights)
        old, new = before.gradient_norms, after.gradient_norms
        if turn == 0:
            least = np.array([bowls[i].least for i in some])
            kept = new <= CONTRACTION * least * np.linalg.norm(steps, axis=1)
        else:
            kept = new <= 0.5 * old
        kept &= np.isfinite(new)
        done = kept & (new <= batches.tolerance)
        counted = before.iterations + after.iterations
        walkers.put(some[kept], after._replace(iterations=counted).take(kept))
        arrived[some[done]] = True
        going[some[~kept | done]] = False
    return arrived


def _bound(batches: Batches, walkers: Walkers) -> tuple[Walkers, list[np.ndarray], np.ndarray]:
    """The walkers with units on cusps put there; smooth motions; and where all cusps hold.

    The motions of each walker are orthonormal columns (k d + k, n), and its gradient is that along
    them. A cusp holds its unit if its pull exceeds all other forces on it; whether it holds several
    units together is for the certificate to say.
    """
    loss = batches.loss
    found = [bind(loss, walkers.student(i)) for i in range(len(walkers.value))]
    places = np.stack([np.asarray(one.student.positions) for one in found])
    now = batches.evaluate(places, walkers.weights)
    motions, along, ready = [], [], []
    for one, slope in zip(found, _flat(now), strict=True):
        blocks = [smooth_directions(loss, one).toarray()]
        if loss.wrt == "both":
            blocks.append(np.eye(one.student.units))
        columns = block_diag(*blocks)
        columns = np.pad(columns, ((0, len(slope) - len(columns)), (0, 0)))
        motions.append(columns)
        along.append(columns @ (columns.T @ slope))
        net = np.linalg.norm((slope - along[-1])[: places[0].size].reshape(places[0].shape), axis=1)
        ready.append(not one.unsure and bool(np.all(~one.held | (one.pulls > net))))
    by_positions, by_weights = _split(now, np.stack(along))
    counted = walkers.iterations + 1
    now = now._replace(by_positions=by_positions, by_weights=by_weights, iterations=counted)
    return now, motions, np.array(ready)


def _flat(walkers: Walkers) -> np.ndarray:
    """The gradients as rows (s, k d + k)."""
    count = len(walkers.value)
    return np.concatenate([walkers.by_positions.reshape(count, -1), walkers.by_weights], axis=1)


def _split(walkers: Walkers, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (s, k d + k) as positions (s, k, d) and weights (s, k)."""
    shape = walkers.positions.shape
    cut = shape[1] * shape[2]
    return rows[:, :cut].reshape(shape), rows[:, cut:]
