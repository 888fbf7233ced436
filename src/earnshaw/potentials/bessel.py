"""The Bessel potential exp(-|theta - w|_1), so named after its activation, a product of K_0.

In one dimension it is the 1-harmonic potential exp(-r): bounded, realizable, and with no local
minimum off the protons. In R^d it is lambda-harmonic with lambda = d off the coordinate hyperplanes
theta_i = w_i, where it has ridges: that is why the papers' theorem stops at d = 1.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.potentials.base import Radial, Region, Separable, check_dim, even_size


class Exponential1D(Radial):
    """Phi(r) = exp(-r) on R^1: 1-harmonic off r = 0, with a cusp there (EPD, Theorem 3.9)."""

    dim: int = eqx.field(static=True, default=1, init=False)

    @property
    def name(self) -> str:
        return "exponential"

    @property
    def source(self) -> str:
        return "EPD, Table 1 and Theorem 3.9"

    @property
    def positive(self) -> bool:
        """Always."""
        return True

    def value(self, r: ArrayLike) -> Array:
        """exp(-r)."""
        return jnp.exp(-jnp.asarray(r, dtype=float))

    def log_value(self, r: ArrayLike) -> Array:
        """-r."""
        return -jnp.asarray(r, dtype=float)

    def first(self, r: ArrayLike) -> Array:
        """-exp(-r), also at r = 0, where it is the one-sided slope."""
        return -self.value(r)

    def second(self, r: ArrayLike) -> Array:
        """exp(-r)."""
        return self.value(r)

    def fourier(self, k: Any) -> Any:
        """2 / (1 + k^2)."""
        return 2 / (1 + np.square(np.asarray(k, dtype=float)))

    def regions(self) -> tuple[Region, ...]:
        """1-harmonic off r = 0."""
        return (Region("lambda-harmonic", 0.0, math.inf, 1.0),)


class BesselPotential(Separable):
    """Phi(theta, w) = exp(-|theta - w|_1) on R^dim (EPD and Full, Table 1).

    Its activation under N(0, I) inputs is exp(|x|^2/4) (2/pi)^(3d/4) prod_i K_0(|x_i - theta_i|).
    """

    dim: int = eqx.field(static=True, converter=check_dim)
    factor: Exponential1D = eqx.field(default_factory=Exponential1D, init=False)

    @property
    def name(self) -> str:
        return "bessel"

    @property
    def source(self) -> str:
        return "Full, Table 1; EPD, Table 1 and Theorem 3.9"

    @property
    def eigenvalue(self) -> float:
        """lambda = d, in Laplacian Phi = lambda Phi off the hyperplanes theta_i = w_i."""
        return float(self.dim)

    def regions(self) -> tuple[Region, ...]:
        """lambda-harmonic off the hyperplanes, however far the units are apart."""
        return (Region("lambda-harmonic", 0.0, float("inf"), self.eigenvalue),)

    def log_value(self, r: ArrayLike) -> Array:
        """-r, along one coordinate axis."""
        return self.factor.log_value(r)

    def log_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """-|theta - w|_1 for positions of shape (..., d)."""
        return -jnp.sum(even_size(jnp.asarray(theta, float) - jnp.asarray(w, float)), axis=-1)

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for positions of shape (..., d)."""
        return jnp.exp(self.log_between(theta, w))

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """d Phi(theta, w), off the hyperplanes."""
        return self.dim * self.between(theta, w)
