"""What a hunt has found: critical points, how often each was reached, and from where."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

import numpy as np
from scipy.special import betaincinv

from earnshaw.charges.network import Student, Teacher
from earnshaw.descent.method import Stop
from earnshaw.landscape.certificate import Kind
from earnshaw.landscape.escape import EscapePath
from earnshaw.landscape.flat import FLAT_KINDS
from earnshaw.landscape.hunting.pairing import Pairing
from earnshaw.results import Result, number

DECIDED = ("minimum", "cusp-minimum", "strict-saddle", *FLAT_KINDS)
CONFIDENCE = 0.95
NEAR_ZERO = 1e-3  # a relative loss from which a start may be said to creep to 0
STILL_FALLING = 0.1  # of what is left of the loss, in as many iterations again


@dataclasses.dataclass(frozen=True, repr=False)
class CriticalPoint(Result):
    """One critical point, up to the symmetries of the problem (`_groups.py`).

    Attributes:
        kind: minimum, cusp-minimum, strict-saddle, plateau, valley, channel, degenerate,
            not-critical or inconclusive.
        reason: why, in a line.
        loss: the objective there.
        relative_loss: over that of the empty student, not below 0 where no loss is; NaN where the
            empty student has no positive loss.
        smallest_eigenvalue: of the Hessian, transversal to the orbit of symmetries and to cusps;
            infinite where nothing smooth moves.
        gradient_norm: how exactly the student below is critical.
        count: how many starts ended there.
        frequency: the part of all ended starts that did.
        interval: its 95 % confidence interval (Clopper and Pearson, Biometrika 26, 1934).
        student: one of the ends.
        starts: the numbers of the starts that ended there, (count,).
        strict: whether it is a strict minimum; None where that is not known.
        escape: the path out of a valley or a channel; None without one.
        pairing: how its units pair with the teacher's; None where that was not asked.
    """

    kind: Kind
    reason: str
    loss: float
    relative_loss: float
    smallest_eigenvalue: float
    gradient_norm: float
    count: int
    frequency: float
    interval: tuple[float, float]
    student: Student
    starts: np.ndarray
    strict: bool | None = None
    escape: EscapePath | None = None
    pairing: Pairing | None = None

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON; None for what is infinite or does not exist."""
        return {
            "kind": self.kind,
            "strict": self.strict,
            "relative_loss": _plain(self.relative_loss),
            "loss": _plain(self.loss),
            "count": self.count,
            "frequency": self.frequency,
            "interval": list(self.interval),
            "smallest_eigenvalue": _plain(self.smallest_eigenvalue),
            "gradient_norm": _plain(self.gradient_norm),
            "reason": self.reason,
            "escape": None if self.escape is None else self.escape.summary(),
            "teacher_units": None if self.pairing is None else self.pairing._asdict(),
        }

    def _title(self) -> str:
        return f"{self.kind}: {self.reason}"

    def _facts(self) -> dict[str, object]:
        return {
            "relative loss": number(self.relative_loss),
            "smallest eigenvalue": number(self.smallest_eigenvalue),
            "starts": self.count,
            "units": self.student.units,
        }


@dataclasses.dataclass(frozen=True, repr=False)
class Landscape(Result):
    """The result of `hunt`.

    Attributes
    ----------
    teacher
        whose landscape this is.
    found
        the critical points, the lowest first.
    starts
        how many starts there were.
    undecided
        how many of them have no verdict: they ran out of iterations, were interrupted,
        or ended where the verdict is not-critical or inconclusive. Not those in `approaching`.
    stop
        why the hunt ended.
    settings
        all that was asked for, as plain values.
    begun
        where the units of each start were at first, (starts, k, d).
    ends
        where they are now, (starts, k, d).
    weights
        of the units there, (starts, k).
    relative_losses
        of the ends, (starts,).
    iterations
        that each start took, (starts,).
    approaching
        the numbers of the starts that ran out of iterations while they crept to loss
        0 (`is_approaching`); no verdict either, but not lost.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0], [3.0]], [1.0, 1.0], "gaussian")
    >>> landscape = ew.hunt(teacher, units=1, starts=8)
    >>> landscape.starts, landscape.ends.shape
    (8, (8, 1, 1))
    """

    teacher: Teacher
    found: tuple[CriticalPoint, ...]
    starts: int
    undecided: int
    stop: Stop
    settings: dict[str, Any]
    begun: np.ndarray
    ends: np.ndarray
    weights: np.ndarray
    relative_losses: np.ndarray
    iterations: np.ndarray
    approaching: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=int))

    _picture = "earnshaw.plots.landscape:draw_landscape"

    def __post_init__(self) -> None:
        found = tuple(
            dataclasses.replace(point, student=point.student.of(self.teacher))
            for point in self.found
        )
        object.__setattr__(self, "found", found)

    @property
    def reached(self) -> np.ndarray:
        """Which of `found` each start ended in, -1 for none; (starts,)."""
        index = np.full(self.starts, -1)
        for which, point in enumerate(self.found):
            index[point.starts] = which
        return index

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "found": [point.summary() for point in self.found],
            "starts": self.starts,
            "undecided": self.undecided,
            "approaching_zero": len(self.approaching),
            "stop": str(self.stop),
            "iterations": int(np.sum(self.iterations)),
            "settings": self.settings,
        }

    def _title(self) -> str:
        teacher, units = self.teacher, self.ends.shape[1]
        where = f"{teacher.species.name}, d = {teacher.input_dim}, {teacher.units} units"
        return f"{where}, {units} student units"

    def _facts(self) -> dict[str, object]:
        kinds = Counter(point.kind for point in self.found)
        lowest = min((point.relative_loss for point in self.found), default=math.nan)
        return {
            "starts": self.starts,
            "found": ", ".join(f"{many} {kind}" for kind, many in kinds.items()) or "nothing",
            "approaching 0": len(self.approaching) or None,
            "undecided": self.undecided,
            "lowest relative loss": number(lowest),
            "stop": self.stop,
        }


def is_approaching(
    relative_loss: np.ndarray, iterations: np.ndarray, fall: np.ndarray, loss: np.ndarray
) -> np.ndarray:
    """Which starts creep to 0: little of the loss is left, and of that a good part is still going.

    `fall` is what an iteration takes off the loss, step size times |grad L|^2. A loss that falls as
    t^-p loses p times itself in as many iterations again, one that comes to rest above 0 nothing:
    the line is at a tenth. All of shape (starts,). A finding, not a proof.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # where a start has diverged
        falling = iterations * fall >= STILL_FALLING * loss
        return (relative_loss <= NEAR_ZERO) & (loss > 0) & falling


def interval(count: int, total: int) -> tuple[float, float]:
    """The exact 95 % confidence interval of a probability, after `count` of `total` trials."""
    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    return low, high


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
