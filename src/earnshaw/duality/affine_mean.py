"""E[s(u) s'(v)] for two units with biases, same or different activations: one integral for all.

Given u, v is Gaussian, so with G' the smoothed s' of `gaussian_means.py`

    E[s(u) s'(v)] = E[s(u) G'(E[v|u], Var[v|u])],

an integral over u alone. Its terms are as large as s and s' make them: by Cauchy-Schwarz rounding
is within a few EPS of sqrt(E[s(u)^2] E[s'(v)^2]), in every tail, where formulas with the bivariate
normal distribution function lose digits (that of relu^3 twelve powers of mu/sqrt(q)).

Panels of Gauss' rule cover where the integrand counts, which a first look at it tells. They are
finer around the kinks of s and of s', where s(u) and G' turn within the widths of `places`.

Derivatives are means too (Price, Stein): d/dmu1 is E[s_1(u) s'(v)], d/dc is E[s_1(u) s'_1(v)],
d/dq1 is E[s_2(u) s'(v)]/2, with the point masses that jumps make. A mass at u = kink is a density
times G'(kink), and two of them the density of (u, v).
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from earnshaw.duality.affine import Affine
from earnshaw.duality.gaussian_means import GaussianMeans, normal_density, smoothed
from earnshaw.numerics.autodiff import tangent
from earnshaw.numerics.quadrature import panel_rule

ORDER = 12
PANELS = 16  # over all that counts
# Where that is looked for; beyond, exp(-z^2/2) underflows. Off the zeros of odd functions.
SCAN = np.arange(-38.0, 38.0, 0.5) + 0.2137
FALL = 42.0  # what is smaller than exp(-FALL) of the largest value does not count
OFFSETS = np.array([1.0, 2.0, 3.5, 6.0, 10.0, 20.0, 40.0])  # of panels around a place, in widths
WAVES = 4  # times as many panels where there are waves
FASTEST = 30.0  # pitch sqrt(q) that these resolve


def affine_mean(first: GaussianMeans, second: GaussianMeans, units: Affine) -> Array:
    """E[s(u) s'(v)], elementwise; `second` is the one that is smoothed."""
    return _mean(first, second, 0, 0, *jnp.broadcast_arrays(*units))


@partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2, 3))
def _mean(first: GaussianMeans, second: GaussianMeans, i: int, j: int, *entries: Array) -> Array:
    """E[s_i(u) s'_j(v)] of the pieces, without point masses."""
    units = Affine(*entries)
    if i >= first.depth or j >= second.depth:
        return jnp.zeros_like(units.c)
    return mean_of_order(first, second, units, ORDER, i, j)


def mean_of_order(
    first: GaussianMeans,
    second: GaussianMeans,
    units: Affine,
    order: int = ORDER,
    i: int = 0,
    j: int = 0,
) -> Array:
    """E[s_i(u) s'_j(v)] with `order` nodes a panel; for values only."""
    z, weights = panel_rule(_edges(first, second, units), order)
    return jnp.sum(weights * _integrand(first, second, i, j, units, z), axis=-1)


def _integrand(
    first: GaussianMeans,
    second: GaussianMeans,
    i: int,
    j: int,
    units: Affine,
    z: Array,
    logarithmic: bool = False,
) -> Array:
    """phi(z) s_i(u) G'_j at u = mu1 + sqrt(q1) z, z of shape (..., n); or the log of its size."""
    wide = Affine(*(entry[..., None] for entry in units))
    u = wide.mu1 + jnp.sqrt(wide.q1) * z
    mean, variance = _given(wide, z)
    left, right = first.value(i, u), second.mean(j, mean, jnp.broadcast_to(variance, mean.shape))
    if logarithmic:
        return jnp.log(jnp.abs(left)) + jnp.log(jnp.abs(right)) - z * z / 2
    return left * jnp.exp(-z * z / 2) * right / np.sqrt(2 * np.pi)


def _given(units: Affine, z: Array) -> tuple[Array, Array]:
    """The mean and the variance of v given u = mu1 + sqrt(q1) z."""
    moving = units.q1 > 0
    q1 = jnp.where(moving, units.q1, 1.0)
    mean = units.mu2 + jnp.where(moving, units.c / jnp.sqrt(q1), 0.0) * z
    return mean, jnp.where(moving, units.low * units.high / q1, units.q2)


def _edges(first: GaussianMeans, second: GaussianMeans, units: Affine) -> Array:
    """Edges of panels in z, shape (..., n)."""
    moving = units.q1 > 0
    s1 = jnp.sqrt(jnp.where(moving, units.q1, 1.0))
    variance = _given(units, jnp.zeros_like(units.c))[1]
    low, high = _window(first, second, units)
    count = PANELS * (WAVES if first.pitch or second.pitch else 1)
    found = [low + (high - low) * np.linspace(0.0, 1.0, count + 1)]
    for place, width in first.places:
        centre = (place - units.mu1) / s1
        # Beside a kink far out, exp(-z^2/2) falls within 1/|z|.
        found.append(_around(centre, width / s1 if width else 1 / (1 + jnp.abs(centre))))
    slope = jnp.where((units.c != 0) & moving, units.c / s1, 1e-30)
    for place, width in second.places:
        spread = jnp.sqrt(variance + width**2)
        found.append(_around((place - units.mu2) / slope, spread / jnp.abs(slope)))
    return jnp.clip(jnp.sort(jnp.concatenate(found, axis=-1), axis=-1), low, high)


def _window(first: GaussianMeans, second: GaussianMeans, units: Affine) -> tuple[Array, Array]:
    """Between which z the integrand counts, shapes (..., 1)."""
    levels = _integrand(first, second, 0, 0, units, jnp.asarray(SCAN), logarithmic=True)
    largest = jnp.max(levels, axis=-1, keepdims=True)
    counts = (levels > largest - FALL) | ~jnp.isfinite(largest)
    step = 2 * (SCAN[1] - SCAN[0])  # an unseen kink, and then what noise carries across it
    low = jnp.min(jnp.where(counts, SCAN, jnp.inf), axis=-1, keepdims=True) - step
    high = jnp.max(jnp.where(counts, SCAN, -jnp.inf), axis=-1, keepdims=True) + step
    return low, high


def _around(centre: Array, width: Array) -> Array:
    offsets = np.concatenate([-OFFSETS[::-1], [0.0], OFFSETS])
    return centre[..., None] + width[..., None] * offsets


def _first_mass(second: GaussianMeans, j: int, kink: float, units: Affine) -> Array:
    """E[delta(u - kink) s'_j(v)]."""
    density = normal_density(kink - units.mu1, units.q1)
    density = jnp.where(units.q1 > 0, density, 0.0)
    return density * smoothed(second, j, *units.given_first(jnp.asarray(kink)))


def _mean_jvp(
    first: GaussianMeans,
    second: GaussianMeans,
    i: int,
    j: int,
    primals: tuple,
    tangents: tuple,
) -> tuple[Array, Array]:
    units = Affine(*primals)
    value = _mean(first, second, i, j, *primals)
    ahead, behind = (first, second, units), (second, first, units.swapped())

    def masses(side: tuple, i: int, j: int) -> Array | float:
        """sum_kinks jump_i E[delta(u - kink) s'_j(v)]."""
        mine, other, seen = side
        kinks = zip(mine.kinks, mine.jumps(i), strict=True)
        return sum(jump * _first_mass(other, j, kink, seen) for kink, jump in kinks if jump)

    def along(side: tuple, i: int, j: int) -> Array:
        return _either(side, i + 1, j) + masses(side, i, j)

    def spread(side: tuple, i: int, j: int) -> Array:
        mine, other, seen = side
        turned = 0.0
        if any(mine.jumps(i)):
            step = jnp.ones_like(seen.mu1)
            turned = jax.jvp(
                lambda mu: masses((mine, other, seen._replace(mu1=mu)), i, j), (seen.mu1,), (step,)
            )[1]
        return (_either(side, i + 2, j) + masses(side, i + 1, j) + turned) / 2

    def _either(side: tuple, i: int, j: int) -> Array:
        i, j = (i, j) if side is ahead else (j, i)
        return _mean(first, second, i, j, *primals)

    def joint() -> Array:
        total = _mean(first, second, i + 1, j + 1, *primals)
        total = total + masses(ahead, i, j + 1) + masses(behind, j, i + 1)
        for kink, jump in zip(first.kinks, first.jumps(i), strict=True):
            for other, turn in zip(second.kinks, second.jumps(j), strict=True):
                if jump and turn:
                    total = total + jump * turn * units.density(kink, other)
        return total

    return value, tangent(
        value,
        (lambda: along(ahead, i, j), tangents[0]),
        (lambda: along(behind, j, i), tangents[1]),
        (lambda: spread(ahead, i, j), tangents[2]),
        (lambda: spread(behind, j, i), tangents[3]),
        (joint, tangents[4]),
    )


_mean.defjvp(_mean_jvp, symbolic_zeros=True)
