"""What a coupling is: Phi(x, y) of two units, for many pairs at once and for single ones."""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.energy.objective import Across, Invariant
from earnshaw.numerics.compiled import compiled

COINCIDENT = 1e-8  # relative to a position: closer units are in one place


class Field(NamedTuple):
    """sum_j charge_j Phi(x, y_j) at x (k, d), shape (k,), and its gradient (k, d)."""

    potential: Array
    gradient: Array


class Tile(NamedTuple):
    """Phi and its first derivatives for every pair of a tile, each of shape (k, m).

    The gradient of Phi in x is own_x 2 x + cross y, in y it is own_y 2 y + cross x. Where the sums
    of the rest give them away (see `Coupling.complete`), the own parts are None, `value` is only a
    part of Phi, or `cross` is None and proportional to `value`.
    """

    value: Array
    cross: Array | None
    own_x: Array | None
    own_y: Array | None


class Coupling(eqx.Module):
    """Phi(x, y) for positions in R^dim.

    `invariant` says under which common motion of x and y Phi does not change, which is what the
    papers' correlated moves use: "translations", "rotations", "both" or "neither". `cusps_across`
    is the set that a cusp of Phi(., y) is across: "points", "rays" or "hyperplanes".

    Conventions where two units coincide: Phi has its value, which may be infinite; a smooth Phi has
    the derivatives of a smooth function; at a cusp (a bounded Phi with a slope that has no
    direction) the pair has no force and no stiffness, the mean over all directions of approach;
    where Phi is infinite so are the force, in every coordinate, and the stiffness.
    """

    dim: eqx.AbstractVar[int]
    invariant: ClassVar[Invariant]
    cusps_across: ClassVar[Across] = "points"

    @property
    def degree(self) -> int | None:
        """n with Phi(t x, y) = t^n Phi(x, y) for all t > 0, or None."""
        return None

    @property
    def has_tiles(self) -> bool:
        """Whether there is a `tile`; if not, `exact` does all pairs."""
        return True

    @property
    def has_close_pairs(self) -> bool:
        """Whether there are pairs that a tile cannot do, see `near`."""
        return True

    @property
    def scratch(self) -> int:
        """How many numbers a pair needs while it is computed: tiles shrink by this factor."""
        return 1

    @property
    def sums_tiles(self) -> bool:
        """Whether tiles are summed by the coupling (`tile_sums`), from positions, not products."""
        return False

    @property
    def sums_both_ways(self) -> bool:
        """Whether `tile_sums` has the sums for the sources too, for less than another tile."""
        return False

    def tile_sums(
        self, x: Array, y: Array, charges: Array, back: Array | None, same: Array | None
    ) -> tuple[Field, Field | None]:
        """What units at x (k, d) feel of `charges` (m,) at y (m, d), and those of `back` (k,) at x.

        The latter only where `back` is given. `same` (k, m) says which pairs are none.
        """
        raise NotImplementedError

    def tile_laplacians(self, x: Array, y: Array) -> Array:
        """The Laplacians in x of all pairs, (k, m)."""
        raise NotImplementedError

    def complete(
        self, x: Array, value: Array, cross: Array, pull: Array, own: Array | None
    ) -> tuple[Array, Array]:
        """Potential (k,) and gradient (k, d) at probes x (k, d), from the sums over a tile.

        These are sum_j beta_j times `value` (k,), `cross` (k,), `cross` y_j (k, d) and own_x (k,).
        """
        assert own is not None
        return value, pull + 2 * own[:, None] * x

    @abc.abstractmethod
    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Phi and its gradient in x from positions (..., d) that broadcast, however close."""

    @abc.abstractmethod
    def exact_laplacian(self, x: Array, y: Array) -> Array:
        """The Laplacian of Phi in x, the same way."""

    @property
    def has_logarithm(self) -> bool:
        """Whether Phi is positive everywhere, and known where it underflows: see `log_pull`."""
        return False

    def log_pull(self, x: Array, y: Array) -> tuple[Array, Array]:
        """log Phi and the factor of x - y in its gradient, from positions (..., d)."""
        raise NotImplementedError

    @abc.abstractmethod
    def alone(self, x: Array) -> tuple[Array, Array]:
        """Phi(x, x) and its gradient in x (both arguments moving), for x of shape (k, d)."""

    def unbounded(self, x: Array) -> bool:
        """Whether units at x (k, d) have infinite energies of their own, as every unit has then."""
        return bool(np.isinf(self_energies_of(self, x)[0]))

    @abc.abstractmethod
    def alone_laplacian(self, x: Array) -> Array:
        """The Laplacian of Phi(x, x) in x."""

    @abc.abstractmethod
    def cusp(self, x: Array) -> Array:
        """The slope of the cusp at y = x, for x of shape (k, d); shape (k,), 0 where Phi is smooth.

        Phi(y, x) = Phi(x, x) - cusp |y - x| + ..., y moving away in any direction in which Phi is
        not smooth. For products over the coordinates, the least slope of all directions.
        """

    def antipodal_cusp(self, x: Array) -> Array:
        """The same at y = -x: Phi(y, x) = Phi(-x, x) - slope |y + x| + ...; negative for sign."""
        return jnp.zeros(x.shape[:-1])

    def kink_at(self, x: np.ndarray, w: np.ndarray) -> str:
        """Where one of the units x (k, d) is that neither `cusp` nor its like describes, in words.

        Empty if there is no such place; w (m, d) are the other charges.
        """
        return ""

    def near(self, q1: Array, q2: Array, c: Array) -> Array:
        """Which pairs are too close for a tile, from |x|^2 (k, 1), |y|^2 (1, m), x.y (k, m)."""
        raise NotImplementedError

    def tile(self, q1: Array, q2: Array, c: Array) -> Tile:
        """Phi and its derivatives for all pairs; anything finite for pairs that are `near`."""
        raise NotImplementedError

    def laplacian_tile(self, q1: Array, q2: Array, c: Array) -> Array:
        """The Laplacian in x for all pairs; anything finite for pairs that are `near`."""
        raise NotImplementedError


@compiled
def self_energies_of(coupling: Coupling, positions: Array) -> Array:
    """Phi(x, x) at positions (k, d); shape (k,)."""
    return coupling.alone(positions)[0]


CLOSE = 1e-12  # a relative distance at which only a cusp has a slope left


def visible(slope: Array) -> Array:
    """The slope of a cusp found at the distance CLOSE, and 0 for what a smooth function has."""
    return jnp.where(jnp.abs(slope) > CLOSE**0.5, slope, 0.0)


def squared_norm(x: Array) -> Array:
    """|x|^2 along the last axis."""
    return jnp.sum(x * x, axis=-1)
