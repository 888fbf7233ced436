"""How steep the cusps of a potential are, and where it has kinks that are no cusps.

A cusp has a slope kappa where two units coincide, Phi(y, x) = Phi(x, x) - kappa |y - x| + ..., and
potentials f(x.y) may have another at the antipode, Phi(y, x) = Phi(-x, x) - kappa' |y + x| + ...:
sign has kappa = 2/pi and kappa' = -kappa. `uncovered` finds what no such slope describes.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.spatial import cKDTree

from earnshaw.charges.network import Student
from earnshaw.energy.couplings.coupling import CLOSE, Coupling
from earnshaw.energy.couplings.displacement import DisplacementCoupling
from earnshaw.energy.couplings.dots import DotCoupling
from earnshaw.energy.couplings.sphere import SphereCoupling
from earnshaw.energy.population import PopulationLoss
from earnshaw.potentials.base import Separable

NEAR = 1e-8  # relative to a position: coincident


@eqx.filter_jit
def powers(coupling: Coupling, positions: Array) -> Array:
    """Phi(x, x) of each unit, (k,)."""
    return coupling.alone(positions)[0]


@eqx.filter_jit
def cusp_slopes(coupling: Coupling, positions: Array) -> Array:
    """kappa and kappa' of each unit, (k, 2)."""
    if isinstance(coupling, (SphereCoupling, DotCoupling)) and coupling.dim == 1:
        return jnp.zeros((len(positions), 2))  # no direction to turn to
    opposite = coupling.antipodal_cusp(positions)
    opposite = jnp.where(jnp.isfinite(opposite), opposite, 0.0)
    return jnp.stack([coupling.cusp(positions), opposite], axis=1)


def uncovered(objective: PopulationLoss, student: Student) -> str:
    """What of the student's place the slopes of cusps do not describe; empty if they do."""
    coupling, x = objective.field.coupling, np.asarray(student.positions)
    w = np.asarray(objective.teacher.positions)[np.asarray(objective.teacher.weights) != 0]
    if isinstance(coupling, DotCoupling) and _at_origin(coupling, x):
        return "a unit is at the origin, a kink of its activation"
    if isinstance(coupling, DisplacementCoupling):
        product = isinstance(coupling.potential, Separable)
        return _ridges(x, w) if product else _formula(coupling, x, w)
    return ""


def _at_origin(coupling: DotCoupling, x: np.ndarray) -> bool:
    """Whether a unit of length 0 makes a kink: sigma(x.theta) has one wherever sigma has at 0."""
    lengths = np.linalg.norm(x, axis=1)
    return coupling.has_close_pairs and bool(np.any(lengths <= NEAR * max(1.0, lengths.max())))


def _ridges(x: np.ndarray, w: np.ndarray) -> str:
    """Whether a product's ridge, where one coordinate of two charges agrees, passes a unit."""
    for unit, here in enumerate(x):
        others = np.concatenate([w, np.delete(x, unit, axis=0)])
        equal = np.abs(others - here) <= NEAR * np.maximum(np.abs(here), 1.0)
        if np.any(np.any(equal, axis=1) & ~np.all(equal, axis=1)):
            return f"unit {unit} lies on a ridge of a product, where one coordinate agrees"
    return ""


def _formula(coupling: Coupling, x: np.ndarray, w: np.ndarray) -> str:
    """Whether a unit sits on another charge, and a formula's slope there is not that of 0."""
    tree = cKDTree(np.concatenate([w, x]))
    radius = NEAR * max(1.0, float(np.max(np.abs(x))))
    if all(len(found) < 2 for found in tree.query_ball_point(x, radius)):
        return ""
    steps = jnp.asarray(CLOSE * np.concatenate([np.eye(x.shape[1]), np.ones((1, x.shape[1]))]))
    slopes = coupling.exact(steps, jnp.zeros_like(steps))[1]
    return "a unit sits on a cusp of a formula" if jnp.max(jnp.abs(slopes)) > CLOSE**0.5 else ""
