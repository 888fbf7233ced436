"""What may be asked of a fit."""

from __future__ import annotations

import dataclasses
from typing import Any

from earnshaw.errors import OutOfRange, UnknownName, check_integer, check_real
from earnshaw.fitting.losses import LOSSES

CRITERIA = ("bic", "aic", "holdout")
SOLVERS = ("auto", "lm", "lbfgs", "minibatch")


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a network is fitted to data.

    Attributes:
        units: how many units, or "auto" to find the number.
        max_units: how many at most, for "auto".
        criterion: what "auto" goes by: "bic", "aic" or "holdout".
        validation_fraction: the part of the samples that "holdout" holds out.
        loss: "squares", "logistic" or "softmax".
        alpha: the strength of regularisation, of standardised units and weights.
        biases: whether units have biases.
        intercept: whether outputs have one.
        linear: whether there is a linear part; "auto" to find out.
        scale: whether inputs are standardised (answers always are).
        solver: "lm", "lbfgs" or "minibatch"; "auto" by the size of the problem.
        iterations: of the last polish, at most.
        tolerance: the relative decrease of the error at which the last polish ends.
        seed: of starts and subsets.
    """

    units: int | str = "auto"
    max_units: int = 50
    criterion: str = "bic"
    validation_fraction: float = 0.2
    loss: str = "squares"
    alpha: float = 0.0
    biases: bool = True
    intercept: bool = True
    linear: bool | str = "auto"
    scale: bool = True
    solver: str = "auto"
    iterations: int = 300
    tolerance: float = 1e-10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.units != "auto":
            if isinstance(self.units, str):
                raise OutOfRange("n_units", self.units, "'auto' or an integer >= 0")
            check_integer("n_units", self.units, 0)
        check_integer("max_units", self.max_units, 0)
        for what, value, known in (
            ("criterion", self.criterion, CRITERIA),
            ("loss", self.loss, tuple(LOSSES)),
            ("solver", self.solver, SOLVERS),
        ):
            if value not in known:
                raise UnknownName(what, str(value), known)
        check_real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        _check_not_negative("alpha", self.alpha)
        if self.linear not in (True, False, "auto"):
            raise OutOfRange("linear", self.linear, "True, False or 'auto'")
        check_integer("max_iter", self.iterations, 1)
        _check_not_negative("tol", self.tolerance)
        check_integer("seed", self.seed, 0)


def _check_not_negative(what: str, value: Any) -> None:
    if isinstance(value, bool) or value != 0:
        check_real(what, value, 0.0)
