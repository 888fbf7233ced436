"""What may be asked of a proof."""

from __future__ import annotations

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import check_moving, check_ones
from earnshaw.errors import EarnshawError, UnknownName
from earnshaw.landscape.rigorous.problem import FREE, Problem

OBJECTIVES = ("full", "regularized", "assumption-1")
FEWEST_BITS, MOST_BITS = 64, 4096


def posed(
    teacher: Teacher,
    student: Student,
    wrt: str,
    objective: str,
    held_by: tuple[int, ...] | None = None,
) -> Problem:
    """The question of a proof, or one line on what is wrong with it."""
    if not isinstance(teacher, Teacher) or not isinstance(student, Student):
        raise EarnshawError("a proof needs a Teacher and a Student")
    if objective not in OBJECTIVES:
        raise UnknownName("objective of a proof", str(objective), OBJECTIVES)
    check_moving(wrt)
    if student.positions.ndim != 2 or student.dim != teacher.dim:
        raise EarnshawError(
            f"the student has positions of shape {student.positions.shape}; "
            f"allowed: (units, {teacher.dim})"
        )
    teacher.manifold.check(student.positions, "student unit")
    if objective == "assumption-1":
        check_ones("teacher", teacher.weights)
        check_ones("student", student.weights)
        if wrt != "positions":
            raise EarnshawError(
                "under assumption-1 the weights are fixed; allowed: wrt='positions'"
            )
    problem = Problem(teacher, student, wrt, objective, held_by or (FREE,) * student.units)
    _ = problem.kernel  # refuses activations that there are no proofs for
    return problem
