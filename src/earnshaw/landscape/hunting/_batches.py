"""The compiled functions of a hunt, for any number of starts in batches of one size.

Batches are filled up with copies of their last start, so that everything is compiled once, and run
on all cores at the same time: compiled code lets go of Python's lock. How starts are batched
changes nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.lockstep_descent import LockstepDescent
from earnshaw.descent.loop import descend
from earnshaw.descent.method import State, move
from earnshaw.energy.objective import Gradient, direction_of, freedom
from earnshaw.energy.population import PopulationLoss
from earnshaw.landscape.binding import cusp_slopes
from earnshaw.landscape.hunting._walkers import Walkers, walkers_of

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
        self.cusps = bool(np.any(cusp_slopes(loss, loss.teacher.positions)))
        self.freedom = freedom(loss, Student(np.ones(shape), np.ones(shape[0])))
        self.method = LockstepDescent(tolerance=jnp.asarray(tolerance), cusps=self.cusps)
        self.compiled: set[str] = set()

    def evaluate(
        self,
        positions: np.ndarray,
        weights: np.ndarray,
        step: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Walkers:
        """Walkers at positions (s, k, d) and weights (s, k), or where a `step` from there leads.

        The step, in positions and weights, is tangent to the manifold.
        """
        along = (np.zeros_like(positions), np.zeros_like(weights)) if step is None else step

        def one(*rows: np.ndarray) -> Walkers:
            states = _evaluated(self.method, self.loss, *map(jnp.asarray, rows))
            return walkers_of(states, np.ones(len(rows[0]), dtype=np.int64))

        return Walkers(*self._each("evaluate", one, (positions, weights, *along), self.size()))

    def descend(self, walkers: Walkers, steps: int) -> Walkers:
        """The walkers after some iterations of gradient descent."""

        def one(*rows: np.ndarray) -> Walkers:
            batch = Walkers(*rows)
            states, used = descend(
                self.method, self.loss, batch.states(self.tolerance), jnp.asarray(steps)
            )
            return walkers_of(states, batch.iterations + np.asarray(used))

        return Walkers(*self._each("descend", one, walkers, self.size()))

    def hessians(self, walkers: Walkers) -> tuple[np.ndarray, np.ndarray]:
        """The dense Hessians (s, n, n), and the bases of their coordinates (s, k, d, f)."""

        def one(*students: np.ndarray) -> tuple[Array, Array]:
            return _hessians(self.loss, *map(jnp.asarray, students))

        students = (walkers.positions, walkers.weights)
        matrices, bases = self._each("hessians", one, students, self.size(self.freedom))
        return matrices, bases

    def energies(self, walkers: Walkers) -> tuple[np.ndarray, np.ndarray]:
        """c_i c_l Phi(theta_i, theta_l), (s, k, k), and c_i b_j Phi(theta_i, w_j), (s, k, m)."""

        def one(*students: np.ndarray) -> tuple[Array, Array]:
            return _energies(self.loss, *map(jnp.asarray, students))

        students = (walkers.positions, walkers.weights)
        among, with_teacher = self._each("energies", one, students, self.size())
        return among, with_teacher

    def size(self, columns: int = 1) -> int:
        """How many starts go side by side, if each needs a matrix of so many columns."""
        numbers = self.loss.pair_numbers(self.shape[0])
        room = NUMBERS // max(numbers * (COLUMNS if columns > 1 else 1), columns**2)
        return 2 ** int(np.log2(np.clip(room, 1, BATCH)))

    def _each(
        self, name: str, work: Callable[..., Iterable[Any]], rows: Sequence[np.ndarray], size: int
    ) -> list[np.ndarray]:
        """The arrays that `work` makes of each batch of `size` rows, put together.

        `name` is that of the compiled function.
        """
        count = len(rows[0])

        def one(first: int) -> list[np.ndarray]:
            some = np.arange(first, min(first + size, count))
            filled = np.pad(some, (0, size - len(some)), mode="edge")
            return [np.array(made)[: len(some)] for made in work(*(part[filled] for part in rows))]

        # The first batch of all is alone: it compiles, which two cores would do twice.
        firsts = range(0, count, size)
        alone = 0 if name in self.compiled else 1
        self.compiled.add(name)
        made = [*map(one, firsts[:alone]), *self.pool.map(one, firsts[alone:])]
        return [np.concatenate(arrays) for arrays in zip(*made, strict=True)]


@eqx.filter_jit
def _evaluated(
    method: LockstepDescent, loss: PopulationLoss, x: Array, c: Array, by_x: Array, by_c: Array
) -> State:
    """The states of descent at positions (s, k, d) and weights (s, k), after a tangent step."""

    def one(x: Array, c: Array, by_x: Array, by_c: Array) -> State:
        return method.init(loss, move(loss, Student(x, c), Gradient(by_x, by_c), jnp.ones(())))

    return jax.vmap(one)(x, c, by_x, by_c)


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
        table = loss.gram(x, jnp.concatenate([x, w]))
        charges = jnp.concatenate([c, b])
        energies = c[:, None] * charges * table
        # Units of unbounded potentials have infinite energies of their own, which tell nothing.
        finite = jnp.where(jnp.isfinite(energies), energies, 0.0)
        return finite[:, : len(x)], finite[:, len(x) :]

    return jax.vmap(one)(positions, weights)
