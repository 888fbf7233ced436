"""What a proof is about: a teacher, a centre, what moves, and which unit sits on which proton.

The variables are, in this order, the weights if they move and the coordinates (`_charts.py`) of
every unit that moves and is not held; all are offsets from the centre, 0 there. A held unit sits
exactly on a proton, at a cusp of the loss: a constant position, as far as the smooth part of it
goes. On the sphere a vector of floats means the exact unit vector in its direction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from flint import arb, arb_mat

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import check_moving, what_moves
from earnshaw.energy.variants import check_ones
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.landscape.proofs._balls import column
from earnshaw.landscape.proofs._charts import Placed, on_space, on_sphere, unit
from earnshaw.landscape.proofs._choose_kernel import kernel_of
from earnshaw.landscape.proofs.kernel import Kernel

FREE = -1  # in `held_by`: a unit that sits on no proton
OBJECTIVES = ("full", "regularized", "assumption-1")
FEWEST_BITS, MOST_BITS = 64, 4096  # of precision


@dataclasses.dataclass(frozen=True, eq=False)
class Problem:
    """`held_by` (k,) is the proton that each student unit sits on, or -1.

    With a `spread` it is about all teachers at once whose weights and coordinates of positions
    differ by at most so much from the teacher's (`teacher_box.py`).
    """

    teacher: Teacher
    centre: Student
    wrt: str
    objective: str
    held_by: tuple[int, ...]
    spread: float = 0.0

    @cached_property
    def kernel(self) -> Kernel:
        """Phi and its derivatives in ball arithmetic."""
        return kernel_of(self.teacher)

    @property
    def ridge(self) -> int:
        """The factor of |c|^2."""
        return 1 if self.objective == "regularized" else 0

    @cached_property
    def curved(self) -> bool:
        """Whether units live on the sphere."""
        return self.teacher.manifold.name == "sphere"

    @property
    def weights_move(self) -> bool:
        """Whether the weights are variables."""
        return self.wrt != "positions"

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """The units whose positions are variables."""
        if self.wrt == "weights":
            return ()
        return tuple(i for i, holder in enumerate(self.held_by) if holder == FREE)

    @property
    def degrees(self) -> int:
        """How many coordinates the position of one unit has."""
        return self.teacher.dim - 1 if self.curved else self.teacher.dim

    @property
    def variables(self) -> int:
        """n, the number of variables."""
        return len(self.held_by) * self.weights_move + len(self.moving) * self.degrees

    @property
    def still(self) -> bool:
        """Whether nothing at all can move."""
        return not self.variables and all(holder == FREE for holder in self.held_by)

    @cached_property
    def first(self) -> dict[int, int]:
        """The first variable of each moving unit."""
        start = len(self.held_by) if self.weights_move else 0
        return {i: start + k * self.degrees for k, i in enumerate(self.moving)}

    @property
    def scale(self) -> float:
        """The size of the largest coordinate of the centre, or 1."""
        parts = (self.centre.positions, self.centre.weights)
        return max(1.0, *(float(np.max(np.abs(np.asarray(x)), initial=0.0)) for x in parts))

    @cached_property
    def homes(self) -> list[list[float]]:
        """The teacher's positions, as floats."""
        return np.asarray(self.teacher.positions).tolist()

    def protons(self) -> tuple[list[arb], list[arb_mat]]:
        """The teacher's weights and positions at the precision in force."""
        put = unit if self.curved else column
        weights = [arb(b, self.spread) for b in np.asarray(self.teacher.weights).tolist()]
        return weights, [put(self._home(j)) for j in range(len(self.homes))]

    def _home(self, j: int) -> list[arb]:
        """The coordinates of proton j, over all teachers."""
        return [arb(x, self.spread) for x in self.homes[j]]

    def sits_on(self, i: int, j: int) -> bool:
        """Whether unit i is held at the place of proton j."""
        holder = self.held_by[i]
        return holder != FREE and self.homes[holder] == self.homes[j]

    def place(self, offset: Sequence[arb]) -> tuple[list[arb], list[Placed]]:
        """The student's weights and positions at an offset from the centre."""
        weights = [arb(c) for c in np.asarray(self.centre.weights).tolist()]
        if self.weights_move:
            weights = [c + y for c, y in zip(weights, offset[: len(weights)], strict=True)]
        positions = np.asarray(self.centre.positions).tolist()
        put, still = (on_sphere, unit) if self.curved else (on_space, column)
        placed: list[Placed] = []
        for i, holder in enumerate(self.held_by):
            if (start := self.first.get(i)) is not None:
                placed.append(put(positions[i], offset[start : start + self.degrees]))
            else:
                where = positions[i] if holder == FREE else self._home(holder)
                placed.append(Placed(still(where), None, None, None))
        return weights, placed

    def moved(self, offset: Sequence[float]) -> Problem:
        """The same around another centre, in floats: the place at `offset` from this one."""
        weights, placed = self.place([arb(y) for y in offset])
        old = np.asarray(self.centre.positions).tolist()
        positions = [
            [float(x) for x in where.position.entries()] if i in self.first else old[i]
            for i, where in enumerate(placed)
        ]
        centre = Student(
            np.array(positions).reshape(self.centre.positions.shape),
            np.array([float(c) for c in weights]),
        )
        return dataclasses.replace(self, centre=centre)


def pose(
    teacher: Teacher,
    student: Student,
    wrt: str,
    objective: str,
    held_by: tuple[int, ...] | None = None,
) -> Problem:
    """The problem that a proof is asked to decide, or an error that says why there is none."""
    if not isinstance(teacher, Teacher) or not isinstance(student, Student):
        raise EarnshawError("a proof needs a Teacher and a Student")
    if objective not in OBJECTIVES:
        raise UnknownName("objective of a proof", str(objective), OBJECTIVES)
    what_moves(objective, check_moving(wrt))
    if student.positions.ndim != 2 or student.dim != teacher.dim:
        raise EarnshawError(
            f"the student has positions of shape {student.positions.shape}; "
            f"allowed: (units, {teacher.dim})"
        )
    teacher.manifold.check(student.positions, "student unit")
    if student.unit_kind is not None and student.unit_kind.name != teacher.species.name:
        raise EarnshawError(
            f"the student is of {student.unit_kind.name}; allowed in a proof: "
            f"{teacher.species.name}, as the teacher"
        )
    if objective == "assumption-1":
        check_ones("teacher", teacher.weights)
        check_ones("student", student.weights)
    problem = Problem(teacher, student, wrt, objective, held_by or (FREE,) * student.units)
    _ = problem.kernel  # refuses activations that there are no proofs for
    return problem
