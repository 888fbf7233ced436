"""A centred Gaussian inside of a ball (EPD, Lemma B.1)."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp
from scipy.special import gammainccinv, gammaln

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.inputs.gaussian import Inputs, isotropic_log_density
from earnshaw.limits import check_real, check_width

NEGLIGIBLE = 1e-18  # a probability that no float64 computation can see


def _radius(value: object) -> float:
    return check_real("radius of the inputs", value, 0.0)


class TruncatedGaussian(Inputs):
    """N(0, width^2 I) given that |x| <= radius, both in the units of x (EPD, Lemma B.1).

    With a = d/2 and t = radius^2 / (2 width^2) the ball has the mass P(a, t) of the Gaussian, P
    the regularised incomplete gamma function, the chi^2 distribution function. Its expansion

        P(a, t) = t^a exp(-t)/Gamma(a + 1) * sum_n v_n,    v_n = t^n / ((a + 1) ... (a + n)),

    has positive terms only, so nothing cancels however small the mass is. The same terms are a
    mixture: |x|^2 / radius^2 has the law Beta(a, n + 1) with probability proportional to v_n,
    because exp(t - q) = sum_n (t - q)^n / n! under the integral of q^(a-1) exp(-q) over [0, t].

    Examples
    --------
    >>> import earnshaw as ew
    >>> import math
    >>> half = ew.TruncatedGaussian(width=1.0, radius=math.sqrt(2 * math.log(2)))
    >>> round(math.exp(half.log_mass(2)), 12)  # in the plane, P(|x| <= R) = 1 - exp(-R^2/2)
    0.5
    """

    width: float = eqx.field(converter=check_width)
    radius: float = eqx.field(converter=_radius)

    def log_mass(self, dim: int) -> Array:
        """log P(|X| <= radius) of the Gaussian that is truncated."""
        terms, log_t = self._terms(dim)
        half = dim / 2
        whole = half * log_t - jnp.exp(log_t) - math.lgamma(half + 1) + logsumexp(terms)
        return jnp.minimum(whole, 0.0)

    def log_density(self, x: Array) -> Array:
        """That of the Gaussian minus `log_mass`; -inf where |x| > radius."""
        outside = jnp.linalg.norm(x / self.radius, axis=-1) > 1
        inside = isotropic_log_density(self.width, x) - self.log_mass(x.shape[-1])
        return jnp.where(outside, -jnp.inf, inside)

    def sample(self, key: Array, count: int, dim: int) -> Array:
        """`count` independent inputs, shape (count, dim): exact, and without rejection of inputs.

        A Gaussian that falls inside is kept; one that falls outside is replaced by a draw from the
        mixture, radius z / sqrt(|z|^2 + 2 E) with z normal and E ~ Gamma(n + 1): then |z|^2/2 and E
        make the Beta(d/2, n + 1). Both have the law wanted, so what is returned has it.
        """
        plain, again, term, rest = jax.random.split(key, 4)
        x = self.width * jax.random.normal(plain, (count, dim))
        inside = jnp.linalg.norm(x / self.radius, axis=-1, keepdims=True) <= 1
        z = jax.random.normal(again, (count, dim))
        cumulative = jnp.cumsum(jax.nn.softmax(self._terms(dim)[0]))
        uniform = jax.random.uniform(term, (count,)) * cumulative[-1]
        n = jnp.searchsorted(cumulative, uniform, side="right")
        gamma = jax.random.gamma(rest, jnp.minimum(n, len(cumulative) - 1) + 1.0)
        length = jnp.sqrt(jnp.sum(z * z, axis=-1) + 2 * gamma)[:, None]
        return jnp.where(inside, x, self.radius * (z / length))

    def _terms(self, dim: int) -> tuple[Array, Array]:
        """log v_n for all n that count, and log t.

        t is kept below the point where the mass outside is negligible, so that the number of terms
        depends on the dimension alone: beyond, nothing outside is left to be replaced.
        """
        half = dim / 2
        largest = float(gammainccinv(half, NEGLIGIBLE))
        log_t = 2 * (jnp.log(self.radius) - jnp.log(self.width)) - math.log(2)
        log_t = jnp.minimum(log_t, math.log(largest))
        # v_n is a Poisson(t) probability at a + n: ten standard deviations above t it is nothing.
        n = np.arange(math.ceil(largest + 10 * math.sqrt(largest)) + 30)
        return n * log_t - (gammaln(half + 1 + n) - gammaln(half + 1)), log_t
