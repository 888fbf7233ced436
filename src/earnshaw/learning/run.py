"""What a finished (or interrupted) run of `ew.learn` is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from earnshaw.charges.matching import Matching
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.network_file import student_values
from earnshaw.descent.method import Stop
from earnshaw.descent.nodes import LEFT
from earnshaw.landscape.certificate import Certificate
from earnshaw.results import Result, number

RESULTS = {  # what a run can have learned, for people
    "recovered": "every unit, as a permutation, with its place and weight",
    "equal-function": "the same function, to 1e-10 of its mean square, by other units",
    "incomplete": "neither the teacher's units nor its function",
}


@dataclass(frozen=True, repr=False)
class Trace:
    """The way of a run, thinned: what pictures are made of.

    Attributes:
        iterations: at which the losses were taken, (n,); for node-wise methods the total number
            of iterations when each unit was placed, beginning with 0.
        losses: the loss there, (n,).
        gradient_norms: the norm of its gradient there, (n,); empty for node-wise methods.
        paths: for each unit of the student its way, (m, d); units of node-wise methods moved one
            after the other, others at the same time.
        node_iterations: for node-wise methods, the iterations that each unit took which was placed
            and not dropped again; else None.
    """

    iterations: np.ndarray
    losses: np.ndarray
    gradient_norms: np.ndarray
    paths: tuple[np.ndarray, ...]
    node_iterations: np.ndarray | None = None

    def __repr__(self) -> str:
        points, last = len(self.iterations), self.iterations[-1:].tolist()
        return f"Trace: {points} losses up to iteration {last}, the ways of {len(self.paths)} units"


@dataclass(frozen=True, repr=False)
class Run(Result):
    """The result of `ew.learn`.

    Attributes
    ----------
    teacher
        what was to be learned.
    student
        what was learned.
    method
        the name of the method.
    stop
        why the run ended; "recovered" and "equal-function" are told apart as in `result`.
    iterations
        how many there were in all.
    loss
        the objective at the student.
    relative_loss
        the loss E[(f - g)^2] over that of a student without units.
    history
        the way there.
    matching
        which unit found which.
    certificate
        what kind of point this is.
    settings
        all that was asked for, as plain values.
    notes
        one-line remarks, such as what theory steps would have taken.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> run = ew.learn(teacher, seed=0)
    >>> run.result, run.student.units
    ('recovered', 2)
    """

    teacher: Teacher
    student: Student
    method: str
    stop: Stop
    iterations: int
    loss: float
    relative_loss: float
    history: Trace
    matching: Matching
    certificate: Certificate
    settings: dict[str, Any]
    notes: tuple[str, ...] = ()

    _picture = "earnshaw.plots.learning:draw_run"
    _panel = "earnshaw.plots.learning:draw_ways"

    def __post_init__(self) -> None:
        if self.student.unit_kind is None:
            object.__setattr__(self, "student", self.student.of(self.teacher))

    @property
    def oracle(self) -> str:
        """What the learner could ask."""
        return str(self.settings["oracle"])

    @property
    def result(self) -> str:
        """What was learned, whatever ended the run.

        "recovered": every unit, as a permutation up to the activation's symmetries, with its place
        and weight (`Matching.is_recovery`). "equal-function": the teacher's function, to a mean
        square of 1e-10 of its own, by other units. "incomplete": neither.
        """
        if self.matching.is_recovery:
            return "recovered"
        return "equal-function" if self.relative_loss <= LEFT else "incomplete"

    def summary(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "method": self.method,
            "oracle": self.oracle,
            "result": self.result,
            "relative_loss": self.relative_loss,
            "units": self.student.units,
            "permutation": self.matching.permutation.tolist(),
            "is_permutation": self.matching.is_permutation,
            "recovered": self.matching.recovered(),
            "iterations": self.iterations,
            "stop": str(self.stop),
            "certificate": self.certificate.summary(),
            "student": student_values(self.student),
        }

    def _title(self) -> str:
        teacher = self.teacher
        where = f"{teacher.species.name}, d = {teacher.input_dim}"
        return f"{where}, {teacher.units} units by {self.method}"

    def _facts(self) -> dict[str, object]:
        return {
            "stop": self.stop,
            "relative loss": number(self.relative_loss),
            "student units": self.student.units,
            "a permutation": "yes" if self.matching.is_permutation else "no",
            "iterations": self.iterations,
            "certificate": self.certificate.kind,
            "oracle": self.oracle,
        }


def decided(stop: Stop, matching: Matching | None) -> Stop:
    """Why a run stopped, once its units are compared with the teacher's, if there is one.

    A method that leaves nothing of the loss knows of an equal function only.
    """
    if stop not in (Stop.EQUAL_FUNCTION, Stop.RECOVERED):
        return stop
    recovered = matching is not None and matching.is_recovery
    return Stop.RECOVERED if recovered else Stop.EQUAL_FUNCTION
