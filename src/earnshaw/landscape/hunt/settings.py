"""All that was asked of a hunt, with its defaults: plain values that a file can hold."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

from earnshaw.charges.network import Teacher
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.errors import EarnshawError, OutOfRange, check_integer, check_real

LARGEST_SEED = 2**63 - 1
OBJECTIVES = ("full", "regularized", "assumption-1", "without-constants")
MAY_GROW = ("starts", "iterations")  # when a stored hunt goes on


@dataclasses.dataclass(frozen=True)
class Settings:
    """The arguments of `hunt` that say what to do, not how to show or store it."""

    units: int | None = None
    starts: int = 600
    seed: int = 0
    fixed_charges: bool = False
    init_scale: float | None = None
    objective: str = "full"
    tolerance: float | None = None
    iterations: int = 50_000

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0, LARGEST_SEED)
        check_integer("starts", self.starts, 1)
        check_integer("iterations", self.iterations, 1)
        if self.units is not None:
            check_integer("student units", self.units, 1)
        for name in ("init_scale", "tolerance"):
            if (value := getattr(self, name)) is not None:
                check_real(name.replace("_", " "), value, 0.0)
        if not isinstance(self.fixed_charges, bool):
            raise OutOfRange("fixed_charges", self.fixed_charges, "True or False")
        if self.objective not in OBJECTIVES:
            raise OutOfRange("objective", self.objective, ", ".join(OBJECTIVES))

    def text(self) -> str:
        """As JSON."""
        return json.dumps(dataclasses.asdict(self))

    def agreeing(self, given: dict[str, Any]) -> Settings:
        """These settings where a stored hunt goes on with `given` ones, or why it cannot."""
        for name, value in given.items():
            stored = getattr(self, name)
            if name in MAY_GROW:
                check_integer(name, value, 1)
                if value < stored:
                    raise EarnshawError(f"it has {name} {stored}; allowed: as many, or more")
            elif value != stored:
                raise EarnshawError(f"it is a hunt with {name} {stored!r}, not {value!r}")
        return dataclasses.replace(self, **{k: given[k] for k in MAY_GROW if k in given})

    def loss(self, teacher: Teacher) -> PopulationLoss:
        """The loss that starts go down on."""
        fixed = self.fixed_charges or self.objective == "assumption-1"
        return population_loss(teacher, self.objective, wrt="positions" if fixed else "both")

    def student_units(self, teacher: Teacher) -> int:
        """k, as asked for or as many as the teacher has."""
        return teacher.units if self.units is None else self.units

    def weights(self, teacher: Teacher) -> np.ndarray | None:
        """The fixed weights of a student, (k,); None if they are free.

        They are the teacher's, in order: its order does not matter where they are all equal, which
        is when a student may have another number of units. Other teachers are refused then.
        """
        if not self.fixed_charges and self.objective != "assumption-1":
            return None
        b, units = np.asarray(teacher.weights), self.student_units(teacher)
        if units == teacher.units:
            return b
        if np.any(b != b[0]):
            raise EarnshawError(
                f"fixed charges are the teacher's, which differ, and {units} student units cannot "
                f"share those of {teacher.units}; allowed: as many units, or equal weights"
            )
        return np.full(units, b[0])


def settings_of(text: str) -> Settings:
    """Those that `Settings.text` wrote; ValueError for anything else."""
    fields = json.loads(text)
    known = {field.name for field in dataclasses.fields(Settings)}
    if not isinstance(fields, dict) or set(fields) != known:
        raise EarnshawError("its settings are not those of a hunt of this version")
    return Settings(**fields)
