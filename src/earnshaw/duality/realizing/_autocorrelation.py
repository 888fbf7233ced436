"""The potential that a radial profile realises, by quadrature in real space: the way back.

    (h * h)(delta) = integral h(|x|) h(|x - delta e|) dx

In the prolate coordinates whose foci are 0 and delta e, |x| = (delta/2)(cosh a + cos b) and
|x - delta e| = (delta/2)(cosh a - cos b),

    dx = |S^(d-2)| (delta/2)^d (cosh^2 a - cos^2 b) (sinh a sin b)^(d-2) da db,    d >= 2,

which vanishes at the foci faster than the singularities h ~ r^(-(d-1)/2) grow. No Fourier transform
is involved, so this checks `profile` independently. It sees the difference at some distances only:
what it makes of that is an estimate, widened for what lies between, and no bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from earnshaw.duality.potential import Radial
from earnshaw.duality.realizing._spectrum import as_function
from earnshaw.numerics.budget import checkpoint
from earnshaw.numerics.hankel import ORDER, Function, sphere_area
from earnshaw.numerics.jax_as_numpy import as_numpy
from earnshaw.numerics.log_table import LogTable
from earnshaw.numerics.quadrature import graded, panel_rule, subdivide

DISTANCES = np.concatenate([[0.0, 1e-3, 0.01, 0.04], np.geomspace(0.1, 40.0, 40)])
"""Where potentials are checked, in units of the radius at which they have fallen to half."""
POOR = 1e-2
"""Of Phi(0): an activation that misses the potential by more is no evidence that one exists."""
_WIDENED = 3.0
"""Between the distances looked at, the difference is at most about so many times that at them."""


def estimated_error(
    potential: Radial, table: LogTable, distances: np.ndarray, kinks: Sequence[float]
) -> float:
    """About how far h * h is from Phi, h the table: what is seen at `distances`, widened."""
    at = np.unique(np.concatenate([distances, kinks, [0.999 * kink for kink in kinks]]))
    back = realized_values(table, potential.dim, at, table.lowest, table.highest, kinks)
    return _WIDENED * float(np.max(np.abs(back - as_function(potential)(at))))


def realized_values(
    profile: Callable[[Any], Any],
    dim: int,
    distances: np.ndarray,
    lowest: float,
    highest: float,
    kinks: Sequence[float] = (),
) -> np.ndarray:
    """(h * h) at several `distances`, for a profile h(r) in JAX whose potential has `kinks`.

    An overlap of balls has its kink at their diameter, the profile at their radius: both are split.
    """
    own = sorted({*kinks, *(kink / 2 for kink in kinks)})
    compiled = as_numpy(profile)
    values = []
    for distance in distances:
        checkpoint("the check of the activation")
        values.append(autocorrelation(compiled, dim, float(distance), lowest, highest, own))
    return np.array(values)


def autocorrelation(
    profile: Function,
    dim: int,
    delta: float,
    lowest: float,
    highest: float,
    kinks: Sequence[float] = (),
) -> float:
    """(h * h)(delta) for a profile smooth between `lowest` and `highest` off its `kinks`."""
    if delta == 0:
        edges = np.unique(np.append(graded(lowest, highest, 1.5), kinks))
        r, w = panel_rule(edges, ORDER)
        return float(sphere_area(dim) * np.sum(w * (profile(r) * r ** ((dim - 1) / 2)) ** 2))
    if dim == 1:
        return _on_line(profile, delta, lowest, highest, kinks)
    # By symmetry b < pi/2, twice. sinh(a/2) and sin(b/2) keep the small distance exact.
    top = 2 * math.asinh(math.sqrt(highest / delta))
    b, wb = panel_rule(subdivide(graded(1e-4, math.pi / 2), 0.1), 12)
    sines = np.sin(b / 2) ** 2
    # For each b, the integral over a is split where one of the distances is at a kink.
    ratio = np.array(kinks)[:, None] / delta
    crossings = np.concatenate([ratio - sines, ratio - 1 + sines])
    splits = 2 * np.arcsinh(np.sqrt(np.maximum(crossings, 0.0)))
    base = subdivide(graded(1e-4, top), 0.25)
    edges = np.concatenate([np.tile(base[:, None], len(b)), np.minimum(splits, top)])
    edges = np.sort(edges, axis=0)
    nodes, weights = legendre.leggauss(12)
    total = 0.0
    for low, high in itertools.pairwise(edges):
        a = (low + high) / 2 + (high - low) / 2 * nodes[:, None]
        waves = np.sinh(a / 2) ** 2
        near, far = delta * (waves + sines), delta * (1 + waves - sines)
        volume = near * far * (np.sinh(a) * np.sin(b)) ** (dim - 2)
        total += float(weights @ (volume * profile(near) * profile(far)) @ (wb * (high - low) / 2))
    return 2 * sphere_area(dim - 1) * (delta / 2) ** (dim - 2) * total


def _on_line(
    profile: Function, delta: float, lowest: float, highest: float, kinks: Sequence[float]
) -> float:
    """d = 1: twice the integral over x < delta/2, graded towards the singularity at 0."""
    special = [0.0, *kinks, *(-k for k in kinks)]
    cuts = set(special) | {delta - s for s in special}
    inner = sorted(c for c in cuts if -highest < c < delta / 2)
    ends = [-highest, *inner, delta / 2]
    total = 0.0
    for left, right in itertools.pairwise(ends):
        half = (right - left) / 2
        steps = graded(min(lowest, half / 4), half, 1.5)
        for edges in (left + steps, right - steps[::-1]):
            x, w = panel_rule(edges, ORDER)
            total += float(np.sum(w * profile(np.abs(x)) * profile(np.abs(x - delta))))
    return 2 * total
