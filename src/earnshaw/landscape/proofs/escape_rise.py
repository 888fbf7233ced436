"""A bound, in balls, of how much the loss rises along an escape path.

Where a segment changes only weights L is convex on it, since it is quadratic in the weights with a
positive semidefinite matrix; where it moves only units of weight 0, L is constant. Such paths
(`EscapePath.exact`) rise by no more than the largest L_j - L_i of two vertices, i before j; and
each L_i is enclosed by the kernel of the potential. Floats count as exact; where the weights of a
pair do not add up exactly, the bound shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.escape import EscapePath
from earnshaw.landscape.proofs._balls import above, below, workprec
from earnshaw.landscape.proofs._energy import loss
from earnshaw.landscape.proofs.problem import pose

BITS = 128


class RiseBounds(NamedTuple):
    """The loss rises by at most `rise` on the way, and is lower by at least `drop` at its end."""

    rise: float
    drop: float


def rise_bounds(teacher: Teacher, path: EscapePath) -> RiseBounds:
    """What is proven of a path whose vertices decide."""
    if not path.exact:
        raise EarnshawError("only paths that move weights, or units of weight 0, are proven")
    with workprec(BITS):
        values = [_loss(teacher, student) for student in path.students]
        rise = max(above(values[j] - values[i]) for j in range(len(values)) for i in range(j))
        return RiseBounds(max(rise, 0.0), below(values[0] - values[-1]))


def _loss(teacher: Teacher, student: Student) -> arb:
    problem = pose(teacher, student, "both", "full")
    still: Sequence[arb] = [arb(0)] * problem.variables
    return loss(problem, still)
