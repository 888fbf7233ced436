"""Angles of a sector of the plane, graded towards its two edges.

Where u = s1 r sin(opening - x) and v = s2 r sin(x) keep their signs, 0 < x < opening, a function of
them changes within 1/s of the edges, s the longer length. With x = sinh(reach y)/s on either half
Gauss' rule in y sees one scale after the other: `half` nodes on [0, 1] do it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.numerics.quadrature import panel_rule


class Sector(NamedTuple):
    """sin(x) and sin(opening - x) on the half x < opening/2, and weights; shapes (..., half).

    The other half has the two sines exchanged and the same weights.
    """

    near: Array
    far: Array
    weights: Array


def sector(s1: Array, s2: Array, opening: Array, other: Array, half: int) -> Sector:
    """The rule for a sector of `opening` = pi - `other`, for units of lengths s1 and s2.

    Both openings are given, since for nearly parallel vectors only the smaller one knows its
    digits: sin(opening - x) is sin(other + x).
    """
    y, weights = panel_rule(np.array([0.0, 1.0]), half)
    fine = jax.lax.stop_gradient(1 / jnp.maximum(1.0, jnp.maximum(s1, s2)))[..., None]
    opening, other = opening[..., None], other[..., None]
    reach = jnp.arcsinh(opening / (2 * fine))
    x = fine * jnp.sinh(reach * y)
    far = jnp.sin(jnp.where(opening < other, opening - x, other + x))
    return Sector(jnp.sin(x), far, fine * reach * jnp.cosh(reach * y) * weights)
