"""`learn_from_samples`: a network of translation units from data (x, y), without a teacher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.typing import ArrayLike

from earnshaw.charges.matching import Matching, match
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.network_file import student_values
from earnshaw.descent.loop import Report
from earnshaw.descent.method import Stop
from earnshaw.descent.methods import MethodOptions
from earnshaw.duality.activation import Activation
from earnshaw.energy.empirical import empirical_loss
from earnshaw.errors import EarnshawError
from earnshaw.learning._sessions import NodeByNode
from earnshaw.learning.run import Trace, decided
from earnshaw.learning.samples.sampled_nodes import sampled_nodes, translation
from earnshaw.limits import check_integer
from earnshaw.numerics.fixed_order import one_blas_thread
from earnshaw.results import Result, number

UNITS = 32  # the most that are placed if nothing is said


@dataclass(frozen=True, repr=False)
class SampledRun(Result):
    """The result of `learn_from_samples`.

    Attributes
    ----------
    student
        what was learned.
    activation
        that of its units.
    stop
        why the run ended: "equal-function" if nothing is left of these samples, "recovered"
        if moreover the units are those of the teacher that was given to compare with,
        "no-new-unit" if no further unit would earn its price, as with noise, "unit-limit" or
        "interrupted".
    iterations
        of all searches.
    loss
        mean (y - g(x))^2.
    relative_loss
        that over mean y^2.
    history
        the way there. Each of its paths ends with where the search put the unit, and
        then where it was in the end.
    matching
        which unit found which, if a teacher was given to compare with.

    Examples
    --------
    See `learn_from_samples`:

    >>> import earnshaw as ew
    >>> from dataclasses import fields
    >>> [field.name for field in fields(ew.SampledRun)][:3]
    ['student', 'activation', 'stop']
    """

    student: Student
    activation: Activation
    stop: Stop
    iterations: int
    loss: float
    relative_loss: float
    history: Trace
    matching: Matching | None = None

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "activation": self.activation.name,
            "relative_loss": self.relative_loss,
            "loss": self.loss,
            "units": self.student.units,
            "iterations": self.iterations,
            "stop": str(self.stop),
            "recovered": None if self.matching is None else self.matching.recovered(),
            "student": student_values(self.student),
        }

    def _title(self) -> str:
        return f"{self.student.units} {self.activation.name} units in d = {self.student.dim}"

    def _facts(self) -> dict[str, object]:
        return {
            "stop": self.stop,
            "relative loss": number(self.relative_loss),
            "iterations": self.iterations,
        }


@one_blas_thread()
def learn_from_samples(
    data: tuple[ArrayLike, ArrayLike],
    activation: str | Activation | Callable[[Any], Any],
    *,
    units: int | None = None,
    seed: int = 0,
    starts: int | None = None,
    iterations: int | None = None,
    tolerance: float | None = None,
    teacher: Teacher | None = None,
    report: Report | None = None,
    **parameters: Any,
) -> SampledRun:
    """Learn g(x) = sum_i c_i h(x - theta_i)/sqrt(p(x)) from data, unit by unit.

    `ew.learn(teacher, samples=n)` does the same with samples of a teacher. Ctrl-C ends the run and
    returns what there is.

    Parameters
    ----------
    data
        arrays (x, y) of shapes (n, d) and (n,).
    activation
        a name, "almost-harmonic" or "gaussian", say, with its parameters as further
        keywords, `width` of the inputs among them; or a translation activation.
    units
        how many may be placed, 32 if not given; their number is found.
    seed
        of the searches.
    starts
        how many searches for each unit; 4.
    iterations
        of a search, at most; 40.
    tolerance
        the part of mean y^2 that is worth a unit, whatever the price says; 0.
    teacher
        a network to compare with, of which nothing is used.
    report
        called with a `Progress` after each round.
    **parameters
        those of the named activation.

    Returns
    -------
    SampledRun
        `.student`, `.stop` and how well it fits, `.relative_loss`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.5]], [2.0], "gaussian")
    >>> loss = ew.empirical_loss(teacher, 200, seed=0)
    >>> run = ew.learn_from_samples((loss.x, loss.y), "gaussian", units=2, starts=2, seed=0)
    >>> run.student.units, bool(run.relative_loss < 1e-12)
    (1, True)
    """
    loss = empirical_loss(data, activation=activation, **parameters)
    sigma = translation(loss)
    if sigma is None:
        raise EarnshawError(
            "learn_from_samples is for activations of x - w; allowed: almost-harmonic, gaussian, "
            "bessel and others on R^d"
        )
    limit = UNITS if units is None else check_integer("units", units, 1)
    method = sampled_nodes(limit, MethodOptions(None, tolerance, iterations, starts))
    session = NodeByNode(method, loss, check_integer("seed", seed, 0), units is not None)
    outcome = session.outcome(*session.go(session.begin(), report, None))
    first = float(loss.empty_value())
    matching = None if teacher is None else match(teacher, outcome.student)
    return SampledRun(
        student=outcome.student.of(sigma),
        activation=sigma,
        stop=decided(outcome.stop, matching),
        iterations=outcome.iterations,
        loss=outcome.loss,
        relative_loss=outcome.loss / first if first > 0 else float(np.nan),
        history=outcome.history,
        matching=matching,
    )
