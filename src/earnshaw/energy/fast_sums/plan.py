"""Where to cut a potential into far and near, by an estimate of what each takes.

The number of near pairs at every radius is estimated from a sample of distances, drawn with a fixed
seed: charges that all sit in one place have many, and then a small radius, or tiles, are cheaper.
What far and near take is a count of operations times the measured constants below. Nothing but time
depends on the choice, and grids that would take too much memory are not among it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from earnshaw.energy.fast_sums.far import Grid, grid_for
from earnshaw.energy.fast_sums.splitting import Cut, Splitting
from earnshaw.limits import allowed_memory

# Roughly measured, on two cores that others used too: seconds a
NEAR_PAIR = 1e-8  # pair of a near part in closed form,
WHOLE_PAIR = 2.5e-8  # pair of a whole potential among neighbours, or of a tile of one with a cusp,
GAUSSIAN_PAIR = 3e-9  # pair of a tile of Gaussians,
SPREAD = 1e-9  # entry of a fine grid to or from which one charge is spread, 14 along each axis,
FOURIER = 1.5e-9  # entry of a fine grid times its logarithm.
WASTE = 2.0  # pairs looked at for each that is near
WIDTH = 14
PROBES, PARTNERS = 256, 8192  # of the sample


class Plan(NamedTuple):
    """The cut, the grid of the far part (None if all is near), the box, and about the seconds."""

    cut: Cut
    grid: Grid | None
    centre: np.ndarray
    extent: float
    seconds: float


def plan_for(
    splitting: Splitting,
    tolerance: float,
    x: np.ndarray,
    sources: Sequence[np.ndarray],
    rates: bool = False,
) -> Plan:
    """The cheapest plan for targets x (n, d) and sources (m, d), one after the other.

    `rates` says whether rates of change are wanted, too.
    """
    places = [x, *sources]
    low = np.min([part.min(axis=0) for part in places], axis=0)
    high = np.max([part.max(axis=0) for part in places], axis=0)
    extent = _rounded_up(float(np.max(high - low)), splitting)
    pairs = len(x) * sum(len(part) for part in sources)
    gaps = _gaps(x, sources)
    best: Plan | None = None
    for cut in splitting.cuts(tolerance, extent):
        grid = grid_for(splitting, cut, tolerance, extent) if cut.cutoff else None
        if grid is not None and grid.memory > allowed_memory():
            continue
        near = pairs * float(np.mean(gaps < cut.radius))
        whole = 2 * GAUSSIAN_PAIR if splitting.smooth else WHOLE_PAIR
        seconds = near * (NEAR_PAIR if grid else whole) * WASTE if cut.radius else 0.0
        seconds += len(x) * 1e-5 if cut.radius else 0.0
        if grid is not None:
            seconds += _far_seconds(grid, len(x), [len(part) for part in sources])
        if best is None or seconds < best.seconds:
            best = Plan(cut, grid, (low + high) / 2, extent, seconds * (2 if rates else 1))
    assert best is not None  # all near takes no grid
    return best


def tile_seconds(splitting: Splitting, pairs: float) -> float:
    """What tiles take for so many pairs."""
    return pairs * (GAUSSIAN_PAIR if splitting.smooth else WHOLE_PAIR)


def _far_seconds(grid: Grid, targets: int, sources: Sequence[int]) -> float:
    back = math.ceil(len(sources) * (1 + grid.dim) / 2)
    fine = (1.75 * grid.modes + WIDTH) ** grid.dim
    spread = SPREAD * WIDTH**grid.dim * (sum(sources) + back * targets)
    return spread + FOURIER * fine * math.log2(fine) * (len(sources) + back)


def _gaps(x: np.ndarray, sources: Sequence[np.ndarray]) -> np.ndarray:
    """Distances of a sample of pairs."""
    rng = np.random.default_rng(0)
    y = np.concatenate([_sample(part, PARTNERS // len(sources), rng) for part in sources])
    gaps = _sample(x, PROBES, rng)[:, None] - y
    return np.sqrt(np.sum(gaps * gaps, axis=-1))


def _sample(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= count else rows[rng.integers(len(rows), size=count)]


def _rounded_up(extent: float, splitting: Splitting) -> float:
    """To a power of 2^(1/8), so that a few steps of descent find what was prepared."""
    extent = max(extent, 1e-6 * splitting.reach(0.1))
    return 2 ** (math.ceil(8 * math.log2(extent)) / 8)
