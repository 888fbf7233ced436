"""Two units with biases: the five numbers that E[s(u) s'(v)] depends on.

A unit w, b sees an input X ~ N(m, S) through u = w.X + b, a Gaussian of mean mu = w.m + b and
variance q = w.S w; two units have the covariance c = w.S w'. Biases, means and covariances of the
inputs enter through (mu1, mu2, q1, q2, c) alone. As in `pair.py`, low = sqrt(q1 q2) - c and
high = sqrt(q1 q2) + c are carried along, because nearly parallel units lose them otherwise.

Derivatives are those in the five numbers: `low` and `high` need no tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.pair import Pair, gram, value_and_slope
from earnshaw.errors import EarnshawError
from earnshaw.numerics.bivariate_normal import bivariate_normal_density


class Affine(NamedTuple):
    """Means mu1, mu2, variances q1, q2 and covariance c of u, v; sqrt(q1 q2) -+ c."""

    mu1: Array
    mu2: Array
    q1: Array
    q2: Array
    c: Array
    low: Array
    high: Array

    @staticmethod
    def of_moments(
        mu1: ArrayLike, mu2: ArrayLike, q1: ArrayLike, q2: ArrayLike, c: ArrayLike
    ) -> Affine:
        """From numbers that are exactly these: the angle is right however small it is."""
        pair = Pair.of_exact_moments(q1, q2, c)
        means = (jnp.asarray(mu, dtype=float) for mu in (mu1, mu2))
        return Affine(*jnp.broadcast_arrays(*means, *pair))

    @staticmethod
    def of_pair(pair: Pair) -> Affine:
        """Centred: no biases, and inputs of mean 0."""
        zero = jnp.zeros_like(pair.c)
        return Affine(*jnp.broadcast_arrays(zero, zero, *pair))

    @staticmethod
    def of_one(mu: Array, q: Array) -> Affine:
        """A unit with itself: E[s(u)^2]."""
        return Affine(mu, mu, q, q, q, 0 * q, 2 * q)

    def swapped(self) -> Affine:
        """The units exchanged."""
        return self._replace(mu1=self.mu2, mu2=self.mu1, q1=self.q2, q2=self.q1)

    def given_first(self, u: Array) -> tuple[Array, Array]:
        """The mean and the variance of v given u; where u is no variable, those of v."""
        moving = self.q1 > 0
        q1 = jnp.where(moving, self.q1, 1.0)
        mean = self.mu2 + jnp.where(moving, self.c / q1 * (u - self.mu1), 0.0)
        rest = gram(self.q1, self.q2, self.c, self.low, self.high)
        return mean, jnp.where(moving, rest / q1, self.q2)

    def density(self, u: ArrayLike, v: ArrayLike) -> Array:
        """That of (u, v); 0 where one of them is no variable."""
        moving = (self.q1 > 0) & (self.q2 > 0)
        s1, s2 = (jnp.sqrt(jnp.where(moving, q, 1.0)) for q in (self.q1, self.q2))
        rho = jnp.where(moving, self.c / (s1 * s2), 0.0)
        fixed = jax.lax.stop_gradient(rho)
        less = jax.lax.stop_gradient(jnp.minimum(self.low, self.high) / (s1 * s2))
        gap = jnp.where(moving, less, 1.0) - jnp.where(rho < 0, -1.0, 1.0) * (rho - fixed)
        h, k = (jnp.asarray(u) - self.mu1) / s1, (jnp.asarray(v) - self.mu2) / s2
        return jnp.where(moving, bivariate_normal_density(h, k, rho, gap) / (s1 * s2), 0.0)


class Jet(NamedTuple):
    """A function M of two units, and how it changes with the first, whose position is x.

    Its derivatives in mu1 and in c, and `along` = 2 M_q + kappa M_c: with S that of the inputs, the
    gradient in x is in_mu m + along S x + in_c S (y - kappa x). kappa = c/q1 if `turning`, so that
    y - kappa x is small for nearly parallel units, and what is large in the derivatives of in_c
    does no harm; else 0.
    """

    value: Array
    in_mu: Array
    along: Array
    in_c: Array


def jet_of(function: Callable[[Affine], Array], units: Affine) -> Jet:
    """The jet of any function, not `turning`, by one derivative after the other."""
    value, in_mu = value_and_slope(lambda mu: function(units._replace(mu1=mu)), units.mu1)
    _, in_q = value_and_slope(lambda q: function(units._replace(q1=q)), units.q1)
    _, in_c = value_and_slope(lambda c: function(units._replace(c=c)), units.c)
    return Jet(value, in_mu, 2 * in_q, in_c)


def scaled_units(variance: float, *numbers: ArrayLike) -> Affine:
    """Units of biases mu1, mu2 with |theta|^2, |w|^2 and theta.w, under N(0, variance I) inputs."""
    mu1, mu2, *sizes = (jnp.asarray(number, dtype=float) for number in numbers)
    return Affine.of_moments(mu1, mu2, *(variance * size for size in sizes))


def check_count(numbers: Sequence[ArrayLike], allowed: Sequence[int]) -> None:
    """Refuse another number of arguments of `moment`."""
    if len(numbers) not in allowed:
        words = {2: "q1, q2", 3: "q1, q2, c", 5: "mu1, mu2, q1, q2, c"}
        said = " or ".join(words[count] for count in allowed)
        raise EarnshawError(f"a moment of {len(numbers)} numbers; allowed: {said}")
