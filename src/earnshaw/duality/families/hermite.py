"""Polynomials, given by their Hermite coefficients or by their powers; duals exact at every norm.

If s(x) = sum_n a_n he_n(x), he_n orthonormal under N(0, 1), then at unit norms

    E[s(u) s(v)] = sum_n a_n^2 rho^n                    (Full, Theorem B.2, with the sum from 0),

and at any norms sum_l R_l(q1) R_l(q2) c^l with the polynomials

    R_l(q) = sum_k a_(l+2k) sqrt((l+2k)!/l!) / (2^k k!) (q - 1)^k,

because He_n(g x) = sum_k n!/(2^k k! (n-2k)!) g^(n-2k) (g^2 - 1)^k He_(n-2k)(x). A polynomial given
by its powers p_n has the same R_l in powers of q,

    R_l(q) = sum_k p_(l+2k) (l+2k)!/(2^k k! sqrt(l!)) q^k;

at each q the sum of smaller terms is taken, since short vectors leave x^2 nothing of 1 + (q - 1).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from earnshaw.duality._registry import ACTIVATIONS
from earnshaw.duality.activation import LARGEST_FACTOR, DotProduct, NumpyFormula
from earnshaw.duality.gaussian_means import GaussianMeans, Polynomial
from earnshaw.duality.pair import EPS, UNDERFLOW, Moment, Pair
from earnshaw.duality.symmetry import Symmetries, polynomial_symmetries, series_flip
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_integer, check_real
from earnshaw.numerics.hermite import hermite_sum as jax_hermite_sum
from earnshaw.numerics.hermite import monomials_in_hermite
from earnshaw.numerics.series import power_sum, product_power_sum

ROUNDING = 1e-13  # relative; how far off the coefficients of a power x^n may be
MAX_POWER = 100
MAX_DEGREE = 1000  # beyond it he_n(x) overflows float64 already at |x| = 40


def hermite_sum(coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """sum_n coefficients_n he_n(x), he_n the Hermite polynomials orthonormal under N(0, 1)."""
    before, now, total = np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
    for n, coefficient in enumerate(coefficients):
        total = total + coefficient * now
        before, now = now, (x * now - math.sqrt(n) * before) / math.sqrt(n + 1)
    return total


class HermiteMoment(Moment):
    """The moment of sum_n a_n he_n(x); `mixing[k, l]` is the coefficient of (q - 1)^k in R_l.

    `powers` are those of x, if s was given by them; then `plain[k, l]` is that of q^k.
    """

    mixing: Array
    plain: Array | None

    def __init__(self, coefficients: Array, powers: Array | None = None) -> None:
        self.mixing = jnp.asarray(_mixing(np.asarray(coefficients)))
        self.plain = None if powers is None else jnp.asarray(_plain(np.asarray(powers)))

    def __call__(self, pair: Pair) -> Array:
        """sum_l R_l(q1) R_l(q2) c^l."""
        return product_power_sum(self._radial(pair.q1)[0], self._radial(pair.q2)[0], pair.c)

    def error_at(self, q1: Array, q2: Array) -> Array:
        """With N the degree, (8 N + 40) EPS for as many steps of Horner's rules, each of one EPS.

        Relative to what the moment would be if no two terms of any R_l had different signs: where
        they cancel, the digits are lost.
        """
        sizes = [self._size(q) for q in (q1, q2)]
        error = (8 * self.mixing.shape[1] + 40) * EPS * sizes[0] * sizes[1] + UNDERFLOW
        return jnp.where(jnp.isnan(error), jnp.inf, error)

    def on_sphere(self, rho: Array, variance: float) -> Array:
        """sum_l R_l(variance)^2 variance^l rho^l."""
        return power_sum(self._series(variance), rho)

    def on_cap(self, pair: Pair, variance: float) -> Array:
        """`on_sphere`."""
        return self.on_sphere(pair.c / variance, variance)

    def taylor(self, count: int, variance: float) -> Any:
        """Those same coefficients, padded with zeros."""
        known = np.asarray(self._series(variance))[:count]
        return np.concatenate([known, np.zeros(max(0, count - len(known)))])

    def _radial(self, q: Array) -> tuple[Array, Array]:
        """R_l(q) for all l, shape (..., degree + 1), and the sums of |terms|."""
        sums, sizes = _horner(self.mixing, q - 1)
        if self.plain is None:
            return sums, sizes
        plain, plain_sizes = _horner(self.plain, q)
        better = plain_sizes < sizes
        return jnp.where(better, plain, sums), jnp.where(better, plain_sizes, sizes)

    def _size(self, q: Array) -> Array:
        """sqrt(sum_l (sum |terms of R_l|)^2 q^l)."""
        sizes = self._radial(q)[1]
        powers = jnp.sqrt(q)[..., None] ** jnp.arange(self.mixing.shape[1])
        return jnp.linalg.norm(jnp.where(sizes == 0, 0.0, sizes * powers), axis=-1)

    def _series(self, variance: float) -> Array:
        sums = self._radial(jnp.asarray(variance))[0]
        powers = math.sqrt(variance) ** jnp.arange(self.mixing.shape[1])
        return jnp.square(jnp.where(sums == 0, 0.0, sums * powers))


@jax.jit
def _horner(table: Array, x: Array) -> tuple[Array, Array]:
    """sum_k table_k x^k and sum_k |table_k x^k| by Horner's rule, shapes (..., columns)."""

    def step(totals: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], None]:
        total, size = totals
        return (total * x[..., None] + row, size * jnp.abs(x)[..., None] + jnp.abs(row)), None

    start = jnp.zeros((*x.shape, table.shape[1]))
    return jax.lax.scan(step, (start, start), table, reverse=True)[0]


def _mixing(coefficients: np.ndarray) -> np.ndarray:
    """a_(l+2k) sqrt((l+2k)!/l!) / (2^k k!) in row k, column l."""
    return _rows(coefficients, np.ones(len(coefficients)), 0.5)


def _plain(powers: np.ndarray) -> np.ndarray:
    """p_(l+2k) (l+2k)!/(2^k k! sqrt(l!)) in row k, column l."""
    roots = [math.sqrt(math.factorial(n)) for n in range(len(powers))]
    return _rows(powers, np.array(roots), 1.0)


def _rows(series: np.ndarray, weights: np.ndarray, exponent: float) -> np.ndarray:
    """series_(l+2k) weights_l ((l+2k)!/l!)^exponent / (2^k k!), from row to row: no factorials."""
    count = len(series)
    table, low = np.zeros(((count + 1) // 2, count)), np.arange(1.0, count + 1)
    for k in range(len(table)):
        table[k, : count - 2 * k] = series[2 * k :] * weights[: count - 2 * k]
        weights = weights * ((low + 2 * k) * (low + 2 * k + 1)) ** exponent / (2 * (k + 1))
    return table


class HermiteSum(DotProduct):
    """s(x) = sum_n a_n he_n(x), he_n orthonormal under N(0, 1).

    Its potential on the sphere is sum_n a_n^2 rho^n (Full, Theorem B.2, with the sum from 0).
    """

    coefficients: Array
    label: str = eqx.field(default="hermite-sum", static=True)
    powers: Array | None = None  # of x, if it was made from them
    in_numpy = NumpyFormula(
        "sum_n coefficients_n he_n(x)",
        "hermite_sum(COEFFICIENTS, x)",
        "orders = np.arange(1, len(COEFFICIENTS))  # he_n' = sqrt(n) he_(n-1)\n"
        "hermite_sum(np.sqrt(orders) * COEFFICIENTS[1:], x)",
        (hermite_sum,),
    )

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
        return jax_hermite_sum(self.coefficients, jnp.asarray(x, dtype=float))

    def moment(self) -> Moment:
        """A polynomial in c, q1 and q2."""
        return HermiteMoment(self.coefficients, self.powers)

    def parameters(self) -> dict[str, Any]:
        """The coefficients a_n."""
        return {"coefficients": np.asarray(self.coefficients)}

    def gaussian_means(self) -> GaussianMeans:
        """The same polynomials, smoothed."""
        return Polynomial(*_row(self.coefficients, self.powers))

    @staticmethod
    def in_torch(torch: Any, x: Any, coefficients: Any) -> Any:
        """sum_n coefficients_n he_n(x), by the forward recurrence."""
        before, now, total = torch.zeros_like(x), torch.ones_like(x), torch.zeros_like(x)
        for n, coefficient in enumerate(coefficients.unbind()):
            total = total + coefficient * now
            before, now = now, (x * now - math.sqrt(n) * before) / math.sqrt(n + 1)
        return total


def _row(coefficients: Array, powers: Array | None) -> tuple[tuple[float, ...], bool]:
    """The coefficients in he_n, or those of x^n / sqrt(n!) if the powers of x are known."""
    if powers is None:
        return tuple(np.asarray(coefficients).tolist()), False
    roots = np.array([math.sqrt(math.factorial(n)) for n in range(len(powers))])
    return tuple((np.asarray(powers) * roots).tolist()), True


def _is_power(coefficients: np.ndarray) -> bool:
    """Whether sum_n a_n he_n(x) is a multiple of x^N, N <= 100 the last order."""
    degree = len(coefficients) - 1
    if degree > MAX_POWER:
        return False
    power = monomials_in_hermite(degree)[degree]
    power = power * (coefficients[degree] / power[degree])
    return bool(np.all(np.abs(coefficients - power) <= ROUNDING * np.abs(power)))


@ACTIVATIONS.register("hermite")
def hermite(degree: int) -> HermiteSum:
    """The orthonormal Hermite polynomial he_degree (EPD, Table 1)."""
    degree = check_integer("hermite degree", degree, 0, MAX_DEGREE)
    return HermiteSum(jnp.eye(1, degree + 1, degree)[0], f"hermite-{degree}")


@ACTIVATIONS.register("polynomial")
def polynomial(coefficients: Sequence[float]) -> HermiteSum:
    """s(x) = sum_n coefficients_n x^n, held in the Hermite basis."""
    try:
        values = np.asarray(coefficients, dtype=float)
    except (TypeError, ValueError):
        raise EarnshawError("polynomial coefficients must be numbers: a_0, a_1, ...") from None
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
        raise EarnshawError("polynomial coefficients must be a non-empty list of finite numbers")
    check_integer("polynomial degree", len(values) - 1, 0, MAX_POWER)
    for value in values.tolist():
        check_real("polynomial coefficient", value, -LARGEST_FACTOR, LARGEST_FACTOR)
    return HermiteSum(jnp.asarray(_in_hermite(values)), "polynomial", jnp.asarray(values))


def _in_hermite(powers: np.ndarray) -> np.ndarray:
    """sum_m p_m m!/(2^i i! sqrt(n!)), i = (m - n)/2: exact sums, in which all digits may cancel."""
    exact = [Fraction(power) for power in powers.tolist()]
    found = []
    for n in range(len(exact)):
        total, pairings = Fraction(0), math.factorial(n)
        for i, power in enumerate(exact[n::2]):
            total += power * pairings
            high = n + 2 * i + 1
            pairings = pairings * high * (high + 1) // (2 * (i + 1))
        found.append(float(total) / math.sqrt(math.factorial(n)))
    return np.array(found)
