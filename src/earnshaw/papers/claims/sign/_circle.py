"""Sign units on the circle, in exact arithmetic.

Angles are whole numbers of 1/TURN turns, so that TURN * Phi = TURN - 4 t, t the whole distance
along the circle, is a whole number, and so is TURN * L for whole weights; weights may be fractions
as well (arrays of dtype object). Nothing here is rounded.

L is linear in the positions on every cell of the hyperplanes x_i - x_l, x_i - w_j in {0, 1/2 turn}.
Around a point these belong to the hyperplanes v_i = v_l, v_i = 0 in the motions v, whose cells are
the cones of orderings of 0, v_1, ..., v_n: each is spanned by edges +-1_S, some units S moved
together one way. So L, with weights fixed, has a local minimum exactly where no edge goes down,
and a strict one exactly where all go up. Angles are multiples of GRID, so that along an edge L is
linear for more than one step, and one step decides.

With weights free as well: where dL/dc = 0 and all edges go up there is a local minimum, since
L(c + e, x + v) = L(c, x) + e.K e + dL(c + e; v), K is positive semidefinite, and the edges still go
up for small e. `radius` says how small.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

TURN = 4096
GRID = 4
HALF = TURN // 2


def fractions(values: Sequence[str]) -> np.ndarray:
    """Exact weights from their words, "3/2"."""
    return np.array([Fraction(value) for value in values], dtype=object)


def vectors(angles: np.ndarray) -> np.ndarray:
    """The unit vectors in the plane, in floating point."""
    turned = 2 * np.pi * np.asarray(angles, dtype=float) / TURN
    return np.stack([np.cos(turned), np.sin(turned)], axis=-1)


def between(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """TURN * Phi of all pairs: (..., n) and (..., m) give (..., n, m)."""
    far = np.abs(x[..., :, None] - y[..., None, :]) % TURN
    return TURN - 4 * np.minimum(far, TURN - far)


def field(at: np.ndarray, places: np.ndarray, charges: np.ndarray) -> np.ndarray:
    """TURN * sum_j charges_j Phi(at_i, places_j)."""
    return np.sum(between(at, places) * charges[..., None, :], axis=-1)


def loss(c: np.ndarray, x: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
    """TURN * L, over leading axes of c and x."""
    within = np.sum(c * field(x, x, c), axis=-1)
    across = np.sum(c * field(x, w, b), axis=-1)
    return within - 2 * across + np.sum(b * field(w, w, b))


def edges(units: int) -> np.ndarray:
    """The motions +-1_S, (2 (2^n - 1), n)."""
    groups = (np.arange(1, 2**units)[:, None] >> np.arange(units)) & 1
    return np.concatenate([groups, -groups])


def rises(c: np.ndarray, x: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
    """By how much TURN * L rises in one step along each edge, over leading axes of c and x."""
    here = loss(c, x, b, w)
    along = [loss(c, x + edge, b, w) - here for edge in edges(x.shape[-1])]
    return np.stack([np.asarray(one) for one in along], axis=-1)


def stationary(c: np.ndarray, x: np.ndarray, b: np.ndarray, w: np.ndarray) -> bool:
    """Whether dL/dc = 0, exactly."""
    return bool(np.all(field(x, x, c) == field(x, w, b)))


def radius(c: np.ndarray, x: np.ndarray, b: np.ndarray, w: np.ndarray) -> tuple[float, float]:
    """How far weights, and angles in turns, may move from a stationary point and L not fall.

    An edge rises by 4 sum_i c_i q_j over pairs at most; changing all c by at most e <= 1 changes
    that by at most 8 n e (sum |b| + 2 sum |c| + 2 n). Angles may move as long as no two charges,
    nor a charge and another's antipode, meet or part that did not before.
    """
    n, least = len(c), min(rises(c, x, b, w).tolist())
    size = sum(abs(q) for q in b) + 2 * sum(abs(q) for q in c) + 2 * n
    everywhere = np.concatenate([x, w])
    gaps = np.abs(everywhere[:, None] - everywhere) % HALF
    gaps = np.minimum(gaps, HALF - gaps)
    room = np.min(gaps[gaps > 0], initial=HALF)
    return float(min(Fraction(1), Fraction(least) / (8 * n * size))), float(room) / (2 * TURN)


def peaks(w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """All angles at which |F|, F = sum b_j Phi(., w_j), is not less than at both neighbours."""
    everywhere = np.arange(TURN)
    size = np.abs(field(everywhere, w, b))
    return everywhere[(size >= np.roll(size, 1)) & (size >= np.roll(size, -1))]


def random_angles(rng: np.random.Generator, count: int) -> np.ndarray:
    """Distinct angles, no two opposite; multiples of GRID."""
    chosen = rng.choice(HALF // GRID, size=count, replace=False)
    return GRID * chosen + HALF * rng.integers(0, 2, size=count)


def random_weights(rng: np.random.Generator, count: int, most: int = 9) -> np.ndarray:
    """Whole numbers, none 0, no signed sum of them 0: no arc is flat."""
    signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
    while True:
        weights = rng.integers(1, most + 1, size=count) * rng.choice([-1, 1], size=count)
        if np.all(signs @ weights):
            return weights
