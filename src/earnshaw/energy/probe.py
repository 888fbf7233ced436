"""The potential C(theta) of all charges at a probe point, also in logarithms.

    C(theta) = sum_j b_j Phi(theta, w_j) - sum_i c_i Phi(theta, theta_i),

teacher and student together: what a further unit would feel. Its best weight is
C(theta)/Phi(theta, theta), and the loss it saves is C^2/Phi(theta, theta).

Far from all charges C underflows long before log|C| means nothing: for positive radial potentials
`log_field` sums in the log domain.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.energy.couplings.coupling import Coupling, squared_norm
from earnshaw.energy.couplings.radial import RadialCoupling
from earnshaw.energy.field import Field
from earnshaw.energy.tiles import SMALL, Units


class LogPotential(NamedTuple):
    """C as sign * exp(log_size), and the gradient of log|C|; at C = 0, -inf and no gradient."""

    sign: Array
    log_size: Array
    gradient: Array


def log_field(field: Field, probes: Units, sources: Units) -> LogPotential:
    """The potential of the sources at the probes, (k,), (k,) and (k, d)."""
    coupling = field.coupling
    if isinstance(coupling, RadialCoupling) and coupling.potential.positive:
        one = lambda x: _log_sum(coupling, x, sources)  # noqa: E731
        step = max(1, SMALL // max(1, len(sources.names) * coupling.dim))
        if len(probes.positions) <= step:
            return jax.vmap(one)(probes.positions)
        # A few probes at a time, so that displacements of all pairs are never in memory at once.
        return jax.lax.map(one, probes.positions, batch_size=step)
    value, gradient = field.at(probes, sources)
    there = value != 0
    return LogPotential(
        jnp.sign(value),
        jnp.log(jnp.abs(value)),
        jnp.where(there, 1 / jnp.where(there, value, 1.0), 0.0)[:, None] * gradient,
    )


def _log_sum(coupling: Coupling, x: Array, sources: Units) -> LogPotential:
    """At one probe: terms sign_j exp(log_j), log_j = log|beta_j| + log Phi(|x - y_j|)."""
    assert isinstance(coupling, RadialCoupling)
    gaps = x - sources.positions
    squares = squared_norm(gaps)
    apart = squares > 0
    r = jnp.where(apart, jnp.sqrt(jnp.where(apart, squares, 1.0)), 0.0)
    charged = sources.charges != 0
    sizes = jnp.where(charged, jnp.abs(sources.charges), 1.0)
    log_value, log_first = coupling.potential.log_jet(r)
    logs = jnp.where(charged, jnp.log(sizes) + log_value, -jnp.inf)
    top = jnp.max(logs)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    terms = jnp.sign(sources.charges) * jnp.exp(logs - jax.lax.stop_gradient(top))
    total = jnp.sum(terms)
    # At a cusp there is no direction; a smooth potential has no slope there.
    slopes = jnp.where(apart, log_first / jnp.where(apart, r, 1.0), 0.0)
    there = total != 0
    gradient = (terms * slopes) @ gaps / jnp.where(there, total, 1.0)
    return LogPotential(
        jnp.sign(total), top + jnp.log(jnp.abs(total)), jnp.where(there, gradient, 0.0)
    )
