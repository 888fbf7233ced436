"""The field of charges by fast sums, where a loss expects a `Field`.

Numbers go straight to `evaluate.py`. Inside compiled code (a descent, a flow) the same function is
called back with numbers, if the sums were asked to be fast; with "auto" such code has tiles, and so
have sums over few pairs. Derivatives in forward mode are the rates of change of `evaluate.py`, so
that Hessian-vector products are fast, too; there is no second derivative of these sums.

Logarithms of fields, Laplacians and matrices stay with tiles.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.interpreters.ad import JVPTracer

from earnshaw.charges.manifolds import Manifold
from earnshaw.duality.potential import Potential
from earnshaw.energy._field import Field
from earnshaw.energy._tiles import Units
from earnshaw.energy.fast_sums.choose import KNOWN, check_tolerance, splitting_of
from earnshaw.energy.fast_sums.evaluate import FastSums
from earnshaw.energy.fast_sums.far import available, finufft
from earnshaw.energy.fast_sums.plan import plan_for, tile_seconds
from earnshaw.errors import EarnshawError
from earnshaw.numerics.fixed_order import one_blas_thread

FEW_PAIRS = 2**24  # up to which tiles are taken without asking what each would take

Sources = tuple[tuple[Array, Array], ...]


class FastField(Field):
    """Sums over charges by `fast`; `always`, or where that is faster and not compiled."""

    fast: FastSums | None = eqx.field(static=True, default=None)
    always: bool = eqx.field(static=True, default=False)

    @property
    def sums(self) -> str:
        """As it was asked."""
        return "fast" if self.always else "auto"

    def is_fast_for(self, *positions: Any) -> bool:
        """Always; or for numbers, where the estimate says so."""
        if self.always:
            return True
        places = [_primal(part) for part in positions]
        pairs = float(len(places[0])) * sum(len(part) for part in places)
        if pairs <= FEW_PAIRS or any(isinstance(part, jax.core.Tracer) for part in places):
            return False
        assert self.fast is not None
        numbers = [np.asarray(part) for part in places]
        plan = plan_for(self.fast.splitting, self.fast.tolerance, numbers[0], numbers)
        return plan.seconds < tile_seconds(self.fast.splitting, pairs)

    def at(self, probes: Units, sources: Units) -> tuple[Array, Array]:
        """The potential (k,) of the sources at the probes, and its gradient (k, d)."""
        if not self.is_fast_for(probes.positions, sources.positions):
            return super().at(probes, sources)
        (found,) = self._fields(probes.positions, ((sources.positions, sources.charges),))
        return found

    def within(self, charged: Units) -> tuple[Array, Array]:
        """The potential of all other units at each unit, and its gradient there."""
        if not self.is_fast_for(charged.positions):
            return super().within(charged)
        return self.within_and_of(charged, ())[0]

    def within_and_of(
        self, charged: Units, others: tuple[Units, ...]
    ) -> tuple[tuple[Array, Array], ...]:
        """`within`, and `at` the charged units of each of the others."""
        x = charged.positions
        if not self.is_fast_for(x, *(part.positions for part in others)):
            return super().within_and_of(charged, others)
        sources = tuple((part.positions, part.charges) for part in (charged, *others))
        (value, gradient), *rest = self._fields(x, sources)
        assert self.fast is not None
        return (value - charged.charges * self.fast.splitting.origin, gradient), *rest

    def _fields(self, x: Array, sources: Sources) -> list[tuple[Array, Array]]:
        assert self.fast is not None
        found = _fast_sums(self.fast, x, sources)
        return [(part[:, 0], part[:, 1:]) for part in found]


def fast_field(
    tiles: Field, potential: Potential, manifold: Manifold, always: bool, tolerance: float | None
) -> FastField | None:
    """The field with fast sums; None where there are none, or if `always`, an error saying why."""
    splitting = splitting_of(potential) if manifold.name == "space" else None
    if always and (splitting is None or tiles.mesh is not None):
        what = "many devices"
        if splitting is None:
            place = "on the sphere" if manifold.name == "sphere" else f"in d = {tiles.coupling.dim}"
            what = f"{potential.name} {place}"
        raise EarnshawError(f"there are no fast sums for {what}; allowed: {KNOWN}, on one device")
    if always:
        finufft()
    if splitting is None or tiles.mesh is not None or not available():
        return None
    sums = FastSums(splitting, check_tolerance(tolerance))
    return FastField(tiles.coupling, None, tiles.tile, tiles.small, fast=sums, always=always)


def _primal(part: Any) -> Any:
    """The numbers of which a derivative in forward mode is taken."""
    while isinstance(part, JVPTracer):
        part = part.primal
    return part


def _host(sums: FastSums, x: Any, sources: Any) -> np.ndarray:
    with one_blas_thread():
        return sums.fields(np.asarray(x), [(np.asarray(y), np.asarray(q)) for y, q in sources])


def _host_rates(sums: FastSums, x: Any, dx: Any, sources: Any) -> np.ndarray:
    numbers = [tuple(np.asarray(part) for part in source) for source in sources]
    with one_blas_thread():
        return sums.rates(np.asarray(x), np.asarray(dx), numbers)  # type: ignore[arg-type]


def _called(function: Any, sums: Any, x: Array, count: int, *rest: Any) -> Array:
    """function(sums, x, *rest): now if these are numbers, else when the compiled code runs."""
    given = jax.tree.leaves((x, rest))
    if not any(isinstance(part, jax.core.Tracer) for part in given):
        return jnp.asarray(function(sums, x, *rest))
    shape = jax.ShapeDtypeStruct((count, x.shape[0], 1 + x.shape[1]), jnp.float64)
    call = lambda *numbers: function(sums, *numbers)  # noqa: E731
    return jax.pure_callback(call, shape, x, *rest, vmap_method="sequential")


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _fast_sums(sums: FastSums, x: Array, sources: Sources) -> Array:
    """Potential and gradient at x (n, d) of each of the sources: (sources, n, 1 + d)."""
    return _called(_host, sums, x, len(sources), sources)


@_fast_sums.defjvp
def _fast_sums_jvp(sums: FastSums, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    (x, sources), (dx, moved) = primals, tangents
    moving = tuple((*source, *rate) for source, rate in zip(sources, moved, strict=True))
    rates = _called(_host_rates, sums, x, len(sources), dx, moving)
    return _fast_sums(sums, x, sources), rates
