"""JAX functions as NumPy ones, for code that calls them with arrays of many shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from earnshaw import numerics  # noqa: F401  (float64)


def as_numpy(function: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A JAX function of arrays as a NumPy one, compiled for few shapes: arguments are padded."""
    compiled = jax.jit(lambda r: function(r))  # a module itself cannot be the key of a jit

    def wrapped(r: np.ndarray) -> np.ndarray:
        flat = np.ravel(np.asarray(r, dtype=float))
        size = 4 ** max(4, ((max(len(flat), 1) - 1).bit_length() + 1) // 2)
        padded = np.concatenate([flat, np.full(size - len(flat), flat[-1] if len(flat) else 1.0)])
        return np.array(compiled(padded))[: len(flat)].reshape(np.shape(r))

    return wrapped
