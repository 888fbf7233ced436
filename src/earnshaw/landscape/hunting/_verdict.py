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
from earnshaw.landscape.certificate import RELATIVE, Kind, certificate, is_strict
from earnshaw.landscape.escape import EscapePath
from earnshaw.landscape.flat import flat_kind
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting._search import DENSE
from earnshaw.landscape.hunting._walkers import Walkers
from earnshaw.landscape.symmetries import orbit_coordinates

ZERO = 1e-12  # a loss below this part of that of the empty student is 0, if no loss is negative


class Verdict(NamedTuple):
    """A kind of point, why, its gradient norm and its smallest transversal eigenvalue.

    `strict` and `escape` are as in certificates.
    """

    kind: Kind
    reason: str
    gradient_norm: float
    smallest_eigenvalue: float
    strict: bool | None = None
    escape: EscapePath | None = None


def verdict(batches: Batches, end: Walkers) -> Verdict:
    """The verdict on one walker, and what it is if it is degenerate (`landscape/flat.py`)."""
    found = _verdict(batches, end)
    if found.kind != "degenerate":
        return found
    tolerance = RELATIVE * batches.loss.gradient_scale()
    flat = flat_kind(batches.loss, end.student(0), tolerance)
    if flat is None:
        return found
    reason = f"{found.reason}; {flat.reason}"
    return found._replace(kind=flat.kind, reason=reason, strict=False, escape=flat.path)


def _verdict(batches: Batches, end: Walkers) -> Verdict:
    loss, student = batches.loss, end.student(0)
    if batches.cusps or batches.freedom > DENSE:
        found = certificate(loss, student)
        numbers = found.gradient_norm, found.smallest_eigenvalue
        return Verdict(found.kind, found.reason, *numbers, found.strict)
    ((matrix,), _), (norm,) = batches.hessians(end), end.gradient_norms
    tolerance = RELATIVE * loss.gradient_scale()
    orbit = orbit_coordinates(loss, student)
    value = _transversal(matrix, orbit)
    numbers = float(norm), value
    strict = is_strict("minimum", value > tolerance, bool(orbit.shape[1]))
    if norm > tolerance:
        return Verdict("not-critical", f"the gradient has norm {norm:.3g}", *numbers, False)
    if is_zero(batches, float(end.value[0])):
        reason = "the loss is 0 to rounding, and no loss is less"
        return Verdict("minimum", reason, *numbers, strict)
    if unsure := bind(loss, student).unsure:
        return Verdict("inconclusive", unsure, *numbers)
    if math.isnan(value):
        return Verdict("inconclusive", "the Hessian has infinite entries", *numbers)
    reason = f"the smallest transversal eigenvalue is {value:.3g}"
    if value < -tolerance:
        return Verdict("strict-saddle", reason, *numbers, False)
    if value > tolerance:
        return Verdict("minimum", reason, *numbers, strict)
    return Verdict("degenerate", reason, *numbers)


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
