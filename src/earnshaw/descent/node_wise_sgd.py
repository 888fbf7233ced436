"""Node-wise SGD with fixed charges: under Assumption 1 each unit runs noisy SGD to the end.

    a = 0;  for i = 1 .. k:  a_i = -1;  theta_i = SGD(L restricted to theta_i)

EPD, Algorithm 2, for teachers whose weights are all 1. On R^d every unit starts at the origin (EPD,
Theorem 4.2); on the sphere, where the origin is not (mathematics.md, error 16), at a random point.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent._sequential import Sequential
from earnshaw.descent.method import Method
from earnshaw.descent.nodes import Nodes
from earnshaw.descent.noisy_sgd import NoisySGD
from earnshaw.energy.objective import Objective


class NodeWiseSGD(Sequential):
    """Algorithm 2; ends with FAIL as soon as one of its runs does."""

    limit: int = eqx.field(static=True)
    iterations: int = eqx.field(static=True, default=100_000)
    step_size: Array = eqx.field(default=1e-2, converter=jnp.asarray)
    tolerance: Array = eqx.field(default=1e-1, converter=jnp.asarray)

    def first(self, left: Objective, nodes: Nodes) -> Student:
        start = np.zeros((1, left.dim))
        if left.manifold.name == "sphere":
            generator = np.random.default_rng((int(nodes.seed), int(nodes.round)))
            start = generator.standard_normal((1, left.dim))
            start /= np.linalg.norm(start)
        return Student(start, np.ones(1))

    def inner(self, left: Objective, start: Student) -> Method:
        return NoisySGD(step_size=self.step_size, tolerance=self.tolerance)
