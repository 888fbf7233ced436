"""The jumps of an activation and of its slope at its kinks.

relu has no second derivative at 0 that a sample could see: its slope jumps there by 1, so s'' holds
a point mass. sign jumps itself, so s' holds one. Averages over samples miss these masses; what they
need to put them back is the size of every jump, here from one-sided limits at the kinks.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.duality.activation import DotProduct

STEP = 1e-6  # the side limits are Taylor steps back from here: 1e-18 in s, 1e-12 in s'
ROUNDING = 1e-9  # jumps below this, relative to the two sides, are rounding


class Jump(NamedTuple):
    """What s and s' do at the kink `at`: right minus left limit, and the mean of the two."""

    at: float
    value: float
    slope: float
    mean_value: float
    mean_slope: float


def jumps(activation: DotProduct) -> tuple[Jump, ...]:
    """The jumps of s and s' at the kinks where either has one (relu^2 has neither).

    The one-sided limits of s, s' and s'' must be finite; a kink where one is not is left out.
    """
    kinks = np.asarray(activation.kinks, dtype=float)
    if kinks.size == 0:
        return ()
    (left, left_slope), (right, right_slope) = (
        _limits(activation, kinks, side * STEP * np.maximum(1.0, np.abs(kinks)))
        for side in (-1.0, 1.0)
    )
    found = []
    for i, at in enumerate(kinks):
        value = _jump(left[i], right[i])
        slope = _jump(left_slope[i], right_slope[i])
        means = (left[i] + right[i]) / 2, (left_slope[i] + right_slope[i]) / 2
        if np.isfinite(value) and np.isfinite(slope) and (value != 0 or slope != 0):
            found.append(Jump(*(float(part) for part in (at, value, slope, *means))))
    return tuple(found)


def _limits(
    activation: DotProduct, kinks: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """s and s' at kink +- 0, by Taylor's formula from kink + step back."""

    def slope(z: jax.Array) -> jax.Array:
        return jax.jvp(activation, (z,), (jnp.ones_like(z),))[1]

    at = jnp.asarray(kinks + step)
    first, second = jax.jvp(slope, (at,), (jnp.ones_like(at),))
    value = activation(at) - step * first + step**2 / 2 * second
    return np.asarray(value), np.asarray(first - step * second)


def _jump(left: float, right: float) -> float:
    """Right minus left, or 0 where they differ by rounding alone."""
    gap = right - left
    return 0.0 if abs(gap) <= ROUNDING * max(1.0, abs(left), abs(right)) else gap
