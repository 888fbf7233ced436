"""The smallest Hessian eigenvalue over the directions in which the loss is smooth.

These are all moving weights, and the positions of units that sit on no cusp (see `binding.py`);
units that hold each other with no proton there move as one. The Hessian of the weights alone is
2 (K + ridge), which needs no Hessian-vector product, hence no second derivative to compile.

Along the orbit of the student under the symmetries of the loss (`symmetries.py`) nothing changes
at all, which says nothing against a minimum: these directions are left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.linalg import null_space
from scipy.sparse import csr_matrix

from earnshaw.charges.manifolds import Sphere
from earnshaw.charges.network import Student
from earnshaw.energy.objective import Gradient, Objective
from earnshaw.landscape.binding import Binding
from earnshaw.landscape.symmetries import orbit_directions
from earnshaw.numerics.eigenpairs import smallest_eigenpair

DENSE = 2048  # weights up to which their Hessian is a matrix
SMALL = 300  # coordinates up to which the Hessian is made column by column
PRODUCTS = 600  # Hessian-vector products allowed above
UNBENT = 1e-8  # |H v| below this part of |H| is 0 along an orbit


class Curvature(NamedTuple):
    """The smallest eigenvalue, inf without directions; `residual` = |H v - value v|.

    `settled` unless the search ran out of products: then `value` is only an upper bound. `vector`
    is v, its coordinates along the smooth directions, then those of the moving weights.
    """

    value: float
    residual: float
    settled: bool = True
    vector: np.ndarray | None = None


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


def along(found: Curvature, student: Student, smooth: csr_matrix) -> Gradient | None:
    """The direction of the smallest eigenvalue: a motion of positions (k, d) and weights (k,)."""
    if found.vector is None:
        return None
    of_positions, of_weights = np.split(found.vector, [smooth.shape[1]])
    weights = of_weights if len(of_weights) else np.zeros(student.weights.size)
    weights = weights.reshape(student.weights.shape)
    positions = (smooth @ of_positions).reshape(student.positions.shape)
    return Gradient(jnp.asarray(positions), jnp.asarray(weights))


def smallest_curvature(objective: Objective, binding: Binding, smooth: csr_matrix) -> Curvature:
    """The smallest eigenvalue of the Hessian over `smooth` and the weights that move.

    Transversal to the orbit of the student under the symmetries of the loss.
    """
    student, count = binding.student, smooth.shape[1]
    weights = student.weights.size if objective.wrt != "positions" else 0
    size = count + weights
    if not size:
        return Curvature(math.inf, 0.0)
    if not count and weights <= DENSE:
        return _dense(np.asarray(objective.weight_hessian(student)))

    def product(coordinates: Array | np.ndarray) -> np.ndarray:
        part, change = np.split(np.asarray(coordinates), [count])
        by_weights = change.reshape(student.weights.shape) if weights else None
        by_positions = (smooth @ part).reshape(student.positions.shape)
        moved = objective.hvp(student, (by_positions, by_weights))
        of_weights = np.asarray(moved.weights).ravel()[:weights]
        return np.append(smooth.T @ np.asarray(moved.positions).ravel(), of_weights)

    orbit = _orbit(objective, student, smooth, weights)
    if size <= SMALL:
        matrix = np.stack([product(axis) for axis in np.eye(size)], axis=1)
        return _dense(matrix, matrix @ orbit, orbit)
    # Lanczos has no use for infinite or zero directions: those of the orbit get the size of H.
    size_of_matrix = float(np.linalg.norm(product(np.random.default_rng(0).standard_normal(size))))
    bent = np.array([product(v) for v in orbit.T]).reshape(-1, size).T
    orbit = _unbent(bent, orbit, size_of_matrix)
    found = smallest_eigenpair(
        lambda v: product(v) + size_of_matrix * (orbit @ (orbit.T @ np.asarray(v))),
        size,
        max_products=PRODUCTS,
    )
    settled, vector = found.stop != "products", np.asarray(found.vector)
    return Curvature(float(found.value), float(found.residual), settled, vector)


def _orbit(objective: Objective, student: Student, smooth: csr_matrix, weights: int) -> np.ndarray:
    """The directions of the student's orbit in the coordinates of the Hessian, (n, r).

    Only those that move nothing but what is smooth: units on cusps stay where they are.
    """
    found = orbit_directions(objective, student)
    of_positions, of_weights = np.split(found, [student.positions.size])
    inside = np.concatenate([smooth.T @ of_positions, of_weights[:weights]])
    kept = np.linalg.norm(inside, axis=0) > 1 - UNBENT
    return inside[:, kept]


def _unbent(bent: np.ndarray, orbit: np.ndarray, size: float) -> np.ndarray:
    """Those directions of the orbit along which H v = 0, as it must be at a critical point.

    Where the point is none, or the orbit is singular there, it is not: such directions stay in.
    """
    if not orbit.shape[1]:
        return orbit
    _, sizes, rows = np.linalg.svd(bent, full_matrices=False)
    return orbit @ rows[sizes <= UNBENT * size].T


def _dense(
    matrix: np.ndarray, bent: np.ndarray | None = None, orbit: np.ndarray | None = None
) -> Curvature:
    """The smallest eigenpair of a matrix, transversal to the orbit; `bent` is matrix @ orbit."""
    if not np.all(np.isfinite(matrix)):
        return Curvature(math.nan, math.inf, False)
    across = np.eye(len(matrix))
    if orbit is not None and bent is not None and orbit.shape[1]:
        across = null_space(_unbent(bent, orbit, float(np.linalg.norm(matrix))).T)
    if not across.shape[1]:
        return Curvature(math.inf, 0.0)
    values, vectors = np.linalg.eigh(across.T @ ((matrix + matrix.T) / 2) @ across)
    vector = across @ vectors[:, 0]
    residual = np.linalg.norm(matrix @ vector - values[0] * vector)
    rounding = np.finfo(float).eps * max(abs(values[0]), abs(values[-1]))
    return Curvature(float(values[0]), float(max(residual, rounding)), True, vector)
