"""Potentials that are products over the coordinates of R^d."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.potential import Potential, Radial, even_size, not_negative


class Separable(Potential):
    """Phi(theta, w) = prod_i f(|theta_i - w_i|) on R^d for one even function f of one variable."""

    kind: ClassVar[str] = "separable"
    variable: ClassVar[str] = "r"
    factor: eqx.AbstractVar[Radial]
    dim: eqx.AbstractVar[int]

    def _in_domain(self, r: np.ndarray) -> np.ndarray:
        """r >= 0."""
        return not_negative(r)

    def value(self, argument: ArrayLike) -> Array:
        """Phi for a displacement of length `argument` along one coordinate axis."""
        rest = self.factor.value(0.0) ** (self.dim - 1)
        return self.factor.value(argument) * rest

    def first(self, r: ArrayLike) -> Array:
        """The derivative of `value` along that axis."""
        return self.factor.first(r) * self.factor.value(0.0) ** (self.dim - 1)

    def second(self, r: ArrayLike) -> Array:
        """The second derivative of `value` along that axis."""
        return self.factor.second(r) * self.factor.value(0.0) ** (self.dim - 1)

    def between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi(theta, w) for positions of shape (..., d)."""
        gaps = even_size(jnp.asarray(theta) - jnp.asarray(w))
        return jnp.prod(self.factor.value(gaps), axis=-1)

    def gradient_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """Phi f'(|x_i|)/f(|x_i|) sgn(x_i) in coordinate i, x = theta - w."""
        gaps = jnp.asarray(theta, dtype=float) - jnp.asarray(w)
        values = self.factor.value(even_size(gaps))
        slopes = self.factor.first(even_size(gaps)) * jnp.sign(gaps)
        return jnp.prod(values, axis=-1, keepdims=True) * slopes / values

    def laplacian_between(self, theta: ArrayLike, w: ArrayLike) -> Array:
        """The Laplacian in theta: Phi * sum_i f''(x_i)/f(x_i), off the hyperplanes x_i = 0."""
        gaps = jnp.abs(jnp.asarray(theta) - jnp.asarray(w))
        values = self.factor.value(gaps)
        return jnp.prod(values, axis=-1) * jnp.sum(self.factor.second(gaps) / values, axis=-1)
