"""E[s(u) s'(v)] for two activations and units with biases: which way, and how far off.

- If one of the two has closed Gaussian means, it is smoothed and the other one integrated over
  (`affine_mean.py`): closed forms inside of a single integral, right to rounding.
- Two smooth activations without them (tanh with softplus) are a Hermite series.
- What is left (softsign with tanh, a user's function with kinks) is a double integral.

Errors are relative to sqrt(E[s(u)^2] E[s'(v)^2]), as in `pair.py`.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.affine import Affine, Jet, jet_of
from earnshaw.duality.affine_mean import FASTEST, ORDER, affine_mean, mean_of_order
from earnshaw.duality.gaussian_means import GaussianMeans
from earnshaw.duality.general_means import GeneralMeans
from earnshaw.duality.half_lines import HalfLinePair
from earnshaw.duality.pair import EPS, UNDERFLOW
from earnshaw.duality.series.affine_series import AffineSeries

ROUNDING = 2e-14  # 90 EPS
MIDDLE, COARSE = ORDER - 1, ORDER - 4  # nodes of rules that the error of a black box is seen by


class AffineIntegral(eqx.Module):
    """E[s(u) s'(v)] = E[s(u) G'(u)]; `swapped` if it is s that is smoothed."""

    outer: GaussianMeans
    inner: GaussianMeans
    swapped: bool = eqx.field(static=True)
    proven: bool = eqx.field(static=True)

    @property
    def method(self) -> str:
        """One integral over a closed form, or two."""
        return "single integral" if self.inner.closed else "double integral"

    @eqx.filter_jit
    def __call__(self, units: Affine) -> Array:
        """Elementwise; double integrals one by one, since they are large."""
        units = Affine(*jnp.broadcast_arrays(*units))
        units = units.swapped() if self.swapped else units
        if self.inner.closed:
            return affine_mean(self.outer, self.inner, units)
        flat = Affine(*(entry.ravel() for entry in units))
        found = jax.lax.map(lambda one: affine_mean(self.outer, self.inner, Affine(*one)), flat)
        return found.reshape(units.c.shape)

    turning: ClassVar[bool] = False

    def jet(self, units: Affine) -> Jet:
        """The mean and its derivatives."""
        return jet_of(self, units)

    @eqx.filter_jit
    def error_at(self, units: Affine) -> Array:
        """Rounding, with that of exp(-mu^2/2q) in the tails; what coarser rules differ by.

        The latter only where a part of it is a function without closed form. Infinite for waves
        that are too fast for the panels.
        """
        units = Affine(*jnp.broadcast_arrays(*units))
        units = units.swapped() if self.swapped else units
        sizes, relative, slow = [], jnp.full_like(units.c, ROUNDING), jnp.asarray(True)
        for means, mu, q in ((self.outer, units.mu1, units.q1), (self.inner, units.mu2, units.q2)):
            large = means.magnitude()
            sizes.append(jnp.sqrt(jnp.abs(mean_of_order(large, large, Affine.of_one(mu, q)))))
            steps = jnp.minimum(mu * mu / jnp.where(q > 0, q, 1.0), 1500.0)
            relative = relative + EPS * (4 * steps + 4 * means.terms + 4 * jnp.abs(mu))
            slow = slow & (means.pitch * jnp.sqrt(q) <= FASTEST)
        error = relative * sizes[0] * sizes[1]
        if not (self.inner.closed and self.outer.closed):
            fine, middle, coarse = (self._rule(units, order) for order in (ORDER, MIDDLE, COARSE))
            near, far = jnp.abs(fine - middle), jnp.abs(fine - coarse)
            error = error + jnp.where(16 * near < far, 4 * near, 2 * far)
        return jnp.where(slow & ~jnp.isnan(error), error + UNDERFLOW, jnp.inf)

    def _rule(self, units: Affine, order: int) -> Array:
        inner = self.inner
        if isinstance(inner, GeneralMeans):
            inner = GeneralMeans(inner.activation, inner.order + order - ORDER)
            flat = Affine(*(entry.ravel() for entry in units))
            found = jax.lax.map(
                lambda one: mean_of_order(self.outer, inner, Affine(*one), order), flat
            )
            return found.reshape(units.c.shape)
        return mean_of_order(self.outer, inner, units, order)


AffineMoment = AffineIntegral | AffineSeries | HalfLinePair


def affine_moment(first: DotProduct, second: DotProduct) -> AffineMoment:
    """E[s(u) s'(v)] of two activations, the best way there is."""
    known = first.gaussian_means(), second.gaussian_means()
    if known == (None, None) and not first.kinks and not second.kinks:
        return AffineSeries(first, second)
    sides = [
        GeneralMeans(activation) if means is None else means
        for activation, means in zip((first, second), known, strict=True)
    ]
    swapped = known[1] is None and known[0] is not None
    outer, inner = reversed(sides) if swapped else sides
    return AffineIntegral(outer, inner, swapped, bool(first.known and second.known))


def affine_energy(first: DotProduct, second: DotProduct) -> AffineMoment:
    """The same for energies of many pairs: fast, and right relative to E[u^2] and E[v^2].

    Half-lines by Phi2, smooth activations with these or with each other by their series; the
    integral only for what is left.
    """
    known = first.gaussian_means(), second.gaussian_means()
    one, two = (None if means is None else means.half_lines() for means in known)
    if one is not None and two is not None:
        return HalfLinePair(one, two)
    smooth = not first.kinks, not second.kinks
    if any(smooth) and (one is not None or smooth[0]) and (two is not None or smooth[1]):
        return AffineSeries(first if one is None else one, second if two is None else two)
    return affine_moment(first, second)
