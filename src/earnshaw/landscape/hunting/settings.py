"""All that can be asked of a hunt, with its defaults: plain values that a file can hold.

The command line has its options from here, so that JAX and NumPy are loaded by the methods only.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import check_integer
from earnshaw.settings import check_settings, setting

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.charges.network import Teacher
    from earnshaw.energy.population import PopulationLoss

LARGEST_SEED = 2**63 - 1
LARGEST_SCALE = 1e70  # well below the largest coordinate (`charges/manifolds.py`)
OBJECTIVES = ("full", "regularized", "assumption-1", "without-constants")
MAY_GROW = ("starts", "iterations")  # when a stored hunt goes on


@dataclasses.dataclass(frozen=True)
class Settings:
    """The arguments of `hunt` that say what to do, not how to show or store it."""

    units: int | None = setting(
        None,
        "Units of the student; as many as the teacher has.",
        low=1,
        said="student units",
        option="student_units",
    )
    fixed_charges: bool = setting(
        False, "Only positions move, weights are the teacher's; 1 for a random teacher."
    )
    starts: int = setting(600, "Random starts; 600.", low=1)
    seed: int = setting(0, "Of the starts; 0.", low=0, high=LARGEST_SEED)
    init_scale: float | None = setting(
        None,
        "s, for starts of N(0, s^2 I); N(0, I/d).",
        above=0.0,
        below=LARGEST_SCALE,
        said="init scale",
    )
    objective: str = setting(
        "full", "full (the default), regularized, assumption-1.", allowed=OBJECTIVES
    )
    tolerance: float | None = setting(
        None, "The gradient norm of a start that has arrived.", above=0.0
    )
    iterations: int = setting(50_000, "At most, of each start; 50000.", low=1)

    def __post_init__(self) -> None:
        check_settings(self)
        if not isinstance(self.fixed_charges, bool):
            raise OutOfRange("fixed_charges", self.fixed_charges, "True or False")

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
        from earnshaw.energy.population import population_loss

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
        import numpy as np

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
