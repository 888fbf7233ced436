"""A multiple of an activation: what a normalised potential belongs to."""

from __future__ import annotations

from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.symmetry import Symmetries


class Scaled(DotProduct):
    """factor * s(x)."""

    base: DotProduct
    factor: float

    @property
    def name(self) -> str:
        """The factor and the name of the base."""
        return f"{self.factor:.6g} {self.base.name}"

    @property
    def source(self) -> str:
        """That of the base."""
        return self.base.source

    @property
    def kinks(self) -> tuple[float, ...]:
        """Those of the base."""
        return self.base.kinks

    @property
    def symmetries(self) -> Symmetries:
        """Those of the base, times the factor."""
        return self.base.symmetries.multiplied(float(self.factor))

    def __call__(self, x: ArrayLike) -> Array:
        """factor * s(x)."""
        return self.factor * self.base(x)
