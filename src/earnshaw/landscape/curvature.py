"""The smallest Hessian eigenvalue over the directions in which the loss is smooth.

These are all moving weights, and the positions of units that sit on no cusp (see `binding.py`);
units that hold each other with no proton there move as one. The Hessian of the weights alone is
2 (K + ridge), which needs no Hessian-vector product, hence no second derivative to compile: it is
how the gradient, which is linear in the weights, changes with each of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.sparse import csr_matrix

from earnshaw.charges.network import Student
from earnshaw.energy.objective import Objective
from earnshaw.energy.population import PopulationLoss
from earnshaw.energy.solve import DENSE
from earnshaw.landscape.binding import Binding
from earnshaw.manifolds import Sphere
from earnshaw.numerics.eigenpairs import smallest_eigenpair

FEW = 64  # weights up to which a gradient for each takes less than to compile a matrix K
SMALL = 300  # coordinates up to which the Hessian is made column by column
PRODUCTS = 600  # Hessian-vector products allowed above


class Curvature(NamedTuple):
    """The smallest eigenvalue, inf without directions; `residual` = |H v - value v|.

    `settled` unless the search ran out of products: then `value` is only an upper bound.
    """

    value: float
    residual: float
    settled: bool = True


def smooth_directions(objective: Objective, binding: Binding) -> csr_matrix:
    """Orthonormal columns (k d, n): the motions of positions along which the loss is smooth.

    Without those along rays on which it does not change: their eigenvalue is known to be 0.
    """
    positions = np.asarray(binding.student.positions)
    count, dim = positions.shape
    if objective.wrt == "weights" or not count:
        return csr_matrix((count * dim, 0))
    held, frozen = binding.held, binding.held & binding.anchored
    along_rays = binding.rays and not binding.flat
    if np.all(frozen) and not along_rays:
        return csr_matrix((count * dim, 0))
    if binding.rays:  # along the ray, then across it
        length = np.linalg.norm(positions, axis=1, keepdims=True)
        along = np.where(length > 0, positions / np.where(length > 0, length, 1.0), np.eye(1, dim))
        across = np.asarray(Sphere().basis(jnp.asarray(along)))
        blocks = np.concatenate([along[:, :, None], across], axis=2)
    else:
        blocks = np.array(objective.manifold.basis(binding.student.positions))
    owner = np.arange(count)
    for place in np.unique(binding.place[held & ~frozen]):
        (group,) = np.nonzero(held & (binding.place == place))
        owner[group] = group[0]
        turned = binding.sides[group] * binding.sides[group[0]] / math.sqrt(len(group))
        start = 1 if binding.rays else 0
        blocks[group, :, start:] = turned[:, None, None] * blocks[group[0], :, start:]
    width = blocks.shape[2]
    columns = owner[:, None] * width + np.arange(width)
    if binding.rays:
        columns[:, 0] = np.arange(count) * width
    keep = np.repeat(~frozen[:, None], width, axis=1)
    if binding.rays:
        keep[:, 0] = along_rays
    names = np.unique(columns[keep])
    rows = np.arange(count * dim).reshape(count, dim, 1)
    rows, places, chosen = np.broadcast_arrays(rows, columns[:, None, :], keep[:, None, :])
    chosen = chosen & (blocks != 0)
    where = (rows[chosen], np.searchsorted(names, places[chosen]))
    return csr_matrix((blocks[chosen], where), shape=(count * dim, len(names)))


def smallest_curvature(objective: Objective, binding: Binding, smooth: csr_matrix) -> Curvature:
    """The smallest eigenvalue of the Hessian over `smooth` and the weights that move."""
    found = _smallest(objective, binding, smooth)
    flat = binding.flat and binding.student.units
    return Curvature(0.0, 0.0, found.settled) if flat and found.value > 0 else found


def _smallest(objective: Objective, binding: Binding, smooth: csr_matrix) -> Curvature:
    student, count = binding.student, smooth.shape[1]
    weights = student.units if objective.wrt != "positions" else 0
    size = count + weights
    if not size:
        return Curvature(math.inf, 0.0)
    if not count and weights <= FEW:
        return _dense(_weight_columns(objective, student))
    if not count and isinstance(objective, PopulationLoss) and weights <= DENSE:
        return _dense(np.asarray(_weight_hessian(objective, student.positions)))

    def product(coordinates: Array | np.ndarray) -> np.ndarray:
        along, change = np.split(np.asarray(coordinates), [count])
        moved = objective.hvp(
            student,
            ((smooth @ along).reshape(student.positions.shape), change if weights else None),
        )
        return np.append(
            smooth.T @ np.asarray(moved.positions).ravel(), np.asarray(moved.weights)[:weights]
        )

    if size <= SMALL:
        return _dense(np.stack([product(axis) for axis in np.eye(size)], axis=1))
    found = smallest_eigenpair(product, size, max_products=PRODUCTS)
    return Curvature(float(found.value), float(found.residual), found.stop != "products")


def _dense(matrix: np.ndarray) -> Curvature:
    if not np.all(np.isfinite(matrix)):
        return Curvature(math.nan, math.inf, False)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    residual = np.linalg.norm(matrix @ vectors[:, 0] - values[0] * vectors[:, 0])
    rounding = np.finfo(float).eps * max(abs(values[0]), abs(values[-1]))
    return Curvature(float(values[0]), float(max(residual, rounding)))


def _weight_columns(objective: Objective, student: Student) -> np.ndarray:
    """The Hessian of the weights: the gradient at each unit vector, less that at 0."""
    gradient = lambda weights: np.asarray(  # noqa: E731
        objective.gradient(Student(student.positions, weights)).weights
    )
    origin = gradient(np.zeros(student.units))
    return np.stack([gradient(axis) - origin for axis in np.eye(student.units)], axis=1)


@eqx.filter_jit
def _weight_hessian(loss: PopulationLoss, positions: Array) -> Array:
    alone, _ = loss.field.coupling.alone(positions)
    diagonal = loss.ridge + (alone if loss.with_self_energy else jnp.zeros_like(alone))
    return 2 * jnp.fill_diagonal(loss.field.matrix(positions), diagonal, inplace=False)
