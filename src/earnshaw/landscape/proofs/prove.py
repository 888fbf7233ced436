"""Proofs that a student is, within a stated radius, a strict minimum or a strict saddle.

    1. Newton's method in multiprecision takes the student to the floats nearest a critical point.
    2. Krawczyk's test proves that a true critical point lies within a radius of them.
    3. The Hessian over that whole box is proven positive definite, or to fall along a direction;
       the margins of units that sit on a cusp are proven positive, or one of them negative.
    4. The loss there is enclosed.

The arithmetic is that of balls (python-flint, Arb): a proof holds whatever rounding did. What
cannot be decided is ``inconclusive``: degenerate points, continuous symmetries (relu with free
weights on R^d), several units on one proton. A proof can be saved and checked again:
`proof_file.py`, `check.py`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import flint
import numpy as np
from flint import arb

from earnshaw.charges.network import Student, Teacher
from earnshaw.landscape.proofs._balls import (
    above,
    below,
    weaker_above,
    weaker_bounds,
    width,
    workprec,
)
from earnshaw.landscape.proofs._definite import falling_direction, smallest_eigenvalue
from earnshaw.landscape.proofs._enclosure import Enclosure, approximate_inverse, enclose
from earnshaw.landscape.proofs._energy import loss
from earnshaw.landscape.proofs._held_units import held_margins, with_held_units
from earnshaw.landscape.proofs._refine import refine_to_floats
from earnshaw.landscape.proofs._undecided import (
    NOT_SMOOTH,
    SINGULAR,
    Undecided,
    flatness,
    symmetry,
)
from earnshaw.landscape.proofs.problem import FEWEST_BITS, FREE, MOST_BITS, Problem, pose
from earnshaw.landscape.proofs.proof import Kind, Proof, grounds
from earnshaw.limits import check_integer

BITS = (128, 256, 512)
INFLATIONS = (2.0, 16.0, 256.0, 2.0**14)  # radii tried, in Newton steps


def prove(
    teacher: Teacher,
    student: Student,
    *,
    wrt: str = "both",
    objective: str = "full",
    bits: int | None = None,
) -> Proof:
    """What can be proven about the critical point near `student`.

    Parameters
    ----------
    teacher
        with the activation relu, erf, hermite-N, exponential or almost-harmonic; or the
        potential distance, or sign on the sphere.
    student
        a critical point up to a few digits, as a descent leaves it; the proof is about
        the one that Newton's method finds within 1e-2 of it.
    wrt
        what may move: "both", "positions" or "weights".
    objective
        "full", "regularized" or "assumption-1".
    bits
        the precision; by default 128, and more where that does not suffice.

    Returns
    -------
    Proof
        Of kind "inconclusive" where nothing could be proven.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> proof = ew.prove(teacher, ew.Student([[0.5**1.5, 0.5**1.5]], [2.0]))
    >>> proof.kind, proof.away_from_zero
    ('minimum', True)
    """
    problem = pose(teacher, student, wrt, objective)
    if bits is not None:
        bits = check_integer("bits", bits, FEWEST_BITS, MOST_BITS)
    for precision in BITS if bits is None else (bits,):
        try:
            return _attempt(problem, precision)
        except Undecided as found:
            reason, helps = found.reason, found.rounding
        if not helps:
            break
    return _nothing(problem, precision, reason)


def _attempt(given: Problem, bits: int) -> Proof:
    """A proof with this precision; `Undecided` if there is none."""
    problem = with_held_units(given)
    if problem.still:
        raise Undecided("nothing can move")
    with workprec(bits):
        return _proof(refine_to_floats(problem), given.centre)


def _proof(problem: Problem, student: Student) -> Proof:
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
        "loss": weaker_bounds(enclosure.loss()),
        "margins": bounds,
        "moved": _distance(problem.centre, student),
    }
    if 0.0 in bounds:
        unit = bounds.index(0.0)
        raise Undecided(f"whether the cusp holds unit {unit} is not decided")
    if any(bound is not None and bound < 0 for bound in bounds):
        return _reasoned(kind="strict-saddle", **known)
    kind: Kind = "cusp-minimum" if any(h != FREE for h in problem.held_by) else "minimum"
    if not problem.variables:
        return _reasoned(kind=kind, **known)
    least = smallest_eigenvalue(enclosure.hessian)
    if least is not None:
        return _reasoned(kind=kind, smallest_eigenvalue=least, **known)
    falling = falling_direction(enclosure.hessian)
    if falling is None:
        raise Undecided("the sign of the smallest eigenvalue is not decided")
    direction, ball = falling
    curvature = weaker_above(ball)
    if not curvature < 0:
        raise Undecided("the curvature is below the smallest float")
    return _reasoned(kind="strict-saddle", curvature=curvature, direction=tuple(direction), **known)


def _reasoned(**fields: Any) -> Proof:
    """A proof, with the reason that its numbers give."""
    proof = Proof(reason="", **fields)
    return dataclasses.replace(proof, reason=grounds(proof))


def _critical(problem: Problem) -> tuple[Enclosure, float]:
    """A box that holds a critical point, and its radius."""
    if not problem.variables:
        return enclose(problem, 0.0), 0.0
    tiny = problem.scale * 2.0 ** (-0.6 * flint.ctx.prec)
    here = enclose(problem, tiny)
    if not here.finite():
        raise Undecided(NOT_SMOOTH)
    inverse = approximate_inverse(here.hessian)
    if inverse is None:
        raise Undecided(symmetry(problem) or SINGULAR)
    step = max(float(width(entry)) for entry in (inverse * here.gradient).entries())
    if here.holds_critical_point():
        return here, tiny
    for inflation in INFLATIONS:
        radius = inflation * step
        found = here.within(radius)
        if found.holds_critical_point():
            return found, radius
    raise Undecided(symmetry(problem) or flatness(here), _rounded(here))


def _rounded(enclosure: Enclosure) -> bool:
    """Whether rounding, not the distance to the critical point, is what is in the way."""
    largest = max(float(width(entry)) for entry in enclosure.hessian.entries())
    error = max(float(entry.rad()) for entry in enclosure.gradient.entries())
    return error > 1e-20 * largest


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
