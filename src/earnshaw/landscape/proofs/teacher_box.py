"""A proven minimum of one teacher is one of all teachers nearby: how near, in balls.

All teachers T whose weights and coordinates of positions differ by at most `spread` from those of a
proof's teacher go into one ball. With g the gradient at the proof's centre and H the Hessian within
a radius r of it, both enclosed over all of them, and Y an approximate inverse of H,

    |Y g| + |I - Y H| r < r        (in every component)

says of each T that it has exactly one critical point within r (Krawczyk's test, `_enclosure.py`);
margins and pivots that are positive over the same balls, that it is a strict minimum; a positive
enclosure of the loss, that it is a bad one. Units that are held sit on the protons of T, wherever
these are. So the teachers with such a minimum contain an open set, which this bounds from inside.
"""

from __future__ import annotations

import dataclasses

from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs._balls import weaker_bounds, width, workprec
from earnshaw.landscape.proofs._definite import smallest_eigenvalue
from earnshaw.landscape.proofs._enclosure import Enclosure, approximate_inverse, enclose
from earnshaw.landscape.proofs._held_units import held_margins
from earnshaw.landscape.proofs.problem import FREE, Problem, pose
from earnshaw.landscape.proofs.proof import Proof
from earnshaw.limits import check_real

BITS = 128
INFLATIONS = (1.5, 2.0, 3.0, 5.0, 10.0)  # radii tried, in Newton steps of the worst teacher
TRIES = 24  # halvings in the search for the largest box


@dataclasses.dataclass(frozen=True)
class TeacherBox:
    """Every teacher within `spread` has one strict minimum within `radius` of the proof's centre.

    Its eigenvalues exceed `smallest_eigenvalue`, its margins `smallest_margin` (None without held
    units), and its loss is between those of `loss`.
    """

    spread: float
    radius: float
    smallest_eigenvalue: float
    smallest_margin: float | None
    loss: tuple[float, float]

    @property
    def away_from_zero(self) -> bool:
        """Whether the minima are bad ones: no teacher has another loss than 0 at the least."""
        return self.loss[0] > 0


def prove_teachers(proof: Proof, spread: float) -> TeacherBox | None:
    """The box of this `spread` around the teacher of a proven minimum; None if it is not proven."""
    spread = check_real("spread", spread, 0.0)
    if proof.kind not in ("minimum", "cusp-minimum"):
        raise EarnshawError(f"a box of teachers needs a proven minimum, not a {proof.kind}")
    posed = pose(proof.teacher, proof.centre, proof.wrt, proof.objective, proof.held_by)
    problem = dataclasses.replace(posed, spread=spread)
    with workprec(BITS):
        found = _critical(problem)
        if found is None:
            return None
        enclosure, radius = found
        margins = held_margins(problem, radius)
        least = smallest_eigenvalue(enclosure.hessian)
        held = [margin for margin in margins if margin is not None]
        if least is None or not least > 0 or any(margin <= 0 for margin in held):
            return None
        bounds = weaker_bounds(enclosure.loss())
    return TeacherBox(spread, radius, least, min(held, default=None), bounds)


def largest_box(proof: Proof, *, away_from_zero: bool = True) -> TeacherBox:
    """The widest box, by halving and bisection, that `prove_teachers` proves.

    With `away_from_zero` its losses must be proven positive too.
    """

    def proven(spread: float) -> TeacherBox | None:
        found = prove_teachers(proof, spread)
        return found if found and (found.away_from_zero or not away_from_zero) else None

    high, low = 1.0, 0.0
    best = None
    for _ in range(TRIES):
        middle = high / 2 if best is None else (low + high) / 2
        found = proven(middle)
        if found is None:
            high = middle
        else:
            low, best = middle, found
        if best is not None and high - low <= 0.05 * low:
            break
    if best is None:
        raise EarnshawError("no box of teachers is proven")
    return best


def _critical(problem: Problem) -> tuple[Enclosure, float] | None:
    """A box that holds the critical points of all teachers, and its radius."""
    if any(holder == FREE for holder in problem.held_by) or problem.weights_move:
        here = enclose(problem, 0.0)
        inverse = approximate_inverse(here.hessian) if here.finite() else None
        if inverse is None:
            return None
        step = max(float(width(entry)) for entry in (inverse * here.gradient).entries())
        for inflation in INFLATIONS:
            found = here.within(inflation * step)
            if found.finite() and found.holds_critical_point():
                return found, inflation * step
        return None
    return enclose(problem, 0.0), 0.0
