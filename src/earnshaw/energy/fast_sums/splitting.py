"""What fast sums know of a potential: its transform far away, its values near by.

A `Splitting` is a plain frozen value that can be hashed, so that what is prepared for it can be
kept. `NearPart` is a pytree: its numbers go into compiled code as arguments.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import equinox as eqx
import numpy as np
from jax import Array

from earnshaw.duality.potential import Radial


@dataclass(frozen=True)
class Cut:
    """Where far and near meet: the near part ends at `radius`, the far spectrum at `cutoff`.

    `shape` is that of the window. A radius of 0 says that all is far, a cutoff of 0 that all is
    near.
    """

    radius: float
    cutoff: float
    shape: float = 0.0


class NearPart(eqx.Module):
    """A function f(r) of the distance, through what sums need of it."""

    @abc.abstractmethod
    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """f, f'/r and (f'' - f'/r)/r^2 at u = r^2, each of the shape of u.

        At u = 0 without the parts that a cusp makes infinite: a pair in one place has no force.
        """


class Whole(NearPart):
    """All of a potential, where nothing of it is far."""

    potential: Radial

    def jet(self, u: Array) -> tuple[Array, Array, Array]:
        """From the potential's own jet g(r^2): g, 2 g' and 4 g''."""
        import jax.numpy as jnp

        value, first, second = self.potential.jet(u)
        apart = (u > 0) | jnp.isfinite(first)
        return value, jnp.where(apart, 2 * first, 0.0), jnp.where(apart, 4 * second, 0.0)


class Splitting(abc.ABC):
    """A potential Phi of R^d, d <= 3, as a far and a near part."""

    dim: int

    @property
    @abc.abstractmethod
    def origin(self) -> float:
        """Phi(0), the largest value."""

    @property
    @abc.abstractmethod
    def steepest(self) -> float:
        """The largest |grad Phi|."""

    @property
    def smooth(self) -> bool:
        """Whether Phi has no cusp, and is one exponential."""
        return False

    @abc.abstractmethod
    def reach(self, tolerance: float) -> float:
        """Where |Phi| < tolerance Phi(0) and |Phi'| < tolerance max|Phi'| from here on."""

    @abc.abstractmethod
    def cuts(self, tolerance: float, extent: float) -> tuple[Cut, ...]:
        """Where it may be cut, with errors below the tolerance, for charges in a box of `extent`.

        From the cheapest far part to the cheapest near part.
        """

    @abc.abstractmethod
    def period(self, cut: Cut, tolerance: float, extent: float) -> float:
        """The period at which the far part's images do not touch charges in a box of `extent`."""

    @abc.abstractmethod
    def spectrum(self, k: np.ndarray, cut: Cut, tolerance: float, extent: float) -> np.ndarray:
        """The transform of the far part at wave numbers k = |k|, for charges in such a box."""

    def constant(self, cut: Cut, tolerance: float, extent: float) -> float:
        """What is added to the far part of every pair, beside what the spectrum gives."""
        return 0.0

    @abc.abstractmethod
    def near(self, cut: Cut, tolerance: float) -> NearPart:
        """What is left for pairs that are closer than the radius of the cut."""
