"""Activations made from a potential on R^d: their profile h is a table, or products of tables.

`realize` finds h = F^-1(sqrt(F(Phi))) by numerical inversion, and tabulates it in log r
(`numerics.log_table`). `Realized` joins such an activation and the potential it was made from.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality.activation import NumpyProfile, Translation
from earnshaw.duality.potential import Potential
from earnshaw.inputs import Gaussian
from earnshaw.limits import check_integer
from earnshaw.numerics.log_table import LogTable

# -- NumPy functions that exported files carry with them ------------------------------------------


def log_spline(table: dict, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h(r) = r^(-exponent) exp(-decay r) S(log r) and its slope, for r >= 0.

    S is a cubic spline on equidistant knots, given by its B-spline coefficients; at `breaks` a new
    spline begins. Below the first knot S is linear in log r, beyond the last one h is 0.
    """
    spline, breaks, step = table["spline"], table["breaks"], table["step"]
    intervals = len(spline) - 3 * (len(breaks) + 1)
    positive = r > 0
    r = np.where(positive, r, 1.0)
    place = (np.log(r) - table["start"]) / step
    interval = np.clip(np.floor(place), 0, intervals - 1).astype(int)
    first = interval + 3 * np.searchsorted(breaks, interval, side="right")
    a, b, c, d = (spline[first + j] for j in range(4))
    x = np.clip(place - interval, 0.0, 1.0)
    s = ((1 - x) ** 3 * a + (4 - 6 * x**2 + 3 * x**3) * b) / 6
    s = s + ((1 + 3 * x + 3 * x**2 - 3 * x**3) * c + x**3 * d) / 6
    s_slope = ((1 - x) ** 2 * (b - a) + (1 + 2 * x - 2 * x**2) * (c - b) + x**2 * (d - c)) / 2

    below, beyond = np.minimum(place, 0.0), place > intervals
    s = s + table["slope_below"] * step * below
    s_slope = np.where(below < 0, table["slope_below"], s_slope / step)
    scale = r ** -table["exponent"] * np.exp(-table["decay"] * r)
    slope = (s_slope - (table["exponent"] + table["decay"] * r) * s) * scale / r
    value = np.where(positive, np.where(beyond, 0.0, s * scale), table["at_zero"])
    return value, np.where(positive & ~beyond, slope, 0.0)


def radial_profile(gap: np.ndarray, table: dict) -> tuple[np.ndarray, np.ndarray]:
    """h(|gap|) from a table, and its gradient, which is 0 at gap = 0."""
    r = np.sqrt(np.sum(gap * gap, axis=-1))
    value, slope = log_spline(table, r)
    return value, gap * (slope / np.where(r > 0, r, 1.0))[..., None]


def product_profile(gap: np.ndarray, tables: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """h = prod_i h_i(|gap_i|) from a table for each coordinate, and its gradient."""
    factors = [log_spline(table, np.abs(gap[..., i])) for i, table in enumerate(tables)]
    values, slopes = (np.stack(part, axis=-1) for part in zip(*factors, strict=True))
    rest = [np.prod(np.delete(values, i, axis=-1), axis=-1) for i in range(len(tables))]
    others = np.where(slopes == 0, 1.0, np.stack(rest, axis=-1))  # which may be infinite
    return np.prod(values, axis=-1), np.where(gap < 0, -slopes, slopes) * others


# -- activations ----------------------------------------------------------------------------------


class RadialTranslation(Translation):
    """h(x) = table(|x|), for profiles known by numerical inversion: h = F^-1(sqrt(F(Phi))).

    Where Phi has a cusp, h goes as r^(-(d-1)/2) at 0 (logarithmically for d = 1): it is infinite at
    x = w and finite elsewhere.
    """

    label: str = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    table: LogTable
    inputs: Gaussian
    in_numpy = NumpyProfile(
        "a function of |x|, tabulated below",
        "radial_profile(gap, TABLE)",
        (log_spline, radial_profile),
    )

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
    in_numpy = NumpyProfile(
        "a product of functions of |x_i|, tabulated below",
        "product_profile(gap, TABLES)",
        (log_spline, product_profile),
    )

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


class Realized(Translation):
    """The translation activation `shape`, realised from `potential` (Full, Theorem 2.1)."""

    shape: Translation
    potential: Potential
    dim: int = eqx.field(static=True)
    inputs: Gaussian

    @property
    def name(self) -> str:
        """The name of the shape."""
        return self.shape.name

    @property
    def source(self) -> str:
        """The source of the shape."""
        return self.shape.source

    def profile(self, displacement: ArrayLike) -> Array:
        """h at displacements of shape (..., d)."""
        return self.shape.profile(displacement)

    def autocorrelation(self) -> Potential:
        """The potential that it was made from."""
        return self.potential

    def unrealized(self) -> Translation:
        """The shape."""
        return self.shape.unrealized()


def realized(shape: Translation, potential: Potential) -> Realized:
    """Join an activation and the potential it was made from."""
    return Realized(shape=shape, potential=potential, dim=shape.dim, inputs=shape.inputs)


def _length(x: Array) -> Array:
    """|x| over the last axis, with a gradient of 0 instead of NaN at x = 0."""
    square = jnp.sum(x * x, axis=-1)
    positive = square > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)
