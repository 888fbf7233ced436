"""Where a potential has a cusp, and how close counts as there.

Near coincidence Phi(x, y) = Phi(y, y) - K |x - y|, and on the sphere, near the antipode, Phi(x, y)
= Phi(-y, y) - K' |x + y|. An electron of weight c near a proton of weight b is pulled with the
finite force c b K however close it is, so it arrives in finite time and stays (mathematics.md,
"Cusps"); near the antipode with c b K', which for sign (K' = -K) attracts opposite weights (Full,
Lemma G.2).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.energy.population import PopulationLoss
from earnshaw.errors import EarnshawError

# A step of Tsit5 over a cusp is off by 2 v h times the sum of the error weights of the stages that
# lie beyond, at least 2 v h / 66 (the last stage alone). So a step that is accepted and crosses has
# v h <= 33 tolerances, and ends within this many tolerances of the cusp: it cannot be jumped.
TOLERANCES = 100
FINE = 1e-4  # the largest part of the length over which the cusp's slope changes


class Cusp(NamedTuple):
    """K and K' of the module's docstring, and the length over which such a slope changes."""

    slope: float
    opposite: float
    length: float

    @property
    def exists(self) -> bool:
        """Whether the potential has a cusp, at coincidence or at the antipode."""
        return self.slope != 0 or self.opposite != 0


def find_cusp(loss: PopulationLoss, student: Student) -> Cusp:
    """The cusp of a loss, or an error where units would meet on more than single points."""
    if loss.unbounded:
        return Cusp(1.0, 0.0, np.inf)  # only its sign is used: meeting ends the run
    name = loss.teacher.species.name if loss.kind is None else loss.kind.name
    places = jnp.concatenate([loss.teacher.positions, student.positions])
    slopes = loss.cusp(places)
    slope, opposite = float(slopes[jnp.argmax(jnp.abs(slopes))]), 0.0
    if loss.manifold.name == "sphere":
        opposite = float(loss.antipodal_cusp(places)[0])
    if not (np.isfinite(slope) and np.isfinite(opposite)):
        raise EarnshawError(
            f"the formula {name} has a cusp and no digits near it, where units would meet; "
            "allowed: the activation by name, e.g. activation='sign'"
        )
    if slope and loss.cusps_across == "rays":
        raise EarnshawError(
            f"{name} on R^d has a cusp along every ray, where units of any lengths meet; "
            "allowed: on='sphere'"
        )
    if slope and loss.cusps_across == "hyperplanes" and loss.dim > 1:
        raise EarnshawError(
            f"{name} has ridges wherever one coordinate of two units agrees, and units would slide "
            "along them; allowed: dimension 1, or potentials of the distance"
        )
    height = abs(float(loss.self_energies(places)[0]))
    steepest = max(abs(slope), abs(opposite))
    return Cusp(slope, opposite, height / steepest if steepest and height else np.inf)


def has_point(loss: PopulationLoss) -> bool:
    """Whether the force on a unit depends on the direction in which it comes to the origin.

    It does for homogeneous activations of degree 1 on R^d (relu), whose Phi is a cone there.
    """
    return loss.degree == 1


class Closeness(NamedTuple):
    """Tolerances of the integrator, and the distance `reach` at which a unit has arrived."""

    rtol: float
    atol: float
    reach: float


def closeness(cusp: Cusp, size: float, rtol: float, atol: float) -> Closeness:
    """Tolerances no looser than asked for, so tight that `reach` is tiny against the cusp.

    `size` is the largest coordinate, to which `rtol` refers.
    """
    tolerance = atol + rtol * size
    shrink = min(1.0, FINE * cusp.length / (TOLERANCES * tolerance)) if cusp.exists else 1.0
    return Closeness(rtol * shrink, atol * shrink, TOLERANCES * tolerance * shrink)
