"""What `recovery.py` compares with: general optimisers of all units at once, from random starts.

All get our own value, gradient and Hessian-vector products, compiled, the teacher's number of units
(which `ew.learn` is not told), and starts of the law that the teacher was drawn from. Each peer is
a function from a start to a student.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from earnshaw.charges.matching import match
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.random import random_student
from earnshaw.energy.objective import Gradient
from earnshaw.energy.population import PopulationLoss, population_loss

CLOSE = 1e-6  # of positions and weights that count as recovered
LONGEST = 5.0  # seconds of one start of pymanopt

Peer = Callable[[Student], Student]


@dataclass(frozen=True)
class Tries:
    """What came of some random starts: arrays over the starts, and the seconds of all of them.

    `within` counts teacher units with a student unit in their core, `found` those within CLOSE.
    """

    succeeded: np.ndarray
    within: np.ndarray
    found: np.ndarray
    relative_loss: np.ndarray
    seconds: float


def attempts(
    peer: Peer, teacher: Teacher, seconds: float, least: int, most: int, core: float
) -> Tries:
    """Random starts, at least `least` and for at least `seconds`; one before, to compile."""
    loss = population_loss(teacher)
    peer(random_student(teacher, seed=10**6))
    ends: list[Student] = []
    begin = time.perf_counter()
    while len(ends) < least or (time.perf_counter() - begin < seconds and len(ends) < most):
        ends.append(peer(random_student(teacher, seed=len(ends))))
    taken = time.perf_counter() - begin
    matched = [match(teacher, end) for end in ends]
    found = [np.sum(np.maximum(m.distance, m.weight_error) <= CLOSE) for m in matched]
    values = [float(loss.value(end)) for end in ends]
    return Tries(
        succeeded=np.array(found) == teacher.units,
        within=np.array([np.sum(m.distance <= core) for m in matched]),
        found=np.array(found),
        relative_loss=np.maximum(0.0, np.array(values) / float(loss.empty_value())),
        seconds=taken,
    )


def lbfgs(teacher: Teacher) -> Peer:
    """SciPy's L-BFGS-B on all positions and weights of R^d."""
    loss = population_loss(teacher)
    shape, count = (teacher.units, teacher.dim), teacher.units * teacher.dim

    @jax.jit
    def value_and_gradient(flat: jax.Array) -> tuple[jax.Array, jax.Array]:
        value, slope = loss.euclidean(Student(flat[:count].reshape(shape), flat[count:]))
        return value, jnp.concatenate([slope.positions.ravel(), slope.weights])

    def called(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = value_and_gradient(flat)
        return float(value), np.asarray(slope)

    def solve(start: Student) -> Student:
        flat = np.concatenate([np.ravel(start.positions), start.weights])
        options = {"maxiter": 20_000, "maxfun": 40_000, "maxcor": 20, "ftol": 0.0, "gtol": 1e-14}
        end = minimize(called, flat, jac=True, method="L-BFGS-B", options=options).x
        return Student(end[:count].reshape(shape), end[count:])

    return solve


def trust_regions(teacher: Teacher) -> Peer:
    """Pymanopt's Riemannian trust regions, with exact Hessian-vector products.

    Positions live on R^(k d), or on the oblique manifold: k unit vectors, which are columns there.
    """
    import pymanopt
    from pymanopt.manifolds import Euclidean, Oblique, Product
    from pymanopt.optimizers import TrustRegions

    loss, (units, dim) = population_loss(teacher), teacher.positions.shape
    on_sphere = teacher.manifold.name == "sphere"
    places = Oblique(dim, units) if on_sphere else Euclidean(dim, units)
    manifold = Product([places, Euclidean(units)])
    value, gradient, hvp = _compiled(loss)

    @pymanopt.function.numpy(manifold)
    def cost(x: np.ndarray, c: np.ndarray) -> float:
        return float(value(x.T, c))

    @pymanopt.function.numpy(manifold)
    def slope(x: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
        return _columns(gradient(x.T, c))

    @pymanopt.function.numpy(manifold)
    def product(x: np.ndarray, c: np.ndarray, u: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        return _columns(hvp(x.T, c, u.T, v))

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=slope, euclidean_hessian=product)
    optimizer = TrustRegions(
        verbosity=0, max_time=LONGEST, max_iterations=5000, min_gradient_norm=1e-14
    )

    def solve(start: Student) -> Student:
        first = [np.array(start.positions).T, np.array(start.weights)]
        x, c = optimizer.run(problem, initial_point=first).point
        return Student(np.array(x.T), np.array(c))

    return solve


def _compiled(loss: PopulationLoss) -> tuple[Any, Any, Any]:
    """Value, gradient and Hessian-vector product of (positions, weights) in R^(k d) x R^k."""

    def value(x: jax.Array, c: jax.Array) -> jax.Array:
        return loss.euclidean(Student(x, c))[0]

    def gradient(x: jax.Array, c: jax.Array) -> Gradient:
        return loss.euclidean(Student(x, c))[1]

    def hvp(x: jax.Array, c: jax.Array, u: jax.Array, v: jax.Array) -> Gradient:
        return loss.euclidean_hvp(Student(x, c), Gradient(u, v))

    return jax.jit(value), jax.jit(gradient), jax.jit(hvp)


def _columns(gradient: Gradient) -> list[np.ndarray]:
    return [np.array(gradient.positions).T, np.array(gradient.weights)]
