"""How cusps hold the units that sit on protons, enclosed over a box of offsets.

Where unit i sits on protons of total charge b, the loss in its position is

    L(theta_i + v) = L + pull_i |v| + net_i.v + ...,    pull_i = 2 c_i kappa b,

net_i the force of all other units (`landscape/binding.py`); on the sphere v is tangent. If every
pull_i > |net_i| and L has a non-degenerate minimum in the other variables, it has a strict one in
all: L grows at first order in the motions v of held units, at a rate that is positive in a whole
neighbourhood, and at second order in all others; what is left is of order |v|^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb, arb_mat

from earnshaw.landscape.rigorous.balls import dot, norm
from earnshaw.landscape.rigorous.problem import FREE, Problem


class Margin(NamedTuple):
    """The cusp's pull on a unit, and the size of the net force of everything else."""

    pull: arb
    force: arb


def margins(problem: Problem, offset: Sequence[arb]) -> dict[int, Margin]:
    """The margin of each held unit."""
    kernel, (b, w) = problem.kernel, problem.protons()
    c, placed = problem.place(offset)
    found = {}
    for i, holder in enumerate(problem.held_by):
        if holder == FREE:
            continue
        here, charge, net = placed[i].position, arb(0), arb_mat(problem.teacher.dim, 1)
        for j, y in enumerate(w):
            if b[j] == 0:
                continue
            if problem.sits_on(i, j):
                charge += b[j]
            else:
                net -= kernel.jet(here, y).in_x * b[j]
        for other, there in enumerate(placed):
            if other != i:
                net += kernel.jet(here, there.position).in_x * c[other]
        if problem.curved:
            net -= here * dot(here, net)
        found[i] = Margin(2 * c[i] * kernel.cusp() * charge, norm(net * (2 * c[i])))
    return found
