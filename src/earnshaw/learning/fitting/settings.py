"""What may be asked of a fit."""

from __future__ import annotations

import dataclasses
from typing import Any

from earnshaw.errors import OutOfRange, UnknownName
from earnshaw.limits import check_integer, check_real
from earnshaw.settings import check_settings, setting

CRITERIA = ("evidence", "bic", "aic", "holdout")
SOLVERS = ("auto", "lm", "lbfgs", "minibatch")


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a network is fitted to data."""

    units: int | str = setting("auto", "How many, or auto to find out.")
    max_units: int = setting(50, "How many at most, for auto.", low=0)
    criterion: str = setting(
        "evidence", "For auto: evidence, bic, aic or holdout.", allowed=CRITERIA, suggest=True
    )
    networks: int | str = setting(
        "auto", "How many count, for evidence; auto: a committee, with fields."
    )
    max_time: float | None = setting(None, "Seconds after which the best so far is taken.")
    validation_fraction: float = setting(
        0.2, "The part of the samples that holdout holds out.", above=0.0, below=1.0
    )
    loss: str = setting("squares", "squares, logistic or softmax.")
    alpha: float = setting(0.0, "Strength of regularisation, of standardised units and weights.")
    biases: bool = setting(True, "Whether units have biases.")
    intercept: bool = setting(True, "Whether outputs have one.")
    linear: bool | str = setting("auto", "A linear part: auto, yes or no.")
    scale: bool = setting(True, "Whether inputs are standardised; answers always are.")
    solver: str = setting(
        "auto", "lm, lbfgs or minibatch; auto: by the size.", allowed=SOLVERS, suggest=True
    )
    iterations: int = setting(300, "Of the last polish, at most.", low=1, said="max_iter")
    tolerance: float = setting(1e-10, "Relative decrease of the error where the last polish ends.")
    seed: int = setting(0, "Of starts and folds.", low=0)

    def __post_init__(self) -> None:
        from earnshaw.learning.fitting._losses import LOSSES  # loads JAX, as options must not

        if self.units != "auto":
            if isinstance(self.units, str):
                raise OutOfRange("n_units", self.units, "'auto' or an integer >= 0")
            check_integer("n_units", self.units, 0)
        if self.networks != "auto":
            if isinstance(self.networks, str):
                raise OutOfRange("n_networks", self.networks, "'auto' or an integer >= 1")
            check_integer("n_networks", self.networks, 1)
        if self.max_time is not None:
            check_real("max_time", self.max_time, 0.0)
        check_settings(self)
        if self.loss not in LOSSES:
            raise UnknownName("loss", str(self.loss), tuple(LOSSES))
        if self.linear not in (True, False, "auto"):
            raise OutOfRange("linear", self.linear, "True, False or 'auto'")
        _check_not_negative("alpha", self.alpha)
        _check_not_negative("tol", self.tolerance)


def _check_not_negative(what: str, value: Any) -> None:
    if isinstance(value, bool) or value != 0:
        check_real(what, value, 0.0)
