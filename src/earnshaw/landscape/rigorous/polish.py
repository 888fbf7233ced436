"""Newton's method in multiprecision, from where a descent ended to the nearest floats."""

from __future__ import annotations

import dataclasses
import math

from flint import arb

from earnshaw.landscape.rigorous.balls import finite
from earnshaw.landscape.rigorous.energy import jet
from earnshaw.landscape.rigorous.problem import Problem

STEPS = 20
FAR = 0.1  # relative to the largest coordinate (or 1): further is another place, not a polish
DONE = 2.0**-56  # relative; below the spacing of floats


@dataclasses.dataclass(frozen=True)
class Polished:
    """The problem around the new centre, how far that is, and why it may be no critical point."""

    problem: Problem
    moved: float
    failure: str = ""


def polish(problem: Problem) -> Polished:
    """The problem around the critical point that Newton's method finds from its centre."""
    size = problem.variables
    offset = [arb(0)] * size
    if not size:
        return Polished(problem, 0.0)
    scale = max(1.0, float(abs(problem.centre.positions).max()))
    before = math.inf
    for _ in range(STEPS):
        here = jet(problem, offset)
        if not finite([*here.gradient.entries(), *here.hessian.entries()]):
            return Polished(problem, 0.0, "units meet where the loss is not smooth")
        try:
            step = here.hessian.mid().solve(here.gradient.mid()).mid()
        except ZeroDivisionError:
            return Polished(problem, 0.0, "the Hessian is singular")
        offset = [(y - s).mid() for y, s in zip(offset, step.entries(), strict=True)]
        length = max(float(abs(s)) for s in step.entries())
        moved = max(float(abs(y)) for y in offset)
        if not moved <= FAR * scale:
            return Polished(problem, 0.0, "Newton's method leaves: no critical point is near")
        if length <= DONE * scale:
            return Polished(problem.moved([float(y) for y in offset]), moved)
        if length > before and length < 1e-12 * scale:  # rounding, no more to gain
            break
        before = length
    if length <= 1e-9 * scale:
        return Polished(problem.moved([float(y) for y in offset]), moved)
    return Polished(problem, 0.0, "Newton's method does not settle: no regular critical point")
