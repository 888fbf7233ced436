"""Algorithm 1 of EPD as it stands, steps of one size, by the library's own loop."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.descent import loop
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.steps import Steps
from earnshaw.energy.population import PopulationLoss


def descended(
    loss: PopulationLoss, positions: np.ndarray, weights: np.ndarray, size: float, iterations: int
) -> tuple[np.ndarray, np.ndarray]:
    """Where starts (s, k, d) and (s, k) are after so many steps x <- Pi(x - size grad L(x))."""
    method = GradientDescent(Steps(size=jnp.asarray(size)), tolerance=jnp.asarray(0.0))
    key = jax.random.key_data(jax.random.key(0))
    begun = loop.begin(method, loss, Student(positions, weights), key)
    student = loop.run(method, loss, begun, iterations)[0].states.student
    return np.asarray(student.positions), np.asarray(student.weights)
