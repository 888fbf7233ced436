"""The almost 1-harmonic potential on the sphere (EPD, Theorem 4.4).

On S^(d-1) a function f(rho) has Laplacian (1 - rho^2) f'' - (d - 1) rho f'. Asking for Laplacian
f = f, coefficient by coefficient from c_0 = 1, c_1 = 0, gives

    c_(n+2) = c_n (n (n - 1) + (d - 1) n + 1) / ((n + 2)(n + 1)),

all non-negative, hence realizable. Cut at an even degree N, one term is left over:

    Laplacian f = f - c_N k_N rho^N,    k_N = N^2 + (d - 2) N + 1

(the paper prints + k_N x^N; mathematics.md, error 7). f is divided by f(1), which is 5e12 at
d = 50, N = 60.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS, POTENTIALS
from earnshaw.duality.families.hermite import HermiteSum
from earnshaw.duality.potential import Zonal
from earnshaw.errors import OutOfRange
from earnshaw.limits import check_dim, check_integer
from earnshaw.numerics.series import power_sum

if TYPE_CHECKING:
    import sympy

MAX_DEGREE = 400


@lru_cache(maxsize=64)
def _exact_coefficients(dim: int, degree: int) -> tuple[Fraction, ...]:
    """c_0, c_2, ..., c_N over f(1), exactly."""
    even = [Fraction(1)]
    for n in range(0, degree, 2):
        even.append(even[-1] * (n * (n - 1) + (dim - 1) * n + 1) / ((n + 2) * (n + 1)))
    total = sum(even)
    return tuple(c / total for c in even)


def sphere_synthetic_coefficients(dim: int, degree: int) -> np.ndarray:
    """The Taylor coefficients c_0 .. c_N of f / f(1), N = `degree`; shape (N + 1,).

    Computed as exact fractions and rounded once; they are non-negative and sum to 1.
    """
    dim, degree = check_dim(dim, 2), _check_degree(degree)
    table = np.zeros(degree + 1)
    table[::2] = [float(c) for c in _exact_coefficients(dim, degree)]
    return table


@POTENTIALS.register("sphere-synthetic")
class SphereSynthetic(Zonal):
    """f / f(1) on S^(d-1), f a polynomial of even `degree` (EPD, Theorem 4.4)."""

    dim: int = eqx.field(static=True)
    degree: int = eqx.field(static=True)

    def __init__(self, dim: int, degree: int = 20) -> None:
        self.dim = check_dim(dim, 2)
        self.degree = _check_degree(degree)

    @property
    def name(self) -> str:
        """The registered name."""
        return "sphere-synthetic"

    @property
    def source(self) -> str:
        """EPD, where the series is cut."""
        return "EPD, Theorem 4.4"

    @property
    def expr(self) -> sympy.Expr:
        """The polynomial with exact coefficients, in `expression.RHO`."""
        # Loads SymPy, which takes longer than learning a network: not until it is needed.
        import sympy

        from earnshaw.duality.formulas.expression import RHO

        exact = _exact_coefficients(self.dim, self.degree)
        terms = (sympy.Rational(c.numerator, c.denominator) for c in exact)
        return sympy.Add(*(c * RHO ** (2 * k) for k, c in enumerate(terms)))

    @property
    def residual(self) -> float:
        """c_N k_N: how large the term that is left over is at rho = 1."""
        d, n = self.dim, self.degree
        return float(_exact_coefficients(d, n)[-1] * (n * n + (d - 2) * n + 1))

    def value(self, rho: ArrayLike) -> Array:
        """f(rho), by Horner's rule in rho^2: every term is positive, so nothing cancels."""
        rho = jnp.asarray(rho, dtype=float)
        return power_sum(self._even(0), rho * rho)

    def first(self, rho: ArrayLike) -> Array:
        """f'(rho)."""
        rho = jnp.asarray(rho, dtype=float)
        return rho * power_sum(self._even(1), rho * rho)

    def second(self, rho: ArrayLike) -> Array:
        """f''(rho)."""
        rho = jnp.asarray(rho, dtype=float)
        return power_sum(self._even(2), rho * rho)

    def defect(self, rho: ArrayLike) -> Array:
        """Laplacian f - f = -c_N k_N rho^N (mathematics.md, error 7: the printed sign is +)."""
        return -self.residual * jnp.asarray(rho, dtype=float) ** self.degree

    def taylor(self, count: int) -> Any:
        """c_0 .. c_(count-1), with zeros beyond the degree."""
        table = np.zeros(max(count, self.degree + 1))
        table[: self.degree + 1] = sphere_synthetic_coefficients(self.dim, self.degree)
        return table[:count]

    def _even(self, order: int) -> Array:
        """The coefficients of the `order`-th derivative in powers of rho^2 (after rho, if odd)."""
        table = np.polynomial.polynomial.polyder(self.taylor(self.degree + 1), order)
        return jnp.asarray(table[order % 2 :: 2])


def _check_degree(degree: object) -> int:
    number = check_integer("degree of sphere-synthetic", degree, 2, MAX_DEGREE)
    if number % 2:
        raise OutOfRange("degree of sphere-synthetic", degree, "an even integer >= 2")
    return number


@ACTIVATIONS.register("sphere-synthetic")
def sphere_synthetic(dim: int, degree: int = 20) -> HermiteSum:
    """sum_n sqrt(c_n) he_n(x), whose potential on the sphere is `SphereSynthetic`."""
    powers = SphereSynthetic(dim=dim, degree=degree).taylor(degree + 1)
    return HermiteSum(jnp.asarray(np.sqrt(powers)), "sphere-synthetic")
