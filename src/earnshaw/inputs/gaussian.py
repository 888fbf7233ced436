"""Gaussian inputs N(m, S): isotropic in every dimension, or with a mean and a covariance."""

from __future__ import annotations

import abc
import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.limits import check_width

ROUNDING = 1e-12  # how far covariances may be from symmetric, or below 0, relative to the largest


class Component(NamedTuple):
    """A Gaussian N(mean, covariance) in R^d, and how probable it is that inputs come from it."""

    probability: float
    mean: Array
    covariance: Array


class Inputs(eqx.Module):
    """A distribution of inputs in R^d, for one d or for every d."""

    @property
    def dim(self) -> int | None:
        """d, or None for inputs that every dimension has."""
        return None

    def components(self, dim: int | None = None) -> tuple[Component, ...]:
        """The Gaussians that they are a mixture of, if they are one."""
        raise EarnshawError(
            f"{type(self).__name__} inputs are no Gaussians; "
            "allowed for exact losses: Gaussian, GaussianMixture"
        )

    @abc.abstractmethod
    def log_density(self, x: Array) -> Array:
        """log p(x) for points `x` of shape (..., d); shape (...)."""

    @abc.abstractmethod
    def sample(self, key: Array, count: int, dim: int) -> Array:
        """`count` independent inputs, shape (count, dim)."""


class Gaussian(Inputs):
    """N(mean, covariance), or N(0, width^2 I) in every dimension. The papers' case is width 1.

    Parameters
    ----------
    width
        the standard deviation of every coordinate, instead of a covariance.
    mean
        shape (d,); 0 if not given.
    covariance
        a number (times I), a diagonal (d,) or a positive semidefinite matrix (d, d).

    Examples
    --------
    >>> import earnshaw as ew
    >>> import jax
    >>> inputs = ew.Gaussian(mean=[1.0, 0.0], covariance=[4.0, 1.0])
    >>> inputs.dim, inputs.sample(jax.random.key(0), 5, 2).shape
    (2, (5, 2))
    """

    width: float  # NaN if there is a mean and a covariance, or a covariance that is no number
    mean: Array | None
    covariance: Array | None

    def __init__(
        self,
        width: float = 1.0,
        *,
        mean: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        if covariance is not None and width != 1.0:
            raise EarnshawError("inputs with a width and a covariance; allowed: one of them")
        self.mean = None if mean is None else checked_mean(mean)
        found = None if covariance is None else checked_covariance(covariance)
        if found is not None and self.mean is None and not found.ndim:
            width, found = math.sqrt(float(found)), None  # N(0, width^2 I) by another name
        self.width = math.nan if found is not None else check_width(width)
        self.covariance = found
        if self.mean is not None and self.covariance is not None and self.covariance.ndim:
            check_fit("covariance", self.covariance.shape[0], self.mean.shape[0])

    @property
    def dim(self) -> int | None:
        """d, or None for isotropic inputs of mean 0, which every dimension has."""
        if self.mean is not None:
            return int(self.mean.shape[0])
        has_dim = self.covariance is not None and self.covariance.ndim > 0
        return int(self.covariance.shape[0]) if has_dim else None  # type: ignore[union-attr]

    def components(self, dim: int | None = None) -> tuple[Component, ...]:
        """One, of probability 1; `dim` is needed only where the inputs have none of their own."""
        dim = checked_dim(self.dim, dim)
        mean = jnp.zeros(dim) if self.mean is None else self.mean
        return (Component(1.0, mean, self._matrix(dim)),)

    def log_density(self, x: Array) -> Array:
        """-(x - m).S^-1 (x - m)/2 - log(det(2 pi S))/2, for `x` of shape (..., d)."""
        if self.covariance is None:
            return isotropic_log_density(self.width, x if self.mean is None else x - self.mean)
        _, mean, covariance = self.components(x.shape[-1])[0]
        return normal_log_density(x, mean, covariance)

    def sample(self, key: Array, count: int, dim: int) -> Array:
        """`count` independent inputs, shape (count, dim)."""
        z = jax.random.normal(key, (count, checked_dim(self.dim, dim)))
        centred = self.width * z if self.covariance is None else z @ root(self._matrix(dim)).T
        return centred if self.mean is None else self.mean + centred

    def _matrix(self, dim: int) -> Array:
        if self.covariance is None:
            return self.width**2 * jnp.eye(dim)
        return as_matrix(self.covariance, dim)


# -- checks, and what mixtures need too -----------------------------------------------------------


def checked_array(what: str, value: Any) -> np.ndarray:
    """A NumPy array of finite real numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError):
        raise EarnshawError(f"{what}: no array of numbers; allowed: real numbers") from None
    if not np.all(np.isfinite(array)):
        raise EarnshawError(f"{what} has a NaN or an infinity; allowed: finite numbers")
    return array


def checked_mean(value: Any) -> Array:
    """A vector (d,)."""
    mean = checked_array("the mean of the inputs", value)
    if mean.ndim != 1 or mean.size == 0:
        raise OutOfRange("the shape of the mean of the inputs", mean.shape, "(d,)")
    return jnp.asarray(mean)


def checked_covariance(value: Any, what: str = "the covariance of the inputs") -> Array:
    """A number, a diagonal (d,) or a matrix (d, d): positive semidefinite."""
    array = checked_array(what, value)
    if array.ndim > 2 or array.size == 0 or (array.ndim == 2 and array.shape[0] != array.shape[1]):
        raise OutOfRange(f"the shape of {what}", array.shape, "a number, (d,) or (d, d)")
    largest = float(np.max(np.abs(array)))
    if array.ndim == 2:
        if np.max(np.abs(array - array.T)) > ROUNDING * largest:
            raise EarnshawError(f"{what} is not symmetric; allowed: a symmetric matrix")
        array = (array + array.T) / 2
    smallest = float(np.min(np.linalg.eigvalsh(array) if array.ndim == 2 else array))
    if smallest < -ROUNDING * largest * (array.ndim == 2):
        allowed = "a positive semidefinite one, with no eigenvalue below 0"
        raise EarnshawError(f"{what} has the eigenvalue {smallest:.6g}; allowed: {allowed}")
    return jnp.asarray(array)


def check_fit(what: str, found: int, dim: int) -> None:
    """Refuse shapes of different dimensions."""
    if found != dim:
        raise EarnshawError(f"the {what} of the inputs is for dimension {found}; allowed: {dim}")


def checked_dim(own: int | None, dim: int | None) -> int:
    """The dimension of the inputs, as they have it or as asked for: one of them, or the same."""
    if dim is None and own is None:
        raise EarnshawError("these inputs are for every dimension; allowed: with a dim")
    if dim is not None and own is not None and own != dim:
        raise EarnshawError(f"the inputs have dimension {own}, not {dim}")
    return int(dim if own is None else own)  # type: ignore[arg-type]


def as_matrix(covariance: Array, dim: int) -> Array:
    """A number, a diagonal or a matrix, as a matrix (d, d)."""
    if covariance.ndim == 2:
        return covariance
    return jnp.diag(jnp.broadcast_to(covariance, (dim,)))


def root(covariance: Array) -> Array:
    """A with A A^T = S, also of a semidefinite S."""
    values, vectors = jnp.linalg.eigh(covariance)
    return vectors * jnp.sqrt(jnp.maximum(values, 0.0))


def isotropic_log_density(width: float, x: Array) -> Array:
    """log N(0, width^2 I) at points (..., d)."""
    scaled = jnp.sum(jnp.square(x / width), axis=-1) / 2
    return -scaled - x.shape[-1] * (0.5 * math.log(2 * math.pi) + jnp.log(width))


def normal_log_density(x: Array, mean: Array, covariance: Array) -> Array:
    """log N(mean, covariance) at points (..., d); degenerate covariances are refused."""
    if not isinstance(covariance, jax.core.Tracer):
        values = np.linalg.eigvalsh(np.asarray(covariance))
        if values[0] <= ROUNDING * values[-1]:
            raise EarnshawError(
                "the covariance of the inputs is degenerate, so they have no density; "
                "allowed: a positive definite one"
            )
    factor = jnp.linalg.cholesky(covariance)
    gap = jnp.asarray(x) - mean
    flat = jax.scipy.linalg.solve_triangular(factor, gap.reshape(-1, gap.shape[-1]).T, lower=True)
    scaled = jnp.sum(flat * flat, axis=0).reshape(gap.shape[:-1]) / 2
    volume = jnp.sum(jnp.log(jnp.diagonal(factor)))
    return -scaled - volume - 0.5 * gap.shape[-1] * math.log(2 * math.pi)
