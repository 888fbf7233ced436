"""The potential that charges make, its gradient and its Laplacian, on one device or on many.

`devices` shares the probes out: every device holds all sources and its part of the probes, so the
only communication is to gather what each has found. The work is split by rows of the same sums, and
results agree with those of one device to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from earnshaw.energy.couplings.coupling import Coupling
from earnshaw.energy.tiles import (
    SMALL,
    TILE,
    FieldSum,
    LaplacianSum,
    Summand,
    Units,
    pair_sums,
    self_sums,
)


class Field(eqx.Module):
    """Sums over charges that feel each other through one coupling.

    `tile` is the number of entries of the largest matrix that is ever made, `small` that up to
    which all pairs are computed from differences at once; `mesh` has the devices to share work.
    """

    coupling: Coupling
    mesh: Mesh | None = eqx.field(static=True, default=None)
    tile: int = eqx.field(static=True, default=TILE)
    small: int = eqx.field(static=True, default=SMALL)

    def at(self, probes: Units, sources: Units) -> tuple[Array, Array]:
        """The potential (k,) of the sources at the probes, and its gradient (k, d)."""
        sums = self._sums(FieldSum(self.coupling), probes, sources, same=False)
        return sums[:, 0], sums[:, 1:]

    def within(self, charged: Units) -> tuple[Array, Array]:
        """The potential of all other units at each unit, and its gradient there."""
        summand = FieldSum(self.coupling)
        if self.mesh is None:
            sums = self_sums(summand, charged, self.tile, self.small)
        else:
            sums = self._sums(summand, charged, charged, same=True)
        return sums[:, 0], sums[:, 1:]

    def laplacian_at(self, probes: Units, sources: Units) -> Array:
        """The Laplacian (k,) of the potential of the sources at the probes, not of themselves."""
        return self._sums(LaplacianSum(self.coupling), probes, sources, same=True)[:, 0]

    def matrix(self, positions: Array, others: Array | None = None) -> Array:
        """Phi between all units, or between units and others, from differences: (k, m).

        For systems that are solved densely.
        """
        others = positions if others is None else others
        row = lambda x: self.coupling.exact(x, others)[0]  # noqa: E731
        return jax.lax.map(row, positions, batch_size=16)

    def _sums(self, summand: Summand, probes: Units, sources: Units, same: bool) -> Array:
        sums = partial(pair_sums, summand, same=same, tile=self.tile, small=self.small)
        if self.mesh is None:
            return sums(probes, sources)
        return _shared(sums, self.mesh, probes, sources)


def devices_mesh(devices: Iterable[Any] | None) -> Mesh | None:
    """A mesh over a list of JAX devices; None for one device or none given."""
    listed = [] if devices is None else list(devices)
    return Mesh(np.asarray(listed), ("probes",)) if len(listed) > 1 else None


def _shared(
    sums: Callable[[Units, Units], Array], mesh: Mesh, probes: Units, sources: Units
) -> Array:
    count = len(probes.names)
    extra = -count % mesh.size
    padded = Units(
        jnp.pad(probes.positions, ((0, extra), (0, 0))),
        jnp.pad(probes.charges, (0, extra)),
        jnp.pad(probes.names, (0, extra), constant_values=-1),
    )
    rows, everywhere = PartitionSpec("probes"), PartitionSpec()
    shared = jax.shard_map(
        sums, mesh=mesh, in_specs=(rows, everywhere), out_specs=rows, check_vma=False
    )
    return shared(padded, sources)[:count]
