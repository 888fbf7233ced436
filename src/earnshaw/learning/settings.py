"""All that can be asked of a run, with its defaults: plain values that a file can hold."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import ORACLES, check_oracle
from earnshaw.settings import check_settings, setting

LARGEST_SEED = 2**63 - 1
BETWEEN = re.compile(r",(?![^(]*\))")  # commas that are not inside of a formula's parentheses
FREE_TO_CHANGE = ("iterations",)  # what may differ when a stored run goes on


@dataclasses.dataclass(frozen=True)
class Procedure:
    """How to learn: what a sweep may vary beside the teacher."""

    method: str = setting(
        "node-wise",
        "node-wise (the default), node-wise-paper, node-wise-sgd, node-wise-gd, gd, "
        "hessian-descent, second-gd, perturbed-gd, noisy-sgd, newton.",
    )
    objective: str = setting("full", "full (the default), regularized, assumption-1.")
    oracle: str = setting("exact", f"What the learner may ask: {ORACLES}; exact.", newer=True)
    samples: int | None = setting(None, "The same as --oracle samples:N.", low=1)
    batch: int | None = setting(None, "Size of minibatches, with --samples.", low=1)
    steps: str | float | None = setting(None, "adaptive, theory, or the size of constant steps.")
    starts: int | None = setting(None, "Random starts: of all units (1), of each unit (8).", low=1)
    start: str | None = setting(None, "random, or lemma-4.5.", allowed=("random", "lemma-4.5"))
    start_scale: float = setting(
        1.0, "Times the usual distance of starts; 1.", above=0.0, newer=True
    )
    iterations: int | None = setting(None, "At most; node-wise: for each unit.", low=1)
    tolerance: float | None = setting(None, "The eps of M_eps.", above=0.0)

    def __post_init__(self) -> None:
        check_settings(self)
        self._settle_oracle()
        if isinstance(self.steps, float) and not math.isfinite(self.steps):
            raise OutOfRange("steps", self.steps, "adaptive, theory or a positive number")
        if self.start is not None and self.node_wise:
            raise EarnshawError(
                f"{self.method} has its own starts; allowed: start= for methods of all units"
            )

    def _settle_oracle(self) -> None:
        """`samples` and `oracle` say the same, whichever of them was given."""
        if self.oracle == "exact" and self.samples is not None:
            object.__setattr__(self, "oracle", f"samples:{self.samples}")
        kind, number = check_oracle(self.oracle)
        told = int(number) if kind == "samples" else None
        if self.samples not in (None, told):
            raise EarnshawError(
                f"oracle {self.oracle} and samples {self.samples} are two oracles; allowed: one"
            )
        object.__setattr__(self, "samples", told)
        if self.steps == "theory" and kind not in ("exact", "samples"):
            raise EarnshawError(
                f"theory steps follow from the teacher itself, not from the oracle {self.oracle}; "
                "allowed: --oracle exact, or --steps adaptive"
            )

    @property
    def node_wise(self) -> bool:
        """Whether the method finds one unit after the other."""
        return str(self.method).startswith("node-wise")


@dataclasses.dataclass(frozen=True)
class Settings(Procedure):
    """The arguments of `ew.learn` that say what to do, not how to show or store it."""

    units: int | None = setting(
        None,
        "Units the student may have; node-wise finds the number.",
        low=1,
        option="student_units",
    )
    seed: int = setting(0, "Of the teacher and of the run; 0.", low=0, high=LARGEST_SEED)
    wrt: str | None = setting(None, "What moves: both, positions, weights.")
    student_activation: str | None = setting(
        None,
        "Of the student's units, if not the teacher's: a name, or one a unit with commas.",
        newer=True,
    )

    @property
    def student_units(self) -> str | list[str] | None:
        """`student_activation` as `ew.Student` takes it."""
        asked = self.student_activation
        listed = [] if asked is None else [name.strip() for name in BETWEEN.split(asked)]
        return listed if len(listed) > 1 else asked

    def agreeing(self, given: dict[str, Any]) -> Settings:
        """These settings where a stored run goes on with `given` ones, or why it cannot."""
        for name, value in given.items():
            stored = getattr(self, name)
            if name not in FREE_TO_CHANGE and value != stored:
                raise EarnshawError(f"it is a run with {name} {stored!r}, not {value!r}")
        changed = {name: given[name] for name in FREE_TO_CHANGE if name in given}
        return dataclasses.replace(self, **changed)
