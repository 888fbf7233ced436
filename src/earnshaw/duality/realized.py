"""An activation that was made from a potential, and remembers which."""

from __future__ import annotations

import equinox as eqx
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import Translation
from earnshaw.inputs import Gaussian
from earnshaw.potentials.base import Potential


class Realized(Translation):
    """The translation activation `shape`, realised from `potential` (Full, Theorem 2.1)."""

    shape: Translation
    potential: Potential
    dim: int = eqx.field(static=True)
    inputs: Gaussian

    @property
    def name(self) -> str:
        """The name of the shape."""
        return self.shape.name

    @property
    def source(self) -> str:
        """The source of the shape."""
        return self.shape.source

    def profile(self, displacement: ArrayLike) -> Array:
        """h at displacements of shape (..., d)."""
        return self.shape.profile(displacement)


def realized(shape: Translation, potential: Potential) -> Realized:
    """Join an activation and the potential it was made from."""
    return Realized(shape=shape, potential=potential, dim=shape.dim, inputs=shape.inputs)
