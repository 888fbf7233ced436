"""A radial function from a table in log r, in JAX: what a numerical inversion leaves behind.

    h(r) = r^(-exponent) exp(-decay r) S(log r)

with S a cubic spline on equidistant nodes. The two factors carry the singularity at r = 0 and the
decay at infinity, so S is smooth and of moderate size over many orders of magnitude of r, and h is
right relative to itself in the far tail as near 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw import numerics  # noqa: F401  (float64)

_BLURRED = 16


class LogTable(eqx.Module):
    """h(r) for r >= 0. Below the table S continues linearly in log r; beyond it h is 0.

    `coefficients` (intervals, 4) are those of S in powers of the position within an interval,
    lowest first; `slope_below` is dS/dlog r below the first node: 0 unless h is logarithmic at 0.
    At r = 0 itself, h is +-infinite if `exponent` > 0 or `slope_below` is not 0, else S at the
    first node.
    """

    start: Array
    step: Array
    coefficients: Array
    slope_below: Array
    exponent: float = eqx.field(static=True)
    decay: float = eqx.field(static=True)

    @property
    def lowest(self) -> float:
        """The radius of the first node."""
        return math.exp(float(self.start))

    @property
    def highest(self) -> float:
        """The radius of the last node."""
        return math.exp(float(self.start + self.step * len(self.coefficients)))

    def __call__(self, r: ArrayLike) -> Array:
        """h at radii r >= 0 of any shape, elementwise; by its power below the table, 0 above."""
        return _evaluate(self, jnp.asarray(r, dtype=float))

    def stretched(self, length: float, factor: float) -> LogTable:
        """The table of factor * h(r / length)."""
        scale = factor * length**self.exponent
        return LogTable(
            start=self.start + math.log(length),
            step=self.step,
            coefficients=self.coefficients * scale,
            slope_below=self.slope_below * scale,
            exponent=self.exponent,
            decay=self.decay / length,
        )


@jax.jit
def _evaluate(table: LogTable, r: Array) -> Array:
    """The table at r; compiled as a whole also where the caller is not."""
    positive = r > 0
    safe = jnp.where(positive, r, 1.0)
    place = (jnp.log(safe) - table.start) / table.step
    interval = jnp.clip(jnp.floor(place), 0, len(table.coefficients) - 1)
    c = table.coefficients[interval.astype(int)]
    x = place - interval
    inside = c[..., 0] + x * (c[..., 1] + x * (c[..., 2] + x * c[..., 3]))
    first = table.coefficients[0, 0]
    below = first + table.slope_below * table.step * place
    smooth = jnp.where(place < 0, below, inside)
    value = smooth * safe**-table.exponent * jnp.exp(-table.decay * safe)
    value = jnp.where(place > len(table.coefficients), 0.0, value)
    if table.exponent > 0:
        at_zero = first * jnp.inf
    else:
        at_zero = jnp.where(table.slope_below == 0, first, -table.slope_below * jnp.inf)
    return jnp.where(positive, value, at_zero)


def fit_log_table(
    radii: np.ndarray,
    values: np.ndarray,
    exponent: float = 0.0,
    decay: float = 0.0,
    logarithmic: bool = False,
    splits: Sequence[int] = (),
    jumps: bool = False,
) -> LogTable:
    """The table of a function with `values` at `radii`, which are equidistant in log r.

    The spline is not smooth at the nodes `splits`, where the function has kinks of its own; if it
    `jumps` there, the values next to those nodes, which a finite range of frequencies blurs, are
    replaced by what the two sides continue to.
    """
    from scipy.interpolate import CubicSpline  # takes long to load, and few need a table

    smooth = values * radii**exponent * np.exp(decay * radii)
    ends = [0, *(s for s in sorted(set(splits)) if 3 < s < len(radii) - 4), len(radii) - 1]
    nodes = np.arange(len(radii), dtype=float)
    pieces = []
    for a, b in itertools.pairwise(ends):
        piece = smooth[a : b + 1]
        if jumps:
            inside = slice(a + _BLURRED * (a > 0), b + 1 - _BLURRED * (b < len(radii) - 1))
            spline = CubicSpline(nodes[inside], smooth[inside])
            piece = spline(nodes[a : b + 1])
        pieces.append(CubicSpline(nodes[a : b + 1], piece).c[::-1].T)
    step = math.log(radii[-1] / radii[0]) / (len(radii) - 1)
    slope = (smooth[8] - smooth[0]) / (8 * step) if logarithmic else 0.0
    return LogTable(
        start=jnp.asarray(math.log(radii[0])),
        step=jnp.asarray(step),
        coefficients=jnp.asarray(np.concatenate(pieces)),
        slope_below=jnp.asarray(slope),
        exponent=float(exponent),
        decay=float(decay),
    )
