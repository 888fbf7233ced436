"""Mixtures of Gaussian inputs: what a cloud of data looks like, with exact expectations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp
from jax.typing import ArrayLike

from earnshaw.errors import EarnshawError, MissingExtra, OutOfRange
from earnshaw.inputs.gaussian import (
    Component,
    Inputs,
    as_matrix,
    check_fit,
    checked_array,
    checked_covariance,
    checked_dim,
    normal_log_density,
    root,
)
from earnshaw.limits import check_integer

SUM = 1e-9  # how far from 1 the weights may add up


class GaussianMixture(Inputs):
    """sum_m weights_m N(means_m, covariances_m).

    Parameters
    ----------
    weights
        shape (m,), not negative, of sum 1.
    means
        shape (m, d).
    covariances
        of every component a number, a diagonal or a positive semidefinite matrix:
        shape (m,), (m, d) or (m, d, d).

    Examples
    --------
    >>> import earnshaw as ew
    >>> inputs = ew.GaussianMixture([0.5, 0.5], [[-1.0], [1.0]], [0.1, 0.1])
    >>> inputs.dim
    1
    >>> teacher = ew.Teacher([[2.0]], [1.0], "erf", biases=[0.5], inputs=inputs)
    """

    weights: Array
    means: Array
    covariances: Array

    def __init__(self, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> None:
        chances = checked_array("the weights of the mixture", weights)
        centres = checked_array("the means of the mixture", means)
        if chances.ndim != 1 or chances.size == 0:
            raise OutOfRange("the shape of the weights of the mixture", chances.shape, "(m,)")
        if np.any(chances < 0):
            raise OutOfRange("a weight of the mixture", float(np.min(chances)), "numbers >= 0")
        if abs(np.sum(chances) - 1) > SUM:
            raise OutOfRange("the sum of the weights of the mixture", float(np.sum(chances)), "1")
        if centres.ndim != 2 or len(centres) != len(chances) or centres.shape[1] == 0:
            allowed = f"({len(chances)}, d), a row for each weight"
            raise OutOfRange("the shape of the means of the mixture", centres.shape, allowed)
        dim = centres.shape[1]
        spreads = checked_array("the covariances of the mixture", covariances)
        if spreads.ndim not in (1, 2, 3) or len(spreads) != len(chances):
            allowed = f"({len(chances)},), ({len(chances)}, d) or ({len(chances)}, d, d)"
            raise OutOfRange("the shape of the covariances of the mixture", spreads.shape, allowed)
        matrices = []
        for i, spread in enumerate(spreads):
            checked = checked_covariance(spread, f"covariance {i} of the mixture")
            if checked.ndim:
                check_fit("covariances", checked.shape[0], dim)
            matrices.append(as_matrix(checked, dim))
        self.weights = jnp.asarray(chances / np.sum(chances))
        self.means, self.covariances = jnp.asarray(centres), jnp.stack(matrices)

    @staticmethod
    def fit(data: Any, components: int, seed: int = 0) -> GaussianMixture:
        """The mixture of so many Gaussians that fits data (n, d) best, by scikit-learn's EM."""
        try:
            from sklearn.mixture import GaussianMixture as Estimator
        except ImportError:
            raise MissingExtra("GaussianMixture.fit", "scikit-learn", "sklearn") from None
        x = checked_array("the data of the mixture", data)
        if x.ndim != 2 or x.shape[1] == 0:
            raise OutOfRange("the shape of the data of the mixture", x.shape, "(n, d)")
        count = check_integer("components", components, 1, max(1, len(x)))
        if len(x) < max(2, count):
            raise EarnshawError(f"{len(x)} rows for {count} components; allowed: more rows")
        seed = check_integer("seed", seed, 0, 2**32 - 1)
        found = Estimator(n_components=count, random_state=seed).fit(x)
        return GaussianMixture(found.weights_, found.means_, found.covariances_)

    @property
    def dim(self) -> int:
        """d."""
        return int(self.means.shape[1])

    def components(self, dim: int | None = None) -> tuple[Component, ...]:
        """The Gaussians and their probabilities."""
        checked_dim(self.dim, dim)
        rows = zip(self.weights, self.means, self.covariances, strict=True)
        return tuple(Component(*row) for row in rows)

    def log_density(self, x: Array) -> Array:
        """log sum_m weights_m N(x; means_m, covariances_m), for `x` of shape (..., d)."""
        parts = [
            jnp.log(weight) + normal_log_density(x, mean, covariance)
            for weight, mean, covariance in self.components(x.shape[-1])
        ]
        return logsumexp(jnp.stack(parts), axis=0)

    def sample(self, key: Array, count: int, dim: int) -> Array:
        """`count` independent inputs, shape (count, dim)."""
        checked_dim(self.dim, dim)
        which, noise = jax.random.split(key)
        chosen = jax.random.choice(which, len(self.weights), (count,), p=self.weights)
        z = jax.random.normal(noise, (count, self.dim))
        roots = jax.vmap(root)(self.covariances)
        return self.means[chosen] + jnp.einsum("nij,nj->ni", roots[chosen], z)
