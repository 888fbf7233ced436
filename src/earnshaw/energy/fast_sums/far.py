"""The far part of sums over charges: non-uniform FFTs there and back.

On a grid of wave numbers k = 2 pi n/P, n odd in number and symmetric about 0, along each axis,

    F_k = sum_j q_j exp(-i k.y_j)              type 1, charges to wave numbers,
    sum_k a_k F_k exp(i k.x_i)                 type 2, back to places,

with a_k = far^(k)/P^d, times i k for the gradient, -k k^T for second derivatives. All results are
real, and two of them make one complex transform. Charges y that move at the rate dy, and change at
the rate dq, change F_k at the rate sum_j (dq_j - i k.dy_j q_j) exp(-i k.y_j).

FINUFFT (Barnett, Magland and af Klinteberg, 2019) adds up in another order with another number of
threads, in either type: each transform is kept to one, and independent ones run side by side, in
threads of their own. So results have the same bits for any number of cores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib.util import find_spec
from typing import Any

import numpy as np

from earnshaw.energy.fast_sums.splitting import Cut, Splitting
from earnshaw.errors import MissingExtra
from earnshaw.limits import allowed_memory

UPSAMPLING = 1.75  # of FINUFFT's fine grid: as exact as 2, two thirds of the memory in d = 3
FINEST = 1e-13  # the least error that FINUFFT can be asked for with that


@dataclass(frozen=True)
class Grid:
    """`modes` wave numbers along each of `dim` axes, 2 pi/`period` apart."""

    dim: int
    modes: int
    period: float

    @property
    def waves(self) -> np.ndarray:
        """The wave numbers along one axis, (modes,)."""
        half = self.modes // 2
        return 2 * math.pi / self.period * np.arange(-half, half + 1)

    @property
    def memory(self) -> float:
        """Bytes of one transform: its fine grid, and its coefficients and a copy."""
        return 16.0 * self.modes**self.dim * (UPSAMPLING**self.dim + 3)


def grid_for(splitting: Splitting, cut: Cut, tolerance: float, extent: float) -> Grid:
    """The grid for charges in a box of sides up to `extent`."""
    period = splitting.period(cut, tolerance, extent)
    half = math.ceil(cut.cutoff * period / (2 * math.pi))
    return Grid(splitting.dim, 2 * half + 1, period)


@lru_cache(maxsize=2)
def coefficients(
    splitting: Splitting, cut: Cut, tolerance: float, extent: float, grid: Grid
) -> np.ndarray:
    """a_k = far^(k)/P^d, (modes,) * d: once for each integer |n|^2."""
    squares = np.square(np.arange(grid.modes) - grid.modes // 2)
    total = reduce(np.add, np.ix_(*(squares,) * grid.dim))
    unit = 2 * math.pi / grid.period
    if grid.dim == 1:
        values = splitting.spectrum(unit * np.sqrt(squares), cut, tolerance, extent)
        return values / grid.period
    each = np.arange(int(np.max(total)) + 1, dtype=float)
    values = splitting.spectrum(unit * np.sqrt(each), cut, tolerance, extent)
    return values[total] / grid.period**grid.dim


class Far:
    """Transforms between charges in a box and one grid."""

    def __init__(
        self, grid: Grid, weights: np.ndarray, centre: np.ndarray, tolerance: float
    ) -> None:
        self.grid, self.weights, self.centre = grid, weights, centre
        self.precision = max(tolerance / 10, FINEST)
        at_once = int(allowed_memory() // (2 * grid.memory))
        self.workers = max(1, min(_cores(), at_once))

    def charges(self, y: np.ndarray, *charges: np.ndarray) -> list[np.ndarray]:
        """F_k of each of the charges (m,) at y (m, d)."""
        points = self._angles(y)
        return self._each(
            lambda q: self._plan(1, points).execute(np.ascontiguousarray(q, dtype=complex)), charges
        )

    def rates(self, y: np.ndarray, q: np.ndarray, dy: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """The rate of change of F_k."""
        parts = self.charges(y, dq, *(q * dy.T))
        total = parts[0]
        for axis, part in enumerate(parts[1:]):
            total -= 1j * self._along(axis) * part
        return total

    def fields(
        self, x: np.ndarray, wanted: Sequence[tuple[np.ndarray, tuple[int, ...]]]
    ) -> np.ndarray:
        """Derivatives along some axes, () for none, of what charges F_k make at x: (n, wanted)."""
        points = self._angles(x)
        couples = [wanted[i : i + 2] for i in range(0, len(wanted), 2)]

        def couple(pair: Sequence[tuple[np.ndarray, tuple[int, ...]]]) -> np.ndarray:
            total = self._derivative(*pair[0])
            if len(pair) > 1:
                total = total + 1j * self._derivative(*pair[1])
            return self._plan(2, points).execute(np.ascontiguousarray(total))

        found = self._each(couple, couples)
        both = [part for made in found for part in (made.real, made.imag)]
        return np.stack(both[: len(wanted)], axis=1)

    def _derivative(self, charges: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        made = self.weights * charges
        for axis in axes:
            made *= 1j * self._along(axis)
        return made

    def _along(self, axis: int) -> np.ndarray:
        shape = [1] * self.grid.dim
        shape[axis] = self.grid.modes
        return self.grid.waves.reshape(shape)

    def _angles(self, positions: np.ndarray) -> list[np.ndarray]:
        scaled = (positions - self.centre) * (2 * math.pi / self.grid.period)
        return [np.ascontiguousarray(column) for column in scaled.T]

    def _plan(self, kind: int, points: Sequence[np.ndarray]) -> Any:
        plan = finufft().Plan(
            kind,
            (self.grid.modes,) * self.grid.dim,
            eps=self.precision,
            isign=-1 if kind == 1 else 1,
            nthreads=1,
            upsampfac=UPSAMPLING,
        )
        plan.setpts(*points)
        return plan

    def _each(self, function: Callable, entries: Sequence) -> list:
        if self.workers == 1 or len(entries) == 1:
            return [function(entry) for entry in entries]
        with ThreadPoolExecutor(min(self.workers, len(entries))) as pool:
            return list(pool.map(function, entries))


def gradient_of(charges: np.ndarray, dim: int) -> list[tuple[np.ndarray, tuple[int, ...]]]:
    """What `Far.fields` is asked for: the potential, and its gradient."""
    return [(charges, ()), *((charges, (axis,)) for axis in range(dim))]


def curvature_of(charges: np.ndarray, dim: int) -> list[tuple[np.ndarray, tuple[int, ...]]]:
    """And its second derivatives, of axes a <= b."""
    axes = itertools.combinations_with_replacement(range(dim), 2)
    return [(charges, pair) for pair in axes]


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def finufft() -> Any:
    """The library, or an error that says how to install it."""
    try:
        import finufft
    except ImportError:
        raise MissingExtra("a fast sum", "finufft", "fast") from None
    return finufft


def available() -> bool:
    """Whether FINUFFT is installed."""
    return find_spec("finufft") is not None
