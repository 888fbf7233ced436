"""An activation that was made from a potential, and remembers which."""

from __future__ import annotations

from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import Translation
from earnshaw.inputs import Gaussian
from earnshaw.potentials.base import Potential


class Realized(Translation):
    """The translation activation `shape`, realised from `potential` (Full, Theorem 2.1)."""

    shape: Translation
    potential: Potential

    @property
    def dim(self) -> int:  # type: ignore[override]
        """The dimension of the inputs."""
        return self.shape.dim

    @property
    def inputs(self) -> Gaussian:  # type: ignore[override]
        """The input distribution whose density is divided out."""
        return self.shape.inputs

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
