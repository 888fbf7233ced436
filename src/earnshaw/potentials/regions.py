"""Where a Laplacian is positive and where negative, from its sign changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jax import Array
from scipy.optimize import brentq

from earnshaw.potentials.base import Region


def signed_regions(
    laplacian: Callable[[float], Array], low: float, high: float, samples: int = 2001
) -> tuple[Region, ...]:
    """Split (low, high) at the sign changes of `laplacian`, each located to 1e-12.

    Sign changes closer together than (high - low)/samples can be missed.
    """
    grid = np.linspace(low, high, samples + 1)[1:-1]
    # A Laplacian below rounding has no sign worth reporting: the far tail of a Gaussian, say.
    signs = np.sign(np.asarray(laplacian(grid)))  # type: ignore[arg-type]
    regions: list[Region] = []
    start, current = low, signs[0]
    for left, right, sign in zip(grid[:-1], grid[1:], signs[1:], strict=True):
        if sign in (current, 0.0) or np.isnan(sign):
            continue
        if current == 0.0 or np.isnan(current):
            current = sign
            continue
        root = brentq(lambda x: float(laplacian(x)), left, right, xtol=1e-12)
        regions.append(_region(current, start, root))
        start, current = root, sign
    regions.append(_region(current, start, high))
    return tuple(regions)


def _region(sign: float, low: float, high: float) -> Region:
    if sign == 0:
        return Region("harmonic", low, high, 0.0)
    return Region("subharmonic" if sign > 0 else "superharmonic", low, high)
