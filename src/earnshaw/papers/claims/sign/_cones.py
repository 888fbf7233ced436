"""Potentials that are cones, Phi(x, y) = h - kappa t(x, y), t the distance of two charges.

Two of them are the papers': sign on the sphere (t the angle, h = 1, kappa = 2/pi; EPD, Table 1 and
Conjecture 3.13) and the distance on R^d (t = |x - y|, kappa = 1; EPD, Conjecture 3.14, where h = 0;
h only adds h (sum c - sum b)^2 to the loss). With student weights c at x, teacher weights b at w,

    L(c, x) = sum c_i c_l Phi(x_i, x_l) - 2 sum c_i b_j Phi(x_i, w_j) + sum b_i b_j Phi(w_i, w_j).

**Splitting.** Put a unit of weight e = M - N, M, N >= 0, as two: M at x and -N at y. By the
triangle inequality, and nothing else, with B = sum |b_j| + sum |c_l| over all other units,

    L(M at x, -N at y, others) >= L(M - N at x, others) + 2 kappa N (M - B) t(x, y),

for L(M, -N) - L(M - N) = 2 kappa M N t(x, y) - 2 N (C(x) - C(y)), where the field C of all others
is kappa B-Lipschitz. So where M >= B a local minimum of n units, one of them split in place, is a
local minimum of n + 1 units with the same loss (`split`).

**What holds units that share a place.** Let units of weights c_i, sum e, sit in one place, with
protons of total charge p, and let all else pull there with the force kappa g: C(x + v) = C(x) +
kappa g.v + .... To first order, moved by v_i,

    dL = 2 kappa [ sum_i p c_i |v_i| - sum_(i<l) c_i c_l |v_i - v_l| - g . sum_i c_i v_i ].

With |v| the mean of |u.v| over directions u (times a constant) and |g.s| <= |g| |s|, dL > 0 for
all v != 0 as soon as it is so on a line with -|g| |sum_i c_i v_i| for the last term. There, on each
cone of orderings of 0 and the v_i, it is concave and homogeneous, hence least at the cone's edges:
some of the units, S, moved together. With s the sum of their weights, all are held if for all S

    s (p - e + s) > |g| |s|,                                                            (held)

and on a line that is necessary as well. Where no proton is (p = 0) the whole place may move, and
only proper parts S count.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import chain, combinations
from typing import Any, Literal

import numpy as np


@dataclasses.dataclass(frozen=True)
class Cone:
    """Phi = level - slope * distance, on the sphere or in space."""

    on: Literal["sphere", "space"]
    level: float
    slope: float

    def distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """t of all pairs: (..., n, d) and (..., m, d) give (..., n, m)."""
        gap = np.linalg.norm(x[..., :, None, :] - y[..., None, :, :], axis=-1)
        if self.on == "space":
            return gap
        return 2 * np.arctan2(gap, np.linalg.norm(x[..., :, None, :] + y[..., None, :, :], axis=-1))

    def between(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Phi of all pairs, h - kappa t: (..., n, d) and (..., m, d) give (..., n, m)."""
        return self.level - self.slope * self.distance(x, y)

    def field(self, x: np.ndarray, y: np.ndarray, charges: np.ndarray) -> np.ndarray:
        """sum_j charges_j Phi(x_i, y_j), (..., n)."""
        return np.einsum("...ij,...j->...i", self.between(x, y), charges)

    def pull(self, x: np.ndarray, y: np.ndarray, charges: np.ndarray) -> np.ndarray:
        """The gradient of that in x, over the slope; charges in the same place do not pull."""
        gap = y[..., None, :, :] - x[..., :, None, :]
        if self.on == "sphere":
            outward = np.sum(gap * x[..., :, None, :], axis=-1, keepdims=True)
            gap = gap - outward * x[..., :, None, :]
        far = np.linalg.norm(gap, axis=-1)
        factor = np.where(far > 1e-14, charges[..., None, :] / np.maximum(far, 1e-14), 0.0)
        return np.einsum("...ij,...ijd->...id", factor, gap)

    def loss(self, c: np.ndarray, x: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
        """L, over leading axes of c and x."""
        within = np.sum(c * self.field(x, x, c), axis=-1)
        across = np.sum(c * self.field(x, w, np.broadcast_to(b, (*c.shape[:-1], len(b)))), axis=-1)
        return within - 2 * across + b @ self.field(w, w, b)

    def project(self, x: np.ndarray) -> np.ndarray:
        """Onto the sphere, where that is meant."""
        return x / np.linalg.norm(x, axis=-1, keepdims=True) if self.on == "sphere" else x

    def random(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """Uniform on the sphere, normal in space."""
        return self.project(rng.standard_normal(shape))


SIGN = Cone("sphere", 1.0, 2 / math.pi)
DISTANCE = Cone("space", 0.0, 1.0)


def split(weight: Any, others: Any, parts: int) -> list[Any]:
    """Weights of `parts` units in one place that sum to `weight` and are held as one.

    `others` is the sum of all other |charges|. Each splitting takes M one more than the lemma asks
    for, and N > 0. Exact in fractions.
    """
    weights = [weight]
    while len(weights) < parts:
        most = others + sum(abs(c) for c in weights[1:]) + 1 + max(weights[0], 0)
        weights = [most, *weights[1:], weights[0] - most]
    return weights


def held_margin(weights: np.ndarray, protons: float, force: float, anchored: bool = True) -> float:
    """The least of s (p - e + s) - |g| |s| over groups, over |s|: positive if all are held."""
    units, total = range(len(weights)), float(np.sum(weights))
    sizes = range(1, len(weights) + (1 if anchored else 0))
    least = math.inf
    for group in chain.from_iterable(combinations(units, size) for size in sizes):
        s = float(np.sum(np.asarray(weights)[list(group)]))
        least = min(least, math.copysign(1.0, s) * (protons - total + s) - force)
    return least


def descend(
    cone: Cone,
    c: np.ndarray,
    x: np.ndarray,
    b: np.ndarray,
    w: np.ndarray,
    *,
    steps: int = 6000,
    step: float = 0.05,
    last: float = 1e-5,
    neutral: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 1 on L/2 from many starts c (s, n), x (s, n, d), its step size going to 0.

    At a cusp a unit moves to and fro by one step, so the step is constant for half of the way and
    then falls to `last`. In the second half a unit of weight c_i moves faster by 1/(c_i^2 + 0.02):
    L falls as before, and small weights do not wait for ever. `neutral` keeps the sum of c. All
    starts have the teacher b (k,), w (k, d), or each its own, b (s, k), w (s, k, d).
    """
    count, first = c.shape[-1], b.shape[-1]
    own = first + np.arange(count)
    sources = np.concatenate([np.broadcast_to(w, (len(x), *w.shape[-2:])), x], axis=1)
    charges = np.concatenate([np.broadcast_to(b, (len(x), first)), -c], axis=1)
    falling = np.geomspace(step, last, steps - steps // 2)
    for size in (*np.full(steps // 2, step), *falling):
        sources[:, first:], charges[:, first:] = x, -c
        force, field = _acting(cone, x, sources, charges, np.arange(count), own)
        if neutral:
            field = field - np.mean(field, axis=-1, keepdims=True)
        mobility = 1.0 if size == step else np.minimum(1 / (c * c + 0.02), 20.0)[..., None]
        x = cone.project(x + size * cone.slope * mobility * c[..., None] * force)
        c = c + size * field
    return c, x


def _acting(
    cone: Cone,
    x: np.ndarray,
    sources: np.ndarray,
    charges: np.ndarray,
    row: np.ndarray,
    own: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Force over slope, and field, of all charges on all units in one pass over the pairs."""
    gap = sources[:, None] - x[:, :, None]
    if cone.on == "space":
        far = norm = np.linalg.norm(gap, axis=-1)
    else:
        # What is tangent in the difference: right also for charges that nearly meet.
        gap = gap - np.sum(gap * x[:, :, None], axis=-1, keepdims=True) * x[:, :, None]
        norm = np.linalg.norm(gap, axis=-1)
        far = np.arctan2(norm, x @ np.swapaxes(sources, 1, 2))
    factor = np.where(norm > 1e-14, charges[:, None] / np.maximum(norm, 1e-14), 0.0)
    factor[:, row, own] = 0.0
    force = np.einsum("sij,sijd->sid", factor, gap)
    field = np.einsum("sij,sj->si", cone.level - cone.slope * far, charges)
    return force, field
