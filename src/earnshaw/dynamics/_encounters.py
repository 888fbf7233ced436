"""What happens at a cusp: clusters of units meet and become one, or come apart.

Both are small jumps, within a few reaches, and downhill: the energy near a cusp that holds is that
of a cone with its tip at the common place, and near one that does not, it falls along the force.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.manifolds import Manifold
from earnshaw.dynamics._clusters import Clusters
from earnshaw.dynamics.path import Encounter

STEP_OFF = 2.0  # what is torn off is put down at so many reaches


class Regrouped(NamedTuple):
    """The clusters after an encounter, the electrons' positions (k, d), and its events."""

    clusters: Clusters
    positions: np.ndarray
    events: tuple[Encounter, ...]


def join(
    clusters: Clusters,
    manifold: Manifold,
    places: np.ndarray,
    unit: int,
    partner: int,
    side: int,
    time: float,
) -> Regrouped:
    """Two particles and their clusters get one place: a proton's, else the mean of all units.

    `places` are those of all particles. The mean is what the forces between the units conserve.
    """
    moved, kept = clusters.members(unit), clusters.members(partner)
    if clusters.held(unit):
        unit, partner, moved, kept = partner, unit, kept, moved
    joined = clusters.joined(unit, partner, side)
    target = side * places[partner]
    if not clusters.held(partner):
        mean = (len(moved) * places[unit] + len(kept) * target) / (len(moved) + len(kept))
        target = project(manifold, mean[None])[0]
    places = places.copy()
    whole = joined.members(unit)
    electrons = whole[whole < clusters.electrons]
    places[electrons] = (joined.side[electrons] * joined.side[unit])[:, None] * target
    events = _tell(joined, ("bind", "merge"), moved, kept, time)
    return Regrouped(joined, places[: clusters.electrons], events)


def separate(
    clusters: Clusters,
    manifold: Manifold,
    places: np.ndarray,
    cut: int,
    tear: np.ndarray,
    reach: float,
    time: float,
) -> Regrouped:
    """The electrons of a cut are put out of reach of the rest, along the force `tear` on them.

    If the rest is free, both move, and their mean does not.
    """
    leaving = clusters.leaving(cut)
    whole = clusters.members(leaving[0])
    staying = np.setdiff1d(whole, leaving)
    step = STEP_OFF * reach * tear / np.linalg.norm(tear)
    share = 1.0 if clusters.held(staying[0]) else len(staying) / len(whole)
    side = clusters.side[:, None]
    places = places.copy()
    places[leaving] += share * side[leaving] * step
    if share < 1:
        places[staying] -= (1 - share) * side[staying] * step
    events = _tell(clusters, ("release", "split"), leaving, staying, time)
    positions = project(manifold, places[: clusters.electrons])
    return Regrouped(clusters.divided(cut), positions, events)


def project(manifold: Manifold, points: np.ndarray) -> np.ndarray:
    """The nearest points of the manifold, as a NumPy array."""
    return np.asarray(manifold.project(jnp.asarray(points)))


def _tell(
    clusters: Clusters, kinds: tuple, units: np.ndarray, others: np.ndarray, time: float
) -> tuple[Encounter, ...]:
    """One event for each unit, with the proton of the others, or else the first of them."""
    k = clusters.electrons
    partner = others[others >= k][0] if others[-1] >= k else others[0]
    kind, name = (kinds[0], partner - k) if partner >= k else (kinds[1], partner)
    side = clusters.side * clusters.side[partner]
    return tuple(Encounter(time, kind, int(unit), int(name), int(side[unit])) for unit in units)
