"""Activations on R^d that depend on x - w: sigma(x, w) = h(x - w) / sqrt(p(x)).

p is the density of the inputs; for N(0, I) that is (2 pi)^(d/4) exp(|x|^2/4) h(x - w). The
potential they realise is the autocorrelation of h, whatever p is (Full, Theorem 2.1; its proof
prints (2 pi)^(1/4), which is right for d = 1 only: MATH, error 9).
"""

from __future__ import annotations

import math

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import Translation
from earnshaw.errors import check_integer, check_real
from earnshaw.inputs import Gaussian
from earnshaw.numerics.bessel import log_reduced_k
from earnshaw.numerics.log_table import LogTable


class GaussianTranslation(Translation):
    """h(x) = (2c/pi)^(d/4) exp(-c |x|^2), which realises exp(-c r^2/2), c = `rate`."""

    dim: int = eqx.field(static=True)
    rate: float
    inputs: Gaussian

    def __init__(self, dim: int, rate: float = 1.0, inputs: Gaussian | None = None) -> None:
        self.dim = check_integer("dimension", dim, 1)
        self.rate = check_real("rate", rate, 0.0)
        self.inputs = Gaussian() if inputs is None else inputs

    @property
    def name(self) -> str:
        return "gaussian"

    @property
    def source(self) -> str:
        return "Full, Table 1 and Appendix B.1"

    def profile(self, displacement: ArrayLike) -> Array:
        """The profile h at displacements of shape (..., d); shape (...)."""
        square = jnp.sum(jnp.square(jnp.asarray(displacement, dtype=float)), axis=-1)
        return (2 * self.rate / math.pi) ** (self.dim / 4) * jnp.exp(-self.rate * square)


class BesselTranslation(Translation):
    """h(x) = prod_i (sqrt(2)/pi) K_0(|x_i|), which realises exp(-|x_1| - ... - |x_d|).

    It is infinite (logarithmically) where any coordinate of the displacement is 0.
    """

    dim: int = eqx.field(static=True)
    inputs: Gaussian

    def __init__(self, dim: int, inputs: Gaussian | None = None) -> None:
        self.dim = check_integer("dimension", dim, 1)
        self.inputs = Gaussian() if inputs is None else inputs

    @property
    def name(self) -> str:
        return "bessel"

    @property
    def source(self) -> str:
        return "Full, Table 1 and Appendix B.1"

    def profile(self, displacement: ArrayLike) -> Array:
        """The profile h at displacements of shape (..., d); shape (...)."""
        logs = log_reduced_k(0.0, jnp.abs(jnp.asarray(displacement, dtype=float)))
        return (math.sqrt(2) / math.pi) ** self.dim * jnp.exp(jnp.sum(logs, axis=-1))


class RadialTranslation(Translation):
    """h(x) = table(|x|), for profiles known by numerical inversion: h = F^-1(sqrt(F(Phi))).

    Where Phi has a cusp, h goes as r^(-(d-1)/2) at 0 (logarithmically for d = 1): it is infinite at
    x = w and finite elsewhere.
    """

    label: str = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    table: LogTable
    inputs: Gaussian

    def __init__(
        self, label: str, dim: int, table: LogTable, inputs: Gaussian | None = None
    ) -> None:
        self.label, self.dim, self.table = label, check_integer("dimension", dim, 1), table
        self.inputs = Gaussian() if inputs is None else inputs

    @property
    def name(self) -> str:
        return self.label

    @property
    def source(self) -> str:
        return "Full, Theorem 2.1"

    def radial_profile(self, r: ArrayLike) -> Array:
        """The profile h at distances r >= 0, elementwise."""
        return self.table(r)

    def profile(self, displacement: ArrayLike) -> Array:
        """The profile h at displacements of shape (..., d); shape (...)."""
        return self.table(_length(jnp.asarray(displacement, dtype=float)))


class ProductTranslation(Translation):
    """h(x) = prod_i h_i(|x_i|), one table for each coordinate: realises products of potentials."""

    label: str = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    tables: tuple[LogTable, ...]
    inputs: Gaussian

    def __init__(
        self, label: str, tables: tuple[LogTable, ...], inputs: Gaussian | None = None
    ) -> None:
        self.label, self.dim, self.tables = label, len(tables), tuple(tables)
        self.inputs = Gaussian() if inputs is None else inputs

    @property
    def name(self) -> str:
        return self.label

    @property
    def source(self) -> str:
        return "Full, Theorem 2.1"

    def profile(self, displacement: ArrayLike) -> Array:
        """The profile h at displacements of shape (..., d); shape (...)."""
        gaps = jnp.abs(jnp.asarray(displacement, dtype=float))
        values = [table(gaps[..., i]) for i, table in enumerate(self.tables)]
        return jnp.prod(jnp.stack(values, axis=-1), axis=-1)


def _length(x: Array) -> Array:
    """|x| over the last axis, with a gradient of 0 instead of NaN at x = 0."""
    square = jnp.sum(x * x, axis=-1)
    positive = square > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)
