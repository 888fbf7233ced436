"""`ew.certify`: what kind of point a student is, and what the papers' theorems say of it.

To the verdict of a `Certificate` this adds what a degenerate point is, where that can be told
(`flat.py`); to its numbers the Laplacians of the papers' arguments (of each unit
alone, and of all units moved together: Full, Theorems 3.6 and F.2), every theorem that speaks of
the teacher's potential with its hypotheses checked one by one (`theorems/`), and, if asked for, a
proof in ball arithmetic (`proofs/`).
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import Objective
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError
from earnshaw.landscape.binding import bind
from earnshaw.landscape.certificate import Certificate, certificate
from earnshaw.landscape.escape import EscapePath
from earnshaw.landscape.flat import flat_kind
from earnshaw.landscape.theorems.application import Application
from earnshaw.landscape.theorems.applied import applied
from earnshaw.landscape.theorems.setting import Setting

if TYPE_CHECKING:
    from earnshaw.landscape.proofs.proof import Proof


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Certified(Certificate):
    """A certificate, with what the papers say of the point.

    `laplacians` (k,) are those of the loss in each unit alone, `group_laplacian` that in all units
    moved together; NaN where a unit sits on a cusp. `theorems` are empty for losses of samples,
    `rigorous` is the proof that was asked for. `escape` is the path that makes a point a valley or
    a channel.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0], "gaussian")
    >>> loss = ew.population_loss(teacher, wrt="positions")
    >>> found = ew.certify(loss, ew.Student([[0.5, 0.0]], [1.0]))
    >>> found.kind, bool(found.laplacians[0] > 0)
    ('minimum', True)
    """

    laplacians: np.ndarray
    group_laplacian: float
    theorems: tuple[Application, ...] = ()
    rigorous: Proof | None = None
    escape: EscapePath | None = None

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON; None for what is infinite or does not exist."""
        moved = {} if self.direction is None else self.direction._asdict()
        return super().summary() | {
            "loss": _plain(self.loss),
            "direction": {name: np.asarray(part).tolist() for name, part in moved.items()} or None,
            "laplacians": [_plain(value) for value in self.laplacians],
            "group_laplacian": _plain(self.group_laplacian),
            "theorems": [one.summary() for one in self.theorems],
            "rigorous": None if self.rigorous is None else self.rigorous.summary(),
            "escape": None if self.escape is None else self.escape.summary(),
        }

    def _facts(self) -> dict[str, object]:
        applied = [one.theorem for one in self.theorems if one.applies]
        proved = None if self.rigorous is None else self.rigorous.kind
        return super()._facts() | {"theorems": ", ".join(applied) or "none", "proved": proved}


def certify(
    teacher: Teacher | Objective,
    student: Student,
    *,
    objective: str = "full",
    wrt: str | None = None,
    tolerance: float | None = None,
    rigorous: bool = False,
) -> Certified:
    """What kind of point `student` is, which theorems apply, and a proof if asked for.

    Parameters
    ----------
    teacher
        a teacher, or a loss of the student.
    student
        the point.
    objective, wrt
        the loss of a teacher, as in `population_loss`.
    tolerance
        of gradient norms and eigenvalues, as in `certificate`.
    rigorous
        whether to prove the verdict in ball arithmetic.

    Returns
    -------
    Certified
        `.kind` and `.reason`, and the numbers that say so.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0], "gaussian")
    >>> loss = ew.population_loss(teacher, wrt="positions")
    >>> ew.certify(loss, ew.Student([[0.5, 0.0]], [1.0])).kind  # in the middle
    'minimum'
    >>> ew.certify(loss, ew.Student([[0.0, 0.0]], [1.0])).kind
    'not-critical'
    """
    if isinstance(teacher, Teacher):
        loss: Objective = population_loss(teacher, objective, wrt=wrt)
    elif isinstance(teacher, Objective):
        loss = teacher
    else:
        raise EarnshawError(f"certify needs a Teacher or a loss, not {type(teacher).__name__}")
    loss = loss.suited_to(student)
    found = certificate(loss, student, tolerance=tolerance)
    student = bind(loss, loss.check(student)).student
    alone, together = _laplacians(loss, student, found)
    theorems: tuple[Application, ...] = ()
    if loss.teacher is not None and student.units and not loss.of_another_kind:
        theorems = applied(Setting(loss, loss.teacher, student, found, alone, together))
    values = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    flat = flat_kind(loss, student, found.tolerance) if found.kind == "degenerate" else None
    if flat is not None:
        values |= {"kind": flat.kind, "reason": f"{found.reason}; {flat.reason}", "strict": False}
    return Certified(
        **values,
        laplacians=alone,
        group_laplacian=together,
        theorems=theorems,
        rigorous=_proof(loss, student) if rigorous else None,
        escape=None if flat is None else flat.path,
    )


def _laplacians(loss: Objective, student: Student, found: Certificate) -> tuple[np.ndarray, float]:
    """Of each unit and of all together; a cusp has none."""
    if not student.units:
        return np.zeros(0), 0.0
    bound = found.held_by != -1
    alone = np.where(bound, np.nan, np.asarray(loss.laplacian(student)))
    if np.any(bound):
        return alone, math.nan
    return alone, float(loss.laplacian(student, range(student.units)))


def _proof(loss: Objective, student: Student) -> Proof:
    if loss.teacher is None:
        raise EarnshawError("a proof needs the exact loss; allowed: a teacher or its exact loss")
    from earnshaw.landscape.proofs.prove import prove  # loads python-flint: not until needed

    return prove(loss.teacher, student, wrt=loss.wrt, objective=loss.name)


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
