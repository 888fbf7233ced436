"""What has been proven about a point, and the numbers that are part of the proof."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np

from earnshaw.charges.network import Student, Teacher

Kind = Literal["minimum", "cusp-minimum", "strict-saddle", "inconclusive"]


@dataclasses.dataclass(frozen=True, eq=False)
class Proof:
    """There is exactly one critical point of the loss in the box, and it is of this kind.

    The box is that of all students whose coordinates differ by at most `radius` from the centre's:
    weights and positions that move, on the sphere the coordinates of `_charts.py`. Units that are
    `held_by` (k,) a proton (-1: none) sit exactly on it, and no two on the same. Then

    - ``minimum``: the Hessian has eigenvalues > `smallest_eigenvalue` >= 0 in the whole box;
    - ``cusp-minimum``: the same for what is smooth, and every held unit has a margin > 0: whichever
      way it moves, the loss grows at least at that rate. `smallest_eigenvalue` is None if nothing
      else moves;
    - ``strict-saddle``: v.Hv/v.v < `curvature` < 0 in the whole box for v = `direction`; or a unit
      has a margin < 0, is repelled by its proton, and the loss falls at least at that rate
      whichever way it moves;
    - ``inconclusive``: nothing is proven but the bounds of `loss`, which are then those at the
      centre itself; `reason` says why.

    `loss` are a lower and an upper bound of the loss at the critical point (of the objective,
    ridge included), `away_from_zero` whether the lower one is > 0. `margins` (k,) are None for
    units that are not held. `moved` is how far the centre is from the student that was given.
    """

    kind: Kind
    reason: str
    teacher: Teacher
    centre: Student
    wrt: str
    objective: str
    held_by: tuple[int, ...]
    variables: int
    bits: int
    radius: float = math.inf
    loss: tuple[float, float] = (-math.inf, math.inf)
    smallest_eigenvalue: float | None = None
    curvature: float | None = None
    direction: tuple[float, ...] | None = None
    margins: tuple[float | None, ...] = ()
    moved: float = 0.0

    @property
    def away_from_zero(self) -> bool:
        """Whether the loss is proven positive."""
        return self.proven and self.loss[0] > 0

    @property
    def proven(self) -> bool:
        """Whether anything is claimed."""
        return self.kind != "inconclusive"

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON; None for what does not exist."""
        bound = [margin for margin in self.margins if margin is not None]
        return {
            "kind": self.kind,
            "reason": self.reason,
            "radius": _plain(self.radius),
            "loss": [_plain(bound) for bound in self.loss],
            "away_from_zero": self.away_from_zero,
            "smallest_eigenvalue": self.smallest_eigenvalue,
            "curvature": self.curvature,
            "smallest_margin": min(bound) if bound else None,
            "bound_units": int(np.sum(np.asarray(self.held_by) >= 0)),
            "variables": self.variables,
            "bits": self.bits,
            "moved": self.moved,
        }


def _plain(number: float) -> float | None:
    return number if math.isfinite(number) else None
