"""Sums over all pairs of charges, tile by tile.

What probes at x_i feel of sources of charge beta_j at y_j: the potential and its gradient,

    sum_j beta_j Phi(x_i, y_j),    sum_j beta_j grad_x Phi(x_i, y_j),

in one pass. A tile of k probes and m sources is one matrix product x y^T, an elementwise function
of it, and one or two products of the result with the sources: cost O(k m d), memory O(k m).

Pairs that are too close for this (relative to their norms, see the coupling's `near`) would lose
digits to |x|^2 + |y|^2 - 2 x.y, and again to the difference of two large forces. The columns of a
tile that hold such a pair are left out of the products and computed from differences, a few columns
at a time; in a tile without any, that loop runs zero times.

Everything here can be differentiated in forward mode: a Hessian-vector product is one `jax.jvp`.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.energy.couplings.coupling import Coupling, squared_norm
from earnshaw.numerics.fixed_order import column_sums, over_rows, sum_all

TILE = 2**18  # numbers in one tile, 2 MiB: a few of them fit the cache, and two cores share one
SMALL = 2**15  # up to this many numbers (pairs times dimension) all pairs come from differences
COLUMNS = 8  # close columns computed at a time


class Units(NamedTuple):
    """Units with positions (k, d), charges (k,) and names (k,): integers, -1 for padding.

    Two units of the same name are the same unit, which is no pair.
    """

    positions: Array
    charges: Array
    names: Array


def units(positions: Array, charges: Array | None = None, first: int = 0) -> Units:
    """Units named from `first` on; without charges where they are only probes."""
    names = jnp.arange(first, first + len(positions))
    return Units(positions, jnp.zeros(len(positions)) if charges is None else charges, names)


def negative(charged: Units) -> Units:
    """The same units with opposite charges."""
    return charged._replace(charges=-charged.charges)


# A summand turns (x, y) of a tile, by products or from differences, into what is to be added up
# for each probe: shape (k, channels).


class FieldSum:
    """Potential and gradient: 1 + d channels."""

    def __init__(self, coupling: Coupling) -> None:
        self.coupling = coupling
        self.symmetric = coupling.has_tiles and (coupling.sums_both_ways or not coupling.sums_tiles)
        self.channels = 1 + coupling.dim

    def exact(self, x: Array, y: Array, charges: Array) -> Array:
        """From differences; `charges` (k, m) are those of the sources as each probe counts them."""
        return self.exact_parts(x, (y,), (charges,))[0]

    def exact_parts(
        self, x: Array, y: tuple[Array, ...], charges: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """The same for several sets of sources, whose pairs are computed at once."""
        value, gradient = self.coupling.exact(x[:, None, :], jnp.concatenate(y)[None, :, :])
        fields = jnp.concatenate([value[..., None], gradient], axis=-1)
        parts = jnp.split(fields, np.cumsum([len(part) for part in y])[:-1], axis=1)
        return tuple(
            jax.vmap(column_sums)(weigh(charge[..., None], part))
            for charge, part in zip(charges, parts, strict=True)
        )

    def by_products(
        self, probes: Units, sources: Units, both: bool, same: bool
    ) -> tuple[Array, Array]:
        """For the probes and, if `both`, for the sources as if they were probes."""
        x, y = probes.positions, sources.positions
        if self.coupling.sums_tiles:
            pairless = probes.names[:, None] == sources.names if same else None
            back = probes.charges if both else None
            fields = self.coupling.tile_sums(x, y, sources.charges, back, pairless)
            rows, columns = (
                jnp.concatenate([field.potential[:, None], field.gradient], axis=1)
                if field is not None
                else jnp.zeros((len(y), self.channels))
                for field in fields
            )
            return rows, columns
        tile = self.coupling.tile(*_products(x, y))
        if same:
            tile = jax.tree.map(lambda entry: _without_self(entry, probes, sources), tile)
        rows = self._gather(tile.value, tile.cross, tile.own_x, x, y, sources.charges, 1)
        if not both:
            return rows, jnp.zeros((len(y), self.channels))
        return rows, self._gather(tile.value, tile.cross, tile.own_y, y, x, probes.charges, 0)

    def _gather(
        self,
        value: Array,
        cross: Array | None,
        own: Array | None,
        x: Array,
        y: Array,
        beta: Array,
        axis: int,
    ) -> Array:
        """Sums over one axis of the tile, that of the sources y, for the probes x of the other."""
        over = over_rows if axis == 0 else jnp.matmul
        sources = jnp.concatenate([beta[:, None], beta[:, None] * y], axis=1)
        sums = over(value if cross is None else cross, sources)
        potential, gradient = self.coupling.complete(
            x,
            sums[:, 0] if cross is None else over(value, beta[:, None])[:, 0],
            sums[:, 0],
            sums[:, 1:],
            None if own is None else over(own, beta[:, None])[:, 0],
        )
        return jnp.concatenate([potential[:, None], gradient], axis=1)


class LaplacianSum:
    """The Laplacian of the potential in the probe: one channel."""

    channels = 1
    symmetric = False

    def __init__(self, coupling: Coupling) -> None:
        self.coupling = coupling

    def exact(self, x: Array, y: Array, charges: Array) -> Array:
        """From differences: shape (k, 1), for probes x (k, d) and sources y (m, d)."""
        laplacian = self.coupling.exact_laplacian(x[:, None, :], y[None, :, :])
        return jax.vmap(sum_all)(weigh(charges, laplacian))[:, None]

    def by_products(
        self, probes: Units, sources: Units, both: bool, same: bool
    ) -> tuple[Array, Array]:
        """For the probes (k, 1); nothing for the sources."""
        x, y = probes.positions, sources.positions
        if self.coupling.sums_tiles:
            values = self.coupling.tile_laplacians(x, y)
        else:
            values = self.coupling.laplacian_tile(*_products(x, y))
        values = _without_self(values, probes, sources) if same else values
        return (values @ sources.charges)[:, None], jnp.zeros((len(y), 1))


Summand = FieldSum | LaplacianSum


def pair_sums(
    summand: Summand,
    probes: Units,
    sources: Units,
    same: bool,
    tile: int = TILE,
    small: int = SMALL,
) -> Array:
    """The sums over all sources for each probe, shape (k, channels).

    `same` says whether some probes may be sources too.
    """
    coupling = summand.coupling
    k, m = len(probes.names), len(sources.names)
    if not k or not m:
        return jnp.zeros((k, summand.channels))
    if k * m * coupling.dim * coupling.scratch <= small:
        charges = jnp.where(probes.names[:, None] != sources.names, sources.charges, 0.0)
        return summand.exact(probes.positions, sources.positions, charges)
    height, width = _tile_shape(k, m, tile // coupling.scratch)

    def row(block: Units) -> Array:
        def column(total: Array, source: Units) -> tuple[Array, None]:
            return total + _one_tile(summand, block, source, same=same)[0], None

        total = jnp.zeros((height, summand.channels))
        return jax.lax.scan(column, total, _blocks(sources, width))[0]

    return jax.lax.map(row, _blocks(probes, height)).reshape(-1, summand.channels)[:k]


def sums_of_each(
    summand: FieldSum, charged: Units, others: tuple[Units, ...], tile: int, small: int
) -> tuple[Array, ...]:
    """`self_sums` of the charged units, and `pair_sums` of the others at them, each (k, channels).

    Few units have all their pairs computed in one place, so that the coupling is compiled once.
    """
    coupling, sources = summand.coupling, (charged, *others)
    pairs = len(charged.names) * sum(len(part.names) for part in sources)
    if not pairs or pairs * coupling.dim * coupling.scratch > small:
        rest = (pair_sums(summand, charged, part, False, tile, small) for part in others)
        return self_sums(summand, charged, tile, small), *rest
    charges = (
        jnp.where(charged.names[:, None] != part.names, part.charges, 0.0) for part in sources
    )
    return summand.exact_parts(
        charged.positions, tuple(part.positions for part in sources), tuple(charges)
    )


def self_sums(summand: Summand, charged: Units, tile: int = TILE, small: int = SMALL) -> Array:
    """The sums over all other units, for each unit.

    Each tile above the diagonal serves both ways, so the elementwise function is evaluated for half
    of the pairs.
    """
    k = len(charged.names)
    side, _ = _tile_shape(k, k, tile // summand.coupling.scratch)
    count = -(-k // side)
    if count < 2 or not summand.symmetric:
        return pair_sums(summand, charged, charged, True, tile, small)
    blocks = _blocks(charged, side)
    total = jax.lax.map(lambda block: _one_tile(summand, block, block, same=True)[0], blocks)

    def step(total: Array, places: Array) -> tuple[Array, None]:
        i, j = places
        probes, sources = (Units(*(entry[place] for entry in blocks)) for place in (i, j))
        rows, columns = _one_tile(summand, probes, sources, both=True)
        return total.at[i].add(rows).at[j].add(columns), None

    above = jnp.asarray(np.stack(np.triu_indices(count, 1), axis=1))
    return jax.lax.scan(step, total, above)[0].reshape(-1, summand.channels)[:k]


def _one_tile(
    summand: Summand, probes: Units, sources: Units, both: bool = False, same: bool = False
) -> tuple[Array, Array]:
    """Sums for the probes of one tile and, if `both`, for its sources, as if they were probes."""
    coupling = summand.coupling
    if coupling.has_tiles and not coupling.has_close_pairs:
        return summand.by_products(probes, sources, both, same)
    x, y = probes.positions, sources.positions
    pairs = (probes.names[:, None] >= 0) & (sources.names >= 0)
    if same:
        pairs = pairs & (probes.names[:, None] != sources.names)
    if coupling.has_tiles:
        close = jnp.any(coupling.near(*_products(x, y)) & pairs, axis=0)
        far = sources._replace(charges=jnp.where(close, 0.0, sources.charges))
        rows, columns = summand.by_products(probes, far, both, same)
        columns = jnp.where(close[:, None], 0.0, columns)
    else:
        close = sources.names >= 0
        rows, columns = (jnp.zeros((len(z), summand.channels)) for z in (x, y))

    def step(state: tuple) -> tuple:
        left, rows, columns = state
        (chosen,) = jnp.nonzero(left, size=COLUMNS, fill_value=len(y))
        near = Units(*(entry.at[chosen].get(mode="fill", fill_value=0) for entry in sources))
        counted = pairs.at[:, chosen].get(mode="fill", fill_value=False)
        rows = rows + summand.exact(x, near.positions, jnp.where(counted, near.charges, 0.0))
        if both:
            back = jnp.where(counted.T, probes.charges, 0.0)
            columns = columns.at[chosen].add(summand.exact(near.positions, x, back), mode="drop")
        return left.at[chosen].set(False, mode="drop"), rows, columns

    state = (close, rows, columns)
    return jax.lax.while_loop(lambda state: jnp.any(state[0]), step, state)[1:]


def _products(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """|x|^2 (k, 1), |y|^2 (1, m) and x.y (k, m)."""
    return squared_norm(x)[:, None], squared_norm(y)[None, :], x @ y.T


def _without_self(entries: Array, probes: Units, sources: Units) -> Array:
    """The entries of a tile with 0 where probe and source are the same unit."""
    return jnp.where(probes.names[:, None] == sources.names, 0.0, entries)


@jax.custom_jvp
def weigh(charge: Array, field: Array) -> Array:
    """charge * field, and 0 for no charge where the field is infinite."""
    return jnp.where((charge == 0) & ~jnp.isfinite(field), 0.0, charge * field)


@weigh.defjvp
def _weigh_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    (charge, field), (charge_moved, field_moved) = primals, tangents
    by_charge = charge_moved * jnp.where(jnp.isfinite(field), field, 0.0)
    return weigh(charge, field), by_charge + charge * jnp.where(charge == 0, 0.0, field_moved)


def _tile_shape(rows: int, columns: int, numbers: int) -> tuple[int, int]:
    """Sides of a tile of at most `numbers` entries, about square, and no larger than needed."""
    side = 2 ** int(np.log2(max(numbers, 64)) / 2)
    return min(side, _even(rows, side)), min(side, _even(columns, side))


def _even(count: int, side: int) -> int:
    """The side that splits `count` into as few and as equal tiles as `side` allows."""
    tiles = max(1, -(-count // side))
    return max(1, -(-count // tiles))


def _blocks(whole: Units, size: int) -> Units:
    """Units cut into blocks of `size`; what is padded has no charge, and the name -1."""
    extra = -len(whole.names) % size

    def cut(array: Array, fill: int) -> Array:
        widths = [(0, extra)] + [(0, 0)] * (array.ndim - 1)
        return jnp.pad(array, widths, constant_values=fill).reshape(-1, size, *array.shape[1:])

    return Units(cut(whole.positions, 0), cut(whole.charges, 0), cut(whole.names, -1))
