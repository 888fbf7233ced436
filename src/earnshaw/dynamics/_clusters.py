"""Which units have met at a cusp, and so share a place.

Particles are numbered electrons first (0 ... k-1), then protons (k ... k+m-1). Each names a leader,
whose place it shares: x_i = side_i x_leader, side -1 for an antipode on the sphere. A proton leads
wherever there is one, else the first electron; who is alone leads itself, with side 1.

A cut divides a cluster into electrons that may leave together and all that stays. Which electrons
leave is decided by the forces, so all cuts of a cluster of up to four electrons are kept; of larger
ones, those of single electrons, and of all electrons from their protons. Everything is an array of
a shape that k and m fix, so that a change of clusters compiles nothing anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import equinox as eqx
import numpy as np

SMALL = 4  # electrons of a cluster of which every cut is kept
CUTS, ENTRIES = 4, 8  # at most, for each electron


class Clusters(eqx.Module):
    """`leader` and `side` of all particles, and the cuts of their clusters.

    Cut number `cut[e]` lets electron `unit[e]` leave, and is of the cluster that `cut_of` leads;
    entries without use have a number past the last.
    """

    leader: np.ndarray
    side: np.ndarray
    cut: np.ndarray
    unit: np.ndarray
    cut_of: np.ndarray
    electrons: int = eqx.field(static=True)

    @property
    def bound(self) -> np.ndarray:
        """The proton of each electron, or -1."""
        leader = self.leader[: self.electrons]
        return np.where(leader >= self.electrons, leader - self.electrons, -1)

    def members(self, particle: int) -> np.ndarray:
        """All particles at the place of one."""
        return np.flatnonzero(self.leader == self.leader[particle])

    def held(self, particle: int) -> bool:
        """Whether there is a proton at its place."""
        return bool(self.leader[particle] >= self.electrons)

    def joined(self, first: int, second: int, side: int) -> Clusters:
        """With the clusters of two particles at x_first = side x_second made one."""
        leader, sides = self.leader.copy(), self.side.copy()
        moved = self.members(first)
        sides[moved] *= self.side[first] * self.side[second] * side
        leader[moved] = leader[second]
        return clusters(leader, sides, self.electrons)

    def divided(self, cut: int) -> Clusters:
        """With the electrons of a cut in a cluster of their own."""
        leader = self.leader.copy()
        leaving = self.leaving(cut)
        # A number that no cluster has: if the leader itself leaves, its old number is taken.
        leader[leaving] = len(leader)
        return clusters(leader, self.side, self.electrons)

    def leaving(self, cut: int) -> np.ndarray:
        """The electrons of a cut."""
        return self.unit[self.cut == cut]


def apart(electrons: int, protons: np.ndarray, mirrored: bool) -> Clusters:
    """Every electron alone; protons at one place, or if `mirrored` at antipodes, together."""
    count = electrons + len(protons)
    leader, side = np.arange(count), np.ones(count)
    seen: dict[bytes, int] = {}
    for j, place in enumerate(np.asarray(protons) + 0.0, start=electrons):  # no -0.0
        same, opposite = place.tobytes(), (0.0 - place).tobytes()
        if same in seen:
            leader[j] = seen[same]
        elif mirrored and opposite in seen:
            leader[j], side[j] = seen[opposite], -1.0
        else:
            seen[same] = j
    return clusters(leader, side, electrons)


def clusters(leader: np.ndarray, side: np.ndarray, electrons: int) -> Clusters:
    """From any labels that agree within each cluster, and sides relative to any of its members."""
    leaders, sides = np.empty_like(leader), np.empty_like(side)
    cut = np.full(ENTRIES * electrons, CUTS * electrons)
    unit = np.zeros(ENTRIES * electrons, dtype=int)
    cut_of = np.zeros(CUTS * electrons, dtype=int)
    entry = number = 0
    for label in np.unique(leader):
        together = np.flatnonzero(leader == label)
        protons = together[together >= electrons]
        first = protons[0] if len(protons) else together[0]
        leaders[together], sides[together] = first, side[together] * side[first]
        for chosen in _cuts(together[together < electrons], bool(len(protons))):
            cut[entry : entry + len(chosen)] = number
            unit[entry : entry + len(chosen)] = chosen
            cut_of[number] = first
            entry, number = entry + len(chosen), number + 1
    return Clusters(leaders, sides, cut, unit, cut_of, electrons)


def _cuts(electrons: np.ndarray, held: bool) -> Iterator[tuple[int, ...]]:
    """Who may leave. Without a proton each cut is met twice, and that without the first is kept."""
    free = tuple(int(i) for i in (electrons if held else electrons[1:]))
    if len(electrons) <= SMALL:
        for size in range(1, len(free) + 1):
            yield from combinations(free, size)
        return
    yield from ((int(i),) for i in electrons)
    if held:
        yield free
