"""What the theorems ask about: the charges here, how far apart they are, what Phi is there."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.bessel import BesselPotential
from earnshaw.duality.potential import Radial, Zonal
from earnshaw.duality.regions import Region
from earnshaw.duality.separable import Separable
from earnshaw.energy.objective import Objective
from earnshaw.landscape.certificate import Certificate
from earnshaw.landscape.theorems.application import Hypothesis


@dataclasses.dataclass(frozen=True)
class Setting:
    """The exact loss of a teacher, and a student with its certificate.

    The student's bound units are exactly on their charges.
    `laplacians` (k,) are those of the loss in each unit alone, `group_laplacian` that in all units
    moved together.
    """

    loss: Objective
    teacher: Teacher
    student: Student
    certificate: Certificate
    laplacians: np.ndarray
    group_laplacian: float

    @property
    def species(self) -> str:
        """The name of the activation or potential."""
        return self.teacher.species.name

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.loss.dim

    @property
    def on_sphere(self) -> bool:
        """Whether the units live on S^(d-1)."""
        return self.loss.manifold.name == "sphere"

    @cached_property
    def protons(self) -> np.ndarray:
        """The teacher's positions, (m, d)."""
        return np.asarray(self.teacher.positions)

    @cached_property
    def charges(self) -> np.ndarray:
        """The teacher's weights b, (m,)."""
        return np.asarray(self.teacher.weights)

    @cached_property
    def electrons(self) -> np.ndarray:
        """The student's positions, (k, d)."""
        return np.asarray(self.student.positions)

    @cached_property
    def weights(self) -> np.ndarray:
        """The student's weights c = -a, (k,)."""
        return np.asarray(self.student.weights)

    @cached_property
    def to_protons(self) -> np.ndarray:
        """Distances from electrons to protons, (k, m)."""
        return self._apart(self.protons)

    @cached_property
    def to_electrons(self) -> np.ndarray:
        """Distances from electrons to the others, (k, k), infinite on the diagonal."""
        apart = self._apart(self.electrons)
        return apart + np.diag(np.full(len(apart), np.inf))

    def _apart(self, others: np.ndarray) -> np.ndarray:
        """|theta_i - y|; for products their smallest coordinate, since they bend at hyperplanes."""
        gaps = self.electrons[:, None] - others
        if isinstance(self.teacher.potential, Separable):
            return np.min(np.abs(gaps), axis=2)
        return np.linalg.norm(gaps, axis=2)

    @cached_property
    def own(self) -> np.ndarray:
        """Phi(theta_i, theta_i), (k,)."""
        return np.asarray(self.loss.self_energies(self.student.positions))

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """Where Phi has a definite Laplacian; none where that is not known in one variable."""
        potential = self.teacher.potential
        if not isinstance(potential, (Zonal, Radial, BesselPotential)):
            return ()
        return potential.regions() if self.on_sphere == isinstance(potential, Zonal) else ()

    @property
    def moving_positions(self) -> Hypothesis:
        """That positions move."""
        return Hypothesis("positions move", self.loss.wrt != "weights")

    @property
    def moving_weights(self) -> Hypothesis:
        """That weights move."""
        return Hypothesis("weights move", self.loss.wrt != "positions")

    @property
    def charged(self) -> Hypothesis:
        """That no weight is 0."""
        least = float(min(np.min(np.abs(self.charges)), np.min(np.abs(self.weights), initial=1.0)))
        return Hypothesis("no charge is 0", least > 0, f"the smallest is {least:.3g}")

    @property
    def distinct(self) -> Hypothesis:
        """That no two charges coincide."""
        least = float(np.min(self.to_protons, initial=np.min(self.to_electrons, initial=np.inf)))
        return Hypothesis("no two charges coincide", least > 0, nearest_words(least))

    @property
    def assumption_1(self) -> Hypothesis:
        """That all weights are 1 and fixed."""
        ones = bool(np.all(self.charges == 1) and np.all(self.weights == 1))
        return Hypothesis("all weights are 1 and fixed", ones and self.loss.wrt == "positions")

    @property
    def critical(self) -> Hypothesis:
        """That the point is critical to the tolerance."""
        found = self.certificate
        return Hypothesis(
            "the point is critical",
            found.gradient_norm <= found.tolerance,
            f"gradient norm {found.gradient_norm:.3g}",
        )

    @property
    def epsilon(self) -> float:
        """The smallest eps with the point in M_eps."""
        return self.certificate.epsilon

    @property
    def is_minimum(self) -> bool:
        """Whether the certificate calls the point a minimum, of either kind."""
        return self.certificate.kind in ("minimum", "cusp-minimum")

    def eigenvalue(self) -> str:
        """The smallest eigenvalue, in words."""
        return f"the smallest eigenvalue is {self.certificate.smallest_eigenvalue:.3g}"


def nearest_words(apart: float) -> str:
    """How far the nearest two are apart; infinitely where there are no two."""
    return f"the nearest are {apart:.3g} apart" if math.isfinite(apart) else "there are no two"
