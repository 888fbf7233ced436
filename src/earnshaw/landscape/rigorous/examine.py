"""The tests of a proof: what the enclosures say, and no more.

Both `prove` and `check` end here. A verdict is given only where every ball that it rests on lies on
one side of 0; anything else is a reason in words.
"""

from __future__ import annotations

from flint import arb

from earnshaw.landscape.rigorous.balls import above, below, box, finite
from earnshaw.landscape.rigorous.enclosure import Enclosure
from earnshaw.landscape.rigorous.margins import Margin, margins
from earnshaw.landscape.rigorous.problem import FREE, Problem

# Claims are weaker than what was found by this part, since rounding may differ elsewhere.
SLACK = 2.0**-30


def crowded(problem: Problem) -> str:
    """Why the margins of single units say nothing here; empty if they do."""
    homes = [tuple(problem.homes[j]) for j in problem.held_by if j != FREE]
    return "several units sit on one proton" if len(set(homes)) < len(homes) else ""


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


def loss_bounds(enclosure: Enclosure) -> tuple[float, float]:
    """Floats below and above the loss at the critical point."""
    ball = enclosure.loss()
    slack = SLACK * (above(ball) - below(ball))
    return below(ball - arb(slack)), above(ball + arb(slack))


def weaker_below(x: arb) -> float:
    """A float a little below a positive ball."""
    return below(x * (1 - arb(SLACK)))


def weaker_above(x: arb) -> float:
    """A float a little above a negative ball."""
    return above(x * (1 - arb(SLACK)))


class Undecided(Exception):
    """Why no verdict is possible, and whether more precision may help."""

    def __init__(self, reason: str, rounding: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.rounding = reason, rounding
