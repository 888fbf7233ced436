"""What kind of point a start has ended in, transversal to the orbit of its symmetries.

The words and tolerances are those of certificates (`landscape/certificate.py`). Where the potential
has cusps the verdict is the certificate itself. For smooth potentials the Hessian is at hand from
the hunt; it is taken over the directions orthogonal to the orbit (`landscape/symmetries.py`), along
which it is 0 and nothing ever changes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from earnshaw.energy.objective import ROUNDING
from earnshaw.landscape.binding import bind
from earnshaw.landscape.certificate import RELATIVE, Kind, certificate
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._search import DENSE
from earnshaw.landscape.hunting._walkers import Walkers
from earnshaw.landscape.symmetries import orbit_coordinates

ZERO = 1e-12  # a loss below this part of that of the empty student is 0, if no loss is negative


class Verdict(NamedTuple):
    """A kind of point, why, its gradient norm and its smallest transversal eigenvalue."""

    kind: Kind
    reason: str
    gradient_norm: float
    smallest_eigenvalue: float


def verdict(batches: Batches, end: Walkers) -> Verdict:
    """The verdict on one walker."""
    loss, student = batches.loss, end.student(0)
    if batches.cusps or batches.freedom > DENSE:
        found = certificate(loss, student)
        return Verdict(found.kind, found.reason, found.gradient_norm, found.smallest_eigenvalue)
    ((matrix,), _), (norm,) = batches.hessians(end), end.gradient_norms
    tolerance = RELATIVE * loss.gradient_scale()
    value = _transversal(matrix, orbit_coordinates(loss, student))
    numbers = float(norm), value
    if norm > tolerance:
        return Verdict("not-critical", f"the gradient has norm {norm:.3g}", *numbers)
    if is_zero(batches, float(end.value[0])):
        return Verdict("minimum", "the loss is 0 to rounding, and no loss is less", *numbers)
    if unsure := bind(loss, student).unsure:
        return Verdict("inconclusive", unsure, *numbers)
    if math.isnan(value):
        return Verdict("inconclusive", "the Hessian has infinite entries", *numbers)
    reason = f"the smallest transversal eigenvalue is {value:.3g}"
    if value < -tolerance:
        return Verdict("strict-saddle", reason, *numbers)
    return Verdict("minimum" if value > tolerance else "degenerate", reason, *numbers)


def is_zero(batches: Batches, value: float) -> bool:
    """Whether a loss is 0 to rounding, where no loss is negative: L = E[(f - g)^2]."""
    loss = batches.loss
    return loss.name in ("full", "assumption-1") and abs(value) <= ZERO * abs(float(loss.constant))


def _transversal(matrix: np.ndarray, orbit: np.ndarray) -> float:
    """The smallest eigenvalue over the complement of the orbit, inf where that is all."""
    if not np.all(np.isfinite(matrix)):
        return math.nan
    count, along = orbit.shape
    if along >= count:
        return math.inf
    vectors, sizes, _ = np.linalg.svd(orbit, full_matrices=True)
    across = vectors[:, int(np.sum(sizes > math.sqrt(ROUNDING))) :]
    return float(np.linalg.eigvalsh(across.T @ matrix @ across)[0])
