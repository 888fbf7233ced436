"""Small helpers for Arb's balls (python-flint): vectors, roots, and floats that bound a ball.

A ball [m +- r] encloses a real number; every operation encloses the result of all reals in its
balls. Vectors are columns, `arb_mat` of shape (d, 1). Comparisons such as ``x > 0`` are true only
if they hold for every number of the ball; NaN compares as false with everything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import flint
from flint import arb, arb_mat


def column(values: Iterable[arb | float]) -> arb_mat:
    """A vector; floats are taken as the exact binary numbers that they are."""
    entries = [arb(value) for value in values]
    return arb_mat(len(entries), 1, entries)


def dot(x: arb_mat, y: arb_mat) -> arb:
    """x.y of two columns."""
    return (x.transpose() * y)[0, 0] if x.nrows() else arb(0)


def outer(x: arb_mat, y: arb_mat) -> arb_mat:
    """x y^T."""
    return x * y.transpose()


def identity(size: int) -> arb_mat:
    """The unit matrix."""
    return arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def root(x: arb) -> arb:
    """sqrt(x) of a number known to be >= 0, though its ball may reach below 0."""
    if x.lower() >= 0:
        return x.sqrt()
    return arb(0).union(x.upper().sqrt())


def norm(x: arb_mat) -> arb:
    """|x| of a column."""
    return root(dot(x, x))


def around(radius: arb) -> arb:
    """The ball [-radius, radius]."""
    return arb(0, radius.upper())


def width(x: arb) -> arb:
    """An upper bound of |x|, as an exact number."""
    return arb(x.abs_upper())


def box(size: int, radius: arb | float) -> list[arb]:
    """The cube of half-width `radius` around 0."""
    return [around(arb(radius)) for _ in range(size)]


def finite(values: Iterable[arb]) -> bool:
    """Whether no ball is infinite or NaN."""
    return all(value.is_finite() for value in values)


def below(x: arb) -> float:
    """A float <= every number of the ball."""
    return _nudged(x.lower(), -math.inf)


def above(x: arb) -> float:
    """A float >= every number of the ball."""
    return _nudged(x.upper(), math.inf)


def _nudged(x: arb, towards: float) -> float:
    near = float(x)
    exact = arb(near) <= x if towards < 0 else arb(near) >= x
    return near if exact else math.nextafter(near, towards)


workprec = flint.ctx.workprec  # the precision in force within a `with`


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
