"""Units that sit on protons, at a cusp of the loss: which they are, and what holds them.

Where unit i sits on protons of total charge b, the loss in its position is

    L(theta_i + v) = L + pull_i |v| + net_i.v + ...,    pull_i = 2 c_i kappa b,

net_i the force of all other units (`landscape/binding.py`); on the sphere v is tangent. If every
pull_i > |net_i| and L has a non-degenerate minimum in the other variables, it has a strict one in
all: L grows at first order in the motions v of held units, at a rate that is positive in a whole
neighbourhood, and at second order in all others; what is left is of order |v|^2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from flint import arb, arb_mat

from earnshaw.energy.population import population_loss
from earnshaw.landscape.binding import bind
from earnshaw.landscape.proofs._balls import box, dot, finite, norm, weaker_above, weaker_below
from earnshaw.landscape.proofs._undecided import Undecided
from earnshaw.landscape.proofs.problem import FREE, Problem


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


def with_held_units(problem: Problem) -> Problem:
    """The same with units that are at a cusp put exactly on their protons."""
    if not problem.kernel.cusped or problem.wrt == "weights":
        return problem
    objective = population_loss(problem.teacher, problem.objective, wrt=problem.wrt)
    binding = bind(objective, problem.centre)
    holders = tuple(int(holder) for holder in binding.held_by)
    if binding.unsure:
        raise Undecided(binding.unsure)
    if any(holder < FREE for holder in holders):
        raise Undecided("units sit on each other, with no proton there")
    bound = dataclasses.replace(problem, centre=binding.student, held_by=holders)
    if not on_protons(bound):
        raise Undecided(
            "a unit sits opposite to a proton; the same network has it on the proton, with the "
            "opposite weight"
        )
    if crowded(bound):
        raise Undecided("several units sit on one proton")
    return bound


def crowded(problem: Problem) -> bool:
    """Whether several units sit on one proton: margins of single units say nothing then."""
    homes = [tuple(problem.homes[j]) for j in problem.held_by if j != FREE]
    return len(set(homes)) < len(homes)


def on_protons(problem: Problem) -> bool:
    """Whether every held unit of the centre is, in floats, where its proton is."""
    positions = problem.centre.positions.tolist()
    held = ((i, j) for i, j in enumerate(problem.held_by) if j != FREE)
    return all(positions[i] == problem.homes[j] for i, j in held)


def margin_balls(problem: Problem, radius: float) -> dict[int, Margin]:
    """The pull and the net force on each held unit, over the box."""
    return margins(problem, box(problem.variables, radius))


def held_margins(problem: Problem, radius: float) -> tuple[float | None, ...]:
    """The slope at which the loss surely grows (> 0) or surely falls (< 0) around each held unit.

    0 where neither is sure, None for units that are not held.
    """
    found = margin_balls(problem, radius)
    return tuple(_signed(*found[i]) if i in found else None for i in range(len(problem.held_by)))


def _signed(pull: arb, force: arb) -> float:
    if not finite([pull, force]):
        return 0.0
    if pull - force > 0:
        return weaker_below(pull - force)
    return weaker_above(pull + force) if pull + force < 0 else 0.0
