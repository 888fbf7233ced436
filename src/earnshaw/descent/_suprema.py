"""The largest values of a potential and its first three derivatives, over all pairs of units.

Found on a grid, even in the logarithm of the distance and refined around each largest value; sizes
that still grow at its ends are infinite. Not rigorous, but with a margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.charges.manifolds import Sphere
from earnshaw.charges.network import Teacher
from earnshaw.duality.potential import Radial, Zonal, elementwise_derivative
from earnshaw.energy.objective import Objective
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_real

POINTS = 4001  # of the first grid; twice refined around each largest value
REACH = 1e6  # how far the grid goes, in units of max(1, radius)
NEAR = 1e-3  # where it begins if there is no radius, in units of the potential's width
SAFETY = 1.001  # for what lies between points of the grid
ALLOWED = "allowed: --steps adaptive"


class Suprema(NamedTuple):
    """|phi|, |grad phi|, |Hessian phi| and |third derivative of phi|."""

    value: float
    first: float
    second: float
    third: float


def exact_teacher(objective: Objective) -> Teacher:
    """The teacher of an exact loss: its charges and potential are what bounds are made of."""
    if objective.teacher is None:
        raise EarnshawError(f"theory steps need the exact population loss; {ALLOWED}")
    return objective.teacher


def suprema_of(objective: Objective, radius: float | None) -> tuple[Suprema, float]:
    """P0 .. P3 of the objective's potential on its manifold, and the radius they hold beyond."""
    potential = exact_teacher(objective).potential
    curved = isinstance(objective.manifold, Sphere)
    if isinstance(potential, Radial) and not curved:
        edges = potential.breakpoints
        radius = max(edges, default=0.0) if radius is None else radius
    elif isinstance(potential, Zonal) and curved:
        edges = ()
        radius = 0.0 if radius is None else radius
    else:
        where = "the sphere" if curved else "R^d"
        raise EarnshawError(
            f"theory steps need a radial potential on R^d or a zonal one on the sphere, not "
            f"{potential.name} on {where}; {ALLOWED}"
        )
    radius = check_real("radius", radius, 0.0) if radius else 0.0
    if isinstance(potential, Radial):
        if any(_jumps(potential, edge) for edge in edges if edge > radius):
            raise EarnshawError(
                f"the second derivative of {potential.name} jumps at {max(edges):g}; "
                "allowed: radius beyond"
            )
        low = radius or NEAR * _width(potential)
        places = [low, *(edge for edge in edges if edge > low), REACH * max(1.0, radius)]
        largest = np.max(
            [
                _suprema(
                    lambda r: _radial_sizes(potential, r),
                    *ends,
                    cut=not radius and ends[0] == low,
                    endless=ends[1] == places[-1],
                )
                for ends in pairwise(places)
            ],
            axis=0,
        )
    else:
        if radius >= math.sqrt(2):
            raise EarnshawError(f"radius is {radius:g}; allowed: below sqrt(2) on the sphere")
        low = 2 * math.asin(radius / 2) or NEAR
        largest = np.max(
            [
                _suprema(sizes, low, math.pi / 2, cut=not radius, endless=False)
                for sizes in (
                    lambda angle: _zonal_sizes(potential, angle),
                    lambda angle: _zonal_sizes(potential, jnp.pi - angle),
                )
            ],
            axis=0,
        )
    return Suprema(*map(float, SAFETY * largest)), radius


def _suprema(
    sizes: Callable[[Array], Array], low: float, high: float, *, cut: bool, endless: bool
) -> np.ndarray:
    """The largest `sizes` (4,) on [low, high], on a grid that is even in the logarithm.

    With `cut`, `low` stands for 0, and with `endless`, `high` for infinity: sizes that still grow
    there are infinite.
    """
    grid = np.geomspace(low, high, POINTS)
    values = np.asarray(sizes(jnp.asarray(grid)))
    largest = values.max(axis=1)
    for row in range(4):
        inside, peak = grid, int(np.argmax(values[row]))
        for _ in range(2):
            ends = inside[max(peak - 1, 0)], inside[min(peak + 1, len(inside) - 1)]
            inside = np.linspace(*ends, POINTS)  # the same shape: compiled once
            finer = np.asarray(sizes(jnp.asarray(inside)))[row]
            peak = int(np.argmax(finer))
            largest[row] = max(largest[row], finer[peak])
    if endless:
        largest = np.where(values[:, -1] > 1.01 * values[:, -POINTS // 10], math.inf, largest)
    if cut:
        behind = values[:, np.searchsorted(grid, 4 * low)]
        largest = np.where(values[:, 0] > 1.2 * behind, math.inf, largest)
    return largest


@eqx.filter_jit
def _radial_sizes(potential: Radial, r: Array) -> Array:
    """|phi| and the norms of its first three derivatives at |x| = r, (4, n).

    The third derivative along u, c the cosine of the angle to x, is Phi''' c^3 + 3 Q c (1 - c^2)
    with Q = (Phi'' - Phi'/r)/r.
    """
    value, first, second = potential.value(r), potential.first(r), potential.second(r)
    third = elementwise_derivative(potential.second, r)
    gone = (first == 0) & (second == 0)  # underflowed: autodiff may meet 0 times infinity there
    third = jnp.where(gone, 0.0, third)
    turn = jnp.zeros_like(r)
    if potential.dim > 1:
        turn = (second - first / r) / r
        second = jnp.maximum(jnp.abs(second), jnp.abs(first / r))
    return jnp.abs(jnp.stack([value, first, second, _largest_cubic(third - 3 * turn, 3 * turn)]))


@eqx.filter_jit
def _zonal_sizes(potential: Zonal, angle: Array) -> Array:
    """|f| and bounds of the first three derivatives along geodesics of the two units, (4, n).

    With speeds s, t of the two, rho = cos(angle) has |rho'| <= sin (s + t), |rho''| <= (s + t)^2
    and |rho'''| <= sin (s + t)^3.
    """
    rho, sine = jnp.cos(angle), jnp.sin(angle)
    value, first, second = (
        jnp.abs(part)
        for part in (potential.value(rho), potential.first(rho), potential.second(rho))
    )
    third = jnp.abs(elementwise_derivative(potential.second, rho))
    return jnp.stack(
        [
            value,
            first * sine,
            second * sine**2 + first,
            third * sine**3 + (3 * second + first) * sine,
        ]
    )


def _largest_cubic(cube: Array, line: Array) -> Array:
    """The largest |cube c^3 + line c| for 0 <= c <= 1."""
    square = -line / jnp.where(cube == 0, 1.0, 3 * cube)
    inside = (cube != 0) & (square > 0) & (square < 1)
    within = 2 / 3 * jnp.abs(line) * jnp.sqrt(jnp.where(inside, square, 0.0))
    return jnp.maximum(within, jnp.abs(cube + line))


def _width(potential: Radial) -> float:
    """Where |Phi(r) - Phi(0)| first exceeds a tenth of |Phi(0)|; 1 if it never does."""
    r = np.logspace(-9, 9, 1801)
    values, origin = np.asarray(potential.value(r)), float(potential.value(0.0))
    far = np.abs(values - origin) > 0.1 * abs(origin)
    return float(r[np.argmax(far)]) if far.any() and math.isfinite(origin) else 1.0


def _jumps(potential: Radial, edge: float) -> bool:
    """Whether the second derivative jumps at `edge`."""
    below, above = (float(potential.second(edge * (1 + side * 1e-9))) for side in (-1, 1))
    return abs(below - above) > 1e-6 * max(abs(below), abs(above))
