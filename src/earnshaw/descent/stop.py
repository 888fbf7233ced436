"""Why a run stopped: a value, not a message that was printed on the way."""

from __future__ import annotations

from enum import StrEnum


class Stop(StrEnum):
    """The reasons. `code` is what compiled loops carry; 0 stands for a run that goes on."""

    CONVERGED = "converged"
    STATIONARY = "stationary"
    NO_DECREASE = "no-guaranteed-decrease"
    ITERATION_LIMIT = "iteration-limit"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    FAIL = "fail"
    RECOVERED = "recovered"
    NO_NEW_UNIT = "no-new-unit"
    UNIT_LIMIT = "unit-limit"

    @property
    def code(self) -> int:
        """1, 2, ... in the order above."""
        return list(Stop).index(self) + 1

    @property
    def meaning(self) -> str:
        """One line for people."""
        return _MEANINGS[self]


RUNNING = 0

_MEANINGS = {
    Stop.CONVERGED: "in M_eps: gradient at most eps, no curvature below -eps",
    Stop.STATIONARY: "the gradient is at most eps; the curvature was not looked at",
    Stop.NO_DECREASE: "no step with its guaranteed decrease is left",
    Stop.ITERATION_LIMIT: "all allowed iterations were used",
    Stop.INTERRUPTED: "interrupted; this is what there was",
    Stop.DIVERGED: "the student left the range of finite numbers",
    Stop.FAIL: "FAIL: not in M_eps within the allowed iterations (EPD, Algorithm 4)",
    Stop.RECOVERED: "what is left of the loss is below the tolerance",
    Stop.NO_NEW_UNIT: "no start of the last rounds led to a new unit",
    Stop.UNIT_LIMIT: "all allowed units are placed",
}


def stop_of(code: int) -> Stop | None:
    """The reason behind a code; None for a run that goes on."""
    return None if code == RUNNING else list(Stop)[int(code) - 1]
