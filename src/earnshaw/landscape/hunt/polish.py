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

from collections.abc import Callable

import equinox as eqx
import jax
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Objective
from earnshaw.landscape.binding import bind
from earnshaw.landscape.hunt.walkers import Walkers, fresh

FLAT = 1e-6  # eigenvalues below this part of the largest are left alone
CONTRACTION = 0.1
CHORDS = 12  # steps with one Hessian

Evaluate = Callable[[Walkers], Walkers]
Hessians = Callable[[Walkers], tuple[np.ndarray, np.ndarray]]


@eqx.filter_jit
def hessians(objective: Objective, positions: Array, weights: Array) -> tuple[Array, Array]:
    """The dense Hessians of a batch of students, (s, n, n), and the bases of their coordinates."""

    def one(x: Array, c: Array) -> tuple[Array, Array]:
        return objective.hessian(Student(x, c)), objective.manifold.basis(x)

    return jax.vmap(one)(positions, weights)


def polish(
    objective: Objective,
    walkers: Walkers,
    tolerance: float,
    near: float,
    evaluate: Evaluate,
    make_hessians: Hessians,
    cusps: bool,
) -> tuple[Walkers, np.ndarray]:
    """The walkers at the bottom of their bowls, and which of them got there, (s,).

    Those whose gradient exceeds `near` are not tried. With cusps the gradient is that over the
    smooth motions, which is also what walkers that got there have as theirs.
    """
    now, held, due = walkers, np.zeros(walkers.weights.shape, bool), np.ones(len(walkers.value), bool)
    if cusps:
        now, held, due = _bound(objective, walkers, evaluate)
    due &= now.gradient_norms <= near
    arrived = due & (now.gradient_norms <= tolerance)
    trying = np.flatnonzero(due & ~arrived)
    if len(trying):
        chosen = now.take(trying)
        inverses = [
            _Inverse(matrix, basis, held_units)
            for matrix, basis, held_units in zip(
                *make_hessians(chosen), held[trying], strict=True
            )
        ]
        reached = _chords(chosen, held[trying], inverses, tolerance, evaluate)
        now.put(trying, chosen)
        arrived[trying] = reached
    return now, arrived


class _Inverse:
    """The inverse of a Hessian over its curved directions, as a map of velocities (k d + k,).

    `basis` (k, d, f) is that of the coordinates of positions; those of weights, if they move, come
    last. Units that are `held` (k,) do not move. `good` if every curved eigenvalue is positive, and
    `least` is the smallest of them.
    """

    def __init__(self, matrix: np.ndarray, basis: np.ndarray, held: np.ndarray) -> None:
        count, dim, width = basis.shape
        along = count * width  # coordinates of positions
        on = np.append(np.repeat(~held, width), np.ones(len(matrix) - along, dtype=bool))
        self.good = bool(np.any(on)) and bool(np.all(np.isfinite(matrix)))
        if not self.good:
            return
        values, vectors = np.linalg.eigh(matrix[np.ix_(on, on)])
        curved = np.abs(values) > FLAT * np.max(np.abs(values))
        self.values = values[curved]
        self.least = float(np.min(self.values, initial=np.inf))
        self.good = bool(np.any(curved)) and self.least > 0
        whole = np.zeros((len(on), len(self.values)))
        whole[on] = vectors[:, curved]
        self.velocities = np.zeros((count * (dim + 1), len(self.values)))
        moved = np.einsum("kdf,kfr->kdr", basis, whole[:along].reshape(count, width, -1))
        self.velocities[: count * dim] = moved.reshape(count * dim, -1)
        self.velocities[count * dim : count * dim + len(on) - along] = whole[along:]

    def __call__(self, slope: np.ndarray) -> np.ndarray:
        return self.velocities @ ((self.velocities.T @ slope) / self.values)


def _chords(
    walkers: Walkers,
    held: np.ndarray,
    inverses: list[_Inverse],
    tolerance: float,
    evaluate: Evaluate,
) -> np.ndarray:
    """Newton steps in place, as far as they are allowed; which walkers arrived, (s,)."""
    count, dim = walkers.positions.shape[1:]
    going = np.array([inverse.good for inverse in inverses])
    arrived = np.zeros(len(going), dtype=bool)
    for turn in range(CHORDS):
        (some,) = np.nonzero(going)
        if not len(some):
            break
        before = walkers.take(some)
        slopes = np.concatenate(
            [before.by_positions.reshape(len(some), -1), before.by_weights], axis=1
        )
        steps = np.stack([-inverses[i](slope) for i, slope in zip(some, slopes, strict=True)])
        step = steps[:, : count * dim].reshape(-1, count, dim), steps[:, count * dim :]
        after = evaluate(fresh(before.positions, before.weights, step))
        after.by_positions[held[some]] = 0.0
        old, new = before.gradient_norms, after.gradient_norms
        if turn == 0:
            least = np.array([inverses[i].least for i in some])
            kept = new <= CONTRACTION * least * np.linalg.norm(steps, axis=1)
        else:
            kept = new <= 0.5 * old
        kept &= np.isfinite(new)
        done = kept & (new <= tolerance)
        counted = before.iterations + after.iterations
        walkers.put(some[kept], after._replace(iterations=counted).take(kept))
        arrived[some[done]] = True
        going[some[~kept | done]] = False
    return arrived


def _bound(
    objective: Objective, walkers: Walkers, evaluate: Evaluate
) -> tuple[Walkers, np.ndarray, np.ndarray]:
    """The walkers with units on cusps put there; which units are; and where all of them are held.

    Their gradients are those over smooth motions: 0 for units that are held.
    """
    found = [bind(objective, walkers.student(i)) for i in range(len(walkers.value))]
    held = np.stack([one.held for one in found])
    places = np.stack([np.asarray(one.student.positions) for one in found])
    now = evaluate(fresh(places, walkers.weights))
    forces = np.linalg.norm(now.by_positions, axis=2)
    pulls = np.stack([one.pulls for one in found])
    # Units that hold each other without a proton may move as one: descent has to find their place.
    alone = np.array([np.all(one.held_by >= -1) for one in found])
    ready = alone & np.all(~held | (pulls > forces), axis=1)
    now.by_positions[held] = 0.0
    return now._replace(iterations=walkers.iterations + 1), held, ready
