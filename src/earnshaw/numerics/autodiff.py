"""Small help for hand-written derivative rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.custom_derivatives import SymbolicZero


def tangent(value: Array, *terms: tuple[Callable[[], Array], Any]) -> Array:
    """sum_i partial_i() * tangent_i over the tangents that are not zero by construction.

    A partial derivative may be infinite where its direction is not taken (d/dq of the angle between
    parallel vectors, say): skipping it there is what keeps 0 * infinity = NaN away. Use with rules
    registered with ``symbolic_zeros=True``.
    """
    moving = [(partial, step) for partial, step in terms if not isinstance(step, SymbolicZero)]
    return sum((partial() * step for partial, step in moving), start=jnp.zeros_like(value))
