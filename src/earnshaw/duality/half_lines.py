"""Activations made of half-lines, and the mean of two of them by the bivariate normal function.

With R_1 = max(0, x), R_0 = [x > 0], R_-1 = delta, R_-2 = delta', ... and R_i = x^i/i! for x > 0,

    R_i' = R_(i-1),    x R_i = (i+1) R_(i+1)    for every integer i.

step, sign, relu, its powers, leaky-relu and hard-tanh are sums of these and of a line; normal-cdf,
erf, gelu and the Gaussian bump are them too, of an input with some noise tau N of its own:

    s(x) = constant + slope x + sum_m factor_m E[R_(i_m)(x + tau N - start_m)].

For two inputs u, v that are Gaussian, E_ij = E[R_i(u) R_j(v)] has E_00 = Phi2(h, k; rho), and by
Stein's identity, E[(u - mu1) F] = q1 E[F_u] + c E[F_v],

    (i+1) E_(i+1)j = mu1 E_ij + q1 E_(i-1)j + c E_i(j-1),

from which all others follow, up for powers and down for deltas. Derivatives stay in the family:
d/dmu1 lowers i, d/dc lowers both, d/dq1 is half of lowering i twice (Price's theorem).

Errors are relative to the size of the terms, |mu|^i + q^(i/2): small where a relu is mostly on, but
not relative to a relu that is nearly always off. For energies, where all units count together; the
single integral of `affine_mean.py` is right in such tails too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jax.scipy.special import ndtr

from earnshaw.duality.affine import Affine, Jet, jet_of
from earnshaw.duality.pair import EPS, UNDERFLOW
from earnshaw.numerics.autodiff import tangent
from earnshaw.numerics.owens_t import bivariate_normal_fast

Entry = Callable[[int, int], Array]
Orders = tuple[tuple[int, int], ...]
FARTHEST = 60.0  # |mu|/sqrt(q): beyond, Phi is 0 or 1
# By how much d/dmu1, d/dmu2, d/dq1, d/dq2 and d/dc lower i and j, and times what.
LOWERED = ((1, 0, 1.0), (0, 1, 1.0), (2, 0, 0.5), (0, 2, 0.5), (1, 1, 1.0))


class HalfLines(eqx.Module):
    """s of the module's docstring; `parts` are (i, start, factor), `noise` is tau^2."""

    parts: tuple[tuple[int, float, float], ...] = eqx.field(static=True, default=())
    constant: float = eqx.field(static=True, default=0.0)
    slope: float = eqx.field(static=True, default=0.0)
    noise: float = eqx.field(static=True, default=0.0)

    def __add__(self, other: HalfLines) -> HalfLines:
        """The sum, if both have the same noise; a line has none."""
        assert self.noise == other.noise or not (self.parts and other.parts)
        return HalfLines(
            self.parts + other.parts,
            self.constant + other.constant,
            self.slope + other.slope,
            self.noise if self.parts else other.noise,
        )

    def times(self, factor: float) -> HalfLines:
        """factor s."""
        parts = tuple((i, start, factor * one) for i, start, one in self.parts)
        return HalfLines(parts, factor * self.constant, factor * self.slope, self.noise)


class HalfLinePair(eqx.Module):
    """E[s(u) s'(v)] of two such activations."""

    first: HalfLines
    second: HalfLines

    @property
    def method(self) -> str:
        """Phi2."""
        return "closed form"

    @property
    def proven(self) -> bool:
        """Whether `error_at` is a bound."""
        return True

    def __call__(self, units: Affine) -> Array:
        """The bilinear sum over the parts of both, elementwise."""
        total = self._lines(units)
        noisy = _with_noise(units, self.first.noise, self.second.noise)
        for i, start, factor in self.first.parts:
            for j, other, times in self.second.parts:
                shifted = noisy._replace(mu1=noisy.mu1 - start, mu2=noisy.mu2 - other)
                total = total + factor * times * half_line_means(((i, j),), *shifted)[0]
        return total

    @property
    def turning(self) -> bool:
        """Whether there are kinks, which noise would smooth."""
        return not self.first.noise and not self.second.noise

    def jet(self, units: Affine) -> Jet:
        """The mean and its derivatives in the first unit, for the price of one Phi2."""
        return self._jets(units, 1)[0]

    def jets(self, units: Affine) -> tuple[Jet, Jet]:
        """Those in the first and those in the second unit, for the price of one Phi2 too."""
        first, second = self._jets(units, 2)
        return first, second

    def _jets(self, units: Affine, sides: int) -> list[Jet]:
        swapped = units.swapped(), lambda units: self._lines(units.swapped())
        jets = [self._jet_of_lines(*way) for way in ((units, self._lines), swapped)[:sides]]
        noisy = _with_noise(units, self.first.noise, self.second.noise)
        for i, start, factor in self.first.parts:
            for j, other, times in self.second.parts:
                shifted = noisy._replace(mu1=noisy.mu1 - start, mu2=noisy.mu2 - other)
                for side, part in enumerate(self._jets_of_part(i, j, shifted, sides)):
                    pairs = zip(jets[side], part, strict=True)
                    jets[side] = Jet(*(old + factor * times * new for old, new in pairs))
        return jets

    def _jets_of_part(self, i: int, j: int, units: Affine, sides: int) -> list[Jet]:
        """Those of E_ij."""
        lowered = [((i - 1, j), (i - 2, j)), ((i, j - 1), (i, j - 2))][:sides]
        # Between kinks the second is made of the first.
        needed = [order for side in lowered for order in (side[:1] if self.turning else side)]
        orders = ((i, j), (i - 1, j - 1), *needed)
        found = dict(zip(orders, half_line_means(orders, *units), strict=True))
        value, in_c = found[i, j], found[i - 1, j - 1]
        jets = []
        own = (i, units.mu1, units.q1), (j, units.mu2, units.q2)
        for (once, twice), (order, mu, q) in zip(lowered, own, strict=False):
            along = _along(order, value, found[once], mu, q) if self.turning else found[twice]
            jets.append(Jet(value, found[once], along, in_c))
        return jets

    def _jet_of_lines(self, units: Affine, lines: Callable[[Affine], Array]) -> Jet:
        """What the lines contribute to a jet."""
        jet = jet_of(lines, units)
        if not self.turning:
            return jet
        kappa = jnp.where(units.q1 > 0, units.c / _positive(units.q1), 0.0)
        return jet._replace(along=jet.along + kappa * jet.in_c)

    def _lines(self, units: Affine) -> Array:
        """What the lines contribute: with each other, and with the parts of the other."""
        one, two = self.first, self.second
        mu1, mu2, c = units.mu1, units.mu2, units.c
        total = (one.constant + one.slope * mu1) * (two.constant + two.slope * mu2)
        total = total + one.slope * two.slope * c
        noisy = _with_noise(units, one.noise, two.noise)
        total = total + _line_with_parts(two, one, noisy.mu1, noisy.q1, mu2, c)
        return total + _line_with_parts(one, two, noisy.mu2, noisy.q2, mu1, c)

    def error_at(self, units: Affine) -> Array:
        """Rounding of the terms, which are at most the means of |s| without cancellation."""
        size = jnp.ones_like(units.c)
        for one, mu, q in ((self.first, units.mu1, units.q1), (self.second, units.mu2, units.q2)):
            reach = jnp.abs(mu) + 3 * jnp.sqrt(q + one.noise)
            powers = [abs(f) * (reach + abs(start)) ** max(i, 0) for i, start, f in one.parts]
            size = size * (abs(one.constant) + abs(one.slope) * reach + sum(powers))
        return 64 * EPS * size + UNDERFLOW


def _along(order: int, value: Array, in_mu: Array, mu: Array, q: Array) -> Array:
    """E_(i-2)j + kappa E_(i-1)(j-1), i the `order`, of E_ij, its derivative in mu, mu and q.

    With kappa = c/q, by Stein's identity, it is (i E_ij - mu E_(i-1)j)/q, of which no derivative
    meets a delta of both.
    """
    return jnp.where(q > 0, (order * value - mu * in_mu) / _positive(q), 0.0)


def _line_with_parts(
    line: HalfLines, lines: HalfLines, mu: Array, q: Array, other: Array, c: Array
) -> Array:
    """E[(constant + slope v) s(u)] = sum_m factor_m ((constant + slope mu2) G_i + slope c G_(i-1)).

    G_i = E[R_i(u)]: the line is that of one activation, the parts are those of the other.
    """
    total = jnp.zeros_like(c)
    if not line.constant and not line.slope:
        return total
    for i, start, factor in lines.parts:
        level = (line.constant + line.slope * other) * one_half_line(i, mu - start, q)
        total = total + factor * level
        if line.slope:
            total = total + factor * line.slope * c * one_half_line(i - 1, mu - start, q)
    return total


def _with_noise(units: Affine, first: float, second: float) -> Affine:
    """The pair u + tau N, v + tau' N': variances grow, the covariance does not."""
    if not first and not second:
        return units
    q1, q2 = units.q1 + first, units.q2 + second
    # q1 q2 - c^2 as a sum of positive terms.
    rest = units.low * units.high + first * units.q2 + second * units.q1 + first * second
    large = jax.lax.stop_gradient(jnp.sqrt(q1 * q2) + jnp.abs(units.c))
    small = jax.lax.stop_gradient(rest) / jnp.where(large > 0, large, 1.0)
    ahead = units.c >= 0
    low, high = jnp.where(ahead, small, large), jnp.where(ahead, large, small)
    return units._replace(q1=q1, q2=q2, low=low, high=high)


# -- one input ------------------------------------------------------------------------------------


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def one_half_line(i: int, mu: Array, q: Array) -> Array:
    """G_i = E[R_i(u)] for u ~ N(mu, q); of no variance, 0 for deltas."""
    moving = q > 0
    safe = _positive(q)
    size = jnp.sqrt(safe)
    h = jnp.clip(jnp.where(moving, mu / size, 1e300 * mu), -FARTHEST, FARTHEST)
    known = {0: ndtr(h), -1: _at_zero(h, q)}

    def entry(i: int) -> Array:
        if i not in known:
            if i > 0:
                known[i] = (mu * entry(i - 1) + q * entry(i - 2)) / i
            else:
                lowered = ((i + 2) * entry(i + 2) - mu * entry(i + 1)) / safe
                known[i] = jnp.where(moving, lowered, 0.0)
        return known[i]

    return entry(i)


def _one_jvp(i: int, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    value = one_half_line(i, *primals)
    return value, tangent(
        value,
        (lambda: one_half_line(i - 1, *primals), tangents[0]),
        (lambda: one_half_line(i - 2, *primals) / 2, tangents[1]),
    )


one_half_line.defjvp(_one_jvp, symbolic_zeros=True)


def hermite_coefficients(lines: HalfLines, mu: Array, q: Array, degree: int) -> Array:
    """a_n = E[s(mu + sqrt(q) Z) he_n(Z)] for n < degree, in closed form; shape (..., degree).

    With noise tau, Z is seen through W of correlation r = sqrt(q)/S, S^2 = q + tau^2, and
    E[g(W) he_n(Z)] = r^n E[g(W) he_n(W)]. For g = R_i(m + S W), by Stein's identity,

        sqrt(n!) a_n = S^n G_(i-n)    for n <= i,    S^i phi(h) He_(n-i-1)(-h)    above, h = m/S.
    """
    spread = q + lines.noise
    size = jnp.sqrt(_positive(spread)) * (spread > 0)
    ratio = jnp.sqrt(_positive(q)) * (q > 0) / jnp.where(size > 0, size, 1.0)
    orders = np.arange(degree)
    total = jnp.zeros((*jnp.broadcast_shapes(jnp.shape(mu), jnp.shape(q)), degree))
    for i, start, factor in lines.parts:
        m = mu - start
        h = jnp.clip(m / jnp.where(size > 0, size, 1.0), -FARTHEST, FARTHEST)
        low = [
            size**n * one_half_line(i - n, m, spread) / math.sqrt(math.factorial(n))
            for n in range(min(i + 1, degree))
        ]
        if degree > i + 1:
            steps = np.prod([orders[i + 1 :] - j for j in range(i + 1)], axis=0)
            high = (size**i * _density(h))[..., None] * _hermites(-h, degree - i - 1)
            low.append(high / np.sqrt(steps))
            parts = [part[..., None] for part in low[:-1]] + [low[-1]]
        else:
            parts = [part[..., None] for part in low]
        total = total + factor * jnp.concatenate(parts, axis=-1)
    total = total * ratio[..., None] ** orders
    line = jnp.stack([lines.constant + lines.slope * mu, lines.slope * ratio * size], axis=-1)
    return total.at[..., :2].add(line)


def _hermites(x: Array, count: int) -> Array:
    """he_n(x) for n < count, (..., count)."""

    def step(pair: tuple[Array, Array], n: Array) -> tuple[tuple[Array, Array], Array]:
        last, now = pair
        return (now, (x * now - jnp.sqrt(n) * last) / jnp.sqrt(n + 1)), now

    start = (jnp.zeros_like(x), jnp.ones_like(x))
    rows = jax.lax.scan(step, start, jnp.arange(count, dtype=float))[1]
    return jnp.moveaxis(rows, 0, -1)


# -- two inputs -----------------------------------------------------------------------------------


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def half_line_means(orders: Orders, *entries: Array) -> tuple[Array, ...]:
    """E_ij of the module's docstring for each (i, j), elementwise; what they share only once.

    Where u and v are the same but for a factor, two deltas meet: they count as 0, which is right
    for what remains of a relu's second derivatives there, and is the convention for steps.
    """
    units = Affine(*entries)
    h, k, rho, gap = _standardized(units)
    base = bivariate_normal_fast(h, k, rho, gap)
    # P(u > 0, v > 0), and a delta of one with a step of the other: what all begins with. For equal
    # units the two conditional probabilities are 1/2, and in any case they are as exact as rho.
    known = {
        (0, 0): base.both,
        (-1, 0): _at_zero(h, units.q1) * base.given_x,
        (0, -1): _at_zero(k, units.q2) * base.given_y,
    }

    def entry(i: int, j: int) -> Array:
        if (i, j) not in known:
            known[i, j] = _entry(units, entry, i, j)
        return known[i, j]

    return tuple(entry(i, j) for i, j in orders)


def _entry(units: Affine, entry: Entry, i: int, j: int) -> Array:
    """E_ij from others; each way is one without large terms that cancel for nearly equal units."""
    mu1, mu2, q1, q2, c, low, high = units
    if j < 0 <= i or i == -1 > j:  # the same with u and v exchanged
        return _entry(units.swapped(), lambda a, b: entry(b, a), j, i)
    if i > 0:
        return (mu1 * entry(i - 1, j) + q1 * entry(i - 2, j) + c * entry(i - 1, j - 1)) / i
    if i == 0:
        return (mu2 * entry(0, j - 1) + q2 * entry(0, j - 2) + c * entry(-1, j - 1)) / j
    rest = low * high
    if i == j == -1:
        return jnp.where(rest > 0, units.density(0.0, 0.0), 0.0)
    if j < 0:
        # Stein's identity for u and that for v: two equations for E_ij and E_(i+1)(j-1).
        here = entry(i + 1, j)
        first = _multiple(i + 2, entry, i + 2, j) - mu1 * here
        second = _multiple(j + 1, entry, i + 1, j + 1) - mu2 * here
        return jnp.where(rest > 0, (q2 * first - c * second) / jnp.where(rest > 0, rest, 1.0), 0.0)
    safe = _positive(q1)
    if i == -1:
        # Given u = 0, v is N(m, tau^2): Stein's identity for that.
        m, variance = mu2 - c * mu1 / safe, rest / safe
        found = (m * entry(-1, j - 1) + variance * entry(-1, j - 2)) / j
    else:
        found = _multiple(i + 2, entry, i + 2, j) - mu1 * entry(i + 1, j) - c * entry(i + 1, j - 1)
        found = found / safe
    return jnp.where(q1 > 0, found, 0.0)


def _multiple(factor: int, entry: Entry, i: int, j: int) -> Array | float:
    """factor E_ij, which is not computed where the factor is 0."""
    return factor * entry(i, j) if factor else 0.0


def _standardized(units: Affine) -> tuple[Array, Array, Array, Array]:
    """h = mu1/sqrt(q1), k = mu2/sqrt(q2), rho and 1 - |rho|."""
    sizes = [jnp.sqrt(_positive(q)) for q in (units.q1, units.q2)]
    moving = (units.q1 > 0) & (units.q2 > 0)
    h, k = (
        jnp.clip(jnp.where(q > 0, mu / size, 1e300 * mu), -FARTHEST, FARTHEST)
        for mu, q, size in zip(units[:2], units[2:4], sizes, strict=True)
    )
    product = sizes[0] * sizes[1]
    rho = jnp.where(moving, jnp.clip(units.c / product, -1.0, 1.0), 0.0)
    gap = jnp.where(moving, jnp.minimum(units.low, units.high) / product, 1.0)
    return h, k, rho, jnp.clip(gap, 0.0, 1.0)


def _positive(q: Array) -> Array:
    """q, and 1 where there is no variance to divide by."""
    return jnp.where(q > 0, q, 1.0)


def _at_zero(h: Array, q: Array) -> Array:
    """The density of N(h sqrt(q), q) at 0; 0 where there is no variance."""
    return jnp.where(q > 0, _density(h) / jnp.sqrt(_positive(q)), 0.0)


def _density(h: Array) -> Array:
    return jnp.exp(-h * h / 2) / math.sqrt(2 * math.pi)


def _means_jvp(orders: Orders, primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    moving = [
        (rule, moved)
        for rule, moved in zip(LOWERED, tangents[: len(LOWERED)], strict=True)
        if not isinstance(moved, SymbolicZero)
    ]
    wanted = [(i - a, j - b) for i, j in orders for (a, b, _), _ in moving]
    every = tuple(dict.fromkeys([*orders, *wanted]))
    found = dict(zip(every, half_line_means(every, *primals), strict=True))
    values = tuple(found[order] for order in orders)
    changes = tuple(
        sum(
            (factor * found[i - a, j - b] * moved for (a, b, factor), moved in moving),
            start=jnp.zeros_like(found[i, j]),
        )
        for i, j in orders
    )
    return values, changes


half_line_means.defjvp(_means_jvp, symbolic_zeros=True)
