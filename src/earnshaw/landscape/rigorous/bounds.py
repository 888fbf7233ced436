"""The floats of a claim: on the safe side of what was found, by a little more than rounding."""

from __future__ import annotations

from flint import arb

from earnshaw.landscape.rigorous.balls import above, below

# The part by which claims are weaker: another version of Arb may round otherwise.
SLACK = 2.0**-30


def weaker_bounds(x: arb) -> tuple[float, float]:
    """Floats below and above a ball."""
    slack = SLACK * (above(x) - below(x))
    return below(x - arb(slack)), above(x + arb(slack))


def weaker_below(x: arb) -> float:
    """A float a little below a positive ball."""
    return below(x * (1 - arb(SLACK)))


def weaker_above(x: arb) -> float:
    """A float a little above a negative ball."""
    return above(x * (1 - arb(SLACK)))
