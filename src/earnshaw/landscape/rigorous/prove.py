"""Proofs that a student is, within a stated radius, a strict minimum or a strict saddle.

    1. Newton's method in multiprecision takes the student to the floats nearest a critical point.
    2. Krawczyk's test proves that a true critical point lies within a radius of them.
    3. The Hessian over that whole box is proven positive definite, or to fall along a direction;
       the margins of units that sit on a cusp are proven positive, or one of them negative.
    4. The loss there is enclosed.

The arithmetic is that of balls (python-flint, Arb): a proof holds whatever rounding did. What
cannot be decided is ``inconclusive``: degenerate points, continuous symmetries (relu with free
weights on R^d), several units on one proton. A proof can be saved and checked again: `storage.py`,
`check.py`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import flint
import numpy as np
from flint import arb

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.objective import check_moving, check_ones
from earnshaw.energy.population import population_loss
from earnshaw.errors import EarnshawError, UnknownName, check_integer
from earnshaw.landscape.binding import bind
from earnshaw.landscape.rigorous.balls import above, below, finite, width, workprec
from earnshaw.landscape.rigorous.definite import falling_direction, smallest_eigenvalue
from earnshaw.landscape.rigorous.enclosure import Enclosure, approximate_inverse, enclose
from earnshaw.landscape.rigorous.energy import loss
from earnshaw.landscape.rigorous.examine import (
    Undecided,
    crowded,
    held_margins,
    loss_bounds,
    weaker_above,
)
from earnshaw.landscape.rigorous.polish import polish
from earnshaw.landscape.rigorous.problem import FREE, Problem
from earnshaw.landscape.rigorous.proof import Kind, Proof

OBJECTIVES = ("full", "regularized", "assumption-1")
BITS = (128, 256, 512)
FEWEST_BITS, MOST_BITS = 64, 4096
INFLATIONS = (2.0, 16.0, 256.0, 2.0**14)  # radii tried, in Newton steps
FLAT = 1e-10  # eigenvalues below this part of the largest count as 0 in words


def prove(
    teacher: Teacher,
    student: Student,
    *,
    wrt: str = "both",
    objective: str = "full",
    bits: int | None = None,
) -> Proof:
    """What can be proven about the critical point near `student`.

    Args:
        teacher: with the activation relu, erf, hermite-N, exponential or almost-harmonic.
        student: a critical point up to a few digits, as a descent leaves it.
        wrt: what may move: "both", "positions" or "weights".
        objective: "full", "regularized" or "assumption-1".
        bits: the precision; by default 128, and more where that does not suffice.
    """
    problem = posed(teacher, student, wrt, objective)
    if bits is not None:
        bits = check_integer("bits", bits, FEWEST_BITS, MOST_BITS)
    if not student.units:
        return _nothing(problem, bits or BITS[0], "the student has no units")
    if problem.kernel.cusped and wrt != "weights":
        problem, unsure = _bound(problem)
        if unsure:
            return _nothing(problem, bits or BITS[0], unsure)
    for precision in BITS if bits is None else (bits,):
        with workprec(precision):
            try:
                return _attempt(problem, student)
            except Undecided as found:
                reason = found
        if not reason.rounding:
            break
    return _nothing(problem, precision, reason.reason)


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
    _ = problem.kernel  # refuses activations that it does not know
    return problem


def _bound(problem: Problem) -> tuple[Problem, str]:
    """The same with units on their protons, and why that is not all there is to say."""
    objective = population_loss(problem.teacher, problem.objective, wrt=problem.wrt)
    binding = bind(objective, problem.centre)
    holders = tuple(int(holder) for holder in binding.held_by)
    if binding.unsure:
        return problem, binding.unsure
    if any(holder < FREE for holder in holders):
        return problem, "units sit on each other, with no proton there"
    bound = dataclasses.replace(problem, centre=binding.student, held_by=holders)
    return bound, crowded(bound)


def _attempt(problem: Problem, student: Student) -> Proof:
    """A proof at the precision in force; `Undecided` if there is none."""
    polished = polish(problem)
    if polished.failure:
        raise Undecided(_symmetry(problem) or polished.failure)
    problem = polished.problem
    enclosure, radius = _critical(problem)
    bounds = held_margins(problem, radius)
    known: dict[str, Any] = {
        "teacher": problem.teacher,
        "centre": problem.centre,
        "wrt": problem.wrt,
        "objective": problem.objective,
        "held_by": problem.held_by,
        "variables": problem.variables,
        "bits": flint.ctx.prec,
        "radius": radius,
        "loss": loss_bounds(enclosure),
        "margins": bounds,
        "moved": _distance(problem.centre, student),
    }
    if 0.0 in bounds:
        unit = bounds.index(0.0)
        raise Undecided(f"whether the cusp holds unit {unit} is not decided")
    repelled = [i for i, bound in enumerate(bounds) if bound is not None and bound < 0]
    if repelled:
        why = f"unit {repelled[0]} is repelled by the proton it sits on"
        return Proof(kind="strict-saddle", reason=why, **known)
    kind: Kind = "cusp-minimum" if any(h != FREE for h in problem.held_by) else "minimum"
    if not problem.variables:
        return Proof(kind=kind, reason="cusps hold every unit, and nothing else moves", **known)
    least = smallest_eigenvalue(enclosure.hessian)
    if least is not None:
        why = f"a critical point, with all eigenvalues above {least:.3g}"
        return Proof(kind=kind, reason=why, smallest_eigenvalue=least, **known)
    falling = falling_direction(enclosure.hessian)
    if falling is None:
        raise Undecided("the sign of the smallest eigenvalue is not decided")
    direction, ball = falling
    curvature = weaker_above(ball)
    return Proof(
        kind="strict-saddle",
        reason=f"a critical point, with curvature below {curvature:.3g} along a direction",
        curvature=curvature,
        direction=tuple(direction),
        **known,
    )


def _critical(problem: Problem) -> tuple[Enclosure, float]:
    """A box that holds a critical point, and its radius."""
    if not problem.variables:
        return enclose(problem, 0.0), 0.0
    scale = max(1.0, float(np.max(np.abs(np.asarray(problem.centre.positions)))))
    tiny = scale * 2.0 ** (-0.6 * flint.ctx.prec)
    here = enclose(problem, tiny)
    if not here.finite():
        raise Undecided("units meet where the loss is not smooth")
    inverse = approximate_inverse(here.hessian)
    if inverse is None:
        raise Undecided(_symmetry(problem) or "the Hessian is singular")
    step = max(float(width(entry)) for entry in (inverse * here.gradient).entries())
    if here.holds_critical_point():
        return here, tiny
    for inflation in INFLATIONS:
        radius = inflation * step
        found = enclose(problem, radius)
        if found.holds_critical_point():
            return found, radius
    raise Undecided(_symmetry(problem) or _words(here), rounding=_rounded(here))


def _rounded(enclosure: Enclosure) -> bool:
    """Whether rounding, not the distance to the critical point, is what is in the way."""
    largest = max(float(width(entry)) for entry in enclosure.hessian.entries())
    error = max(float(entry.rad()) for entry in enclosure.gradient.entries())
    return error > 1e-20 * largest


def _words(enclosure: Enclosure) -> str:
    rows = enclosure.hessian.tolist()
    if not finite(enclosure.hessian.entries()):
        return "units meet where the loss is not smooth"
    values = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in rows]))
    flattest = values[np.argmin(np.abs(values))]
    if abs(flattest) <= FLAT * np.max(np.abs(values)):
        return (
            f"the Hessian has an eigenvalue of {flattest:.2g}, 0 as far as this can tell: a "
            "degenerate point, or a continuous symmetry"
        )
    return "no box around the centre passes the test for a critical point"


def _symmetry(problem: Problem) -> str:
    if problem.teacher.species.name == "relu" and problem.wrt == "both" and not problem.curved:
        return (
            "relu with free weights on R^d is the same at (s theta, c/s) for every s > 0: critical "
            "points are not isolated; prove it with respect to positions, or on the sphere"
        )
    return ""


def _distance(centre: Student, student: Student) -> float:
    """The largest change of a coordinate."""
    gaps = [
        np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)
        for a, b in ((centre.positions, student.positions), (centre.weights, student.weights))
    ]
    return float(max(gaps))


def _nothing(problem: Problem, bits: int, reason: str) -> Proof:
    with workprec(bits):
        value = loss(problem, [arb(0)] * problem.variables)
    return Proof(
        kind="inconclusive",
        reason=reason,
        teacher=problem.teacher,
        centre=problem.centre,
        wrt=problem.wrt,
        objective=problem.objective,
        held_by=problem.held_by,
        variables=problem.variables,
        bits=bits,
        loss=(below(value), above(value)) if value.is_finite() else (-math.inf, math.inf),
        margins=(None,) * len(problem.held_by),
    )
