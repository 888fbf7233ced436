"""Inputs with a constant 1 among them: what the bias of a unit is the weight of."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from earnshaw.errors import EarnshawError
from earnshaw.inputs.gaussian import Component, Inputs, checked_dim


class WithConstant(Inputs):
    """(X, 1) for inputs X: one coordinate more, which does not vary."""

    inputs: Inputs

    @property
    def dim(self) -> int | None:
        """One more than X has."""
        own = self.inputs.dim
        return None if own is None else own + 1

    def components(self, dim: int | None = None) -> tuple[Component, ...]:
        """Those of X, with mean 1 and variance 0 in the last coordinate."""
        size = checked_dim(self.dim, dim)
        return tuple(
            Component(probability, jnp.append(mean, 1.0), jnp.pad(covariance, (0, 1)))
            for probability, mean, covariance in self.inputs.components(size - 1)
        )

    def log_density(self, x: Array) -> Array:
        """Refused: a coordinate that does not vary has none."""
        raise EarnshawError("inputs with a constant have no density")

    def sample(self, key: Array, count: int, dim: int) -> Array:
        """`count` independent inputs, shape (count, dim), with 1 in the last column."""
        return with_constant(self.inputs.sample(key, count, dim - 1))


def with_constant(x: Array) -> Array:
    """Inputs (n, d) with a column of ones: (n, d + 1)."""
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1))], axis=-1)
