"""How large an activation s and its first three derivatives are on an interval [-r, r].

Any activation, however it grows, is bounded there, so that inputs |x| <= B and units |theta| <= R
give the constants of the bounds with r = R B. The largest values are looked for on a fine grid,
with a margin for what lies between its points: not rigorous, but safe for functions that do not
oscillate faster than the grid. Where a derivative jumps, at a kink, the next one counts as
infinite: it stands for a Lipschitz constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.activation import Activation, DotProduct
from earnshaw.duality.named import activation as activation_of
from earnshaw.duality.potential import elementwise_derivative
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_real

SPACING = 2e-3  # of the grid
FEWEST, MOST = 20_001, 1_000_001  # points of the grid on one side of 0
SAFETY = 1.001  # for what lies between them
BESIDE = 1e-6  # distance from a kink at which its sides are compared
ROUNDING = 1e-9  # jumps below this, relative to the sides, are rounding


class Sizes(NamedTuple):
    """The largest |s|, |s'|, |s''| and |s'''| on [-r, r]: numbers, or arrays for many r."""

    value: Any
    first: Any
    second: Any
    third: Any


def activation_sizes(
    activation: str | Activation | Callable[[Any], Any], radius: float, **parameters: Any
) -> Sizes:
    """The largest |s|, |s'|, |s''| and |s'''| on [-radius, radius]; infinite beyond a jump.

    ``activation_sizes("relu", 5.0)`` is (5.005, 1.001, inf, inf): 0.1 % too large on purpose.

    Args:
        activation: a name with its parameters, an activation, or a function of one variable.
        radius: R B, for units |theta| <= R and inputs |x| <= B.
    """
    radius = check_real("radius", radius, 0.0)
    found = SizeTable(dot_product(activation_of(activation, **parameters)), radius).at(radius)
    return Sizes(*(float(size) for size in found))


def dot_product(activation: Activation) -> DotProduct:
    """The activation itself if it is s(x.theta), else an error."""
    if not isinstance(activation, DotProduct):
        raise EarnshawError(
            f"the bounds are for units s(x.theta), not for {activation.name}; "
            "allowed: dot-product activations"
        )
    return activation


class SizeTable:
    """The sizes on [-r, r] for every r up to `reach`, from one grid."""

    def __init__(self, activation: DotProduct, reach: float) -> None:
        count = min(max(math.ceil(reach / SPACING), FEWEST), MOST)
        self.grid = np.linspace(0.0, reach, count)
        kinks = np.asarray(activation.kinks, dtype=float)
        kinks = kinks[np.abs(kinks) <= reach]
        step = BESIDE * np.maximum(1.0, np.abs(kinks))
        points = np.concatenate([self.grid, -self.grid, kinks - step, kinks + step])
        up, down, left, right = np.split(
            np.asarray(_derivatives(activation, jnp.asarray(points))),
            [count, 2 * count, 2 * count + kinks.size],
            axis=1,
        )
        sides = np.maximum(np.abs(up), np.abs(down))
        sides = np.where(np.isnan(sides), np.inf, sides)
        self.sizes = SAFETY * np.maximum.accumulate(sides, axis=1)
        self.between_kinks = self.sizes[2].copy()  # |s''|, jumps of s' left out
        self.slope_jumps = np.zeros_like(self.grid)
        for i, at in enumerate(np.abs(kinks)):
            self._add_kink(np.searchsorted(self.grid, at), step[i], left[:, i], right[:, i])

    def at(self, radius: Any) -> Sizes:
        """The sizes on [-radius, radius]; an array of radii gives arrays."""
        return Sizes(*self.sizes[:, self._index(radius)])

    def kinked(self, radius: float) -> tuple[float, float]:
        """The largest |s''| between kinks, and the sum of the jumps of s' at them."""
        index = self._index(radius)
        return float(self.between_kinks[index]), float(self.slope_jumps[index])

    def _index(self, radius: Any) -> Any:
        # The next point of the grid outwards: sizes grow with the radius.
        return np.minimum(np.searchsorted(self.grid, radius), len(self.grid) - 1)

    def _add_kink(self, index: Any, step: float, left: np.ndarray, right: np.ndarray) -> None:
        larger, jump = np.maximum(np.abs(left), np.abs(right)), np.abs(right - left)
        for order in range(3):
            # What the next derivative explains is no jump.
            if jump[order] > 3 * step * larger[order + 1] + ROUNDING * larger[order]:
                self.sizes[order + 1 :, index:] = np.inf
                self.slope_jumps[index:] += SAFETY * jump[order] if order == 1 else 0.0


@eqx.filter_jit
def _derivatives(activation: DotProduct, z: Array) -> Array:
    """s, s', s'' and s''' at z, shape (4, n)."""
    orders: list[Callable[[Any], Array]] = [activation]
    for _ in range(3):
        orders.append(partial(elementwise_derivative, orders[-1]))
    return jnp.stack([order(z) for order in orders])
