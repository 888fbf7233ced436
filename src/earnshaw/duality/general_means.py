"""Gaussian means of an activation that has no closed form for them: by quadrature.

E[s_i(x + tau Z)] over panels that are split at the kinks of s. Needed only where the other unit's
activation has no closed form either (softsign with softsign), or a kink of it is hit (the slope of
relu with tanh): elsewhere `affine_mean.py` smooths the other one.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.activation import DotProduct
from earnshaw.duality.gaussian_means import GaussianMeans, nth_derivative
from earnshaw.numerics.quadrature import panel_rule

ORDER = 10
BASE = np.linspace(-9.5, 9.5, 13)  # exp(-9.5^2/2) = 3e-20
OFFSETS = np.array([1.0, 2.0, 3.5, 6.0, 10.0, 20.0])  # of panels around a place, in widths
WIDTH = 1.0  # within which an activation turns around its kinks, or around 0


class GeneralMeans(GaussianMeans):
    """Those of any activation that JAX can differentiate between its kinks."""

    activation: DotProduct
    order: int = eqx.field(default=ORDER, static=True)

    @property
    def kinks(self) -> tuple[float, ...]:
        return self.activation.kinks

    @property
    def places(self) -> tuple[tuple[float, float], ...]:
        around = self.kinks or (0.0,)
        return tuple((kink, 0.0) for kink in self.kinks) + tuple((x, WIDTH) for x in around)

    @property
    def closed(self) -> bool:
        return False

    def jumps(self, i: int) -> tuple[float, ...]:
        """From the values of s_i right beside the kinks."""
        if not self.kinks:
            return ()
        sides = (np.nextafter(np.asarray(self.kinks), side) for side in (-np.inf, np.inf))
        with jax.ensure_compile_time_eval():
            left, right = (np.asarray(self.value(i, jnp.asarray(x))) for x in sides)
        gaps = right - left
        rounding = 1e-12 * np.maximum(np.abs(left), np.abs(right))
        return tuple(float(gap) for gap in np.where(np.abs(gaps) > rounding, gaps, 0.0))

    def value(self, i: int, x: Array) -> Array:
        """The i-th derivative of s, off its kinks."""
        return nth_derivative(self.activation, i, x)

    def mean(self, i: int, x: Array, variance: Array) -> Array:
        """sum_k weights_k phi(y_k) s_i(x + tau y_k)."""
        tau = jnp.sqrt(variance)
        safe = jnp.where(tau > 0, tau, 1.0)
        found = [jnp.broadcast_to(BASE, (*x.shape, len(BASE)))]
        for place, width in self.places:
            centre = ((place - x) / safe)[..., None]
            offsets = OFFSETS * width if width else np.zeros(1)
            both = np.unique(np.concatenate([-offsets, [0.0], offsets]))
            found.append(centre + both / safe[..., None])
        edges = jnp.sort(jnp.clip(jnp.concatenate(found, -1), BASE[0], BASE[-1]), axis=-1)
        y, weights = panel_rule(edges, self.order)
        values = self.value(i, x[..., None] + tau[..., None] * y)
        return jnp.sum(weights * jnp.exp(-y * y / 2) * values, axis=-1) / np.sqrt(2 * np.pi)
