"""Functions of the squared gap u = |x - y|^2, with derivatives that are right at u = 0 too.

A `Profile` gives g(u), g'(u) and g''(u) at once. `height` is g, and `stiffness` is 2 g', the factor
in the gradient 2 g'(u) (x - y); where x = y, an infinite g' (a cusp, which has no direction) counts
as 0, and so does the rate of change of the stiffness, which only ever multiplies x - y.
"""

from __future__ import annotations

from typing import Any, Protocol

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from earnshaw.energy.couplings.coupling import squared_norm


class Profile(Protocol):
    """A function of u = |x - y|^2."""

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """g, g' and g'' at u >= 0."""
        ...


def value_and_gradient(profile: Profile, gap: Array) -> tuple[Array, Array]:
    """g(|gap|^2) and its gradient in `gap`, of shapes (...) and (..., d)."""
    u = squared_norm(gap)
    gradient = stiffness(profile, u)[..., None] * gap
    return height(profile, u), gradient + pole(profile, u)[..., None]


@eqx.filter_custom_jvp
def height(profile: Any, u: Array) -> Array:
    """g(u), elementwise; its derivative is `stiffness`/2, finite at a cusp."""
    return profile.jet(u)[0]


@height.def_jvp
def _height_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    profile, u = primals
    value = height(profile, u)
    moved = tangents[1]
    return value, jnp.zeros_like(value) if moved is None else stiffness(profile, u) / 2 * moved


@eqx.filter_custom_jvp
def stiffness(profile: Any, u: Array) -> Array:
    """2 g'(u), and 0 where that is infinite."""
    slope = 2 * profile.jet(u)[1]
    return jnp.where((u > 0) | jnp.isfinite(slope), slope, 0.0)


@stiffness.def_jvp
def _stiffness_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    profile, u = primals
    value = stiffness(profile, u)
    moved = tangents[1]
    if moved is None:
        return value, jnp.zeros_like(value)
    return value, jnp.where(u > 0, 2 * profile.jet(u)[2], 0.0) * moved


@eqx.filter_custom_jvp
def pole(profile: Any, u: Array) -> Array:
    """Infinity where x = y and g(0) is infinite, 0 elsewhere; its rate of change is the same.

    Written so that an infinite force shows itself as infinity, and not as 0 * infinity.
    """
    at_pole = (u == 0) & jnp.isinf(profile.jet(u)[0])
    return jnp.where(at_pole, jnp.inf, 0.0)


@pole.def_jvp
def _pole_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    value = pole(*primals)
    return value, value
