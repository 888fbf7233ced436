"""Activations given by their Hermite coefficients, and plain polynomials."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.activations.base import DotProduct
from earnshaw.activations.symmetry import Symmetries, polynomial_symmetries, series_flip
from earnshaw.errors import EarnshawError, check_integer
from earnshaw.numerics.hermite import hermite_sum, monomials_in_hermite

ROUNDING = 1e-13  # relative; how far off the coefficients of a power x^n may be
MAX_POWER = 100
MAX_DEGREE = 1000  # beyond it he_n(x) overflows float64 already at |x| = 40


class HermiteSum(DotProduct):
    """s(x) = sum_n a_n he_n(x), he_n orthonormal under N(0, 1).

    Its potential on the sphere is sum_n a_n^2 rho^n (Full, Theorem B.2, with the sum from 0).
    """

    coefficients: Array
    label: str = eqx.field(default="hermite-sum", static=True)

    @property
    def name(self) -> str:
        """The label it was made under."""
        return self.label

    @property
    def source(self) -> str:
        """Theorem B.2."""
        return "Full, Theorem B.2; EPD, Theorem 2.5"

    @property
    def symmetries(self) -> Symmetries:
        """Read off the coefficients: even or odd, a pure power, of degree 2 at most."""
        known = np.asarray(self.coefficients)
        degree = int(max(np.flatnonzero(known), default=0))
        if degree <= 2:  # he_2 = (x^2 - 1)/sqrt(2)
            level, slope, curvature = np.pad(known, (0, 2))[:3] * (1, 1, np.sqrt(0.5))
            level = level - curvature if abs(level - curvature) > ROUNDING * abs(level) else 0.0
            return polynomial_symmetries([level, slope, curvature])
        power = degree if _is_power(known[: degree + 1]) else None
        return dataclasses.replace(series_flip(known.tolist()), degree=power)

    def __call__(self, x: ArrayLike) -> Array:
        """sum_n a_n he_n(x)."""
        return hermite_sum(self.coefficients, jnp.asarray(x, dtype=float))


def _is_power(coefficients: np.ndarray) -> bool:
    """Whether sum_n a_n he_n(x) is a multiple of x^N, N <= 100 the last order."""
    degree = len(coefficients) - 1
    if degree > MAX_POWER:
        return False
    power = monomials_in_hermite(degree)[degree]
    power = power * (coefficients[degree] / power[degree])
    return bool(np.all(np.abs(coefficients - power) <= ROUNDING * np.abs(power)))


def hermite(degree: int) -> HermiteSum:
    """The orthonormal Hermite polynomial he_degree (EPD, Table 1)."""
    degree = check_integer("hermite degree", degree, 0, MAX_DEGREE)
    return HermiteSum(jnp.eye(1, degree + 1, degree)[0], f"hermite-{degree}")


def polynomial(coefficients: Sequence[float]) -> HermiteSum:
    """s(x) = sum_n coefficients_n x^n, held in the Hermite basis."""
    try:
        values = np.asarray(coefficients, dtype=float)
    except (TypeError, ValueError):
        raise EarnshawError("polynomial coefficients must be numbers: a_0, a_1, ...") from None
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
        raise EarnshawError("polynomial coefficients must be a non-empty list of finite numbers")
    check_integer("polynomial degree", len(values) - 1, 0, MAX_POWER)
    return HermiteSum(jnp.asarray(values @ monomials_in_hermite(len(values) - 1)), "polynomial")
