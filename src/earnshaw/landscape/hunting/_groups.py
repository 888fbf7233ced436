"""Which ends of starts are the same critical point, up to the symmetries of the problem.

Two students are the same if a permutation of units, a symmetry of the activation ((theta, c) ~
(-theta, -c) of an odd one, (t theta, c/t) of relu) and an orthogonal map that takes the teacher to
itself turn one into the other. None of these is searched for. Instead ends are compared by numbers
that none of them changes: the loss, and the energies of all pairs,

    { c_i c_l Phi(theta_i, theta_l) },    { c_i b_j Phi(theta_i, w_j) },

each sorted. Sorting moves no entry by more than the largest error, so that equal points have equal
numbers to the accuracy of their descent; `SAME` is far above it and far below what tells points
apart in practice. Why equal numbers mean equal points: Phi is a one-to-one function of the distance
(or angle) of two units, and points in general position are determined up to isometry by the
unordered distances between them (Boutin and Kemper, Adv. Appl. Math. 32, 2004); here there are also
those to the teacher, and the loss. What could be missed: special positions with the same distances
that are no images of each other, and maps of the teacher that leave its weights unlike. Both would
have to agree in the loss to ten digits too.

All ends of loss 0 are one group, whatever their units: they are the same function. So are the ends
in a flat place (degenerate, plateau, valley, channel) of one loss: it has no isolated points to
tell apart.
"""

from __future__ import annotations

import numpy as np

from earnshaw.landscape.flat import FLAT_KINDS
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._verdict import Verdict, is_zero, verdict
from earnshaw.landscape.hunting._walkers import Walkers

SAME = 1e-5  # of the empty student's loss: energies of pairs that agree
LEVEL = 1e-9  # the same for losses


def grouped(batches: Batches, ends: Walkers) -> list[tuple[np.ndarray, Verdict]]:
    """The numbers of the ends in each group, the first the best converged, and its verdict."""
    groups: list[tuple[np.ndarray, Verdict]] = []
    if not len(ends.value):
        return groups
    scale = abs(float(batches.loss.constant)) or float(np.max(np.abs(ends.value))) or 1.0
    invariants = _invariants(batches, ends) / scale
    for level in _levels(ends.value / scale):
        first = _best_first(ends, level)
        found = verdict(batches, ends.take(first[:1]))
        if found.kind in FLAT_KINDS or is_zero(batches, float(ends.value[first[0]])):
            groups.append((first, found))
            continue
        for alike in _alike(invariants, first):
            # The first group is that of the end which has its verdict already.
            known = alike[0] == first[0]
            groups.append((alike, found if known else verdict(batches, ends.take(alike[:1]))))
    return groups


def _invariants(batches: Batches, ends: Walkers) -> np.ndarray:
    """The sorted energies of all pairs of each end, (s, k (k + m))."""
    parts = [table.reshape(len(table), -1) for table in batches.energies(ends)]
    return np.concatenate([np.sort(part, axis=1) for part in parts], axis=1)


def _levels(values: np.ndarray) -> list[np.ndarray]:
    """Ends of equal loss, lowest first."""
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order]) > LEVEL) + 1)


def _best_first(ends: Walkers, chosen: np.ndarray) -> np.ndarray:
    return chosen[np.argsort(ends.gradient_norms[chosen], kind="stable")]


def _alike(invariants: np.ndarray, chosen: np.ndarray) -> list[np.ndarray]:
    """`chosen` in groups whose invariants agree with those of their first."""
    groups = []
    while len(chosen):
        apart = np.max(np.abs(invariants[chosen] - invariants[chosen[0]]), axis=1)
        groups.append(chosen[apart <= SAME])
        chosen = chosen[apart > SAME]
    return groups
