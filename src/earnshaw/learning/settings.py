"""All that was asked of a run, with its defaults: plain values that a file can hold."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from earnshaw.descent.methods import NODE_WISE
from earnshaw.errors import EarnshawError, OutOfRange, check_integer, check_real

LARGEST_SEED = 2**63 - 1
FREE_TO_CHANGE = ("iterations",)  # what may differ when a stored run goes on


@dataclasses.dataclass(frozen=True)
class Settings:
    """The arguments of `ew.learn` that say what to do, not how to show or store it."""

    method: str = "node-wise"
    seed: int = 0
    units: int | None = None
    objective: str = "full"
    wrt: str | None = None
    samples: int | None = None
    batch: int | None = None
    starts: int | None = None
    start: str | None = None
    iterations: int | None = None
    steps: str | float | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0, LARGEST_SEED)
        for name in ("units", "samples", "batch", "starts", "iterations"):
            if (value := getattr(self, name)) is not None:
                check_integer(name, value, 1)
        if self.tolerance is not None:
            check_real("tolerance", self.tolerance, 0.0)
        if isinstance(self.steps, float) and not math.isfinite(self.steps):
            raise OutOfRange("steps", self.steps, "adaptive, theory or a positive number")
        if self.start not in (None, "random", "lemma-4.5"):
            raise OutOfRange("start", self.start, "random or lemma-4.5")
        if self.start is not None and self.method in NODE_WISE:
            raise EarnshawError(
                f"{self.method} has its own starts; allowed: start= for methods of all units"
            )

    def text(self) -> str:
        """As JSON."""
        return json.dumps(dataclasses.asdict(self))

    def agreeing(self, given: dict[str, Any]) -> Settings:
        """These settings where a stored run goes on with `given` ones, or why it cannot."""
        for name, value in given.items():
            stored = getattr(self, name)
            if name not in FREE_TO_CHANGE and value != stored:
                raise EarnshawError(f"it is a run with {name} {stored!r}, not {value!r}")
        changed = {name: given[name] for name in FREE_TO_CHANGE if name in given}
        return dataclasses.replace(self, **changed)


def settings_of(text: str) -> Settings:
    """Those that `Settings.text` wrote; ValueError for anything else."""
    fields = json.loads(text)
    known = {field.name for field in dataclasses.fields(Settings)}
    if not isinstance(fields, dict) or set(fields) != known:
        raise EarnshawError("its settings are not those of a run of this version")
    return Settings(**fields)
