"""Responses s(z) with a slope to follow, also for activations that jump."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.jumps import jumps

BLUR = 0.3  # the width of a jump's bump, relative to the length of the unit


def response_of(activation: DotProduct) -> Callable[[Array, Array], tuple[Array, Array]]:
    """A function of z (n, k) and lengths |v| (k,) that gives s(z) and s'(z).

    The slope of an activation that jumps (sign, step) is 0 wherever it exists: a sample does not
    tell where to move. Every jump is given a Gaussian bump of slope instead, as wide as z varies
    where a unit has length |v| and inputs have size 1, times 0.3.
    """
    with jax.ensure_compile_time_eval():  # also where this is called while something is traced
        steps = [(jump.at, jump.value) for jump in jumps(activation) if jump.value]

    def response(z: Array, length: Array) -> tuple[Array, Array]:
        value, slope = jax.jvp(activation, (z,), (jnp.ones_like(z),))
        for at, size in steps:
            width = BLUR * jnp.where(length > 0, length, 1.0)
            bump = jnp.exp(-(((z - at) / width) ** 2) / 2) / (width * jnp.sqrt(2 * jnp.pi))
            slope = slope + size * bump
        return value, slope

    return response
