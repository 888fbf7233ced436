"""The whole spectrum of the Hessian at a point: `ew.spectrum`.

A certificate looks at the smallest eigenvalue; here are all of them, over the directions in which
the loss is smooth (units that sit on cusps stay where they are, see `binding.py`). Along the orbit
of the symmetries of the loss (`symmetries.py`) the Hessian of a critical point is 0: these zeros
are known beforehand, and are kept apart from zeros that nothing explains.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag, null_space

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Gradient, Objective, freedom
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.landscape._curvature import UNBENT, smooth_directions
from earnshaw.landscape.binding import bind
from earnshaw.landscape.certificate import RELATIVE
from earnshaw.landscape.symmetries import moving_velocities, orbit_directions
from earnshaw.limits import check_memory
from earnshaw.numerics.fixed_order import one_blas_thread


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """The eigenpairs of the Hessian, n of them, smallest eigenvalue first.

    `values` (n,); `vectors` (n, k d + k), a unit motion a row: positions row by row, then weights.
    `of_symmetry` (n,) are those along the orbit of a symmetry. Eigenvalues of at most `tolerance`
    count as 0. `student` is the point, with units on cusps exactly there; `held` of its units are.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> found = ew.spectrum(teacher, teacher.student())
    >>> bool(found.values[0] > 0)  # a strict minimum
    True
    """

    student: Student
    loss: float
    gradient_norm: float
    values: np.ndarray
    vectors: np.ndarray
    of_symmetry: np.ndarray
    tolerance: float
    held: int = 0

    @property
    def negative(self) -> np.ndarray:
        """Which eigenvalues are below -tolerance, (n,)."""
        return (self.values < -self.tolerance) & ~self.of_symmetry

    @property
    def positive(self) -> np.ndarray:
        """Which eigenvalues are above the tolerance, (n,)."""
        return (self.values > self.tolerance) & ~self.of_symmetry

    @property
    def zero(self) -> np.ndarray:
        """Which are 0 to the tolerance, and no symmetry of the loss says why, (n,)."""
        return (np.abs(self.values) <= self.tolerance) & ~self.of_symmetry

    def direction(self, number: int) -> Gradient:
        """The `number`-th eigenvector across the orbit; -1 is that of the largest eigenvalue."""
        across = np.flatnonzero(~self.of_symmetry)
        if not -len(across) <= number < len(across):
            raise EarnshawError(
                f"there is no eigenvector {number}; allowed: {-len(across)} to {len(across) - 1}"
            )
        return self.motion(int(across[number]))

    def motion(self, row: int) -> Gradient:
        """Row `row` of `vectors` as a motion of positions (k, d) and weights (k,)."""
        positions, weights = np.split(self.vectors[row], [self.student.positions.size])
        return Gradient(
            jnp.asarray(positions.reshape(self.student.positions.shape)), jnp.asarray(weights)
        )

    def shares(self) -> np.ndarray:
        """How much of each eigenvector moves each unit: rows (n, k) of squares that sum to 1."""
        count, dim = self.student.positions.shape
        positions, weights = np.split(self.vectors, [count * dim], axis=1)
        return np.sum(positions.reshape(-1, count, dim) ** 2, axis=2) + weights**2

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "values": self.values.tolist(),
            "of_symmetry": self.of_symmetry.tolist(),
            "tolerance": self.tolerance,
            "negative": int(np.sum(self.negative)),
            "zero": int(np.sum(self.zero)),
            "symmetry": int(np.sum(self.of_symmetry)),
            "positive": int(np.sum(self.positive)),
        }


def loss_of(teacher: Teacher | Objective, objective: str = "full", wrt: str | None = None) -> Any:
    """The loss of a teacher, or the loss itself."""
    if isinstance(teacher, Teacher):
        return population_loss(teacher, objective, wrt=wrt)
    if isinstance(teacher, Objective):
        return teacher
    raise EarnshawError(f"a Teacher or a loss is needed, not {type(teacher).__name__}")


@one_blas_thread()
def spectrum(
    teacher: Teacher | Objective,
    student: Student,
    *,
    objective: str = "full",
    wrt: str | None = None,
    tolerance: float | None = None,
) -> Spectrum:
    """All eigenvalues of the Hessian at `student`, which need not be critical.

    Parameters
    ----------
    teacher
        a teacher, or a loss of the student.
    student
        the point.
    objective, wrt
        the loss of a teacher, as in `population_loss`.
    tolerance
        of eigenvalues that are 0; by default that of `certify`.

    Returns
    -------
    Spectrum
        `.values`, `.vectors`, and which belong to symmetries.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> found = ew.spectrum(teacher, teacher.student())
    >>> found.values.shape  # two units in the plane, with their weights
    (6,)
    """
    loss = loss_of(teacher, objective, wrt)
    binding = bind(loss, loss.check(student))
    point = binding.student
    check_memory({"entries of the Hessian": freedom(loss, point) ** 2}, copies=6)
    value, gradient = loss.value_and_gradient(point)
    weights = np.eye(point.units if loss.wrt != "positions" else 0)
    smooth = smooth_directions(loss, binding).toarray()
    motions = block_diag(smooth, weights)
    if not len(weights):
        motions = np.concatenate([motions, np.zeros((point.units, motions.shape[1]))])
    slope = motions.T @ np.concatenate([np.asarray(part).ravel() for part in gradient])
    moving = moving_velocities(np.asarray(loss.manifold.basis(point.positions)), loss.wrt)
    inside = moving.T @ motions
    matrix = (
        inside.T @ np.asarray(loss.hessian(point)) @ inside if inside.size else np.zeros((0, 0))
    )
    if not np.all(np.isfinite(matrix)):
        raise EarnshawError("the Hessian is not finite here; allowed: a point on no singularity")
    orbit = _orbit(matrix, motions.T @ orbit_directions(loss, point))
    across = null_space(orbit.T) if orbit.shape[1] else np.eye(len(matrix))
    parts = [np.linalg.eigh(basis.T @ matrix @ basis) for basis in (across, orbit)]
    values = np.concatenate([found for found, _ in parts])
    vectors = np.concatenate([across @ parts[0][1], orbit @ parts[1][1]], axis=1)
    order = np.argsort(values, kind="stable")
    return Spectrum(
        student=point,
        loss=float(value),
        gradient_norm=float(np.linalg.norm(slope)),
        values=values[order],
        vectors=(motions @ vectors).T[order],
        of_symmetry=(np.arange(len(values)) >= across.shape[1])[order],
        tolerance=RELATIVE * loss.gradient_scale() if tolerance is None else float(tolerance),
        held=int(np.sum(binding.held)),
    )


def _orbit(matrix: np.ndarray, orbit: np.ndarray) -> np.ndarray:
    """The directions of the orbit (n, r) among the smooth ones, along which the Hessian is 0."""
    orbit = orbit[:, np.linalg.norm(orbit, axis=0) > 1 - UNBENT]
    if not orbit.shape[1]:
        return orbit
    _, sizes, rows = np.linalg.svd(matrix @ orbit, full_matrices=False)
    return orbit @ rows[sizes <= UNBENT * float(np.linalg.norm(matrix))].T
