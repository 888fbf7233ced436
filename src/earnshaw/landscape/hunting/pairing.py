"""Which teacher units the units of a student stand for: what tells two bad minima apart.

A student unit goes with the teacher unit whose function is most like its own,

    |Phi(theta_i, w_j)| / sqrt(Phi(theta_i, theta_i) Phi(w_j, w_j)),

the correlation of the two, which is the same after every flip and scale; where Phi is unbounded,
with the nearest. A unit of weight 0 goes with none.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.network import Student
from earnshaw.energy.population import PopulationLoss

IDLE = 1e-9  # of the largest weight of all: a smaller one is 0


class Pairing(NamedTuple):
    """Counts of teacher units.

    `alone` have one student unit of their own, `shared` have several, `missed` have none; `idle`
    counts student units of weight 0.
    """

    alone: int
    shared: int
    missed: int
    idle: int = 0

    @property
    def words(self) -> str:
        """Such as "8 alone, 1 shared, 1 missed"; only what there is."""
        counts = zip(self, ("alone", "shared", "missed", "idle"), strict=True)
        return ", ".join(f"{count} {what}" for count, what in counts if count) or "none"


def pairing(loss: PopulationLoss, student: Student) -> Pairing:
    """How the student's units pair with those of the teacher of `loss`."""
    w, b = loss.teacher.positions, np.abs(np.asarray(loss.teacher.weights))
    sizes = np.abs(np.asarray(student.weights))
    counts = sizes > IDLE * max(float(np.max(b)), float(np.max(sizes, initial=0.0)))
    if loss.unbounded:
        x = np.asarray(student.positions)
        likeness = -np.linalg.norm(x[:, None] - np.asarray(w), axis=2)
    else:
        own = np.asarray(loss.self_energies(jnp.concatenate([student.positions, w])))
        scale = np.sqrt(np.maximum(np.outer(own[: student.units], own[student.units :]), 1e-300))
        likeness = np.abs(np.asarray(loss.gram(student.positions, w))) / scale
    chosen = np.argmax(np.nan_to_num(likeness[counts], nan=-np.inf), axis=1)
    met = np.bincount(chosen, minlength=len(b))
    alone, shared, missed = (int(np.sum(part)) for part in (met == 1, met > 1, met == 0))
    return Pairing(alone, shared, missed, int(np.sum(~counts)))
