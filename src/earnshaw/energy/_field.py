"""The potential that charges make, its gradient and its Laplacian, on one device or on many.

At a probe point theta, teacher and student together make

    C(theta) = sum_j b_j Phi(theta, w_j) - sum_i c_i Phi(theta, theta_i),

which is what a further unit would feel: its best weight is C(theta)/Phi(theta, theta), and the loss
it saves is C^2/Phi(theta, theta). Far from all charges C underflows long before log|C| means
nothing: `Field.log_at` sums in the log domain where the potential is positive.

The best charges at given positions minimise the quadratic form c.(K + ridge) c - 2 c.p, K the Gram
matrix of the units and p the teacher's potential at them. Units that coincide make K singular: the
solution of least norm (after scaling K to unit diagonal) shares the weight among them.

`devices` shares the probes out: every device holds all sources and its part of the probes, so the
only communication is to gather what each has found. The work is split by rows of the same sums, and
results agree with those of one device to rounding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from earnshaw.charges.manifolds import Manifold, Sphere
from earnshaw.duality.affine_dual import AffineDual
from earnshaw.duality.dual import Dual
from earnshaw.duality.potential import Potential, Radial, Zonal
from earnshaw.energy._tiles import (
    SMALL,
    TILE,
    FieldSum,
    LaplacianSum,
    Summand,
    Units,
    pair_sums,
    self_sums,
    sums_of_each,
)
from earnshaw.energy.couplings.affine import AffineCoupling
from earnshaw.energy.couplings.coupling import Coupling
from earnshaw.energy.couplings.displacement import DisplacementCoupling
from earnshaw.energy.couplings.dots import DotCoupling
from earnshaw.energy.couplings.radial import RadialCoupling
from earnshaw.energy.couplings.sphere import SphereCoupling
from earnshaw.errors import EarnshawError
from earnshaw.numerics.compiled import in_batches
from earnshaw.numerics.fixed_order import sum_all

DENSE = 2048  # units up to which K is a matrix; above, conjugate gradients on products with it


class LogPotential(NamedTuple):
    """C as sign * exp(log_size), and the gradient of log|C|; at C = 0, -inf and no gradient."""

    sign: Array
    log_size: Array
    gradient: Array


def logarithm(value: Array, gradient: Array) -> LogPotential:
    """Of a potential (n,) with its gradient (n, d)."""
    there = value != 0
    scale = jnp.where(there, 1 / jnp.where(there, value, 1.0), 0.0)
    return LogPotential(jnp.sign(value), jnp.log(jnp.abs(value)), scale[:, None] * gradient)


class Bends(NamedTuple):
    """Phi(x, y) (k, m), its slopes in x (k, m, d), and theirs along the axes of y (k, d, m, d)."""

    values: Array
    slopes: Array
    twists: Array


class Field(eqx.Module):
    """Sums over charges that feel each other through one coupling.

    `tile` is the number of entries of the largest matrix that is ever made, `small` that up to
    which all pairs are computed from differences at once; `mesh` has the devices to share work.
    """

    coupling: Coupling
    mesh: Mesh | None = eqx.field(static=True, default=None)
    tile: int = eqx.field(static=True, default=TILE)
    small: int = eqx.field(static=True, default=SMALL)

    @property
    def sums(self) -> str:
        """How sums over pairs are done: "tiles", "fast", or "auto", whichever takes less time."""
        return "tiles"

    def is_fast_for(self, *positions: Any) -> bool:
        """Whether sums at the first of these positions over all of them are not by tiles."""
        return False

    def at(self, probes: Units, sources: Units) -> tuple[Array, Array]:
        """The potential (k,) of the sources at the probes, and its gradient (k, d)."""
        sums = self._sums(FieldSum(self.coupling), probes, sources, same=False)
        return sums[:, 0], sums[:, 1:]

    def log_at(self, probes: Units, sources: Units) -> LogPotential:
        """The same in logarithms: (k,), (k,) and (k, d)."""
        if not self.coupling.has_logarithm:
            return logarithm(*self.at(probes, sources))
        one = lambda x: self._log_sum(x, sources)  # noqa: E731
        step = max(1, SMALL // max(1, len(sources.names) * self.coupling.dim))
        # A few probes at a time, so that displacements of all pairs are never in memory at once.
        return in_batches(one, probes.positions, step)

    def within(self, charged: Units) -> tuple[Array, Array]:
        """The potential of all other units at each unit, and its gradient there."""
        summand = FieldSum(self.coupling)
        if self.mesh is None:
            sums = self_sums(summand, charged, self.tile, self.small)
        else:
            sums = self._sums(summand, charged, charged, same=True)
        return sums[:, 0], sums[:, 1:]

    def within_and_of(
        self, charged: Units, others: tuple[Units, ...]
    ) -> tuple[tuple[Array, Array], ...]:
        """`within`, and `at` the charged units of each of the others; names must all differ."""
        if self.mesh is not None:
            return self.within(charged), *(self.at(charged, part) for part in others)
        found = sums_of_each(FieldSum(self.coupling), charged, others, self.tile, self.small)
        return tuple((sums[:, 0], sums[:, 1:]) for sums in found)

    def laplacian_at(self, probes: Units, sources: Units) -> Array:
        """The Laplacian (k,) of the potential of the sources at the probes, not of themselves."""
        return self._sums(LaplacianSum(self.coupling), probes, sources, same=True)[:, 0]

    def matrix(self, positions: Array, others: Array | None = None) -> Array:
        """Phi between all units, or between units and others, from differences: (k, m).

        For systems that are solved densely.
        """
        others = positions if others is None else others
        row = lambda x: self.coupling.exact(x, others)[0]  # noqa: E731
        return in_batches(row, positions, 16)

    def bends(self, positions: Array, others: Array | None = None) -> Bends:
        """Phi between all units, or between units and others, with first and mixed derivatives."""
        others = positions if others is None else others
        axes = jnp.eye(others.shape[1])[:, None]

        def row(x: Array) -> Bends:
            to_all = lambda y: self.coupling.exact(x, y)  # noqa: E731
            along = lambda axis: jax.jvp(to_all, (others,), (axis,))[1][1]  # noqa: E731
            moved = jnp.broadcast_to(axes, (len(axes), *others.shape))
            return Bends(*to_all(others), jax.vmap(along)(moved))

        return in_batches(row, positions, 16)

    def _log_sum(self, x: Array, sources: Units) -> LogPotential:
        """At one probe: terms sign_j exp(log_j), log_j = log|beta_j| + log Phi(x, y_j)."""
        log_value, pulls = self.coupling.log_pull(x, sources.positions)
        charged = sources.charges != 0
        sizes = jnp.where(charged, jnp.abs(sources.charges), 1.0)
        logs = jnp.where(charged, jnp.log(sizes) + log_value, -jnp.inf)
        top = jnp.max(logs)
        top = jnp.where(jnp.isfinite(top), top, 0.0)
        terms = jnp.sign(sources.charges) * jnp.exp(logs - jax.lax.stop_gradient(top))
        total = sum_all(terms)
        there = total != 0
        gradient = (terms * pulls) @ (x - sources.positions) / jnp.where(there, total, 1.0)
        return LogPotential(
            jnp.sign(total), top + jnp.log(jnp.abs(total)), jnp.where(there, gradient, 0.0)
        )

    def _sums(self, summand: Summand, probes: Units, sources: Units, same: bool) -> Array:
        sums = partial(pair_sums, summand, same=same, tile=self.tile, small=self.small)
        if self.mesh is None:
            return sums(probes, sources)
        return _shared(sums, self.mesh, probes, sources)


def choose_coupling(potential: Potential, manifold: Manifold, dim: int) -> Coupling:
    """The coupling of units in R^dim, or on its unit sphere, that feel `potential`."""
    curved = isinstance(manifold, Sphere)
    if isinstance(potential, Zonal):
        if curved:
            return SphereCoupling(potential=potential, dim=dim)
        if isinstance(potential, Dual):
            prepared = dataclasses.replace(potential, form=potential.form.for_many_pairs())
            return DotCoupling(potential=prepared, dim=dim)
        raise EarnshawError(f"{potential.name} is a potential on the sphere; allowed: on='sphere'")
    if isinstance(potential, AffineDual):
        return AffineCoupling(potential=potential, dim=dim)
    if isinstance(potential, Radial):
        return RadialCoupling(potential=potential, dim=dim, curved=curved)
    return DisplacementCoupling(potential=potential, dim=dim, curved=curved)


def best_charges(gram: Array, pull: Array) -> Array:
    """The c of least norm, in scaled units, with gram c = pull to rounding: (k,)."""
    size = jnp.sqrt(jnp.diagonal(gram))
    scale = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1.0), 0.0)
    values, vectors = jnp.linalg.eigh(gram * scale[:, None] * scale)
    floor = len(pull) * np.finfo(float).eps * jnp.max(jnp.abs(values))
    inverse = jnp.where(values > floor, 1 / jnp.where(values > floor, values, 1.0), 0.0)
    return scale * (vectors @ (inverse * (vectors.T @ (scale * pull))))


def best_charges_by_products(
    product: Callable[[Array], Array], diagonal: Array, pull: Array
) -> Array:
    """The same by conjugate gradients, scaled to unit diagonal; to a relative residual of 1e-12."""
    size = jnp.sqrt(diagonal)
    scale = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1.0), 0.0)
    scaled, _ = jax.scipy.sparse.linalg.cg(
        lambda c: scale * product(scale * c), scale * pull, tol=1e-12, maxiter=10 * len(pull)
    )
    return scale * scaled


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
