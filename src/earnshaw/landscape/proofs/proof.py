"""What has been proven about a point, and the numbers that are part of the proof."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.results import Result, number

Kind = Literal["minimum", "cusp-minimum", "strict-saddle", "inconclusive"]
NOTICED = 1e-6  # a student that moved by more than this was not yet where the proof is


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Proof(Result):
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
    units that are not held. `moved` is how far the centre is from the student that was given: a
    remark, and NaN in what `check` returns, since that student is not part of the proof.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> proof = ew.prove(teacher, ew.Student([[0.5**1.5, 0.5**1.5]], [2.0]))
    >>> proof.kind, proof.away_from_zero, proof.radius < 1e-10
    ('minimum', True, True)
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
            "moved": _plain(self.moved),
        }

    def _title(self) -> str:
        return f"{self.kind}: {self.reason}"

    def _facts(self) -> dict[str, object]:
        return {
            "loss": f"in [{self.loss[0]!r}, {self.loss[1]!r}]",
            "radius": number(self.radius),
            "variables": self.variables,
            "bits": self.bits,
        }


def grounds(proof: Proof, shown: Callable[[float], str] | None = None) -> str:
    """Why what is proven is so, in words that its numbers say: the `reason` of a proof."""
    repelled = [i for i, margin in enumerate(proof.margins) if margin is not None and margin < 0]
    if repelled:
        return f"unit {repelled[0]} is repelled by the proton it sits on"
    if not proof.variables:
        return "cusps hold every unit, and nothing else moves"
    found, shown = "a critical point", shown or weaker
    if proof.moved > NOTICED:
        found += f", {proof.moved:.2g} from the student that was given"
    if proof.smallest_eigenvalue is not None:
        return f"{found}, with all eigenvalues above {shown(proof.smallest_eigenvalue)}"
    bound = -math.inf if proof.curvature is None else proof.curvature
    return f"{found}, with curvature below {shown(bound)} along a direction"


def weaker(bound: float) -> str:
    """Three digits of a bound, rounded towards 0: what they say is proven too."""
    shown = f"{bound:.3g}"
    if abs(float(shown)) <= abs(bound):
        return shown
    exponent = int(f"{bound:.2e}".partition("e")[2])
    return f"{float(shown) - math.copysign(10.0 ** (exponent - 2), bound):.3g}"


def nearest(bound: float) -> str:
    """Three digits of a bound as proofs had them first, which may say a little more than it."""
    return f"{bound:.3g}"


def _plain(number: float) -> float | None:
    return number if math.isfinite(number) else None
