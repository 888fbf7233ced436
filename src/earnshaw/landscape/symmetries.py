"""Motions of a student that change nothing: the directions of its orbit.

Where a continuous group acts on the students of an objective and leaves the loss as it is, critical
points come in orbits, and the Hessian is 0 along them: H v = 0 for every v tangent to the orbit of
a critical point. That says nothing against a minimum; what counts is the Hessian transversal to the
orbit. Three groups act here:

- rotations that fix the teacher. Where Phi(Qx, Qy) = Phi(x, y) for every orthogonal Q, those Q that
  fix every w_j move a student by theta_i -> Q theta_i: the velocities are A theta_i, A
  antisymmetric on the complement of the span of the w_j. Where Phi depends on x - y too, motions
  that fix every w_j turn about their affine span;
- scales of homogeneous activations on R^d, s(t x) = t^n s(x): (theta_i, c_i) ~ (t theta_i,
  t^-n c_i), with velocity (theta_i, -n c_i), if the weights are free or n = 0, and no |c|^2 counts;
- activations of degree 2 at most, s(x) = a_0 + a_1 x + a_2 x^2. The network is a quadratic function
  of x, given by sum c_i, sum c_i theta_i and sum c_i theta_i theta_i^T where their a is not 0:
  the velocities are those that change none of these. (They are tangent to the students of the same
  function where the rank of these conditions is the usual one.)

Each group is found from the objective, not from the Hessian: an eigenvalue that is 0 for any other
reason stays in.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.linalg import block_diag

from earnshaw.charges.matching import symmetries_of
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Moving, Objective

INDEPENDENT = 1e-9  # singular values below this part of the largest are 0


def orbit_directions(objective: Objective, student: Student) -> np.ndarray:
    """Orthonormal columns (k d + k, r): velocities of positions, row by row, then of weights.

    For m outputs (k d + k m, r).

    They span the tangent space of the student's orbit; r = 0 where there is none, as for every loss
    of samples. What may not move has rows of 0.
    """
    size = student.positions.size + student.weights.size
    teacher = objective.teacher
    if teacher is None or not student.units or objective.wrt == "weights":
        return np.zeros((size, 0))
    groups = (_rotations, _scales, _forms)
    found = np.concatenate([group(objective, teacher, student) for group in groups])
    if not len(found):
        return np.zeros((size, 0))
    vectors, sizes, _ = np.linalg.svd(found.T, full_matrices=False)
    return vectors[:, sizes > INDEPENDENT * max(sizes[0], 1.0)]


def orbit_coordinates(objective: Objective, student: Student) -> np.ndarray:
    """The same in the coordinates of the dense Hessian, `objective.hessian(student)`: (n, r)."""
    return _moving(objective, student).T @ orbit_directions(objective, student)


def _rotations(objective: Objective, teacher: Teacher, student: Student) -> np.ndarray:
    """A (theta_i - centre), A antisymmetric and 0 on all that the teacher spans: (r, k d + k)."""
    dim, size = student.dim, student.positions.size + student.weights.size
    if objective.invariant not in ("rotations", "both"):
        return np.zeros((0, size))
    charged = np.reshape(teacher.weights, (teacher.units, -1)) != 0
    w = np.asarray(teacher.positions)[np.any(charged, axis=1)]
    free_centre = objective.invariant == "both" and objective.manifold.name == "space"
    centre = w[0] if free_centre and len(w) else np.zeros(dim)
    _, sizes, rows = np.linalg.svd(np.concatenate([w - centre, np.zeros((1, dim))]))
    rank = int(np.sum(sizes > INDEPENDENT * max(float(sizes[0]), 1e-300)))
    still = np.zeros(student.weights.size)
    arms = (np.asarray(student.positions) - centre) @ rows[rank:].T
    turned = [
        np.append(
            np.outer(arms[:, j], rows[rank + i]) - np.outer(arms[:, i], rows[rank + j]), still
        )
        for i, j in combinations(range(dim - rank), 2)
    ]
    return np.array(turned).reshape(len(turned), size)


def _scales(objective: Objective, teacher: Teacher, student: Student) -> np.ndarray:
    """(theta_i, -n c_i) of each homogeneous unit alone: (r, k d + k)."""
    x, c = np.asarray(student.positions), np.asarray(student.weights)
    degrees = objective.degrees(student.units)
    if objective.manifold.name == "sphere":
        degrees = (None,) * student.units
    free = objective.wrt == "both" and not objective.ridge
    found = []
    for unit, degree in enumerate(degrees):
        if degree is None or not (degree == 0 or free):
            continue
        by_position, by_weight = np.zeros_like(x), np.zeros_like(c)
        by_position[unit], by_weight[unit] = x[unit], -degree * c[unit]
        found.append(np.append(by_position, by_weight))
    return np.array(found).reshape(len(found), x.size + c.size)


def _forms(objective: Objective, teacher: Teacher, student: Student) -> np.ndarray:
    """The velocities that keep the quadratic function of x which the network is: (r, k d + k)."""
    count, dim = student.units, student.dim
    several = objective.mixed or bool(objective.charge_shape)
    powers = None if several else symmetries_of(teacher.species).quadratic
    if powers is None or objective.ridge or not objective.terms.self_energies:
        return np.zeros((0, student.positions.size + student.weights.size))
    x, c, axes = np.asarray(student.positions), np.asarray(student.weights), np.eye(dim)
    by_position = {
        0: np.zeros((1, count, dim)),
        1: np.einsum("k,ad->akd", c, axes),
        2: np.einsum("k,ad,kb->abkd", c, axes, x) + np.einsum("k,bd,ka->abkd", c, axes, x),
    }
    by_weight = {0: np.ones((1, count)), 1: x.T, 2: np.einsum("ka,kb->abk", x, x)}
    kept = [power for power, a in enumerate(powers) if a]
    changes = np.concatenate(
        [
            np.concatenate([by_position[n].reshape(-1, count * dim) for n in kept]),
            np.concatenate([by_weight[n].reshape(-1, count) for n in kept]),
        ],
        axis=1,
    )
    moving = _moving(objective, student)
    _, sizes, rows = np.linalg.svd(changes @ moving)
    rank = int(np.sum(sizes > INDEPENDENT * max(float(np.max(sizes, initial=0.0)), 1e-300)))
    return rows[rank:] @ moving.T


def _moving(objective: Objective, student: Student) -> np.ndarray:
    basis = np.asarray(objective.manifold.basis(student.positions))
    return moving_velocities(basis, objective.wrt, student.weights.size)


def moving_velocities(basis: np.ndarray, wrt: Moving, charges: int | None = None) -> np.ndarray:
    """The coordinates of the dense Hessian as velocities: orthonormal columns (k d + k, n).

    `basis` (k, d, f) is the manifold's at the student's positions, `wrt` what moves; `charges` is
    the number of weights, k unless there are several outputs.
    """
    count, dim, _ = basis.shape
    charges = count if charges is None else charges
    along = np.concatenate([block_diag(*basis), np.zeros((charges, count * basis.shape[2]))])
    weights = np.eye(count * dim + charges)[:, count * dim :]
    moving = {"positions": [along], "weights": [weights], "both": [along, weights]}
    return np.concatenate(moving[wrt], axis=1)
