"""Responses s(z) of units to NumPy arrays of any shape, without compiling for each shape."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.activation import DotProduct

SMALLEST, BLOCK = 2**10, 2**20  # entries that are worked on at once


def responses(activation: DotProduct, z: np.ndarray) -> np.ndarray:
    """s(z), of the shape of z. Entries are padded to one of few lengths: few compilations."""
    flat, found = np.ravel(z), np.empty(z.size)
    for start in range(0, z.size, BLOCK):
        block = flat[start : start + BLOCK]
        size = SMALLEST
        while size < len(block):
            size *= 4
        padded = jnp.asarray(np.pad(block, (0, size - len(block))))
        found[start : start + BLOCK] = np.asarray(_compiled(activation, padded))[: len(block)]
    return found.reshape(z.shape)


@eqx.filter_jit
def _compiled(activation: DotProduct, z: Array) -> Array:
    return activation(z)
