"""The distance potential of Conjecture 3.14: a pull of the same strength from everywhere.

The paper prints Phi = |theta - w|. With that sign the loss is unbounded below, since opposite
charges repel and can part for ever; -|theta - w| is meant, and is the default here. It is
conditionally positive definite: its generalised transform 2^d pi^((d-1)/2) Gamma((d+1)/2)/k^(d+1)
is positive, so losses whose charges sum to zero are non-negative, though no activation has it.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import POTENTIALS
from earnshaw.duality.potential import Radial
from earnshaw.duality.regions import Region
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import check_dim


@POTENTIALS.register("distance")
class Distance(Radial):
    """Phi(r) = sign * r on R^dim; sign = -1 (attractive, the meant one) or +1 (as printed).

    EPD, Conjecture 3.14. The Laplacian is sign * (d-1)/r.
    """

    dim: int = eqx.field(static=True, converter=check_dim)
    sign: int = eqx.field(static=True, default=-1)

    def __check_init__(self) -> None:
        if self.sign not in (-1, 1):
            raise OutOfRange("sign", self.sign, "-1 or 1")

    @property
    def name(self) -> str:
        return "distance"

    @property
    def source(self) -> str:
        return "EPD, Conjecture 3.14"

    @property
    def error_bound(self) -> float | None:
        """Values are exact."""
        return 0.0

    def value(self, r: ArrayLike) -> Array:
        """sign * r."""
        return self.sign * jnp.asarray(r, dtype=float)

    def first(self, r: ArrayLike) -> Array:
        """sign, also at r = 0, where it is the one-sided slope."""
        return jnp.full_like(jnp.asarray(r, dtype=float), self.sign)

    def second(self, r: ArrayLike) -> Array:
        """Zero everywhere: the pull is the same at all distances."""
        return jnp.zeros_like(jnp.asarray(r, dtype=float))

    def log_value(self, r: ArrayLike) -> Array:
        """log r for sign = 1; with sign = -1 Phi is not positive."""
        if self.sign < 0:
            raise EarnshawError("the potential -r is not positive; allowed: sign 1")
        return jnp.log(jnp.asarray(r, dtype=float))

    def regions(self) -> tuple[Region, ...]:
        """Superharmonic for sign = -1, subharmonic for +1; harmonic for d = 1."""
        if self.dim == 1:
            return (Region("harmonic", 0.0, math.inf, 0.0),)
        return (Region("superharmonic" if self.sign < 0 else "subharmonic", 0.0, math.inf),)
