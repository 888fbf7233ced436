"""Where a Laplacian is positive, negative or zero, from its sign changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

ROUNDING = 1e-12  # a Laplacian this small against its terms is zero
SAMPLES = 2000  # places looked at together: always as many, so that one program serves
_NO_SIGN = 2.0

Character = Literal["harmonic", "lambda-harmonic", "subharmonic", "superharmonic"]


class Region(NamedTuple):
    """Where a potential has a definite Laplacian: `low` < argument (rho or r) < `high`.

    `eigenvalue` is lambda where Laplacian = lambda Phi holds exactly (0 for harmonic), else None.
    """

    character: Character
    low: float
    high: float
    eigenvalue: float | None = None


def signed_regions(
    laplacian: Callable[[Any], Any],
    low: float,
    high: float,
    terms: Callable[[Any], Any] | None = None,
) -> tuple[Region, ...]:
    """Split (low, high) where the sign of `laplacian` changes, each place located to 1e-12.

    `terms` is the size of the terms that the Laplacian is the sum of: what is below their rounding
    counts as zero, hence harmonic. Where these are 0 themselves (a potential that has ended, or
    underflowed) there is no sign, and no region. Changes closer together than (high - low)/SAMPLES
    can be missed.
    """

    @jax.jit
    def looked_at(x: Array) -> tuple[Array, Array]:
        return laplacian(x), x if terms is None else terms(x)

    def sign(x: np.ndarray) -> np.ndarray:
        values, sizes = (np.asarray(found) for found in looked_at(jnp.asarray(x)))
        if terms is None:
            return np.sign(values)
        signs = np.where(np.abs(values) <= ROUNDING * sizes, 0.0, np.sign(values))
        return np.where(sizes == 0, _NO_SIGN, signs)

    grid = np.linspace(low, high, SAMPLES + 2)[1:-1]
    signs = np.nan_to_num(sign(grid), nan=_NO_SIGN)
    # A single zero between two signs is a root that fell on the grid, not a region.
    alone = np.zeros(len(signs), dtype=bool)
    alone[1:-1] = (signs[1:-1] == 0) & (signs[:-2] != 0) & (signs[2:] != 0)
    grid, signs = grid[~alone], signs[~alone]
    edges, characters = [low], [signs[0]]
    for (left, before), (right, after) in pairwise(zip(grid, signs, strict=True)):
        if before != after:
            edges.append(_boundary(sign, before, left, right))
            characters.append(after)
    edges.append(high)
    return tuple(
        _region(character, start, end)
        for character, (start, end) in zip(characters, pairwise(edges), strict=True)
        if character != _NO_SIGN
    )


def _boundary(sign: Callable[[Any], np.ndarray], before: float, left: float, right: float) -> float:
    """Where the sign stops being `before`, in intervals that get SAMPLES times smaller."""
    while right - left > 1e-12 * max(1.0, abs(left)):
        points = np.linspace(left, right, SAMPLES + 2)
        (changed,) = np.nonzero(sign(points[1:-1]) != before)
        first = changed[0] if len(changed) else SAMPLES
        left, right = points[first], points[first + 1]
    return (left + right) / 2


def _region(sign: float, low: float, high: float) -> Region:
    if sign == 0:
        return Region("harmonic", float(low), float(high), 0.0)
    return Region("subharmonic" if sign > 0 else "superharmonic", float(low), float(high))
