"""Sums over charges of several kinds: units of different activations that feel each other.

With s_a the activation of kind a, a unit of kind a at x and one of kind b at y feel
Phi_ab(x, y) = E[s_a(x.X) s_b(y.X)]. For each pair of kinds that is a `Field` like any other; here
units are sorted by kind, and what the kinds make is added up. Which unit is of which kind is known
when a loss is made, so that each pair of units is computed once, by its own formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh

from earnshaw.duality.affine_dual import AffineDual, MixedDual, crossed
from earnshaw.energy._field import Bends, Field, LogPotential, logarithm
from earnshaw.energy._tiles import TILE, Units
from earnshaw.energy.couplings.affine import AffineCoupling
from earnshaw.energy.couplings.coupling import Coupling
from earnshaw.energy.objective import Across, Invariant
from earnshaw.errors import EarnshawError

Which = tuple[int, ...]


class Between(eqx.Module):
    """What units of some kinds feel of others: `fields[a][b]` is that of kind b at kind a.

    Probe i is of kind `probes[i]`, or all are of kind 0 (None); source j of kind `sources[j]`.
    """

    fields: tuple[tuple[Field, ...], ...]
    probes: Which | None = eqx.field(static=True)
    sources: Which = eqx.field(static=True)

    def at(self, probes: Units, sources: Units) -> tuple[Array, Array]:
        """The potential (k,) of the sources at the probes, and its gradient (k, d)."""
        value, gradient = jnp.zeros(len(probes.names)), jnp.zeros(probes.positions.shape)
        for row, mine in zip(self.fields, self._sorted(probes), strict=True):
            for b, field in enumerate(row):
                part, force = field.at(_chosen(probes, mine), _of_kind(sources, self.sources, b))
                value, gradient = value.at[mine].add(part), gradient.at[mine].add(force)
        return value, gradient

    def log_at(self, probes: Units, sources: Units) -> LogPotential:
        """The same in logarithms."""
        return logarithm(*self.at(probes, sources))

    def joined(self, field: Field, units: int) -> Between:
        """With `units` more sources, of the probes' own kind, which feel each other by `field`."""
        if self.probes is not None:
            raise EarnshawError(
                "further units of a student of several activations: of which? allowed: one"
            )
        extra = len(self.fields[0])
        return Between(((*self.fields[0], field),), None, (*self.sources, *(extra,) * units))

    def _sorted(self, probes: Units) -> list[np.ndarray]:
        if self.probes is None:
            return [np.arange(len(probes.names))]
        if len(self.probes) != len(probes.names):
            raise EarnshawError(
                f"{len(probes.names)} units, of which {len(self.probes)} have an activation; "
                "allowed: one a unit"
            )
        return [_places(self.probes, kind) for kind in range(len(self.fields))]


class MixedCoupling(Coupling):
    """What is said of single units, each of its own kind."""

    kinds: tuple[AffineCoupling, ...]
    which: Which = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    invariant: ClassVar[Invariant] = "neither"
    cusps_across: ClassVar[Across] = "rays"

    def exact(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Refused, as its Laplacian: pairs of positions do not say of which kind they are."""
        raise EarnshawError("units of several activations: of which are these two?")

    exact_laplacian = exact  # type: ignore[assignment]

    def alone(self, x: Array) -> tuple[Array, Array]:
        """Phi(x, x) and its gradient."""
        value, slope = jnp.zeros(len(x)), jnp.zeros(x.shape)
        for mine, coupling in self._sorted():
            part, force = coupling.alone(x[mine])
            value, slope = value.at[mine].set(part), slope.at[mine].set(force)
        return value, slope

    def alone_laplacian(self, x: Array) -> Array:
        """The Laplacian of Phi(x, x)."""
        return self._by_kind(lambda coupling, x: coupling.alone_laplacian(x), x)

    def cusp(self, x: Array) -> Array:
        """0: jumps are refused, since those of another kind at the same place are no cusp."""
        for coupling in self.kinds:
            if coupling.jumps:
                raise EarnshawError(
                    f"{coupling.potential.name} jumps; allowed beside other activations: units "
                    "without jumps"
                )
        return jnp.zeros(len(x))

    def kink_at(self, x: np.ndarray, w: np.ndarray) -> str:
        """Where a unit is at a kink of its activation, in words."""
        said = (coupling.kink_at(x[mine], w) for mine, coupling in self._sorted())
        return next(filter(None, said), "")

    def _sorted(self) -> Iterator[tuple[np.ndarray, AffineCoupling]]:
        for kind, coupling in enumerate(self.kinds):
            yield _places(self.which, kind), coupling

    def _by_kind(self, function: Callable[[AffineCoupling, Array], Array], x: Array) -> Array:
        found = jnp.zeros(len(x))
        for mine, coupling in self._sorted():
            found = found.at[mine].set(function(coupling, x[mine]))
        return found


class MixedField(Field):
    """The field of a student of several kinds: what its own units make of each other."""

    coupling: MixedCoupling
    between: Between | None = None

    @property
    def _own(self) -> Between:
        assert self.between is not None
        return self.between

    def at(self, probes: Units, sources: Units) -> tuple[Array, Array]:
        """Of all units at all of them."""
        return self._own.at(probes, sources)

    def within(self, charged: Units) -> tuple[Array, Array]:
        """The potential of all other units at each unit, and its gradient there."""
        value, gradient = jnp.zeros(len(charged.names)), jnp.zeros(charged.positions.shape)
        for a, row in enumerate(self._own.fields):
            mine = _places(self._own.sources, a)
            own = _chosen(charged, mine)
            for b, field in enumerate(row):
                others = _of_kind(charged, self._own.sources, b)
                part, force = field.within(own) if a == b else field.at(own, others)
                value, gradient = value.at[mine].add(part), gradient.at[mine].add(force)
        return value, gradient

    def within_and_of(
        self, charged: Units, others: tuple[Units, ...]
    ) -> tuple[tuple[Array, Array], ...]:
        """One after the other."""
        return self.within(charged), *(self.at(charged, part) for part in others)

    def matrix(self, positions: Array, others: Array | None = None) -> Array:
        """Phi between all units, (k, k)."""
        which = self._own.sources
        found = jnp.zeros((len(which), len(which)))
        for a, row in enumerate(self._own.fields):
            for b, field in enumerate(row):
                mine, theirs = _places(which, a), _places(which, b)
                block = field.matrix(positions[mine], positions[theirs])
                found = found.at[mine[:, None], theirs[None, :]].set(block)
        return found

    def bends(self, positions: Array, others: Array | None = None) -> Bends:
        """Those of each pair of kinds by itself."""
        which, (units, dim) = self._own.sources, positions.shape
        square = units, units
        found = Bends(*map(jnp.zeros, (square, (*square, dim), (units, dim, units, dim))))
        for a, row in enumerate(self._own.fields):
            for b, field in enumerate(row):
                mine, theirs = _places(which, a)[:, None], _places(which, b)
                block = field.bends(positions[mine[:, 0]], positions[theirs])
                found = Bends(
                    found.values.at[mine, theirs].set(block.values),
                    found.slopes.at[mine, theirs].set(block.slopes),
                    found.twists.at[mine, :, theirs].set(jnp.moveaxis(block.twists, 1, 2)),
                )
        return found


def fields_of(
    first: MixedDual, second: MixedDual, mesh: Mesh | None = None, tile: int = TILE
) -> tuple[tuple[Field, ...], ...]:
    """The fields between the kinds of two networks."""

    def field(one: AffineDual, other: AffineDual) -> Field:
        potential = one if one is other else crossed(one, other)
        return Field(AffineCoupling(potential=potential, dim=one.dim), mesh, tile)

    return tuple(tuple(field(one, other) for other in second.parts) for one in first.parts)


def mixed_field(kinds: MixedDual, mesh: Mesh | None = None, tile: int = TILE) -> Field:
    """The field of units of these kinds among themselves."""
    fields = fields_of(kinds, kinds, mesh, tile)
    if len(fields) == 1:
        return fields[0][0]
    own = tuple(AffineCoupling(potential=part, dim=kinds.dim) for part in kinds.parts)
    coupling = MixedCoupling(kinds=own, which=kinds.which, dim=kinds.dim)
    return MixedField(coupling, mesh, tile, between=Between(fields, kinds.which, kinds.which))


def _places(which: Which, kind: int) -> np.ndarray:
    return np.flatnonzero(np.asarray(which) == kind)


def _of_kind(units: Units, which: Which, kind: int) -> Units:
    return _chosen(units, _places(which, kind))


def _chosen(units: Units, places: np.ndarray) -> Units:
    return Units(*(part[places] for part in units))
