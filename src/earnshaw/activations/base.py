"""What an activation is: a unit's response sigma(x, w) to the input x, given its weight w.

- `DotProduct`   sigma(x, w) = s(x.w) for one function s of one variable (relu, tanh, ...);
- `Translation`  sigma(x, w) = h(x - w) / sqrt(p(x)) for an input density p: the family that
  realises potentials on R^d (Full, Theorem 2.1).
"""

from __future__ import annotations

import abc
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.symmetry import NONE, Symmetries
from earnshaw.inputs import Gaussian


class Activation(eqx.Module):
    """A unit's response. Not constructed directly: see `DotProduct` and `Translation`."""

    kind: ClassVar[str]

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The registered name, e.g. ``leaky-relu``."""

    @property
    def source(self) -> str:
        """Where the activation comes from, e.g. ``EPD, Table 1``."""
        return ""

    @property
    def symmetries(self) -> Symmetries:
        """How a unit can be rewritten without changing the network; none unless declared."""
        return NONE

    @abc.abstractmethod
    def unit(self, x: ArrayLike, w: ArrayLike) -> Array:
        """sigma(x, w) for inputs `x` and weights `w` of shape (..., d); shape (...)."""


class DotProduct(Activation):
    """sigma(x, w) = s(x.w); calling the activation evaluates s elementwise."""

    kind: ClassVar[str] = "dot-product"

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where s is not smooth; quadratures split there."""
        return ()

    @abc.abstractmethod
    def __call__(self, x: ArrayLike) -> Array:
        """s(x), elementwise."""

    def unit(self, x: ArrayLike, w: ArrayLike) -> Array:
        """s(x.w)."""
        return self(jnp.sum(jnp.asarray(x) * jnp.asarray(w), axis=-1))


class Translation(Activation):
    """sigma(x, w) = h(x - w) / sqrt(p(x)), p the density of the inputs.

    Then E[sigma(X, theta) sigma(X, w)] = integral h(x - theta) h(x - w) dx whatever p is.
    """

    kind: ClassVar[str] = "translation"
    dim: eqx.AbstractVar[int]
    inputs: eqx.AbstractVar[Gaussian]

    @abc.abstractmethod
    def profile(self, displacement: ArrayLike) -> Array:
        """h at displacements of shape (..., d); shape (...)."""

    def unit(self, x: ArrayLike, w: ArrayLike) -> Array:
        """h(x - w) / sqrt(p(x))."""
        x = jnp.asarray(x, dtype=float)
        return self.profile(x - jnp.asarray(w)) * jnp.exp(-0.5 * self.inputs.log_density(x))
