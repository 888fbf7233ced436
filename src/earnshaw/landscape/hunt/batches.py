"""The compiled functions of a hunt, for any number of starts in batches of one size.

Batches are filled up with copies of their last start, so that everything is compiled once, and run
on all cores at the same time: compiled code lets go of Python's lock. How starts are batched
changes nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.energy.objective import direction_of, freedom
from earnshaw.energy.population import PopulationLoss
from earnshaw.landscape.cusps import cusp_slopes, powers
from earnshaw.landscape.hunt.walkers import Walkers, advance

BATCH = 64  # starts side by side: with fewer, the overhead of every operation shows
NUMBERS = 2**22  # entries of the largest array that a batch may need
COLUMNS = 16  # of a Hessian at a time


class Batches:
    """What to do with starts of one `shape` (k, d) on one loss; `cusps` if its potential has any.

    `tolerance` is that of gradients: starts below it are not moved.
    """

    def __init__(
        self,
        loss: PopulationLoss,
        shape: tuple[int, int],
        tolerance: float,
        pool: ThreadPoolExecutor,
    ) -> None:
        self.loss, self.shape, self.tolerance, self.pool = loss, shape, tolerance, pool
        slopes = np.asarray(cusp_slopes(loss.field.coupling, loss.teacher.positions))
        self.cusps = not loss.unbounded and bool(np.any(slopes))
        self.freedom = freedom(loss, Student(np.ones(shape), np.ones(shape[0])))
        self.compiled: set[str] = set()

    def descend(self, walkers: Walkers, steps: int) -> Walkers:
        """The walkers after some iterations of gradient descent."""
        limits = jnp.asarray(steps), jnp.asarray(self.tolerance)

        def one(batch: Walkers) -> Walkers:
            return advance(self.loss, batch, *limits, self.cusps)

        return Walkers(*self._each("descend", one, walkers, self.size()))

    def evaluate(self, walkers: Walkers) -> Walkers:
        """Fresh walkers after their first step, with the loss and its gradient there."""
        return self.descend(walkers, 1)

    def hessians(self, walkers: Walkers) -> tuple[np.ndarray, np.ndarray]:
        """The dense Hessians (s, n, n), and the bases of their coordinates (s, k, d, f)."""

        def one(batch: Walkers) -> tuple[Array, Array]:
            return _hessians(self.loss, jnp.asarray(batch.positions), jnp.asarray(batch.weights))

        matrices, bases = self._each("hessians", one, walkers, self.size(self.freedom))
        return matrices, bases

    def energies(self, walkers: Walkers) -> tuple[np.ndarray, np.ndarray]:
        """c_i c_l Phi(theta_i, theta_l), (s, k, k), and c_i b_j Phi(theta_i, w_j), (s, k, m)."""

        def one(batch: Walkers) -> tuple[Array, Array]:
            return _energies(self.loss, jnp.asarray(batch.positions), jnp.asarray(batch.weights))

        among, with_teacher = self._each("energies", one, walkers, self.size())
        return among, with_teacher

    def size(self, columns: int = 1) -> int:
        """How many starts go side by side, if each needs a matrix of so many columns."""
        units, dim = self.shape
        coupling = self.loss.field.coupling
        pairs = units * (units + self.loss.teacher.units) * dim * coupling.scratch
        room = NUMBERS // max(pairs * (COLUMNS if columns > 1 else 1), columns**2)
        return 2 ** int(np.log2(np.clip(room, 1, BATCH)))

    def _each(
        self, what: str, work: Callable[[Walkers], Any], walkers: Walkers, size: int
    ) -> list[np.ndarray]:
        """The arrays that `work` makes of each batch, put together."""

        def one(first: int) -> list[np.ndarray]:
            some = np.arange(first, min(first + size, len(walkers.value)))
            filled = np.pad(some, (0, size - len(some)), mode="edge")
            return [np.array(part)[: len(some)] for part in work(walkers.take(filled))]

        # The first batch of all is alone: it compiles, which two cores would do twice.
        firsts = range(0, len(walkers.value), size)
        alone = 0 if what in self.compiled else 1
        self.compiled.add(what)
        parts = [*map(one, firsts[:alone]), *self.pool.map(one, firsts[alone:])]
        return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def gradient_scale(loss: PopulationLoss) -> float:
    """s min(1, s) Phi, s the teacher's largest weight, as for certificates: the size of slopes."""
    size = float(np.max(np.abs(np.asarray(loss.teacher.weights))))
    power = float(np.max(np.abs(powers(loss.field.coupling, loss.teacher.positions))))
    scale = size * min(size, 1.0) * power
    return scale if 0 < scale < np.inf else 1.0


@eqx.filter_jit
def _hessians(loss: PopulationLoss, positions: Array, weights: Array) -> tuple[Array, Array]:
    """`Objective.hessian` of many students, with the loss compiled only once."""
    count = freedom(loss, Student(positions[0], weights[0]))
    axes = jnp.eye(-(-count // COLUMNS) * COLUMNS, count).reshape(-1, COLUMNS, count)

    def one(x: Array, c: Array) -> tuple[Array, Array]:
        student, basis = Student(x, c), loss.manifold.basis(x)

        def column(axis: Array) -> Array:
            direction = direction_of(loss, student, axis)
            slope, product = jax.jvp(
                lambda x, c: loss.euclidean(Student(x, c))[1], (x, c), tuple(direction)
            )
            turned = loss.manifold.hvp(x, direction.positions, slope.positions, product.positions)
            along = jnp.einsum("kdf,kd->kf", basis, turned).ravel()
            return along if loss.wrt == "positions" else jnp.append(along, product.weights)

        matrix = jax.lax.map(jax.vmap(column), axes).reshape(-1, count)[:count]
        return (matrix + matrix.T) / 2, basis

    return jax.vmap(one)(positions, weights)


@eqx.filter_jit
def _energies(loss: PopulationLoss, positions: Array, weights: Array) -> tuple[Array, Array]:
    w, b = loss.teacher.positions, loss.teacher.weights

    def one(x: Array, c: Array) -> tuple[Array, Array]:
        table = loss.field.matrix(x, jnp.concatenate([x, w]))
        charges = jnp.concatenate([c, b])
        energies = c[:, None] * charges * table
        # Units of unbounded potentials have infinite energies of their own, which tell nothing.
        finite = jnp.where(jnp.isfinite(energies), energies, 0.0)
        return finite[:, : len(x)], finite[:, len(x) :]

    return jax.vmap(one)(positions, weights)
