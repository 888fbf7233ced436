"""Node-wise descent as the papers have it: SecondGD on (a_i, theta_i), one unit after the other.

Full, Algorithm 3 and Theorem 4.6. A unit starts as in the proof of Lemma E.4: points are drawn in
the ball of radius d log d until one is within d of a teacher unit; nothing says which is, so of
`tries` points we take the one where a unit with its best weight saves most. Then SecondGD runs with
eta = gamma = delta^2/(2 d), where delta = sqrt(L(0)) - sqrt(L(start)) is measured, not bounded: the
lemma's own delta, (d/eps)^(-18 d)/poly(d), is about 1e-80 already for d = 3, eps = 0.1.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent._sequential import Sequential, best_of
from earnshaw.descent.method import Method
from earnshaw.descent.nodes import Nodes
from earnshaw.descent.second_gd import SecondGD
from earnshaw.descent.steps import Steps
from earnshaw.descent.theory import plan
from earnshaw.energy.objective import Objective

SMALLEST = 1e-14  # below, curvatures of a Hessian of order 1 are rounding


class NodeWisePaper(Sequential):
    """Algorithm 3. `tolerance` takes the place of the paper's eta = gamma if it is given."""

    limit: int = eqx.field(static=True)
    iterations: int = eqx.field(static=True, default=20_000)
    steps: Steps = eqx.field(default_factory=Steps)
    tolerance: Array | None = None
    by_theory: bool = eqx.field(static=True, default=False)
    tries: int = eqx.field(static=True, default=256)

    def first(self, left: Objective, nodes: Nodes) -> Student:
        """Lemma E.4: the best of some points in the ball; on the sphere, of all of it."""
        return best_of(left, ball_points(left, int(nodes.seed), int(nodes.round), self.tries))

    def inner(self, left: Objective, start: Student) -> Method:
        wanted = self.tolerance
        if wanted is None:
            least = 0.0 if self.by_theory else SMALLEST
            wanted = jnp.maximum(measured_tolerance(left, start), least)
        steps = self.steps
        if self.by_theory:
            steps = plan(left, start, float(wanted), float(wanted))[0].steps()
        return SecondGD(steps=steps, eta=wanted, gamma=wanted)


def ball_points(left: Objective, seed: int, round: int, count: int) -> np.ndarray:
    """Points drawn uniformly from the ball of radius d log d, or from the sphere; (count, d)."""
    generator, dim = np.random.default_rng((seed, round)), left.dim
    points = generator.standard_normal((count, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if left.manifold.name == "sphere":
        return points
    radius = dim * math.log(max(dim, 2))
    return radius * points * generator.random((count, 1)) ** (1 / dim)


def measured_tolerance(left: Objective, start: Student) -> Array:
    """delta^2/(2 d), delta = sqrt(L(0)) - sqrt(L(start)) (Full, Lemma E.2 and proof of E.5).

    For L(0) - L(start) = C^2/Phi far below L(0) the difference of roots is taken apart.
    """
    saving = jnp.exp(left.free_units(start.positions).log_savings[0])
    before = jnp.maximum(left.empty_value(), saving)
    delta = saving / (jnp.sqrt(before) + jnp.sqrt(before - saving))
    return delta**2 / (2 * left.dim)
