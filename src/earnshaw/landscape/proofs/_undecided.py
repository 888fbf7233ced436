"""Why no verdict is possible, in words."""

from __future__ import annotations

import numpy as np

from earnshaw.landscape.proofs._balls import finite
from earnshaw.landscape.proofs._enclosure import Enclosure
from earnshaw.landscape.proofs.problem import Problem

FLAT = 1e-10  # eigenvalues below this part of the largest count as 0 in words
SINGULAR = "the Hessian is singular: a degenerate point, or a continuous symmetry"
NOT_SMOOTH = "units meet where the loss is not smooth"


class Undecided(Exception):
    """Raised where a proof ends without a verdict; `rounding` if more precision may help."""

    def __init__(self, reason: str, rounding: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.rounding = reason, rounding


def symmetry(problem: Problem) -> str:
    """A continuous symmetry that the problem is known to have; empty if none."""
    if problem.teacher.species.name == "relu" and problem.wrt == "both" and not problem.curved:
        return (
            "relu with free weights on R^d is the same at (s theta, c/s) for every s > 0: critical "
            "points are not isolated; prove it for positions alone (wrt positions) or on the sphere"
        )
    return ""


def flatness(enclosure: Enclosure) -> str:
    """What may be wrong where no box passes Krawczyk's test."""
    rows = enclosure.hessian.tolist()
    if not finite(enclosure.hessian.entries()):
        return NOT_SMOOTH
    values = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in rows]))
    flattest = values[np.argmin(np.abs(values))]
    if abs(flattest) <= FLAT * np.max(np.abs(values)):
        return (
            f"the Hessian has an eigenvalue of {flattest:.2g}, 0 as far as this can tell: a "
            "degenerate point, or a continuous symmetry"
        )
    return "no box around the centre passes the test for a critical point"
