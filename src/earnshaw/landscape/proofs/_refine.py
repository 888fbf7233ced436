"""Newton's method in multiprecision, from where a descent ended to the nearest floats."""

from __future__ import annotations

import math

from flint import arb

from earnshaw.landscape.proofs._balls import finite
from earnshaw.landscape.proofs._energy import jet
from earnshaw.landscape.proofs._undecided import NOT_SMOOTH, SINGULAR, Undecided, symmetry
from earnshaw.landscape.proofs.problem import Problem

STEPS = 20
FAR = 0.01  # relative to the largest coordinate (or 1): further is another critical point
DONE = 2.0**-56  # relative: below the spacing of floats
ROUGH = 1e-9  # relative: a step as long as this may still be one of rounding


def refine_to_floats(problem: Problem) -> Problem:
    """The same around the floats nearest the critical point that Newton's method finds."""
    if not problem.variables:
        return problem
    scale, offset, before = problem.scale, [arb(0)] * problem.variables, math.inf
    for _ in range(STEPS):
        here = jet(problem, offset)
        if not finite([*here.gradient.entries(), *here.hessian.entries()]):
            raise Undecided(NOT_SMOOTH)
        try:
            step = here.hessian.mid().solve(here.gradient.mid()).mid()
        except ZeroDivisionError:
            raise Undecided(symmetry(problem) or SINGULAR) from None
        offset = [(y - s).mid() for y, s in zip(offset, step.entries(), strict=True)]
        length = max(float(abs(s)) for s in step.entries())
        if not max(float(abs(y)) for y in offset) <= FAR * scale:
            raise Undecided(
                symmetry(problem) or "Newton's method leaves: no critical point is near"
            )
        if length <= DONE * scale or before <= length <= ROUGH * scale:
            break  # there, or as near as rounding allows
        before = length
    if length > ROUGH * scale:
        raise Undecided(
            symmetry(problem) or "Newton's method does not settle: no regular critical point"
        )
    return problem.moved([float(y) for y in offset])
