"""Krawczyk's test: is there a true critical point in the box around the centre?

With g the gradient at the centre, H the Hessian enclosed over the whole box |y|_inf <= r and Y any
matrix (here an approximate inverse), the gradient has exactly one zero in the box if

    |Y g| + |I - Y H| r < r        (in every component; Krawczyk 1969, Moore 1977):

y - Y grad L(y) then maps the box into its interior and is a contraction. At that zero y*,

    L(y*) = L(0) + g.y* + y*.H y*/2     for some H in the enclosure,

which encloses the loss to second order in r.
"""

from __future__ import annotations

import dataclasses

from flint import arb, arb_mat

from earnshaw.landscape.proofs._balls import around, box, finite, identity, width
from earnshaw.landscape.proofs._energy import jet, loss
from earnshaw.landscape.proofs.problem import Problem


@dataclasses.dataclass(frozen=True, eq=False)
class Enclosure:
    """The gradient at the centre, and the Hessian over the box of half-width `radius`."""

    problem: Problem
    radius: arb
    gradient: arb_mat
    hessian: arb_mat

    def within(self, radius: float) -> Enclosure:
        """The same for another box."""
        around_it = jet(self.problem, box(self.problem.variables, radius))
        return dataclasses.replace(self, radius=arb(radius), hessian=around_it.hessian)

    def finite(self) -> bool:
        """Whether all of it is known."""
        return finite(self.gradient.entries()) and finite(self.hessian.entries())

    def holds_critical_point(self) -> bool:
        """Krawczyk's test; true also where nothing moves."""
        if not self.problem.variables:
            return True
        known = self.finite() and self.radius > 0
        inverse = approximate_inverse(self.hessian) if known else None
        if inverse is None:
            return False
        step = inverse * self.gradient
        rest = identity(self.problem.variables) - inverse * self.hessian
        return all(
            width(step[i, 0]) + sum((width(entry) for entry in row), arb(0)) * self.radius
            < self.radius
            for i, row in enumerate(rest.tolist())
        )

    def loss(self) -> arb:
        """The loss at the critical point."""
        size, radius = self.problem.variables, self.radius
        first = sum((width(entry) for entry in self.gradient.entries()), arb(0))
        second = sum((width(entry) for entry in self.hessian.entries()), arb(0))
        change = first * radius + second * radius**2 / 2
        return loss(self.problem, [arb(0)] * size) + around(change.upper())


def enclose(problem: Problem, radius: float) -> Enclosure:
    """The gradient at the centre and the Hessian within `radius` of it."""
    here = jet(problem, [arb(0)] * problem.variables)
    return Enclosure(problem, arb(radius), here.gradient, here.hessian).within(radius)


def approximate_inverse(matrix: arb_mat) -> arb_mat | None:
    """An exact matrix near the inverse of the midpoints; None if they are singular."""
    try:
        inverse = matrix.mid().inv().mid()
    except ZeroDivisionError:
        return None
    return inverse if finite(inverse.entries()) else None
